"""A run as sections of a page: the answers of its gates, its numbers with intervals, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calibrant.errors import CODES, counted
from calibrant.report.drawing import Scale, distribution, interval, label_counts
from calibrant.report.markup import DASH, Child, Markup, element, joined
from calibrant.report.page import Section, section, table
from calibrant.report.tables import counts_tokens, estimate_text, money, named_item, unrated_metrics

__all__ = ["answers", "estimate_cell", "run_lead", "run_sections"]

Data = Mapping[str, Any]
MARKS = {"PASS": "✓", "FAIL": "✕", "INCONCLUSIVE": "?"}
LEGEND = (
    "A ring is the value, the bar its {level:.0%} interval, a dotted line below it the worst case: had everything that "
    "could not be rated failed, and had it passed."
)


def run_lead(run: Data) -> Markup:
    """What the page begins with: which run it is, of what, and how it ended."""
    dataset = run["dataset"]
    clusters = f" in {dataset['clusters']} clusters" if "clusters" in dataset else ""
    counts = [gate["answer"] for gate in run["gates"]]
    told = ", ".join(f"{counts.count(answer)} {answer}" for answer in MARKS if answer in counts)
    return joined(
        element(
            "p",
            element("strong", f"{dataset['n']:,} items"),
            f" of {dataset['name'] or 'a list'}{clusters}, run ",
            element("span", run["run"], class_="id"),
            f". Gates: {told}." if told else ".",
        ),
        _unsettled(run),
        _gullible(run),
    )


def run_sections(run: Data) -> Iterator[Section]:
    """The sections that a run's JSON (`Run.to_json()`) has something to say in."""
    if run["gates"]:
        yield section("Gates", answers(run["gates"]))
    yield section("Metrics", *_headline(run))
    for title, parts in (
        ("What was not rated, by cause", [*_failures(run)]),
        ("Distribution of scores", [*_distributions(run)]),
        ("Canaries", [*_canaries(run)]),
        ("Least stable items", [*_unstable(run)]),
    ):
        if parts:
            yield section(title, *parts)
    yield section("What it took", *_usage(run))


def answers(gates: Sequence[Data]) -> Markup:
    """Gates with their answers, each with a sign and in words."""
    rows = [
        [
            element("span", element("span", MARKS[gate["answer"]], class_="mark", aria_hidden="true"), gate["answer"]),
            element("code", gate["gate"]),
            joined(gate["reason"], element("small", settles) if (settles := _settles(gate)) else None),
        ]
        for gate in gates
    ]
    return table(["Answer", "Gate", "Why"], rows, label="Gates")


def estimate_cell(estimate: Data | None, label: str, *, scale: Scale | None = None) -> Markup:
    """An estimate in a table: its value, its interval drawn and in numbers, or why there is none."""
    if estimate is None or estimate["value"] is None:
        return joined(DASH, element("small", "" if estimate is None else estimate["reason"]))
    value, _, bounds = estimate_text(estimate).partition(" ")
    return joined(
        element("span", value, class_="value"),
        " ",
        element("span", bounds, class_="range"),
        interval(estimate, scale=scale, label=label),
    )


def _settles(gate: Data) -> str:
    more = gate.get("more_items")
    return f"About {counted(more, 'more item')} would settle it." if more else ""


def _headline(run: Data) -> Iterator[Markup]:
    for text in run["warnings"]:
        yield element("p", text, class_="note")
    has_people = any(metric["corrected_pass_rate"] is not None for metric in run["metrics"])
    header = ["Metric", "Pass rate", *(["Corrected by people"] if has_people else []), "Score", "Rated", "Cost"]
    yield table(header, [_row(metric, has_people=has_people) for metric in run["metrics"]], label="Metrics")
    level = run["metrics"][0]["pass_rate"]["level"] if run["metrics"] else 0.95
    yield element("p", LEGEND.format(level=level), class_="small")


def _row(metric: Data, *, has_people: bool) -> list[Markup]:
    name, usage = metric["name"], metric["usage"]
    judges = ", ".join(dict.fromkeys(metric["judges"])) or "a rule: no model was asked"
    named = joined(name, element("small", judges))
    people = [estimate_cell(metric["corrected_pass_rate"], f"{name}, pass rate corrected by people")]
    paid = money(usage["usd"]) if usage["calls"] or usage["cached"] else DASH
    return [
        named,
        estimate_cell(metric["pass_rate"], f"{name}, pass rate"),
        *(people if has_people else []),
        estimate_cell(metric["score"], f"{name}, score"),
        _coverage(metric["pass_rate"]),
        joined(paid),
    ]


def _coverage(estimate: Data) -> Markup:
    """How many were rated of how many, and what became of the others."""
    coverage = estimate["coverage"]
    missing = [
        f"{coverage[status]:,} {status.replace('_', ' ')}"
        for status in ("failed", "skipped", "not_applicable")
        if coverage[status]
    ]
    worst = estimate["worst_case"]
    bounds = f"worst case {worst[0]:.3f} to {worst[1]:.3f}" if worst and missing and worst[0] != worst[1] else None
    total = sum(coverage[status] for status in ("rated", "failed", "skipped", "not_applicable"))
    return joined(
        element("span", element("span", f"{coverage['rated']:,}", class_="value"), f" of {total:,}", class_="counted"),
        element("small", ", ".join(missing) or "nothing failed"),
        None if bounds is None else element("small", bounds),
    )


