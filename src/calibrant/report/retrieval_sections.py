"""Rankings as sections of a page: what each measures to, and which of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from calibrant.errors import counted
from calibrant.report.comparison_sections import difference_cell
from calibrant.report.comparison_tables import p_value_text
from calibrant.report.drawing import Scale
from calibrant.report.markup import Markup, element, joined
from calibrant.report.page import Section, section, table
from calibrant.report.run_sections import estimate_cell

__all__ = ["retrieval_sections"]

Data = Mapping[str, Any]


def retrieval_sections(data: Data) -> Iterator[Section]:
    """The sections of JSON of the schema calibrant.retrieval/1, of an evaluation or of a comparison of rankings."""
    parts: list[Markup] = [_lead(data), _rankings(data)]
    parts += [element("p", text, class_="note") for text in data.get("warnings", ())]
    yield section("Rankings", *parts)
    if data.get("comparison"):
        yield section("Rankings compared", *_compared(data["comparison"]))


def _lead(data: Data) -> Markup:
    queries = data["queries"]
    conventions = data["conventions"]["name"]
    return element(
        "p", f"{counted(queries, 'query', 'queries')} judged in {data['qrels']}, measured as {conventions} does."
    )


def _rankings(data: Data) -> Markup:
    measures = list(dict.fromkeys(name for ranking in data["rankings"] for name in ranking["measures"]))
    rows = [
        [
            ranking["name"],
            *(estimate_cell(ranking["measures"].get(name), f"{ranking['name']}, {name}") for name in measures),
        ]
        for ranking in data["rankings"]
    ]
    return table(["Ranking", *measures], rows, label="Rankings")


def _compared(comparison: Data) -> Iterator[Markup]:
    pairs = comparison["pairs"]
    bounds = [pair["difference"][name] for pair in pairs for name in ("value", "lower", "upper")]
    scale = Scale.around_zero([bound for bound in bounds if bound is not None])
    rows = [_row(pair, scale) for pair in pairs]
    header = [
        "Pair",
        "Measure",
        "Difference",
        f"p ({comparison['correction'].capitalize()})",
        "What may be said",
    ]
    yield table(header, rows, label="Rankings compared", numbers=frozenset({3}))
    yield element(
        "p",
        f"Decided by the {comparison['test']} test at {comparison['alpha']:g}, after correction, and by the interval: "
        "a difference is settled when both leave out 0.",
        class_="small",
    )


def _row(pair: Data, scale: Scale) -> list[Markup]:
    found = pair["difference"]
    label = f"{pair['measure']}, {pair['b']} minus {pair['a']}"
    doubts = [f"{pair['doubt'].capitalize()}."] if pair["doubt"] else []
    doubts += ["Unjudged documents could turn it."] if pair.get("depends_on_unjudged") else []
    said = "not settled" if pair["better"] is None else f"{pair['better']} is better"
    return [
        joined(f"{pair['b']} \N{MINUS SIGN} {pair['a']}"),
        joined(pair["measure"]),
        difference_cell(found, label, scale),
        joined(p_value_text(pair["p_corrected"])),
        joined(said, element("small", " ".join(doubts)) if doubts else None),
    ]
