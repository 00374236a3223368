"""Which process works on a run, so that one which was killed is not taken to be running still."""

from __future__ import annotations

import contextlib
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.fingerprints import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["status_of", "this_process"]

MAY_ASK = os.name == "posix"
"""Elsewhere the question whether a process is there would end it."""


def this_process() -> dict[str, Any]:
    """This process as a manifest names it: its number, and the hash of where that number means something."""
    place = [platform.node()]
    with contextlib.suppress(OSError):
        # Two containers may have one host name, and each a process of the same number.
        place.append(str(Path("/proc/self/ns/pid").readlink()))
    return {"pid": os.getpid(), "place": fingerprint(place)}


def status_of(manifest: Mapping[str, Any]) -> str:
    """The status of a run; "interrupted" where it is known that the process which worked on it is no more.

    >>> status_of({"status": "complete"}), status_of({"status": "running"})
    ('complete', 'running')
    """
    process = manifest.get("process")
    if manifest["status"] != "running" or process is None or process["place"] != this_process()["place"]:
        return manifest["status"]
    return "running" if _is_alive(process["pid"]) else "interrupted"


def _is_alive(pid: int) -> bool:
    if not MAY_ASK:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
