"""Names of judges and metrics as names of files: no path leads out of the project, and no two meet."""

from __future__ import annotations

import re

from calibrant.fingerprints import fingerprint

__all__ = ["safe_name"]

LONGEST = 120


def safe_name(name: str) -> str:
    """`name` as it can stand in any file system; one that had to be changed carries a piece of its hash.

    >>> safe_name("gpt_4_judge"), safe_name("Person 1")
    ('gpt_4_judge', 'Person 1')
    >>> safe_name("../../etc/passwd")
    '_.._etc_passwd-8c8931e4'
    """
    plain = re.sub(r"[^\w .()+=@,-]", "_", name, flags=re.ASCII).strip(". ")[:LONGEST]
    reserved = re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", plain)
    if plain == name and not reserved and plain:
        return plain
    return f"{plain}-{fingerprint(name).removeprefix('sha256:')[:8]}"
