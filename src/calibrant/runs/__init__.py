"""Runs: a dataset rated by metrics, kept, resumed, budgeted, held against gates, compared."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.runs.comparing import compare
    from calibrant.runs.comparison import Comparison, MetricDifference
    from calibrant.runs.engine import run, run_async
    from calibrant.runs.exporting import export, read_export
    from calibrant.runs.gate_text import Gate, parse_gate
    from calibrant.runs.planned import run_plan
    from calibrant.runs.records import GateAnswer, Run
    from calibrant.runs.references import reopened
    from calibrant.runs.replay_result import Replay
    from calibrant.runs.replaying import replay
    from calibrant.runs.settings import RunSettings
    from calibrant.runs.summaries import MetricSummary
    from calibrant.runs.verification import Verification
    from calibrant.runs.verifying import verify

__all__ = [
    "Comparison",
    "Gate",
    "GateAnswer",
    "MetricDifference",
    "MetricSummary",
    "Replay",
    "Run",
    "RunSettings",
    "Verification",
    "compare",
    "export",
    "parse_gate",
    "read_export",
    "reopened",
    "replay",
    "run",
    "run_async",
    "run_plan",
    "verify",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "Comparison": "calibrant.runs.comparison",
        "Gate": "calibrant.runs.gate_text",
        "GateAnswer": "calibrant.runs.records",
        "MetricDifference": "calibrant.runs.comparison",
        "MetricSummary": "calibrant.runs.summaries",
        "Replay": "calibrant.runs.replay_result",
        "Run": "calibrant.runs.records",
        "RunSettings": "calibrant.runs.settings",
        "Verification": "calibrant.runs.verification",
        "compare": "calibrant.runs.comparing",
        "export": "calibrant.runs.exporting",
        "parse_gate": "calibrant.runs.gate_text",
        "read_export": "calibrant.runs.exporting",
        "reopened": "calibrant.runs.references",
        "replay": "calibrant.runs.replaying",
        "run": "calibrant.runs.engine",
        "run_async": "calibrant.runs.engine",
        "run_plan": "calibrant.runs.planned",
        "verify": "calibrant.runs.verifying",
    },
)
