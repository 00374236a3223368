from calibrant import BaseMetric, ScriptedInvoker
from calibrant.aggregation import AggregationMethod, LabelMajorityAggregationStrategy
from calibrant.aggregation.juries import BaseJudgeAggregator
from calibrant.metrics import ExactMatchMetric, RubricMetric


class Polite(BaseMetric):
    async def _evaluate(self, data):
        return 1.0


def instruments(**settings):
    return Polite(**settings).instrument


def test_the_same_settings_are_the_same_instrument():
    judge = ScriptedInvoker("x")
    assert instruments(models=judge) == instruments(models=[judge])
    assert instruments().startswith("sha256:")


def test_every_setting_that_changes_scores_changes_the_instrument():
    judge, other = ScriptedInvoker("x", name="a/b"), ScriptedInvoker("x", name="a/c")
    found = [
        instruments(),
        instruments(models=judge),
        instruments(models=other),
        instruments(models=[judge] * 3),
        instruments(models=[judge] * 3, aggregation_method="median"),
        instruments(models=[judge] * 3, quorum=1),
        instruments(threshold=0.9),
        instruments(strict_mode=True),
        instruments(higher_is_better=False),
        instruments(name="rude"),
        instruments(aggregation_method=LabelMajorityAggregationStrategy("abstain")),
        instruments(aggregation_method=LabelMajorityAggregationStrategy("first")),
        instruments(passing_labels=frozenset({"calm"})),
        instruments(required_fields={"answer"}),
    ]
    assert len(set(found)) == len(found)


def test_how_many_judges_are_asked_at_a_time_does_not_matter():
    assert instruments() == instruments(max_concurrent_judges=2)


def test_a_changed_setting_is_noticed():
    metric = Polite()
    before = metric.instrument
    metric.threshold = 0.7
    assert metric.instrument != before


def test_another_parser_of_replies_is_another_instrument_of_who_asks_a_judge(monkeypatch):
    asks, asks_nobody = RubricMetric("fluency", models=ScriptedInvoker("x")), ExactMatchMetric()
    before = asks.instrument, asks_nobody.instrument
    monkeypatch.setattr("calibrant.models.reading.PARSER_VERSION", 2)
    again = RubricMetric("fluency", models=ScriptedInvoker("x")), ExactMatchMetric()
    assert again[0].instrument != before[0]
    assert again[1].instrument == before[1]


def test_a_metric_adds_to_its_definition():
    class Prompted(Polite):
        name = "polite"
        prompt = "Is it polite?"

        def definition(self):
            return {**super().definition(), "prompt": self.prompt}

    one, other = Prompted(), Prompted(prompt="Is it rude?")
    assert one.instrument != other.instrument


def test_an_aggregator_that_cannot_be_hashed_is_told_by_its_settings_in_print():
    class Odd(BaseJudgeAggregator):
        strategy = AggregationMethod.MEDIAN

        def __init__(self, weight):
            self.weight = weight

        def aggregate(self, all_results, total_judges):
            return all_results[0]

    assert instruments(aggregation_method=Odd(complex(1, 2))) != instruments(aggregation_method=Odd(complex(1, 3)))