def _failures(run: Data) -> Iterator[Markup]:
    rows = [
        [
            joined(element("code", cause["code"]), element("small", CODES[cause["code"]].meaning)),
            metric["name"],
            f"{cause['count']:,}",
            element("span", named_item(cause), class_="id"),
            element("div", cause["message"], class_="wide"),
        ]
        for metric in run["metrics"]
        for cause in metric["failures"]
    ]
    if rows:
        header = ["Cause", "Metric", "Items", "For example", "What was said"]
        yield table(header, rows, label="What was not rated, by cause", numbers=frozenset({2}))


def _distributions(run: Data) -> Iterator[Markup]:
    figures = [_figure(metric) for metric in run["metrics"] if (metric.get("distribution") or {}).get("values")]
    if figures:
        yield element("div", *figures, class_="figures")
        yield element("p", "Full bars pass, outlined ones do not; the dashed line is the threshold.", class_="small")


def _figure(metric: Data) -> Markup:
    spread, name = metric["distribution"], metric["name"]
    if isinstance(spread["values"][0], str):
        drawn, told = label_counts(spread, label=name), "labels"
    else:
        higher, threshold = metric.get("higher_is_better", True), metric.get("threshold")
        drawn = distribution(spread, label=name, threshold=threshold, higher_is_better=higher)
        told = "scores" if threshold is None else f"passes {'from' if higher else 'up to'} {threshold:g}"
    return element("figure", element("figcaption", element("strong", name), f" {told}"), drawn)


def _unsettled(run: Data) -> Markup | None:
    if run["status"] != "complete":
        return element("p", element("strong", "INCOMPLETE"), ": the numbers are partial.", class_="note")
    unrated = ", ".join(unrated_metrics(run))
    told = f": {unrated} rated nothing."
    return element("p", element("strong", "INCONCLUSIVE"), told, class_="note") if unrated else None


def _gullible(run: Data) -> Markup | None:
    failed = [report["metric"] for report in run.get("canaries", ()) if not report["passed"]]
    if not failed:
        return None
    told = f": {', '.join(failed)}. Items whose verdict is known were judged wrongly."
    return element("p", element("strong", "CANARIES FAILED"), told, class_="note")


def _canary_answer(report: Data) -> str:
    coverage = report["right"]["coverage"]
    asked = coverage["rated"] + coverage["failed"] + coverage["not_applicable"]
    if not asked:
        return "none was asked about" if coverage["skipped"] else "none fits it"
    left = f" ({coverage['skipped']} not asked about)" if coverage["skipped"] else ""
    return f"{'✓ all right' if report['passed'] else '✕ FAILED'}{left}"


def _canaries(run: Data) -> Iterator[Markup]:
    rows = [
        [
            report["metric"],
            element("span", _canary_answer(report), class_="answer"),
            estimate_cell(report["right"], f"{report['metric']}, canaries judged rightly"),
            element(
                "ul", *(element("li", f"{one['canary']}: {one['said']}") for one in report["wrong"]), class_="plain"
            ),
        ]
        for report in run.get("canaries", ())
    ]
    if rows:
        yield element("p", "Items whose right verdict is known, to see whether the judge can be believed.")
        yield table(["Metric", "Answer", "Right", "Wrong"], rows, label="Canaries")


def _unstable(run: Data) -> Iterator[Markup]:
    rows = [
        [
            element("span", one["item"], class_="id"),
            metric["name"],
            f"{one['passed']} of {one['votes']}",
            f"{one['lowest']:.2f} to {one['highest']:.2f}",
        ]
        for metric in run["metrics"]
        for one in metric["unstable"]
    ]
    if rows:
        yield table(["Item", "Metric", "Votes that pass", "Votes lie between"], rows, label="Least stable items")
    for metric in run["metrics"]:
        if rows and metric["flip_rate"] is not None:
            yield element("p", f"{metric['name']}: two votes on an item disagree on {metric['flip_rate']:.1%}.")


def _usage(run: Data) -> Iterator[Markup]:
    usage, system, spending = run["usage"], run.get("system"), run.get("spending")
    all_times = {} if spending is None else {"Calls, all times": f"{spending['usage']['calls']:,}"}
    if spending is not None:
        unknown = "" if spending["is_all"] else ", and what was asked before a kill"
        all_times["Cost, all times"] = f"{money(spending['usage']['usd'])}{unknown}"
    yield _facts(
        {
            "Calls to models": f"{usage['calls']:,}",
            "Answered by the workspace": f"{usage['cached']:,}",
            "Tokens read": f"{usage['input_tokens']:,}" if counts_tokens(usage) else "not counted",
            "Tokens written": f"{usage['output_tokens']:,}" if counts_tokens(usage) else "not counted",
            "Cost": money(usage["usd"]) if usage["calls"] or usage["cached"] else "nothing: no model was asked",
            **all_times,
        }
    )
    if system is not None:
        latency = {f"Answer time, {name}": f"{value:.2f} s" for name, value in system["latency"].items() if value}
        counts = {"Calls": f"{system['calls']:,}", "Failed": f"{system['failed']:,}", "Kept": f"{system['cached']:,}"}
        yield joined(element("h3", f"The system, {system['name']}"), _facts({**counts, **latency}))
    names = {metric["name"]: element("span", metric["instrument"][:23], class_="id") for metric in run["metrics"]}
    yield joined(element("h3", "Instruments"), _facts(names))


def _facts(facts: Mapping[str, Child]) -> Markup:
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in facts.items())
    return element("dl", *pairs, class_="facts")
