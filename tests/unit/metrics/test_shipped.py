"""Every shipped metric is found by its name."""

import pytest

from calibrant import metrics
from calibrant.errors import UnknownNameError, WrongTypeError
from calibrant.metrics import SHIPPED_METRICS, BaseMetric, named_metric

NEEDED = {
    "g_eval": {"criteria": "Polite?"},
    "custom_eval": {"name": "custom_eval", "criteria": "Polite?"},
    "regex": {"pattern": "a"},
    "json_schema": {"schema": {"type": "object"}},
    "semantic_similarity": {"embedder": "local/wordllama"},
    "pytrec_metric": {},
}


@pytest.mark.parametrize("name", sorted(SHIPPED_METRICS))
def test_a_metric_is_made_by_its_name(name):
    made = named_metric(name, **NEEDED.get(name, {}))
    assert isinstance(made, BaseMetric)
    assert made.name == name
    assert type(made).__name__ in metrics.__all__
    assert made.instrument.startswith("sha256:")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="unknown metric 'grounded'; expected one of: answer_relevancy, bias"):
        named_metric("grounded")


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("regex", {}, "metric 'regex' cannot be made with these settings: .*pattern"),
        ("fluency", {"colour": 1}, "GEvalFluencyMetric has no setting 'colour'"),
    ],
)
def test_settings_that_do_not_fit_are_told(name, settings, message):
    with pytest.raises(WrongTypeError, match=message):
        named_metric(name, **settings)
