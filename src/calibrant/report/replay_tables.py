"""A replay in the terminal: each changed metric then and now, the items that turned, and the gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from calibrant.report.columns import aligned
from calibrant.report.tables import estimate_text

__all__ = ["replay_text"]

Data = Mapping[str, Any]
HEADER = ("metric", "of", "as it was", "replayed", "turned to pass", "turned to fail")
SHOWN_ITEMS = 5


def replay_text(replay: Data) -> str:
    """A replay's JSON (`Replay.to_json()`) as one screen of text."""
    settings = ", ".join(f"{name} {value}" for name, value in replay["settings"].items())
    rows = [row for metric in replay["metrics"] for row in _rows(metric)]
    table = aligned(HEADER, rows, right=frozenset(HEADER[4:]))
    blocks = [
        f"{replay['name']}  {replay['run']}  replayed with {settings}; nobody was asked",
        table,
        "\n".join(line for metric in replay["metrics"] for line in _items(metric)),
        "\n".join(_gates(replay)),
    ]
    return "\n\n".join(block for block in blocks if block)


def _rows(metric: Data) -> Iterator[list[str]]:
    counts = [str(len(metric["items"][name])) for name in ("to_pass", "to_fail")]
    before, after = metric["before"], metric["after"]
    yield [metric["name"], "pass rate", *(estimate_text(one["pass_rate"]) for one in (before, after)), *counts]
    yield ["", "score", *(estimate_text(one["score"]) for one in (before, after)), "", ""]


def _items(metric: Data) -> Iterator[str]:
    for name, text in (("to_pass", "now pass"), ("to_fail", "no longer pass")):
        items = metric["items"][name]
        if items:
            more = f", ... ({len(items)} in all)" if len(items) > SHOWN_ITEMS else ""
            yield f"{metric['name']}: {text}: {', '.join(items[:SHOWN_ITEMS])}{more}"


def _gates(replay: Data) -> Iterator[str]:
    for gate in replay["gates"]:
        turned = gate["answer"] if gate["answer"] == gate["before"] else f"{gate['before']} -> {gate['answer']}"
        yield f"{turned}  {gate['gate']}"
