"""A metric class of the user's own gets the plan's judges when it asks one, in whichever of its methods."""

import pytest

from calibrant import BaseMetric, MetricScore, named_metric
from calibrant.metrics.function import FunctionMetric
from calibrant.readers.plan import read_plan
from calibrant.runs.assembly import assembled
from calibrant.runs.preparation import asks_judges

MODULE = """
from calibrant import BaseMetric, MetricScore
from calibrant.models import Request


class Asks(BaseMetric):
    async def _evaluate(self, data):
        return MetricScore((await self.judge.invoke(Request.of("?"))).data)


class Counts(BaseMetric):
    async def _evaluate(self, data):
        return MetricScore(len(data.answer) / 100)
"""


class AsksInAMethod(BaseMetric):
    async def _evaluate(self, data):
        return MetricScore(await self.told(data))

    async def told(self, data):
        return (await self.judge.invoke(data)).data


class Inherits(AsksInAMethod):
    """Its parent asks."""


class AsksNobody(BaseMetric):
    judged = "judge"

    async def _evaluate(self, data):
        return MetricScore(len(data.answer) / 100)


@pytest.mark.parametrize(
    ("metric", "asks"),
    [
        (AsksInAMethod(), True),
        (Inherits(), True),
        (AsksNobody(), False),
        (FunctionMetric(lambda item: True, name="brief"), False),
        (named_metric("groundedness"), True),
        (named_metric("groundedness_rule"), False),
    ],
)
def test_whether_a_metric_asks_a_judge_is_seen_from_its_class(metric, asks):
    assert asks_judges(metric) is asks


def test_the_judges_of_a_plan_go_to_the_classes_that_ask(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_metrics.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "items.csv").write_text("id,answer\na,Until six.\n", encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(
        "version: 1\ndataset: items.csv\nmodels: {main: {model: ollama/x}}\njudges: [main, main]\nmetrics:\n"
        '  - {name: asks, function: "own_metrics:Asks"}\n'
        '  - {name: counts, function: "own_metrics:Counts"}\n',
        encoding="utf-8",
    )
    asks, counts = assembled(read_plan(tmp_path / "plan.yaml")).measurement.metrics
    assert [model.name for model in asks.models] == ["ollama/x", "ollama/x"]
    assert counts.models == []
