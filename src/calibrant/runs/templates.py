"""A first plan and rubric for the columns of the user's own data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["checks_text", "columns_guess", "plan_text", "rubric_text"]

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "item", "key", "ticket", "uid", "uuid"),
    "query": ("query", "question", "prompt", "input", "user_input", "instruction", "request"),
    "answer": ("answer", "response", "output", "completion", "prediction", "reply", "actual_output", "generated"),
    "contexts": ("contexts", "context", "documents", "docs", "passages", "retrieval_context", "retrieved_contexts"),
    "ground_truth": ("ground_truth", "reference", "expected", "expected_output", "gold", "target", "label"),
}
"""What columns of these fields are often called, the likeliest first."""


def columns_guess(columns: Sequence[str]) -> dict[str, str]:
    """Which column holds which field, as far as their names tell.

    >>> columns_guess(["Ticket", "question", "reply"])
    {'id': 'Ticket', 'query': 'question', 'answer': 'reply'}
    """
    by_name = {column.strip().lower().replace(" ", "_"): column for column in columns}
    found: dict[str, str] = {}
    for field, names in NAMES.items():
        known = [by_name[name] for name in names if name in by_name and by_name[name] not in found.values()]
        if known:
            found[field] = known[0]
    return found


def plan_text(data: str, columns: Sequence[str], *, fields: Mapping[str, str], model: str | None) -> str:
    """The plan, commented, that rates the file `data`; without a model its rubric waits in a comment."""
    mapped = {name: column for name, column in fields.items() if name != column}
    listed = ", ".join(f"{name}: {json.dumps(column)}" for name, column in mapped.items())
    columns_line = (
        f"  columns: {{{listed}}}" if mapped else "  # columns: {query: question}   # field: column of the file"
    )
    off = "" if model else "# "
    return "\n".join(
        [
            "# What is rated, by whom, and what must hold. Check it with: calibrant plan check plan.yaml",
            "version: 1",
            "dataset:",
            f"  path: {json.dumps(data)}",
            f"  # its columns are: {', '.join(columns)}",
            columns_line,
            "  # cluster: customer   # items that share this column are not independent; intervals widen accordingly",
            "",
            "# system: app.bot:answer   # your own function, if the answers are to be made within the run",
            "",
            "# Judges, by names of your own. Keys come from the environment (OPENAI_API_KEY, ...).",
            f"{off}models:",
            f"{off}  main: {{model: {json.dumps(model or 'openai/NAME')}}}",
            f"{off}judges: [main]",
            "",
            "metrics:",
            '  - {name: answered, function: "checks:answered"}   # a function of yours, in checks.py',
            f"  {off}- {{name: helpful, rubric: rubrics/helpful.md}}   # a judge reads this rubric; make it your own",
            "",
            "# budget: {usd: 5.00, calls: 2000}   # the call that would pass it is not made",
            "# canaries: true   # items whose verdict is known, asked among yours: can the judge be believed?",
            "# concurrency: 64",
            "# gates:",
            "#   - answered.pass_rate >= 0.90",
            "",
        ]
    )


def rubric_text(fields: Mapping[str, str]) -> str:
    """A rubric of three levels over the fields that the data has."""
    shown = [name for name in ("query", "answer") if name in fields] or ["answer"]
    optional = [name for name in ("contexts", "ground_truth") if name in fields]
    extra = f"optional: [{', '.join(optional)}]\n" if optional else ""
    return (
        f"---\ncriterion: helpful\nfields: [{', '.join(shown)}]\n{extra}"
        "steps:\n"
        "  - Find what was really asked for.\n"
        "  - See which parts of it the answer settles, and which it leaves open.\n"
        "levels:\n"
        "  1: The answer does not help with what was asked.\n"
        "  2: It helps in part; something that was asked is missing or unclear.\n"
        "  3: It settles what was asked, and can be acted on.\n"
        "polarity: higher\nthreshold: 0.5\n---\n"
        "Whether the answer (`answer`) helps the person who asked.\n"
    )


def checks_text() -> str:
    """A module with one function metric."""
    return (
        '"""Checks without a judge: a function takes an item, and returns a bool or a score in [0, 1]."""\n\n\n'
        "def answered(item):\n"
        '    """Whether there is an answer at all."""\n'
        "    return bool(item.answer and item.answer.strip())\n"
    )
