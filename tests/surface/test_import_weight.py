"""Importing is light: what is heavy is loaded where it is used. Each check runs in an interpreter of its own."""

import json
import subprocess
import sys

import pytest

HEAVY = {"numpy", "scipy", "polars", "pydantic", "aiohttp", "asyncio", "ruamel", "rich", "matplotlib", "sqlite3"}
CORE = "from calibrant import EvalInput, Estimate, BaseMetric"


def loaded_by(statement, *, beyond=False):
    """The packages that a statement loads; with `beyond`, those that `before` in it does not name."""
    modules = "{*sys.modules} - before" if beyond else "sys.modules"
    code = f"import json, sys; {statement}; print(json.dumps(sorted({modules})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {module.partition(".")[0] for module in json.loads(done.stdout)}


@pytest.mark.parametrize(
    "statement",
    [
        "import calibrant",
        CORE,
        "import calibrant.errors, calibrant.items, calibrant.ratings, calibrant.estimates, calibrant.metrics.base",
        "from calibrant import score_agg; score_agg([1.0, 0.7])",
        "from calibrant.aggregation import *",
        "import calibrant.models, calibrant.models.invoker",
    ],
)
def test_nothing_heavy_is_loaded(statement):
    assert not loaded_by(statement) & HEAVY


def test_the_pytest_plugin_is_light_in_every_user_s_tests():
    """pytest itself brings asyncio; the rest, and Calibrant's own rooms, wait for a test that is marked."""
    loaded = loaded_by("import pytest; before = {*sys.modules}; import calibrant.pytest_plugin", beyond=True)
    assert not loaded & HEAVY
    assert loaded <= {"calibrant"}


def test_the_help_of_the_command_loads_no_number_crunching():
    heavy = loaded_by("import calibrant.cli.group") & HEAVY
    assert not heavy - {"asyncio"}


def test_scipy_stats_is_never_loaded_with_a_package():
    names = "[m.name for m in pkgutil.walk_packages(calibrant.__path__, 'calibrant.') if '__main__' not in m.name]"
    statement = (
        "import importlib, pkgutil, calibrant; "
        f"[importlib.import_module(name) for name in {names}]; "
        "assert 'scipy.stats' not in sys.modules"
    )
    assert "calibrant" in loaded_by(statement)
