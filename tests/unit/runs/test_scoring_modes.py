"""A run says how its results were really scored, where that is not how they were asked to be."""

import pytest

from calibrant import ScriptedInvoker
from calibrant.metrics import RubricMetric
from calibrant.models import Reply
from calibrant.runs import run
from calibrant.runs.reopening import kept_run

ITEMS = [{"id": f"i{n}", "answer": f"Answer {n}."} for n in range(6)]


def weighted_or_not(share, off=0.0):
    """Gives probabilities for the first `share` of the items, and a bare label for the rest."""

    def script(request):
        if not request.labels:
            return {"explanation": "Sampled.", "score": 3}
        number = int(request.messages[-1].content.split("Answer ")[1][0])
        if number >= share:
            return "B"
        left = 1.0 - off
        return Reply(text="B", data="B", label_probs={"A": 0.2 * left, "B": 0.8 * left}, off_label_mass=off)

    return script


def fluency(script, **settings):
    settings = {"scoring": "weighted", "fallback": "sampled", "samples": 2, **settings}
    return RubricMetric("fluency", models=ScriptedInvoker(script), **settings)


def test_a_metric_that_was_weighted_throughout_has_nothing_to_tell():
    assert run(ITEMS, [fluency(weighted_or_not(6))]).warnings == ()


def test_a_metric_that_fell_back_on_every_item_says_so():
    result = run(ITEMS, [fluency(weighted_or_not(0))])
    assert result.warnings == (
        "fluency: 6 of 6 votes could not be weighted, since their judge gave no log-probabilities; all were sampled",
    )
    assert f"warning: {result.warnings[0]}" in str(result)
    assert {rating.explanation for rating in result.ratings()} == {
        "Sampled. (sampled, since weighted scoring was not supported)"
    }


def test_modes_that_are_mixed_in_one_estimate_are_told():
    [warning] = run(ITEMS, [fluency(weighted_or_not(4))]).warnings
    assert warning.startswith("fluency: 2 of 6 votes could not be weighted")
    assert warning.endswith("so two modes are mixed in its numbers: some were sampled")


def test_every_vote_of_a_jury_counts():
    jury = [ScriptedInvoker(weighted_or_not(share), name=f"j/{share}") for share in (6, 6, 0)]
    metric = RubricMetric("fluency", models=jury, scoring="weighted", fallback="sampled", samples=1)
    [warning] = run(ITEMS, [metric]).warnings
    assert warning.startswith("fluency: 6 of 18 votes could not be weighted")


def test_without_a_fallback_the_items_failed_and_no_mode_is_told():
    result = run(ITEMS, [fluency(weighted_or_not(0), fallback=None)])
    assert result.metrics[0].pass_rate.coverage.codes == {"unsupported": 6}
    assert not any("mixed" in warning or "sampled" in warning for warning in result.warnings)


@pytest.mark.parametrize(("off", "told"), [(0.04, False), (0.06, True), (0.9, True)])
def test_probability_that_was_on_no_label_is_told_from_five_in_a_hundred_on(off, told):
    warnings = run(ITEMS, [fluency(weighted_or_not(6, off=off))]).warnings
    expected = f"fluency: on average {off:.3f} of the probability was on none of the labels"
    assert warnings == ((expected,) if told else ())


def test_the_explanation_that_is_kept_has_the_mass_on_no_label():
    result = run(ITEMS[:1], [fluency(weighted_or_not(6, off=0.25))])
    [rating] = result.ratings()
    assert rating.explanation == (
        "expected level 1.800 of the probabilities 1: 0.200, 2: 0.800, 3: 0.000; 0.250 was on no label"
    )


def test_a_run_that_is_opened_again_tells_the_same(tmp_path):
    from calibrant.runs import RunSettings

    result = run(ITEMS, [fluency(weighted_or_not(3))], settings=RunSettings(workspace=tmp_path))
    assert kept_run(result.keeper, "latest").warnings == result.warnings
    again = run(ITEMS, [fluency(weighted_or_not(3))], settings=RunSettings(workspace=tmp_path))
    assert again.warnings == result.warnings


def test_metrics_of_one_level_or_without_a_judge_are_not_counted():
    single = RubricMetric("fluency", models=ScriptedInvoker({"explanation": "x", "score": 3}))

    def brief(item):
        return True

    assert run(ITEMS, [single, brief]).warnings == ()
