"""All pages of the reference, and the folder that the site is built from."""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING

from reference.commands import commands_page
from reference.names import PACKAGES, package_page
from reference.tables import exceptions_page, measures_page, metrics_page, plan_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["REFERENCE", "write_site"]

REFERENCE: Mapping[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "plan.md": plan_page,
    "metrics.md": metrics_page,
    "measures.md": measures_page,
    "exceptions.md": exceptions_page,
    **{
        f"names/{package.removeprefix('calibrant.').replace('.', '-')}.md": partial(package_page, package)
        for package in PACKAGES
    },
}
"""Where a page of the reference lies, and what writes it."""


def write_site(docs: Path, target: Path) -> None:
    """Copy the pages and pictures of `docs` to `target`, made anew, and write the reference beside them."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(docs, target, ignore=shutil.ignore_patterns("*.py", "__pycache__", "reference"))
    for name, written in REFERENCE.items():
        place = target / "reference" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(written(), encoding="utf-8")
