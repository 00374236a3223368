"""Calls that fail for a passing reason are made again, later."""

import pytest
from model_doubles import OPEN, Hands, ask, failure, together

from calibrant.errors import BudgetError, InputError, JudgeReplyError, ModelCallError
from calibrant.models import (
    Clock,
    ScriptedInvoker,
    retried,
)


def test_waits_double_and_the_providers_own_wait_goes_first():
    hands = Hands()
    judge = ScriptedInvoker([failure(), failure(), failure("judge_rate_limited", retry_after=7.0), failure(), "yes"])
    assert ask(retried(judge, clock=hands.clock))[0].data == "yes"
    assert hands.slept == [0.25, 0.5, 7.0, 2.0]


def test_jitter_stays_within_half_and_whole_of_the_wait():
    for draw in (0.0, 0.5, 0.999):
        hands = Hands()
        clock = Clock(now=hands.clock.now, sleep=hands.clock.sleep, draw=lambda draw=draw: draw)
        ask(retried(ScriptedInvoker([failure(), "yes"]), first_wait=2.0, clock=clock))
        assert 1.0 <= hands.slept[0] <= 2.0


@pytest.mark.parametrize(
    "error",
    [
        failure("request_invalid"),
        failure("unauthorized"),
        failure("judge_refused"),
        failure("judge_rate_limited", retryable=False),
        JudgeReplyError("not JSON"),
        BudgetError("used up"),
    ],
)
def test_what_does_not_pass_is_not_tried_again(error):
    hands = Hands()
    judge = ScriptedInvoker([error, "yes"])
    with pytest.raises(type(error)):
        ask(retried(judge, clock=hands.clock))
    assert (len(judge.requests), hands.slept) == (1, [])


def test_the_last_error_says_how_often_it_was_asked_and_keeps_its_code():
    hands = Hands()
    judge = ScriptedInvoker(lambda request: failure("judge_timeout"))
    with pytest.raises(ModelCallError, match=r"it failed with judge_timeout \(asked 3 times\)") as caught:
        ask(retried(judge, attempts=3, clock=hands.clock))
    assert caught.value.code == "judge_timeout"


def test_a_wait_that_is_too_long_is_not_waited_for():
    hands = Hands()
    judge = ScriptedInvoker([failure("judge_rate_limited", retry_after=3600.0)])
    with pytest.raises(ModelCallError, match=r"it asks to wait 3600 s"):
        ask(retried(judge, clock=hands.clock))
    assert hands.slept == []


def test_a_provider_that_is_down_gets_a_probe_now_and_then_and_is_back_after_a_good_reply():
    hands = Hands()
    down = True
    judge = ScriptedInvoker(lambda request: failure("judge_unreachable") if down else "yes")
    model = retried(judge, attempts=4, patience=5.0, clock=hands.clock)
    ended = together(model, [OPEN] * 8)
    assert {one.code for one in ended} == {"judge_unreachable"}
    asked = len(judge.requests)
    with pytest.raises(
        ModelCallError, match=r"^it failed with .*; not asked, because all of the last \d+ calls failed, over \d+ s$"
    ):
        ask(model)
    assert len(judge.requests) == asked
    down, hands.time = False, hands.time + 6.0
    assert [reply.data for reply in ask(model, OPEN, OPEN)] == ["yes", "yes"]


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"first_wait": -1.0}, {"first_wait": 9.0, "longest_wait": 1.0}])
def test_retries_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError, match="retries need at least 1 attempt"):
        retried(ScriptedInvoker([]), **wrong)


@pytest.mark.parametrize(
    ("code", "wait"), [("judge_unreachable", 20.0), ("provider_error", 20.0), ("unauthorized", 0.0)]
)
def test_a_provider_is_down_after_sixteen_failures_in_a_row_and_its_patience(code, wait):
    hands = Hands()
    judge = ScriptedInvoker(lambda request: failure(code, retryable=False))
    model = retried(judge, clock=hands.clock)
    for _ in range(15):
        together(model, [OPEN])
    hands.time += wait
    together(model, [OPEN])
    assert len(judge.requests) == 16
    with pytest.raises(ModelCallError, match="; not asked, because all of the last 16 calls failed") as caught:
        ask(model)
    assert caught.value.code == code
    assert len(judge.requests) == 16


@pytest.mark.parametrize("between", ["yes", JudgeReplyError("not JSON"), failure("request_invalid")])
def test_one_answer_of_any_kind_between_failures_means_that_the_provider_is_there(between):
    hands = Hands()
    judge = ScriptedInvoker(
        [*[failure("provider_error", retryable=False)] * 15, between, *[failure("provider_error")] * 9]
    )
    model = retried(judge, attempts=1, clock=hands.clock)
    for _ in range(25):
        hands.time += 5.0
        together(model, [OPEN])
    assert len(judge.requests) == 25


def test_while_a_provider_is_down_one_call_in_five_seconds_looks_whether_it_is_back():
    hands = Hands()
    judge = ScriptedInvoker(lambda request: failure("judge_timeout"))
    model = retried(judge, attempts=1, patience=0.0, clock=hands.clock)
    for _ in range(16):
        together(model, [OPEN])
    for _ in range(10):
        hands.time += 1.0
        together(model, [OPEN] * 3)
    assert len(judge.requests) == 16 + 2


def test_one_models_outage_is_not_anothers():
    down, up = ScriptedInvoker(lambda request: failure("judge_unreachable")), ScriptedInvoker("yes")
    hands = Hands()
    models = [retried(judge, attempts=1, patience=0.0, clock=hands.clock) for judge in (down, up)]
    for _ in range(20):
        together(models[0], [OPEN])
    assert len(down.requests) == 16
    assert ask(models[1])[0].data == "yes"
