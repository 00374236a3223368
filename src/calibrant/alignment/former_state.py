"""Another meta-evaluator's state file, put aside without its secrets before a project's own takes its name."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from calibrant.alignment.safe_names import safe_name
from calibrant.alignment.whole_files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["put_aside", "secrets_in", "warn_of_secrets", "without_secrets"]

LEFT_OUT = "(left out: it may be secret)"
HEADERS = frozenset({"headers", "extra_headers", "default_headers"})
SECRET = re.compile(r"api_?key|token|secret|password|passwd|authorization|credential", re.IGNORECASE)
PLAIN = frozenset({"eval_task", "evaluation_task"})
"""What a task is made of are names and answers, whatever they are called."""

LOGGER = logging.getLogger("calibrant.alignment.project")


def warn_of_secrets(path: Path, state: Mapping[str, Any]) -> None:
    """Say, while the file is still as it was, what of it the project will not keep."""
    found = list(secrets_in(state))
    if found:
        LOGGER.warning(
            "%s holds what may be secret (%s); a project keeps none: the file is put aside without it when something "
            "is added, so copy it to a place of your own if you need it",
            path,
            ", ".join(found),
        )


def put_aside(path: Path, state: Mapping[str, Any]) -> Path:
    """Move the state file at `path` to a name of its own beside it, and return that.

    What may be secret is left out and named in a warning: a project is passed on whole. Without any, the file stays as
    it is to the last byte.
    """
    version = safe_name(str(state.get("version") or "unknown"))
    aside = _free(path, version)
    found = list(secrets_in(state))
    if not found:
        path.replace(aside)
        return aside
    text = json.dumps(without_secrets(state), indent=2)
    write_whole(aside, lambda fresh: fresh.write_text(text, encoding="utf-8"))
    LOGGER.warning("%s is kept as %s, without what may be secret: %s", path, aside.name, ", ".join(found))
    return aside


def _free(path: Path, version: str) -> Path:
    """A name that no file has: what was put aside earlier stays."""
    aside, number = path.with_name(f"{path.stem}.{version}.json"), 2
    while aside.exists():
        aside, number = path.with_name(f"{path.stem}.{version}-{number}.json"), number + 1
    return aside


def secrets_in(state: Any, place: str = "") -> Iterator[str]:
    """Where in a state there are values that may be secret: all headers, and what is called a key or a token.

    >>> list(secrets_in({"judges": {"a": {"api_key": "sk-1", "api_key_env": "KEY", "max_tokens": 9}}}))
    ['judges.a.api_key']
    """
    if isinstance(state, list):
        for number, one in enumerate(cast("list[Any]", state)):
            yield from secrets_in(one, f"{place}.{number}" if place else str(number))
    if not isinstance(state, Mapping):
        return
    for name, value in cast("Mapping[str, Any]", state).items():
        inside = f"{place}.{name}" if place else str(name)
        if _may_be_secret(name, value):
            yield inside
        elif name not in PLAIN:
            yield from secrets_in(value, inside)


def without_secrets(state: Any) -> Any:
    """The state with a note in the place of each value that may be secret."""
    if isinstance(state, list):
        return [without_secrets(one) for one in cast("list[Any]", state)]
    if not isinstance(state, Mapping):
        return state
    return {
        name: LEFT_OUT if _may_be_secret(name, value) else value if name in PLAIN else without_secrets(value)
        for name, value in cast("Mapping[str, Any]", state).items()
    }


def _may_be_secret(name: str, value: Any) -> bool:
    """Whether this value is one; numbers and what is empty are not, and `api_key_env` names a variable."""
    if not value or isinstance(value, bool | int | float):
        return False
    if name in HEADERS:
        return True
    return SECRET.search(name) is not None and not name.endswith("_env") and isinstance(value, str | list)
