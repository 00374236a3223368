"""What users get wrong when they wrap models, and what they are told; and what each wrapper leaves to the others."""

import asyncio
import re

import pytest
from provider_server import ProviderServer, Refuse

from calibrant.errors import InputError, JudgeReplyError, ModelCallError, UnknownNameError, WrongTypeError
from calibrant.models import (
    BaseLMInvoker,
    Budget,
    Clock,
    EmbeddingCache,
    Limiter,
    Reply,
    Request,
    ScriptedInvoker,
    budgeted,
    cached,
    connect,
    embed,
    estimate_cost,
    limited,
    reasked,
    retried,
    timed,
    wrapped,
)
from calibrant.models.limiting import LimitedInvoker
from calibrant.ratings import Usage

ASKED = Request.of("Is it?", labels=("yes", "no"))


class Mine(BaseLMInvoker):
    """A model of a user's own, which says nothing of its price."""

    name = "my/model"

    def __init__(self, usd=None):
        self.usd = usd
        self.calls = 0

    async def invoke(self, request):
        self.calls += 1
        return Reply(text="yes", data="yes", usage=Usage(calls=1, input_tokens=1, usd=self.usd))


def test_a_misspelt_option_of_wrapped_is_named_with_those_that_exist():
    told = "unknown option of wrapped 'attemps'; expected one of: attempts, budget, clock, first_wait, latencies, "
    with pytest.raises(UnknownNameError, match=re.escape(told)):
        wrapped(ScriptedInvoker("yes"), attemps=3)


@pytest.mark.parametrize("wrap", [cached, reasked, retried, timed, wrapped, limited])
def test_a_name_is_no_model_and_the_error_says_how_to_make_one(wrap):
    with pytest.raises(WrongTypeError, match=r"expected a model to wrap, got 'openai/gpt-x'; connect\(NAME\) makes"):
        wrap("openai/gpt-x")


def test_a_number_is_no_budget_and_no_limiter():
    with pytest.raises(WrongTypeError, match=r"expected a budget such as Budget\(calls=100\), got 5"):
        budgeted(Mine(), 5)
    with pytest.raises(WrongTypeError, match=r"expected a limiter such as Limiter\(concurrency=8\), got 5"):
        limited(Mine(), 5)


@pytest.mark.parametrize("times", [-1, "2", True, 1.5])
def test_how_often_to_ask_again_is_a_whole_number(times):
    with pytest.raises(InputError, match="times is how often more to ask, a whole number of 0 or more, not"):
        reasked(Mine(), times=times)


@pytest.mark.parametrize(
    "options",
    [
        {"attempts": 0},
        {"attempts": "3"},
        {"attempts": True},
        {"first_wait": -1},
        {"first_wait": 9, "longest_wait": 3},
        {"patience": float("nan")},
    ],
)
def test_retries_that_make_no_sense_are_refused(options):
    with pytest.raises(InputError, match="retries need at least 1 attempt, and waits that are 0 or more"):
        retried(Mine(), **options)


def test_half_a_call_at_a_time_is_no_concurrency():
    with pytest.raises(InputError, match=r"concurrency is a whole number of calls at a time, not 0\.5"):
        Limiter(concurrency=0.5)


@pytest.mark.parametrize("labels", ["yes", ("yes", 1)])
def test_labels_are_several_texts(labels):
    with pytest.raises(WrongTypeError, match=r"labels are several texts such as \('yes', 'no'\), not"):
        Request.of("Is it?", labels=labels)


def test_equal_labels_and_two_forms_at_once_are_refused():
    for empty in ("", " "):
        with pytest.raises(InputError, match=r"a label is a text that can be said, and one is empty: \('yes', "):
            Request.of("?", labels=("yes", empty))
    with pytest.raises(InputError, match=r"labels differ from each other, got \('a', 'a'\)"):
        Request.of("Is it?", labels=("a", "a"))
    with pytest.raises(InputError, match="for JSON of a schema or for one of its labels, not for both"):
        Request.of("Is it?", labels=("a", "b"), schema={"type": "object"})


def test_the_price_of_a_model_of_ones_own_is_unknown_and_never_zero():
    found = estimate_cost(Mine(), [ASKED])
    assert found.usd is None
    assert str(found).endswith("price unknown")
    assert estimate_cost(wrapped(Mine()), [ASKED]).usd is None


