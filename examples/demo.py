"""`make demo`: two versions of a support assistant rated, compared and gated, and the raters held against people.

It runs the command as you would, and then the same library for what a command does not show. No key is needed; the
labels are openly synthetic (see examples/demo/README.md). A second run finds every call in examples/demo/.calibrant.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import TYPE_CHECKING

from calibrant import MetaEvaluator, alt_test, compare, compare_rankings
from calibrant.report import Section, element, html_report, section
from calibrant.runs import Run, reopened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DATA = Path(__file__).parent / "demo"
VERSIONS = ("v1", "v2")
RATERS = {"local/smollm2": "supported", "the rule": "groundedness_rule"}
PAGE = DATA / "report.html"

Labels = dict[str, dict[str, str]]
"""By rater and item, what was said."""


def calibrant(*arguments: str) -> None:
    """Run the command in the demo's folder, and show what was typed."""
    print(f"\n$ calibrant {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "calibrant", *arguments], cwd=DATA, check=False)  # noqa: S603 - our own command


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file of the demo."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def judged(runs: list[Run]) -> Labels:
    """What the judge and the rule said of all answers; the items are told apart by their version."""
    return {
        rater: {
            f"{run.name} {rating.item}": "yes" if rating.value >= 0.5 else "no"
            for run in runs
            for rating in run.ratings(metric)
            if rating.role == "result"
        }
        for rater, metric in RATERS.items()
    }


def labelled() -> Labels:
    """What the three annotators said of some of them."""
    found: Labels = defaultdict(dict)
    for version in VERSIONS:
        for row in rows(f"labels-{version}.csv"):
            found[row["annotator"]][f"{version} {row['item']}"] = row["value"]
    return dict(found)


def aligned(judges: Labels, people: Labels, folder: str) -> MetaEvaluator:
    """The judges held against the people, by the usual metrics."""
    project = MetaEvaluator(folder)
    project.draws_charts = False
    for name, said in judges.items():
        project.add_external_judge_results(said, name, task="supported")
    for name, said in people.items():
        project.add_external_annotation_results(said, name, task="supported")
    project.add_usual_metrics()
    project.compare_async()
    return project


def verdicts(project: MetaEvaluator, judges: Labels, people: Labels) -> Iterator[str]:
    """Of each judge whether it may be trusted, and by how much it misses."""
    for name, said in judges.items():
        found = alt_test({**people, name: said}, name)
        bounds = project.ceiling_and_floor("supported", name)
        trust = "may stand in for a person" if found.outcome == "passed" else "MUST NOT BE TRUSTED"
        yield (
            f"{name} {trust}: the alternative-annotator test {found.outcome} at a margin of 0.2, and would pass from "
            f"{found.break_even_epsilon:.2f}. It agrees with people on {bounds.judge:.2f}; people with each other on "
            f"{bounds.ceiling:.2f}; always saying {bounds.constant!r} would agree on {bounds.floor:.2f}."
        )
    yield from (f"Warning: {warning}." for warning in found.warnings)


def rates(runs: list[Run]) -> Iterator[str]:
    """What the judge passes alone, what people would pass, and the truth, which only invented data has."""
    faults = rows("key.csv")
    for run in runs:
        found, wrong = run.metric("supported"), sum(row["version"] == run.name for row in faults)
        yield (
            f"{run.name}: the judge alone passes {found.pass_rate}; corrected by people it is "
            f"{found.corrected_pass_rate}; the truth is {1 - wrong / run.dataset.n:.3f}."
        )


def told(heading: str, lines: Iterable[str]) -> Section:
    """Print the lines, and make them a part of the page: what stands before the first colon is the headline."""
    paragraphs = list(lines)
    print(f"\n{heading}\n")
    for text in paragraphs:
        print(fill(text, 110, initial_indent="  ", subsequent_indent="      "))
    return section(heading.partition(" ")[2], *[_paragraph(text) for text in paragraphs])


def _paragraph(text: str) -> str:
    headline, colon, rest = text.partition(":")
    kind = "note" if headline == "Warning" else None
    return element("p", element("strong", headline + colon), rest, class_=kind)


def main() -> None:
    """Run the demo."""
    print("1. Two versions, each rated by the offline judge and by a rule. About a minute each, the first time.")
    calibrant("models", "fetch", "local/smollm2")
    for version in VERSIONS:
        calibrant("run", f"{version}.yaml")
    runs = [reopened(version, workspace=DATA / ".calibrant") for version in VERSIONS]

    print("\n2. Is version 2 better? The rated answers, in pairs.")
    calibrant("compare", *VERSIONS)

    judges, people = judged(runs), labelled()
    with TemporaryDirectory() as folder:
        project = aligned(judges, people, folder)
        trust = told("3. May the raters be trusted?", verdicts(project, judges, people))
        truth = told("4. What would people pass?", rates(runs))
        report = project.score_report

    print("\n5. Two retrievers over the same documents, judged by hand.")
    calibrant("retrieval", "compare", "qrels.txt", "words.run", "meaning.run", "-m", "nDCG@5", "-m", "RR")
    rankings = compare_rankings(DATA / "qrels.txt", [DATA / "words.run", DATA / "meaning.run"], ["nDCG@5", "RR"])

    parts = (trust, truth, runs[1], compare(*runs), report, rankings)
    PAGE.write_text(html_report(*parts, title="Quillbrook: version 2 beside version 1"), encoding="utf-8")
    print(f"\nAll of it on one page: {PAGE}")


if __name__ == "__main__":
    main()
