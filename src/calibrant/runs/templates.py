"""A first plan and rubric for the columns of the user's own data."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from calibrant.items import EvalInput

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

__all__ = ["checks_text", "columns_entry", "columns_guess", "plan_text", "rubric_text"]

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "item", "key", "ticket", "qid", "uid", "uuid"),
    "ground_truth": ("ground_truth", "reference", "expected", "expected_output", "gold", "target", "label"),
    "contexts": ("contexts", "context", "documents", "docs", "passages", "retrieval_context", "retrieved_contexts"),
    "query": ("query", "question", "prompt", "input", "user_input", "instruction", "request"),
    "answer": ("answer", "response", "output", "completion", "prediction", "reply", "actual_output", "generated"),
}
"""What columns of these fields are often called, the likeliest first; a field takes what those before it left."""

ABOUT_A_TEXT = frozenset({"id", "no", "nr", "number", "count", "length", "score", "rating", "time", "date", "at", "by"})
"""Words at the end of a column's name that say that it holds something about a text, and not the text."""

ORDER = ("id", "query", "answer", "contexts", "ground_truth")


def columns_guess(columns: Sequence[str], *, unique: Collection[str] | None = None) -> dict[str, str]:
    """Which column holds which field, as far as their names tell: by the whole name, else by a word in it.

    `unique` are the columns whose cells are all filled and all different; only such a one can be the id.

    >>> columns_guess(["Ticket", "customerQuestion", "BOT: reply"])
    {'id': 'Ticket', 'query': 'customerQuestion', 'answer': 'BOT: reply'}
    """
    words = {column: _words(column) for column in columns}
    found: dict[str, str] = {}
    for is_whole in (True, False):
        for field, names in NAMES.items():
            able = [column for column in columns if field != "id" or unique is None or column in unique]
            free = [column for column in able if column not in found.values()]
            fitting = [column for name in names for column in free if _fits(words[column], name, field, is_whole)]
            if fitting and field not in found:
                found[field] = fitting[0]
    return {field: found[field] for field in ORDER if field in found}


def _words(column: str) -> tuple[str, ...]:
    """The words of a name, in lower case, also where only capitals part them."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", column)
    return tuple(word.lower() for word in re.findall(r"[^\W_]+", parted))


def _fits(words: tuple[str, ...], name: str, field: str, is_whole: bool) -> bool:  # noqa: FBT001 - which of two passes
    if is_whole:
        return "_".join(words) == name
    if field == "id":
        return name in {words[0], words[-1]} if words else False
    return name in words and words[-1] not in ABOUT_A_TEXT


def columns_entry(columns: Sequence[str], fields: Mapping[str, str]) -> dict[str, str]:
    """What `columns` of the plan says: fields whose column is called otherwise, and names that no field can have.

    >>> columns_entry(["question", "get"], {"query": "question"})
    {'query': 'question', 'my_get': 'get'}
    """
    entry = {name: column for name, column in fields.items() if name != column}
    for column in columns:
        is_field = column in fields.values() or column in {*EvalInput.FIELDS}
        if not is_field and (column.startswith("_") or hasattr(EvalInput, column)):
            entry[f"my_{column.lstrip('_')}"] = column
    return entry


def plan_text(data: str, columns: Sequence[str], *, fields: Mapping[str, str], model: str | None) -> str:
    """The plan, commented, that rates the file `data`; without a model its rubric waits in a comment."""
    off = "" if model else "# "
    return "\n".join(
        [
            "# What is rated, by whom, and what must hold. Check it with: calibrant plan check plan.yaml",
            "version: 1",
            *_dataset_lines(data, columns, fields),
            "",
            "# system: app.bot:answer   # your own function, if the answers are to be made within the run",
            "",
            "# Judges, by names of your own. Keys come from the environment (OPENAI_API_KEY, ...).",
            f"{off}models:",
            f"{off}  main: {{model: {_quoted(model or 'openai/NAME')}}}",
            '#   own: {model: "openai/NAME", base_url: "http://localhost:8000/v1"}   # a server of yours',
            f"{off}judges: [main]",
            "",
            *_metric_lines(has_answer="answer" in fields, off=off),
            "",
            "# budget: {usd: 5.00, calls: 2000}   # the call that would pass it is not made",
            "# canaries: true   # items whose verdict is known, asked among yours: can the judge be believed?",
            "# concurrency: 64",
            "# gates:",
            "#   - answered.pass_rate >= 0.90",
            "",
        ]
    )


def _dataset_lines(data: str, columns: Sequence[str], fields: Mapping[str, str]) -> list[str]:
    entry = columns_entry(columns, fields)
    listed = ", ".join(f"{name}: {_quoted(column)}" for name, column in entry.items())
    missing = "  # no column looks like the answer: name it in columns (answer: ...), or name a system below"
    return [
        "dataset:",
        f"  path: {_quoted(data)}",
        f"  # its columns are: {', '.join(_plain(column) for column in columns)}",
        f"  columns: {{{listed}}}" if entry else "  # columns: {query: question}   # field: column of the file",
        *([] if "answer" in fields else [missing]),
        "  # cluster: customer   # items that share this column are not independent; intervals widen accordingly",
    ]


def _metric_lines(*, has_answer: bool, off: str) -> list[str]:
    needs = "" if has_answer else ", required_fields: [answer]"
    return [
        "metrics:",
        f'  - {{name: answered, function: "checks:answered"{needs}}}   # a function of yours, in checks.py',
        f"  {off}- {{name: helpful, rubric: rubrics/helpful.md}}   # a judge reads this rubric; make it your own",
    ]


def _quoted(text: str) -> str:
    """The text as YAML reads it back, whatever is in it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f").replace("\x85", "\\N")


def _plain(column: str) -> str:
    """A column's name for a comment, which is one line."""
    return column if column.isprintable() else _quoted(column)


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
