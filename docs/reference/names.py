"""A page for each package: every public name with its signature and its docstring."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from reference.markdown import code, docstring, page, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

__all__ = ["PACKAGES", "package_page", "public_names"]

PACKAGES = (
    "calibrant",
    *(f"calibrant.{name}" for name in ("aggregation", "agreement", "alignment", "alignment.scorers", "metrics")),
    *(f"calibrant.{name}" for name in ("models", "readers", "report", "retrieval", "runs", "stats", "store")),
)
WIDTH = 100


def public_names(package: str) -> Mapping[str, Any]:
    """What `package` offers, by name."""
    module = import_module(package)
    return {name: getattr(module, name) for name in module.__all__}


def package_page(package: str) -> str:
    """The page of one package; what the top package only passes on is a row that says where it is described."""
    module = import_module(package)
    names = public_names(package)
    elsewhere = {name: home for name in names if package == "calibrant" and (home := _home(name))}
    own = {name: value for name, value in names.items() if name not in elsewhere}
    sections = [text for name, value in own.items() for text in _section(package, name, value)]
    return page(package, docstring(module.__doc__ or ""), _rows(elsewhere), *sections)


def _home(name: str) -> str | None:
    """The package that describes `name`."""
    return next((package for package in PACKAGES[1:] if name in import_module(package).__all__), None)


def _rows(elsewhere: Mapping[str, str]) -> str:
    if not elsewhere:
        return ""
    rows = [(f"`{name}`", f"[{home}]({_file(home)}#{name.lower()})") for name, home in elsewhere.items()]
    return table(("name", "described in"), rows)


def _file(package: str) -> str:
    return f"{package.removeprefix('calibrant.').replace('.', '-')}.md"


def _section(package: str, name: str, value: Any) -> Iterator[str]:
    yield f"## {name} {{#{name.lower()}}}"
    if inspect.isclass(value):
        yield from _class(name, value)
    elif inspect.isroutine(value):
        yield code(f"def {name}{_signature(value)}", "python")
        yield docstring(inspect.getdoc(value) or "")
    else:
        yield _said_of(import_module(package), name)


def _class(name: str, value: type) -> Iterator[str]:
    bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
    yield code(f"class {name}{f'({bases})' if bases else ''}:\n    {_constructor(value)}", "python")
    yield docstring(inspect.getdoc(value) or "")
    for member, found in vars(value).items():
        if not member.startswith("_") and (text := _member(member, found)):
            yield text


def _constructor(value: type) -> str:
    try:
        return f"def __init__{_signature(value)}".replace("\n", "\n    ")
    except (TypeError, ValueError):
        return "..."


def _member(name: str, found: Any) -> str:
    """A method or property with its docstring; empty for plain attributes."""
    function = getattr(found, "__func__", found)
    if isinstance(found, property):
        said, head = inspect.getdoc(found), ""
    elif inspect.isfunction(function):
        said, head = inspect.getdoc(function), code(f"{name}{_signature(function)}", "python")
    else:
        return ""
    parts = [f"### {name}", head, docstring(said)] if said else []
    return "\n\n".join(part for part in parts if part)


class _Bare(str):
    """An annotation that is shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _signature(value: Any) -> str:
    """The signature as it would be written, without `self`, over several lines where it is long."""
    found = inspect.signature(value)
    kept = [one.replace(annotation=_bare(one.annotation)) for one in found.parameters.values() if one.name != "self"]
    shown = str(found.replace(parameters=kept, return_annotation=_bare(found.return_annotation)))
    return "\n".join(wrap(shown, WIDTH, subsequent_indent="    ", break_long_words=False))


def _bare(annotation: Any) -> Any:
    return _Bare(annotation) if isinstance(annotation, str) else annotation


def _said_of(module: ModuleType, name: str) -> str:
    """The text right below the assignment of `name`, wherever the package takes it from."""
    for place in _places(module, name):
        body = ast.parse(Path(place).read_text(encoding="utf-8")).body
        for line, following in pairwise(body):
            if name in _assigned(line) and (said := _text_of(following)):
                return docstring(inspect.cleandoc(said))
    return ""


def _text_of(line: ast.stmt) -> str:
    """The text, if the line is nothing else."""
    value = line.value if isinstance(line, ast.Expr) else None
    return str(value.value) if isinstance(value, ast.Constant) else ""


def _places(module: ModuleType, name: str) -> Iterator[str]:
    """The files in which `name` may be assigned."""
    folder = Path(str(module.__file__)).parent
    yield from (str(path) for path in sorted(folder.rglob("*.py")) if name in path.read_text(encoding="utf-8"))


def _assigned(line: ast.stmt) -> set[str]:
    targets = line.targets if isinstance(line, ast.Assign) else [line.target] if isinstance(line, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}
