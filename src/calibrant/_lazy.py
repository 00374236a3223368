"""Names that load their module when they are first asked for (PEP 562), so that importing a package runs nothing."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # importing typing would double what the import of the package costs
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_exports(package: str, exports: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of `package`, whose public names live in the modules that `exports` gives.

    >>> getattr_, dir_ = lazy_exports("calibrant", {"Coverage": "calibrant.estimates"})
    >>> getattr_("Coverage").__name__, dir_()
    ('Coverage', ['Coverage'])
    """

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the package's own
        module = exports.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:  # noqa: N807 - it becomes the package's own
        return sorted(exports)

    return __getattr__, __dir__