def test_a_model_that_tells_what_it_cost_can_be_kept_to_a_budget_in_money_and_one_that_does_not_is_stopped():
    async def until_refused(model):
        count = 0
        while count < 10:
            try:
                await model.invoke(ASKED)
            except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
                return count, str(error)
            count += 1
        return count, ""

    count, told = asyncio.run(until_refused(budgeted(Mine(usd=0.4), Budget(usd=1.0))))
    assert (count, told) == (2, "the next call would pass the budget ($0.8 of $1 spent); my/model was not asked")
    count, told = asyncio.run(until_refused(budgeted(Mine(usd=None), Budget(usd=1.0))))
    assert count == 1
    assert "the price of my/model is unknown" in told


def test_the_offline_judge_takes_the_limits_that_every_model_takes():
    pytest.importorskip("xllamacpp")
    paced = connect("local/smollm2", requests_per_minute=600, concurrency=1, threads=1)
    assert isinstance(paced, LimitedInvoker)
    assert paced.identity == connect("local/smollm2").identity
    assert paced.cost(10**6, 10**6) == 0.0
    with pytest.raises(UnknownNameError, match="unknown option of a local model 'thread'"):
        connect("local/smollm2", thread=1, concurrency=1)


def test_a_reply_of_spaces_alone_is_not_sent_back_as_a_turn_that_providers_refuse():
    judge = ScriptedInvoker([JudgeReplyError("expected one of yes, no", reply=" \n"), "yes"])
    asyncio.run(reasked(judge).invoke(ASKED))
    assert [message.role for message in judge.requests[1].messages] == ["user"]
    assert "That reply could not be used: expected one of yes, no." in judge.requests[1].messages[0].content


def test_a_provider_that_asks_to_come_back_at_once_is_still_given_time():
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    busy = ModelCallError("busy", code="judge_rate_limited", retry_after=0.0)
    model = retried(ScriptedInvoker([busy, busy, "yes"]), first_wait=1.0, clock=Clock(sleep=sleep, draw=lambda: 0.0))
    assert asyncio.run(model.invoke(ASKED)).data == "yes"
    assert slept == [0.5, 1.0]


def test_a_provider_that_refuses_some_requests_is_not_down():
    now = 0.0

    async def sleep(seconds):
        nonlocal now
        now += seconds

    broken, refused = (
        ModelCallError("broken", code="provider_error"),
        ModelCallError("bad request", code="request_invalid"),
    )
    model = retried(
        ScriptedInvoker([*[broken] * 10, refused] * 6),
        attempts=11,
        patience=0.0,
        clock=Clock(now=lambda: now, sleep=sleep),
    )

    async def one_after_another():
        return [(await asyncio.gather(model.invoke(ASKED), return_exceptions=True))[0] for _ in range(6)]

    assert [str(error) for error in asyncio.run(one_after_another())] == ["bad request (asked 11 times)"] * 6


def test_embeddings_by_name_are_asked_for_again_after_failures_that_pass():
    refusals = iter([429, 500])

    def answer(body):
        status = next(refusals, None)
        if status:
            raise Refuse(status, {"error": {"message": "not now"}}, {"Retry-After": "0.01"})
        return {"data": [{"index": place, "embedding": [1.0, 0.0]} for place, _ in enumerate(body["input"])]}

    with ProviderServer(answer) as server:
        rows = asyncio.run(embed(["a", "b", "a"], model="openai/e", base_url=server.openai_url, cache=EmbeddingCache()))
    assert rows.tolist() == [[1.0, 0.0]] * 3
    assert [asked.body["input"] for asked in server.requests] == [["a", "b"]] * 3


def test_embeddings_whose_request_is_wrong_are_asked_for_once():
    def answer(body):
        raise Refuse(400, {"error": {"message": "unknown model", "param": "model"}})

    with ProviderServer(answer) as server, pytest.raises(ModelCallError, match="rejected the parameter 'model'"):
        asyncio.run(embed(["a"], model="openai/e", base_url=server.openai_url, cache=EmbeddingCache()))
    assert len(server.requests) == 1
