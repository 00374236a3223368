"""The package works with no extra installed, and says which one to install when a part needs it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {name for name in PROJECT["optional-dependencies"] if name != "all"}
MODULES_OF_EXTRAS = {"matplotlib", "cydifflib", "xllamacpp", "wordllama", "genai_prices"}

WITHOUT_EXTRAS = f"""
import importlib, pkgutil, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {MODULES_OF_EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def without_extras(code):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS + code], capture_output=True, text=True, check=False, timeout=120
    )


def test_every_module_can_be_imported_without_any_extra():
    done = without_extras(
        "import calibrant\n"
        "for module in pkgutil.walk_packages(calibrant.__path__, 'calibrant.'):\n"
        "    if '__main__' not in module.name: importlib.import_module(module.name)\n"
    )
    assert done.returncode == 0, done.stderr


def test_all_holds_every_extra():
    listed = PROJECT["optional-dependencies"]["all"][0]
    assert set(listed.removeprefix("calibrant[").removesuffix("]").split(",")) == EXTRAS


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_every_extra_is_documented(extra):
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert any(f"[{extra}]" in page.read_text(encoding="utf-8") for page in pages)
