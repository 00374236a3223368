"""What a user can import: complete, sorted, documented, and hiding no module."""

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import calibrant

ROOT = Path(calibrant.__file__).parent
PACKAGES = ["calibrant", *(f"calibrant.{path.parent.name}" for path in sorted(ROOT.glob("*/__init__.py")))]
MODULES = sorted(
    module.name for module in pkgutil.walk_packages([str(ROOT)], "calibrant.") if "__main__" not in module.name
)


@pytest.mark.parametrize("name", PACKAGES)
def test_public_names_are_sorted_and_resolve(name):
    package = importlib.import_module(name)
    public_names = getattr(package, "__all__", [])
    assert list(public_names) == sorted(set(public_names))
    for public in public_names:
        getattr(package, public)
    assert set(public_names) <= set(dir(package))


@pytest.mark.parametrize("name", PACKAGES)
def test_no_public_name_hides_a_module_beside_it(name):
    package = importlib.import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not modules & set(getattr(package, "__all__", []))


@pytest.mark.parametrize("name", PACKAGES)
def test_type_checkers_see_the_names_that_are_there(name):
    package = importlib.import_module(name)
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    guarded = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    imported = {alias.asname or alias.name for node in guarded for line in node.body for alias in line.names}
    if guarded:
        assert imported == set(package.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_s_own_list_of_names_resolves_and_is_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for public in getattr(module, "__all__", []):
        value = getattr(module, public)
        if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__ == name:
            assert value.__doc__, f"{name}.{public} has no docstring"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'calibrant' has no attribute 'Bogus'"):
        _ = calibrant.Bogus
