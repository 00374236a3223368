"""Rubrics in files: Markdown with front matter, from the package or from the user's folder; every bad line is named."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from calibrant.errors import InputError, UnknownNameError, shortened
from calibrant.metrics.rubric_record import Rubric, RubricExample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["parse_rubric", "read_rubric", "rubric_markdown", "rubric_names", "rubric_text"]

_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?(.*)\Z", re.DOTALL | re.MULTILINE)
_FOLDER = resources.files("calibrant.metrics") / "rubrics"


class _Line(NamedTuple):
    """A key of the front matter, its value, and the line that it stands in."""

    key: str
    value: Any
    line: int


def rubric_names() -> list[str]:
    """The names of the rubrics that are shipped.

    >>> "groundedness" in rubric_names()
    True
    """
    return sorted(entry.name.removesuffix(".md") for entry in _FOLDER.iterdir() if entry.name.endswith(".md"))


def read_rubric(source: str | Path) -> Rubric:
    """The rubric of a file, or of that name: a shipped one, else one of your own.

    A path may leave `.md` out. A name that is not shipped is looked for as NAME.md and rubrics/NAME.md in the current
    folder.

    >>> read_rubric("redundancy").higher_is_better
    False
    """
    if isinstance(source, str) and source in rubric_names():
        return _shipped(source)
    path = Path(source)
    if not path.suffix:
        path = _own(path, str(source))
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the rubric {path}: {error}") from None
    return parse_rubric(text, str(path))


def rubric_text(name: str) -> str:
    """The shipped rubric as it is written: a file to start one of your own from."""
    if name not in rubric_names():
        raise UnknownNameError.among("rubric", name, rubric_names())
    return (_FOLDER / f"{name}.md").read_text("utf-8")


def parse_rubric(text: str, where: str) -> Rubric:
    """The rubric that `text` is; `where` is what errors call it. Every problem is told, with its line."""
    text = text.removeprefix("\ufeff")
    found = _FRONT_MATTER.match(text)
    if found is None:
        raise InputError(f"{where} is no rubric: it begins with a line ---, then keys, then a line ---, then the text")
    # What stands before the keys is replaced by as many empty lines, so that YAML counts the lines of the file.
    lines = _front_matter("\n" * text.count("\n", 0, found.start(1)) + found[1], where)
    values: dict[str, Any] = {}
    problems: list[str] = []
    for key, value, line in lines:
        try:
            values.update(_checked(key, value))
        except InputError as error:
            problems.append(f"line {line}: {error}")
    definition = found[2].strip()
    if not definition:
        problems.append("there is no text after the front matter: write there what the criterion is")
    problems.extend(f"{key} is missing" for key in ("fields", "levels") if key not in {one.key for one in lines})
    if problems:
        raise InputError.gathered(where, problems)
    values.setdefault("criterion", Path(where).stem)
    try:
        return Rubric(definition=definition, **values)
    except InputError as error:
        at = {one.key: one.line for one in lines}
        raise InputError.gathered(where, [_located(problem, at) for problem in error.problems]) from None


def rubric_markdown(rubric: Rubric) -> str:
    """`rubric` as a file that `parse_rubric` reads back."""
    from ruamel.yaml import YAML

    examples = [{**one.texts, "level": one.level, "explanation": one.explanation} for one in rubric.examples]
    keys: dict[str, Any] = {
        "criterion": rubric.criterion,
        "fields": list(rubric.fields),
        "optional": list(rubric.optional),
        "steps": list(rubric.steps),
        "levels": dict(rubric.levels),
        "labels": list(rubric.labels),
        "polarity": "higher" if rubric.higher_is_better else "lower",
        "threshold": rubric.threshold,
        "examples": examples,
    }
    front = StringIO()
    writer = YAML()
    writer.width = 110
    writer.dump({key: value for key, value in keys.items() if value not in ([], ())}, front)
    return f"---\n{front.getvalue()}---\n{rubric.definition}\n"


def _own(path: Path, name: str) -> Path:
    """The file of the user's that a name, or a path without its ending, stands for."""
    is_name = path.name == name
    places = [path.with_name(f"{path.name}.md"), *([Path("rubrics", f"{name}.md")] if is_name else [])]
    for place in [path, *places]:
        if place.is_file():
            return place
    if not is_name:
        return places[0]
    known = ", ".join(rubric_names())
    raise UnknownNameError(
        f"unknown rubric {name!r}; expected a file of yours ({name}.md, rubrics/{name}.md) or one of: {known}"
    )


