"""A report without the texts in it, for where none may be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.errors import CODES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["report_without_text"]


def report_without_text(report: Mapping[str, Any]) -> dict[str, Any]:
    """A run's JSON in which every example of a failure says what its code means, and not what was said.

    What judges said of canaries goes too; which were wrong stays.
    """
    metrics = [{**one, "failures": [_meant(cause) for cause in one["failures"]]} for one in report["metrics"]]
    if "canaries" not in report:
        return {**report, "metrics": metrics}
    canaries = [
        {**one, "wrong": [{**canary, "said": "not kept"} for canary in one["wrong"]]} for one in report["canaries"]
    ]
    return {**report, "metrics": metrics, "canaries": canaries}


def _meant(cause: Mapping[str, Any]) -> dict[str, Any]:
    return {**cause, "message": CODES[cause["code"]].meaning}
