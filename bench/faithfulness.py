"""How well the groundedness rule and the offline judge tell faithful answers from unfaithful ones, on 60 items.

The items were written for this project: 20 sources, each with a clearly faithful answer, a clearly unfaithful one and a
subtle one (10 of these are faithful in other words, 10 turn one thing round). Neither rater was tuned on them. The
offline judge is asked when its model is there (`calibrant models fetch local/smollm2`).
"""

import asyncio
import json
import sys
from pathlib import Path

from calibrant import BaseMetric, EvalInput
from calibrant.errors import EvalError
from calibrant.estimates import Coverage
from calibrant.metrics import GEvalGroundednessMetric, GroundednessRule
from calibrant.stats import proportion

ITEMS = Path(__file__).with_name("faithfulness_items.jsonl")
KINDS = ("clearly faithful", "clearly unfaithful", "subtle, faithful", "subtle, unfaithful")


def read_items() -> list[EvalInput]:
    return [EvalInput.from_dict(json.loads(line)) for line in ITEMS.read_text("utf-8").splitlines()]


def kind_of(item: EvalInput) -> str:
    if item.kind != "subtle":
        return item.kind
    return "subtle, faithful" if item.faithful else "subtle, unfaithful"


async def rows_of(name: str, metric: BaseMetric, items: list[EvalInput]) -> list[tuple[str, str, str]]:
    results = await metric.evaluate(items)
    rows = []
    for kind in (*KINDS, "all"):
        chosen = [(one, result) for one, result in zip(items, results, strict=True) if kind in (kind_of(one), "all")]
        coverage = Coverage.of((result.status, result.error.code if result.error else None) for _, result in chosen)
        right = sum(result.error is None and result.success == one.faithful for one, result in chosen)
        rows.append((name, kind, str(proportion(right, coverage.rated, coverage=coverage))))
    return rows


def table(rows: list[tuple[str, str, str]]) -> str:
    lines = ["| rater | items | share judged rightly |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def judge_of(metric: type[BaseMetric], **settings: object) -> BaseMetric | None:
    try:
        made = metric(models="local/smollm2", **settings)
        asyncio.run(made.evaluate(EvalInput(answer="Yes.", contexts=["Yes."])))
    except EvalError as error:
        sys.stderr.write(f"the offline judge was not asked: {error}\n")
        return None
    return made


def main() -> None:
    items = read_items()
    print(table(asyncio.run(rows_of("groundedness rule", GroundednessRule(), items))))
    judge = judge_of(GEvalGroundednessMetric, scoring="weighted")
    if judge is not None:
        print(table(asyncio.run(rows_of("local/smollm2, groundedness rubric, weighted", judge, items))))


if __name__ == "__main__":
    main()
