"""The hand-made items are what the documentation says, and the table in it is what the rule gives."""

import asyncio
import json
from collections import Counter
from pathlib import Path

from calibrant import EvalInput
from calibrant.metrics import GroundednessRule

ROOT = Path(__file__).parents[3]
ITEMS = [json.loads(line) for line in (ROOT / "bench/faithfulness_items.jsonl").read_text("utf-8").splitlines()]


def test_there_are_twenty_of_each_kind_and_half_of_the_subtle_ones_are_faithful():
    assert Counter(one["kind"] for one in ITEMS) == {"clearly faithful": 20, "clearly unfaithful": 20, "subtle": 20}
    assert sum(one["faithful"] for one in ITEMS if one["kind"] == "subtle") == 10
    assert len({one["id"] for one in ITEMS}) == 60


def test_the_table_in_the_docs_is_what_the_rule_gives():
    results = asyncio.run(GroundednessRule().evaluate([EvalInput.from_dict(one) for one in ITEMS]))
    right = sum(result.success == one["faithful"] for one, result in zip(ITEMS, results, strict=True))
    page = (ROOT / "docs/metrics/rules.md").read_text("utf-8")
    assert f"| groundedness rule | all | {right / 60:.3f} [" in page
