"""Judges whose key is nowhere: a warning before a run, no error, since answers that are kept need no key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.errors import ModelCallError
from calibrant.models.invoker import InvokerWrapper

if TYPE_CHECKING:
    from collections.abc import Iterable

    from calibrant.metrics.base import BaseMetric

__all__ = ["key_warnings"]

KEPT = "only calls that the workspace holds already can be answered without"


def key_warnings(metrics: Iterable[BaseMetric]) -> tuple[str, ...]:
    """One warning for each judge that cannot be asked, for want of its key; nobody is asked to find out."""
    told = [_complaint(judge) for metric in metrics for judge in metric.models]
    return tuple(f"{text}; {KEPT}" for text in dict.fromkeys(told) if text)


def _complaint(judge: Any) -> str:
    """What the judge would say of its key; empty where it has one or needs none."""
    while isinstance(judge, InvokerWrapper):
        judge = judge.inner
    try:
        if endpoint := getattr(judge, "endpoint", None):
            endpoint.key()
    except ModelCallError as error:
        return str(error)
    return ""