@cache
def _shipped(name: str) -> Rubric:
    return parse_rubric(rubric_text(name), name)


def _front_matter(text: str, where: str) -> list[_Line]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        loaded = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{where}, line {line}: {error.problem or error}") from None
    except YAMLError as error:
        raise InputError(f"{where} is no YAML before its text: {' '.join(str(error).split())}") from None
    if not isinstance(loaded, dict):
        line = text[: len(text) - len(text.lstrip())].count("\n") + 1
        raise InputError(f"{where}, line {line}: expected keys and values, got {shortened(loaded)}")
    marks = cast("Any", loaded).lc
    return [_Line(str(key), value, marks.key(key)[0] + 1) for key, value in cast("dict[Any, Any]", loaded).items()]


def _located(problem: str, lines: Mapping[str, int]) -> str:
    """A problem of the rubric as a whole, with the line of the key that it is about, where that is plain."""
    for start, key in {
        "example": "examples",
        "label": "labels",
        "no label": "labels",
        "levels": "levels",
        "fields": "fields",
    }.items():
        if problem.startswith(start) and key in lines:
            return f"line {lines[key]}: {problem}"
    return problem


def _checked(key: str, value: Any) -> dict[str, Any]:
    if key not in _KEYS:
        raise InputError(f"unknown key {key!r}; the keys are: {', '.join(sorted(_KEYS))}")
    return _KEYS[key](value)


def _criterion(value: Any) -> dict[str, Any]:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z][\w-]*", value):
        raise InputError(f"criterion is a name of letters, digits, - and _, not {shortened(value)}")
    return {"criterion": str(value)}


def _names(target: str) -> Callable[[Any], dict[str, Any]]:
    def check(value: Any) -> dict[str, Any]:
        texts = _texts(target, value)
        wrong = [name for name in texts if not name.isidentifier()]
        if wrong:
            raise InputError(f"{target} names fields of the item, and {wrong[0]!r} can be none")
        return {target: texts}

    return check


def _texts(target: str, value: Any) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise InputError(f"{target} is a list of texts, not {shortened(value)}")
    empty = [place for place, one in enumerate(cast("list[str]", given), 1) if not one.strip()]
    if empty:
        raise InputError(f"{target} is a list of texts, and its text {empty[0]} is empty")
    return tuple(str(one) for one in given)


def _levels(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(_is_level(key) for key in cast("dict[object, Any]", value)):
        raise InputError(f"levels is a mapping from whole numbers to what they mean, not {shortened(value)}")
    wrong = [key for key, text in value.items() if not isinstance(text, str) or not text.strip()]
    if wrong:
        raise InputError(f"level {wrong[0]} says nothing; describe it in a sentence")
    return {"levels": {int(key): str(text).strip() for key, text in value.items()}}


def _polarity(value: Any) -> dict[str, Any]:
    if value not in ("higher", "lower"):
        raise InputError(f"polarity is `higher` or `lower` (is better), not {shortened(value)}")
    return {"higher_is_better": value == "higher"}


def _threshold(value: Any) -> dict[str, Any]:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InputError(f"threshold is a number in [0, 1], not {shortened(value)}")
    return {"threshold": float(value)}


def _examples(value: Any) -> dict[str, Any]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError(
            f"examples is a list of mappings with the fields, `level` and `explanation`, not {shortened(value)}"
        )
    return {"examples": tuple(_example(place, dict(one)) for place, one in enumerate(value, 1))}


def _example(place: int, given: dict[str, Any]) -> RubricExample:
    level, explanation = given.pop("level", None), given.pop("explanation", "")
    if not _is_level(level):
        raise InputError(f"example {place} needs a `level`, got {shortened(level)}")
    texts = {str(name): _example_text(place, str(name), value) for name, value in given.items()}
    return RubricExample(texts=texts, level=cast("int", level), explanation=str(explanation or "").strip())


def _example_text(place: int, name: str, value: Any) -> str:
    parts = value if isinstance(value, list) else [value]
    if not parts or not all(isinstance(one, str | int | float) for one in cast("list[object]", parts)):
        raise InputError(f"{name} of example {place} is a text or a list of texts, not {shortened(value)}")
    return "\n".join(map(str, parts))


def _is_level(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_KEYS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "criterion": _criterion,
    "fields": _names("fields"),
    "optional": _names("optional"),
    "steps": lambda value: {"steps": _texts("steps", value)},
    "labels": lambda value: {"labels": _texts("labels", value)},
    "levels": _levels,
    "polarity": _polarity,
    "threshold": _threshold,
    "examples": _examples,
}
