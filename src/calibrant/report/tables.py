"""A run in the terminal: one row a metric, then what failed and why, and what the numbers rest on."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calibrant.errors import counted
from calibrant.report.columns import aligned

__all__ = [
    "counts_tokens",
    "estimate_text",
    "gate_lines",
    "money",
    "named_item",
    "run_csv",
    "run_text",
    "unrated_metrics",
]

Data = Mapping[str, Any]
HEADER = ("metric", "pass rate", "score", "n", "failed", "skipped", "worst case", "cost")
ESTIMATES = ("pass_rate", "score", "corrected_pass_rate")
MESSAGE_LENGTH = 100
SHOWN_CANARIES = 3
HASH_LENGTH = 16
"""An item without an id of its own is called by so many digits of its hash."""


def run_text(run: Data) -> str:
    """A run's JSON (`Run.to_json()`) as one screen of text.

    The pass rate and the score stand with their intervals; what was not rated stands beside them with its cause, and
    the worst case is the pass rate with all failures counted as fails, and as passes.
    """
    blocks = [_headline(run), aligned(HEADER, [_row(metric) for metric in run["metrics"]], right=frozenset({"n"}))]
    blocks += [
        "\n".join(lines)
        for lines in (
            [*_reasons(run)],
            [*_corrected(run)],
            [*_failures(run)],
            [*_unstable(run)],
            [*_canaries(run)],
            [*_system(run)],
            [*gate_lines(run["gates"])],
            [f"warning: {text}" for text in run["warnings"]],
        )
        if lines
    ]
    return "\n\n".join([*blocks, _footer(run)])


def run_csv(run: Data) -> str:
    """A run's JSON as CSV: one row for every metric and estimate."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    counts = ("rated", "failed", "skipped", "not_applicable")
    numbers = ("value", "lower", "upper", "level", "method")
    writer.writerow(["run", "metric", "estimate", *numbers, *counts, "worst_low", "worst_high", "reason"])
    for metric in run["metrics"]:
        for name in ESTIMATES:
            estimate = metric[name]
            if estimate is not None:
                worst = estimate["worst_case"] or (None, None)
                coverage = [estimate["coverage"][count] for count in counts]
                values = [estimate[number] for number in numbers]
                writer.writerow([run["run"], metric["name"], name, *values, *coverage, *worst, estimate["reason"]])
    return out.getvalue()


def estimate_text(estimate: Data | None) -> str:
    """The value with its interval; a dash where there is none.

    >>> estimate_text({"value": 0.8111, "lower": 0.7697, "upper": 0.8465})
    '0.811 [0.770, 0.847]'
    """
    if estimate is None or estimate["value"] is None:
        return "-"
    low, high = estimate["lower"], estimate["upper"]
    if low is None and high is None:
        return f"{estimate['value']:.3f}"
    lower, upper = "-inf" if low is None else f"{low:.3f}", "inf" if high is None else f"{high:.3f}"
    return f"{estimate['value']:.3f} [{lower}, {upper}]"


def money(usd: float | None) -> str:
    """Dollars, or that the price is unknown.

    >>> money(0.0123), money(None)
    ('$0.0123', 'unknown')
    """
    return "unknown" if usd is None else "$0" if usd == 0 else f"${usd:.4f}" if usd < 1 else f"${usd:.2f}"


def _headline(run: Data) -> str:
    dataset = run["dataset"]
    clusters = f" in {dataset['clusters']} clusters" if "clusters" in dataset else ""
    unrated = ", ".join(unrated_metrics(run))
    partial = f"  INCONCLUSIVE: {unrated} rated nothing" if unrated else ""
    partial = partial if run["status"] == "complete" else "  INCOMPLETE: the numbers are partial"
    failed = [report["metric"] for report in run.get("canaries", ()) if not report["passed"]]
    gullible = f"  CANARIES FAILED: {', '.join(failed)}" if failed else ""
    return f"{run['name']}  {run['run']}  {dataset['n']} items of {dataset['name']}{clusters}{partial}{gullible}"


def unrated_metrics(run: Data) -> list[str]:
    """The names of the metrics that rated no item at all."""
    return [metric["name"] for metric in run["metrics"] if not metric["pass_rate"]["coverage"]["rated"]]


def _row(metric: Data) -> list[str]:
    coverage = metric["pass_rate"]["coverage"]
    worst = metric["pass_rate"]["worst_case"]
    usage = metric["usage"]
    return [
        metric["name"],
        estimate_text(metric["pass_rate"]),
        estimate_text(metric["score"]),
        str(coverage["rated"]),
        _counted(coverage["failed"], metric, "failed"),
        _counted(coverage["skipped"], metric, "skipped"),
        f"{worst[0]:.3f} to {worst[1]:.3f}" if worst and worst[0] != worst[1] else "-",
        money(usage["usd"]) if usage["calls"] or usage["cached"] else "-",
    ]


def _counted(count: int, metric: Data, status: str) -> str:
    """The count, with its codes where they are of this status."""
    from calibrant.errors import CODES

    codes = metric["pass_rate"]["coverage"]["codes"]
    named = [f"{number} {code}" for code, number in codes.items() if CODES[code].status == status]
    return f"{count}" if not named else named[0] if len(named) == 1 else f"{count} ({', '.join(named)})"


