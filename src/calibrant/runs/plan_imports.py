"""Functions and classes that a plan names as `module:name`; modules beside the plan are found first."""

from __future__ import annotations

import contextlib
import sys
from importlib import import_module, invalidate_caches
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

__all__ = ["imported"]


def imported(reference: str, folder: Path) -> Any:
    """What `module:name` stands for in a plan that lies in `folder`; InputError says why it cannot be had.

    Two plans may each have a `checks.py` beside them: a module of the same name from elsewhere is left to those who
    imported it, and the plan gets its own.
    """
    module, _, name = reference.partition(":")
    try:
        with _found_first(str(folder.resolve()), module.partition(".")[0]):
            found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        raise InputError(f"cannot import {reference!r}: {error} (looked in {folder} first)") from None
    except AttributeError:
        has = _functions_of(module)
        raise InputError(f"module {module!r} has no {name!r}{f'; it has: {has}' if has else ''}") from None
    except Exception as error:
        raise InputError(f"importing {module!r} failed: {type(error).__name__}: {error}") from error
    return found


def _functions_of(module: str) -> str:
    """The names of what a module itself defines and a plan could name; nothing when it was not imported."""
    members = vars(sys.modules[module]) if module in sys.modules else {}
    own = [name for name, one in members.items() if getattr(one, "__module__", "") == module and name[0] != "_"]
    return ", ".join(sorted(own))


@contextlib.contextmanager
def _found_first(folder: str, package: str) -> Generator[None]:
    """Within it, `package` is the one that lies in `folder`, if one does; the folder stays importable afterwards."""
    if sys.path[:1] != [folder]:
        sys.path[:] = [folder, *(place for place in sys.path if place != folder)]
    invalidate_caches()
    others = _others(folder, package)
    for name in others:
        del sys.modules[name]
    try:
        yield
    finally:
        sys.modules.update(others)


def _others(folder: str, package: str) -> dict[str, Any]:
    """The modules of that name that were imported from another place than `folder`, which has its own."""
    loaded, own = sys.modules.get(package), PathFinder.find_spec(package, [folder])
    if loaded is None or own is None or own.origin is None or own.origin == getattr(loaded, "__file__", None):
        return {}
    return {name: module for name, module in sys.modules.items() if f"{name}.".startswith(f"{package}.")}
