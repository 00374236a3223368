"""One page of all that was measured: a run, and whatever else there is to show beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from calibrant.errors import InputError, UnknownNameError, WrongTypeError, shortened
from calibrant.report.comparison_sections import comparison_lead, comparison_sections
from calibrant.report.markup import Markup, joined
from calibrant.report.page import Section, page
from calibrant.report.retrieval_sections import retrieval_sections
from calibrant.report.run_sections import run_lead, run_sections

__all__ = ["html_report"]

SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Iterable[Section]]] = {
    "calibrant.comparison/1": comparison_sections,
    "calibrant.retrieval/1": retrieval_sections,
    "calibrant.run/1": run_sections,
}
LEADS: Mapping[str, Callable[[Mapping[str, Any]], Markup]] = {
    "calibrant.comparison/1": comparison_lead,
    "calibrant.run/1": run_lead,
}
"""What a page of one part begins with; where there are several, it stands in the part's first section."""


def html_report(*parts: Any, title: str = "") -> str:
    """One self-contained HTML page of `parts`, in their order: no network, no other file, readable without JavaScript.

    A part is a Run, a Comparison, a RankingComparison, a ScoreReport, the JSON of one of them, or a Section of one's
    own. The title is that of the first part unless it is given.

    >>> from calibrant.runs import run
    >>> def brief(item):
    ...     return len(item.answer.split()) <= 3
    >>> text = html_report(run([{"answer": "Until six."}], [brief]), title="Support")
    >>> text.startswith("<!DOCTYPE html>"), "<h1>Support</h1>" in text, "<script" in text
    (True, True, False)
    """
    if not parts:
        raise InputError("a report needs something to show: a run, a comparison, or a section")
    drawn = [_drawn(part) for part in parts]
    named = title or drawn[0].name
    if len(drawn) == 1:
        return page(named, drawn[0].sections, lead=drawn[0].lead)
    return page(named, [one for part in drawn for one in part.among_others()])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What one part comes to. `is_named` says that its sections need its name where other parts stand beside it."""

    name: str
    sections: list[Section]
    lead: Markup | None = None
    is_named: bool = False

    def among_others(self) -> Iterator[Section]:
        """Its sections, the first of them with what the page would have begun with."""
        for place, one in enumerate(self.sections):
            title = f"{self.name}: {one.title[:1].lower()}{one.title[1:]}" if self.is_named else one.title
            yield replace(one, title=title, body=joined(self.lead, one.body) if place == 0 else one.body)


def _drawn(part: Any) -> _Part:
    if hasattr(part, "to_section"):
        part = part.to_section()
    if isinstance(part, Section):
        return _Part(name=part.title, sections=[part])
    data: Any = part.to_json() if hasattr(part, "to_json") else part
    if not isinstance(data, Mapping):
        expected = "a run, a comparison, their JSON or a Section"
        raise WrongTypeError(f"a part of a report is {expected}, not {shortened(part)}")
    schema = str(data.get("schema"))
    if schema not in SECTIONS:
        raise UnknownNameError.among("schema to report", schema, SECTIONS)
    lead = LEADS[schema](data) if schema in LEADS else None
    is_run = schema == "calibrant.run/1"
    return _Part(name=_name(data), sections=[*SECTIONS[schema](data)], lead=lead, is_named=is_run)


def _name(data: Mapping[str, Any]) -> str:
    if data["schema"] == "calibrant.comparison/1":
        return " and ".join(run["label"] for run in data["runs"])
    return str(data.get("name") or data.get("run") or "Rankings")
