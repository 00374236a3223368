"""Files that are there as a whole or not at all: a session that is killed leaves the one before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["write_json", "write_whole"]


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` write a file beside `path`, and give it that name when it is complete.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a.txt", lambda fresh: fresh.write_text("whole"))
    ...     [found.name for found in Path(folder).iterdir()]
    ['a.txt']
    """
    # A name of its own, so that two sessions that write the same file do not meet.
    fresh = path.with_name(f"{uuid4().hex}.new")
    try:
        write(fresh)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def write_json(path: Path, data: Any) -> None:
    """Write `data` as JSON without NaN; what JSON has no word for as text."""
    text = json.dumps(data, indent=2, allow_nan=False, default=str)
    write_whole(path, lambda fresh: fresh.write_text(text, encoding="utf-8"))
