"""The rules about who may import whom are enforced for every room: each of them notices a breach."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
BREACHES = {
    "One direction: the layers": ("stats/effects.py", "import calibrant.models.invoker"),
    "No module imports itself by a detour, not even inside a function": (
        "stats/arrays.py",
        "def late():\n    from calibrant.stats.intervals import wilson\n    return wilson",
    ),
    "Only models talks HTTP": ("cli/list.py", "def late():\n    import aiohttp\n    return aiohttp"),
    "Only web serves pages": ("report/tables.py", "import starlette.applications"),
    "Only report.charts draws with matplotlib": ("report/columns.py", "from matplotlib.figure import Figure"),
    "alignment reaches models for embeddings in its scorers, and where judges are asked": (
        "alignment/tasks.py",
        "def late():\n    from calibrant.models import embed\n    return embed",
    ),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What the linter says of a copy of the package in which every rule is broken once."""
    folder = tmp_path_factory.mktemp("breaches")
    shutil.copytree(ROOT / "src" / "calibrant", folder / "calibrant", ignore=shutil.ignore_patterns("__pycache__"))
    for path, line in BREACHES.values():
        module = folder / "calibrant" / path
        module.write_text(f"{module.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache", "--config", ROOT / "pyproject.toml"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    plain = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    return {line.partition(" BROKEN")[0] for line in plain.splitlines() if " BROKEN" in line}


def test_a_breach_is_tried_of_every_rule():
    assert {contract["name"] for contract in CONTRACTS} == set(BREACHES)


@pytest.mark.parametrize("name", BREACHES)
def test_a_breach_of_the_rule_is_found(name, answers):
    assert name in answers


def test_every_rule_covers_all_rooms():
    """A rule for two modules would leave the others free."""
    for contract in CONTRACTS:
        covered = contract.get("containers") or contract.get("ancestors") or contract["source_modules"]
        assert covered in (["calibrant"], ["calibrant.alignment"])
