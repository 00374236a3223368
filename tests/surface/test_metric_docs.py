"""Every shipped metric has a section in the docs with its definition, its prompt, its cost in calls and its limits."""

import re
from pathlib import Path

import pytest

from calibrant.metrics import SHIPPED_METRICS
from calibrant.metrics.base import BaseMetric

PAGES = [*(Path(__file__).parents[2] / "docs" / "metrics").glob("*.md")]
SECTION = re.compile(r"^#{2,3} (\w+)\b[^\n]*\n(.*?)(?=^#{2,3} |\Z)", re.MULTILINE | re.DOTALL)


def outside_of_blocks(text):
    """The text with the # of code blocks hidden, so that they are no headings."""
    return re.sub(r"^```.*?^```$", lambda block: block[0].replace("\n#", "\n."), text, flags=re.MULTILINE | re.DOTALL)


SECTIONS = {
    name: body for page in PAGES for name, body in SECTION.findall(outside_of_blocks(page.read_text(encoding="utf-8")))
}


def made_by(name):
    from importlib import import_module

    module, made = SHIPPED_METRICS[name]
    return getattr(import_module(module), made)


@pytest.mark.parametrize("name", SHIPPED_METRICS)
def test_a_metric_has_a_section_that_says_what_it_is_takes_and_cannot_do(name):
    assert name in SECTIONS, f"no section about {name} in docs/metrics"
    parts = ["**Definition**", "**Cost**", "**Limits**"]
    asks = made_by(name).estimated_requests is not BaseMetric.estimated_requests
    for part in [*parts, "**Prompt**"] if asks else parts:
        assert part in SECTIONS[name], f"the section about {name} has no {part}"
    assert f"`{made_by(name).__name__}" in SECTIONS[name]


@pytest.mark.parametrize("name", SHIPPED_METRICS)
def test_what_a_section_says_is_needed_is_what_is_required(name):
    section = SECTIONS[name]
    if "**Needs**" in section:
        needed = re.search(r"\*\*Needs\*\* ([^.;(]*)", section)[1]
        settled = {"pairwise": {"answer_a", "answer_b"}, "g_eval": {"answer"}}.get(name, made_by(name).required_fields)
        assert set(re.findall(r"`(\w+)`", needed)) == set(settled)


def test_the_tables_of_the_docs_name_every_rater_with_intervals():
    page = next(page for page in PAGES if page.name == "rules.md").read_text(encoding="utf-8")
    for rater in ("groundedness rule", "local/smollm2, groundedness rubric, weighted"):
        for kind in ("clearly faithful", "clearly unfaithful", "subtle, faithful", "subtle, unfaithful", "all"):
            assert re.search(
                rf"^\| {rater} \| {kind} \| \d\.\d{{3}} \[\d\.\d{{3}}, \d\.\d{{3}}\] n=\d+ \|$", page, re.MULTILINE
            )
