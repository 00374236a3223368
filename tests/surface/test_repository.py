"""What is committed names no machine and no registry, and every rule that is off has its reason."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


PARTS = ["src", "tests", "bench", "docs", "decisions", "examples", "requirements", ".ci"]


def committed():
    """What git tracks; where there is no git, or no clone, everything that the project is made of."""
    if shutil.which("git"):
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
        if listed.stdout:
            return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]
    inside = [path for part in PARTS for path in (ROOT / part).rglob("*") if "__pycache__" not in path.parts]
    return [path for path in [*ROOT.glob("*"), *inside] if path.is_file()]


def test_there_are_files_to_look_at():
    assert ROOT / "pyproject.toml" in committed()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_the_locks_name_no_host_and_carry_hashes(lock):
    text = lock.read_text(encoding="utf-8")
    assert not re.search(r"https?://|--index-url|--find-links", text)
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in entry, entry[:80]


@pytest.mark.parametrize("name", ["uv.lock", "package-lock.json"])
def test_no_lock_that_writes_addresses_is_committed(name):
    assert name not in {path.name for path in committed()}


def test_no_path_of_a_machine_is_committed():
    pattern = re.compile(r"(?<![\w.])/(?:home|root|Users|work|workspace)/[\w.]")
    for path in committed():
        if path.suffix in {".py", ".md", ".toml", ".yaml", ".yml", ".txt", ".json", ""} and path.name != "LICENSE":
            found = pattern.search(path.read_text(encoding="utf-8"))
            assert not found, f"{path.name}: {found.group()}"


SUPPRESSION = re.compile(r"#\s*(?:noqa: [A-Z]+\d+(?:, ?[A-Z]+\d+)*|(?:type|pyright): ignore\[[\w, -]+\])")


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_suppression_says_why(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if re.search(r"#\s*(noqa|type: ignore|pyright: ignore)", line):
            *_, reason = SUPPRESSION.split(line)
            assert len(re.findall(r"\w+", reason)) >= 2, f"{path.name}:{number} has no reason"


def test_every_lint_rule_that_is_off_has_a_sentence():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lint = text[text.index("[tool.ruff.lint]") : text.index("[tool.ruff.lint.pydocstyle]")]
    rules = [line for line in lint.splitlines() if re.match(r'\s+"[A-Z]+\d*",', line)]
    assert rules
    assert all("#" in line for line in rules)


def test_versions_agree():
    import calibrant

    assert (
        tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        == calibrant.__version__
    )
