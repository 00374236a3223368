import asyncio

import pytest

from calibrant import EvalInput, MetricScore, metric
from calibrant.errors import WrongTypeError

ITEM = EvalInput(id="a", answer="Yes, until six.")


def brief(item):
    return len(item.answer.split()) <= 5


async def slow(item):
    await asyncio.sleep(0)
    return MetricScore(0.5, "half")


def evaluate(one, item=ITEM):
    return asyncio.run(one.evaluate(item))


def test_a_function_becomes_a_metric_of_its_name():
    made = metric(brief)
    assert made.name == "brief"
    assert evaluate(made).score == 1.0
    assert repr(made) == "metric(brief)"


def test_async_functions_are_awaited():
    result = evaluate(metric(slow))
    assert (result.score, result.explanation) == (0.5, "half")


def test_it_is_a_decorator_too():
    @metric(threshold=0.9, higher_is_better=False, required_fields=["answer"], name="share")
    def length(item):
        return 0.95

    assert (length.name, length.threshold, length.required_fields) == ("share", 0.9, frozenset({"answer"}))
    assert not evaluate(length).success
    assert evaluate(length, EvalInput(id="b")).status == "skipped"


def test_labels_pass_when_they_are_named():
    tone = metric(lambda item: "calm", name="tone", passing_labels=frozenset({"calm"}))
    assert evaluate(tone).success


def test_an_exception_of_the_function_is_a_failure():
    assert evaluate(metric(brief), EvalInput(id="b")).error.code == "metric_error"


@pytest.mark.parametrize("wrong", ["brief", 7])
def test_what_is_no_function_is_refused(wrong):
    with pytest.raises(WrongTypeError, match="a function metric is made of a function of the item, not"):
        metric(wrong)


def test_a_callable_object_is_a_function():
    class Long:
        def __call__(self, item):
            return True

    assert metric(Long()).name == "Long"


def test_another_function_is_another_instrument():
    def other(item):
        return len(item.answer.split()) <= 6

    assert metric(brief).instrument == metric(brief).instrument
    assert metric(brief).instrument != metric(other, name="brief").instrument
    assert metric(brief).instrument != metric(brief, threshold=0.9).instrument


def test_functions_without_source_are_told_apart_by_their_code():
    scope = {}
    exec("def one(item):\n    return 1.0\ndef two(item):\n    return 0.0", scope)  # noqa: S102 - a function without a source file
    assert metric(scope["one"], name="x").instrument != metric(scope["two"], name="x").instrument
    assert metric(len, name="x").instrument != metric(abs, name="x").instrument
