"""Laws of scores: levels and their probabilities, verdicts, pairs, numbers and rubrics, whatever the values."""

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import EvalInput, ScriptedInvoker
from calibrant.aggregation import VERDICT_WEIGHTS
from calibrant.metrics import FaithfulnessMetric, NumericMetric, PairwiseMetric, Rubric, RubricExample, RubricMetric
from calibrant.metrics.rubric_files import parse_rubric, rubric_markdown
from calibrant.metrics.text import numbers_of
from calibrant.models import Reply

ITEM = EvalInput(id="q1", query="?", answer="x", contexts=["x"], answer_a="a", answer_b="b")
levels = st.lists(st.integers(-50, 50), min_size=2, max_size=8, unique=True)
masses = st.lists(st.floats(1e-6, 1.0), min_size=8, max_size=8)
letters = st.characters(categories=("L", "N", "P", "Zs"))
plain = st.text(letters, min_size=1, max_size=40).filter(lambda one: one.strip())
several = st.lists(plain, min_size=2, max_size=4)
few = settings(max_examples=40, deadline=None)


def evaluated(metric, item=ITEM):
    return asyncio.run(metric.evaluate(item))


def rubric_of(chosen):
    return Rubric(criterion="c", definition="d", fields=("answer",), levels={one: f"level {one}" for one in chosen})


def weighted(rubric, probabilities):
    said = dict(zip(rubric.labels, probabilities, strict=False))
    judge = ScriptedInvoker(Reply(text="A", data="A", label_probs=said, mode="label"))
    return evaluated(RubricMetric(rubric, models=judge, scoring="weighted"))


@given(levels)
@few
def test_the_place_of_a_level_grows_with_it_from_zero_to_one(chosen):
    rubric = rubric_of(chosen)
    scores = [rubric.normalised(level) for level in sorted(chosen)]
    assert (scores[0], scores[-1]) == (0.0, 1.0)
    assert scores == sorted(scores)
    assert [rubric.level_of(label) for label in rubric.labels] == sorted(chosen)


@given(levels, masses)
@few
def test_the_expected_level_lies_between_the_levels_and_minds_no_scale(chosen, given_masses):
    rubric = rubric_of(chosen)
    share = 1.0 / sum(given_masses)
    result = weighted(rubric, [mass * share for mass in given_masses])
    assert min(chosen) <= result.rubric_score <= max(chosen)
    assert 0.0 <= result.score <= 1.0
    halved = weighted(rubric, [mass * share / 2 for mass in given_masses])
    assert halved.score == pytest.approx(result.score)
    assert math.isclose(sum(result.details["level_probabilities"].values()), 1.0)


@given(levels, st.data())
@few
def test_all_mass_on_one_label_is_its_level(chosen, data):
    rubric = rubric_of(chosen)
    level = data.draw(st.sampled_from(sorted(chosen)))
    sure = weighted(rubric, [float(rubric.level_of(label) == level) for label in rubric.labels])
    one = evaluated(RubricMetric(rubric, models=ScriptedInvoker({"explanation": "x", "score": level})))
    assert sure.rubric_score == one.rubric_score == level
    assert sure.score == one.score


@given(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=9))
@few
def test_the_mean_of_samples_minds_no_order(said):
    def sampled(script):
        judge = ScriptedInvoker([{"explanation": "x", "score": level} for level in script])
        return evaluated(RubricMetric("fluency", models=judge, scoring="sampled", samples=len(script)))

    result = sampled(said)
    assert result.rubric_score == pytest.approx(sum(said) / len(said))
    assert sampled(sorted(said)).rubric_score == result.rubric_score
    assert min(said) <= result.rubric_score <= max(said)


@given(st.lists(st.sampled_from(sorted(VERDICT_WEIGHTS)), min_size=1, max_size=12), st.sampled_from([0.1, 0.5, 1.0]))
@few
def test_verdicts_score_alike_in_any_order_and_in_one_call_or_two(words, temperature):
    statements = [f"S{place}" for place in range(len(words))]

    def scored(said, calls):
        verdicts = {"verdicts": [{"reason": "r", "quote": "", "verdict": word} for word in said]}
        parts = {"statements": statements, **verdicts}
        judge = ScriptedInvoker(lambda request: {name: parts[name] for name in request.schema["properties"]})
        return evaluated(FaithfulnessMetric(model=judge, calls=calls, temperature=temperature)).score

    score = scored(words, 2)
    assert 0.0 <= score <= 1.0
    assert scored(words, 1) == score
    assert scored(sorted(words), 2) == pytest.approx(score)
    if set(words) == {"fully"}:
        assert score == 1.0


@given(st.sampled_from(["first", "second", "tie"]), st.sampled_from(["first", "second", "tie"]))
def test_exchanging_the_answers_of_a_pair_turns_its_score(straight, exchanged):
    def scored(*said):
        judge = ScriptedInvoker([{"explanation": "x", "better": one} for one in said])
        return evaluated(PairwiseMetric(models=judge))

    one, other = scored(straight, exchanged), scored(exchanged, straight)
    assert one.score + other.score == 1.0
    assert one.details["consistent"] == other.details["consistent"]
    assert one.details["consistent"] or one.score == 0.5


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_found_as_python_writes_it(number):
    assert numbers_of(number) == [number]
    assert numbers_of(f"It is {number!r} in all.") == [number]


@given(st.integers(-(10**15), 10**15))
def test_a_whole_number_is_found_with_and_without_its_commas(number):
    assert numbers_of(f"{number:,}") == numbers_of(f"{number}") == [float(number)]


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1e3), st.floats(0, 1e3))
@few
def test_a_wider_tolerance_never_fails_what_a_narrower_one_passes(answer, reference, narrow, more):
    item = EvalInput(id="q1", answer=answer, ground_truth=reference)
    tight = evaluated(NumericMetric(absolute=narrow), item).score
    wide = evaluated(NumericMetric(absolute=narrow + more), item).score
    assert wide >= tight
    assert tight == float(math.isclose(answer, reference, rel_tol=1e-9, abs_tol=narrow))


@given(plain, st.lists(plain, max_size=3), several, st.booleans(), st.floats(0, 1), plain)
@few
def test_a_rubric_survives_being_written_to_a_file_and_read(definition, steps, texts, higher, threshold, shown):
    rubric = Rubric(
        criterion="own",
        definition=definition.strip(),
        fields=("answer",),
        optional=("query",),
        steps=tuple(steps),
        levels={level: text.strip() for level, text in enumerate(texts)},
        higher_is_better=higher,
        threshold=threshold,
        examples=(RubricExample(texts={"answer": shown}, level=0, explanation=shown.strip()),),
    )
    again = parse_rubric(rubric_markdown(rubric), "own.md")
    assert again == rubric
    assert RubricMetric(again).instrument == RubricMetric(rubric).instrument
