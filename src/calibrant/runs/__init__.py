"""Runs: a dataset rated by metrics, kept, resumed, budgeted."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.runs.engine import run, run_async
    from calibrant.runs.records import GateAnswer, MetricSummary, Run
    from calibrant.runs.settings import RunSettings

__all__ = ["GateAnswer", "MetricSummary", "Run", "RunSettings", "run", "run_async"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "GateAnswer": "calibrant.runs.records",
        "MetricSummary": "calibrant.runs.records",
        "Run": "calibrant.runs.records",
        "RunSettings": "calibrant.runs.settings",
        "run": "calibrant.runs.engine",
        "run_async": "calibrant.runs.engine",
    },
)
