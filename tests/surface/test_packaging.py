"""The wheel: small, with all that it needs inside, and at work when it is installed alone in a fresh environment."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
LIMIT = 1_000_000
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EVERYTHING = """
import importlib, pkgutil, calibrant
for module in pkgutil.walk_packages(calibrant.__path__, "calibrant."):
    if "__main__" not in module.name and "pytest_plugin" not in module.name:
        importlib.import_module(module.name)
"""
ASKED = """
import asyncio
from calibrant import EvalInput, ScriptedInvoker, named_metric
from calibrant.metrics import rubric_names
from calibrant.readers.plan import plan_schema
judge = ScriptedInvoker({"explanation": "It says so.", "score": 3}, name="demo/judge")
item = EvalInput(id="a", query="Open?", answer="Until six.", contexts=["We close at six."])
print(asyncio.run(named_metric("groundedness", models=[judge]).evaluate(item)))
print(len(rubric_names()), plan_schema()["title"])
"""


def done(*command, cwd, **environment):
    return subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env={"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(cwd), "LC_ALL": "C.UTF-8", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built with what is installed here: no network, no other environment."""
    folder = tmp_path_factory.mktemp("dist")
    built = done(BIN / "uv", "build", "--wheel", "--no-build-isolation", "--offline", "-o", folder, ROOT, cwd=folder)
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory):
    """A fresh environment that has the wheel and the package's own dependencies, and no extra."""
    folder = tmp_path_factory.mktemp("alone")
    cache = subprocess.run([BIN / "uv", "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
    settings = {"UV_CACHE_DIR": cache, "VIRTUAL_ENV": str(folder / "venv")}
    made = done(BIN / "uv", "venv", "-q", "--python", sys.executable, folder / "venv", cwd=folder, **settings)
    assert made.returncode == 0, made.stderr
    install = (BIN / "uv", "pip", "install", "-q", "-c", ROOT / "requirements" / "dev.txt", wheel)
    offline = done(*install, "--offline", cwd=folder, **settings)
    if offline.returncode:
        online = done(*install, cwd=folder, **settings)
        assert online.returncode == 0, f"not from the cache: {offline.stderr}\nnor from the index: {online.stderr}"
    return folder / "venv" / "bin"


def test_the_wheel_is_small_and_holds_the_package_alone(wheel):
    assert wheel.stat().st_size < LIMIT
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"calibrant"}
    assert not [name for name in names if "__pycache__" in name or "/test" in name]


def test_whatever_is_no_python_in_the_source_is_in_the_wheel(wheel):
    source = ROOT / "src"
    beside = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    beside = {name for name in beside if not name.endswith((".py", ".pyc"))}
    assert {"calibrant/py.typed", "calibrant/readers/plan.schema.json"} <= beside
    assert "calibrant/metrics/rubrics/groundedness.md" in beside
    assert beside <= set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_says_what_the_project_says(wheel):
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
    text = archive.read(metadata).decode()
    assert f"Version: {PROJECT['version']}" in text
    assert "License-Expression: Apache-2.0" in text
    for extra in PROJECT["optional-dependencies"]:
        assert f"Provides-Extra: {extra}" in text
    (points,) = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
    for group, entries in {"console_scripts": PROJECT["scripts"], **PROJECT.get("entry-points", {})}.items():
        assert f"[{group}]" in archive.read(points).decode()
        for name, target in entries.items():
            assert f"{name} = {target}" in archive.read(points).decode()


def test_a_fresh_environment_has_no_extra_and_every_module(alone, tmp_path):
    imported = done(alone / "python", "-W", "error", "-c", EVERYTHING, cwd=tmp_path)
    assert imported.returncode == 0, imported.stderr
    absent = done(alone / "python", "-c", "import matplotlib", cwd=tmp_path)
    assert "ModuleNotFoundError" in absent.stderr


def test_rubrics_and_schemas_are_there(alone, tmp_path):
    printed = done(alone / "python", "-c", ASKED, cwd=tmp_path)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.splitlines()[0].startswith("pass 1.000")
    assert printed.stdout.splitlines()[1].endswith("A Calibrant plan")


def test_a_first_run_works(alone, tmp_path):
    (tmp_path / "items.csv").write_text("id,question,answer\n1,Open?,Until six.\n2,Why?,\n", encoding="utf-8")
    assert done(alone / "calibrant", "init", "items.csv", cwd=tmp_path).returncode == 0
    run = done(alone / "calibrant", "run", "plan.yaml", "--quiet", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "answered  0.500 [" in run.stdout


def test_what_needs_an_extra_names_it(alone, tmp_path):
    asked = done(alone / "calibrant", "models", "ask", "local/smollm2", "Hello?", cwd=tmp_path)
    assert asked.returncode != 0
    assert "calibrant[local]" in asked.stderr
    assert len(asked.stderr.splitlines()) < 10
    listed = done(alone / "calibrant", "models", "list", cwd=tmp_path)
    assert "not installed: pip install 'calibrant[local]'" in listed.stdout
