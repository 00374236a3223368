from pathlib import Path

import pytest

from calibrant.retrieval import CONVENTIONS
from calibrant.retrieval.conventions import POLICY_TYPES
from calibrant.retrieval.notation import FAMILIES

PAGE = (Path(__file__).parents[3] / "docs" / "retrieval.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FAMILIES)
def test_every_measure_is_on_the_page(name):
    assert f"`{name}`" in PAGE or f"`{name}@k`" in PAGE


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_is_on_the_page_with_its_policies(name):
    policies = [value for key, value in CONVENTIONS[name].to_json().items() if key != "name"]
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}`")]
    assert row.endswith(f"| {' | '.join(policies)} |")


@pytest.mark.parametrize("policy", POLICY_TYPES)
def test_every_policy_is_on_the_page(policy):
    assert f"| `{policy}` |" in PAGE