def _reasons(run: Data) -> Iterator[str]:
    """Why an estimate of a metric that rated items is missing, or has no interval."""
    for metric in run["metrics"]:
        if not metric["pass_rate"]["coverage"]["rated"]:
            continue
        named: dict[str, list[str]] = {}
        for name in ("pass_rate", "score"):
            if metric[name]["reason"]:
                named.setdefault(metric[name]["reason"], []).append(name.replace("_", " "))
        yield from (f"{metric['name']}, {' and '.join(names)}: {reason}" for reason, names in named.items())


def _corrected(run: Data) -> Iterator[str]:
    for metric in run["metrics"]:
        corrected = metric["corrected_pass_rate"]
        if corrected is not None:
            own, text = estimate_text(metric["pass_rate"]), estimate_text(corrected)
            reason = f" ({corrected['reason']})" if corrected["reason"] else ""
            yield f"{metric['name']}: corrected by people {text}, the judge's own {own}{reason}"


def named_item(cause: Data) -> str:
    """The item of a failure's example, with its place in the dataset where its name is only its hash.

    >>> named_item({"item": "95c3c1f0a6b7d8e9", "number": 4}), named_item({"item": "t4", "number": 4})
    ('95c3c1f0a6b7d8e9 (number 4)', 't4')
    """
    is_hash = len(cause["item"]) == HASH_LENGTH and not cause["item"].strip("0123456789abcdef")
    number = cause.get("number") if is_hash else None
    return f"{cause['item']} (number {number})" if number else cause["item"]


def _failures(run: Data) -> Iterator[str]:
    for metric in run["metrics"]:
        for cause in metric["failures"]:
            message = " ".join(cause["message"].split())
            shown = message if len(message) <= MESSAGE_LENGTH else f"{message[:MESSAGE_LENGTH]}..."
            yield f"{metric['name']}: {cause['count']} {cause['code']}, for example item {named_item(cause)}: {shown}"


def _unstable(run: Data) -> Iterator[str]:
    for metric in run["metrics"]:
        if metric["unstable"]:
            shown = ", ".join(
                f"{one['item']} ({one['passed']} of {one['votes']} pass, {one['lowest']:.2f} to {one['highest']:.2f})"
                for one in metric["unstable"][:3]
            )
            flips = "" if metric["flip_rate"] is None else f"; two votes disagree on {metric['flip_rate']:.1%}"
            spread = metric.get("vote_variance")
            flips += "" if spread is None else f", their variance within an item is {spread:.3f}"
            yield f"{metric['name']}: least stable {shown}{flips}"


def _canaries(run: Data) -> Iterator[str]:
    for report in run.get("canaries", ()):
        right, wrong = report["right"], report["wrong"]
        coverage = right["coverage"]
        asked = coverage["rated"] + coverage["failed"] + coverage["not_applicable"]
        left = f", {coverage['skipped']} not asked about" if coverage["skipped"] else ""
        if not asked:
            none = f"none of {coverage['skipped']} was asked about" if coverage["skipped"] else "none fits it"
            yield f"canaries  {report['metric']}: {none}"
            continue
        verdict = "FAILED" if wrong else "right"
        yield f"canaries  {report['metric']}: {verdict}, {asked - len(wrong)} of {asked} as they should be{left}"
        for one in wrong[:SHOWN_CANARIES]:
            said = " ".join(one["said"].split())
            yield f"  {one['canary']}: {said if len(said) <= MESSAGE_LENGTH else said[:MESSAGE_LENGTH] + '...'}"
        if len(wrong) > SHOWN_CANARIES:
            yield f"  ... and {len(wrong) - SHOWN_CANARIES} more"


def _system(run: Data) -> Iterator[str]:
    system = run.get("system")
    if system is not None:
        times = [f"{name} {value:.2f} s" for name, value in system["latency"].items() if value is not None]
        cached = f", {system['cached']} answers kept from before" if system["cached"] else ""
        failed = f", {system['failed']} failed" if system["failed"] else ""
        yield f"system {system['name']}: {system['calls']} calls{failed}{cached}" + "".join(f", {one}" for one in times)


def gate_lines(gates: Sequence[Data]) -> Iterator[str]:
    """One line a gate: its answer, what was asked, why, and what would settle it."""
    for gate in gates:
        more = gate.get("more_items")
        settle = f"; about {counted(more, 'more item')} would settle it" if more else ""
        reason = f" ({gate['reason']})" if gate.get("reason") else ""
        yield f"{gate['answer']}  {gate['gate']}{reason}{settle}"


def counts_tokens(usage: Data) -> bool:
    """Whether the tokens of these calls are known: calls that took none were of a provider that does not count them."""
    return bool(usage["input_tokens"] or usage["output_tokens"] or not usage["calls"])


def _footer(run: Data) -> str:
    usage, spending = run["usage"], run.get("spending")
    if spending is not None and (usage["calls"] or usage["cached"] or spending["usage"]["calls"]):
        unknown = "" if spending["is_all"] else ", and what was asked before a kill"
        return f"this time: {_taken(usage)}\nin all: {_taken(spending['usage'], kept=False)}{unknown}"
    if not usage["calls"] and not usage["cached"]:
        return "no model was asked"
    return _taken(usage)


def _taken(usage: Data, *, kept: bool = True) -> str:
    calls = f"{usage['calls']:,} calls" + (f", {usage['cached']:,} from the workspace" if kept else "")
    told = f"{usage['input_tokens']:,} tokens read, {usage['output_tokens']:,} written"
    tokens = told if counts_tokens(usage) else "no tokens counted by the provider"
    return f"{calls}, {tokens}, cost {money(usage['usd'])}"
