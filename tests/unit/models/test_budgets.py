"""The call that would pass a cap is not made; what a call costs is known before."""

import pytest
from model_doubles import OPEN, Costly, Hands, ask, failure, together

from calibrant.errors import BudgetError, InputError, JudgeReplyError
from calibrant.models import (
    Budget,
    Price,
    Reply,
    Request,
    ScriptedInvoker,
    budgeted,
    cached,
    estimate_cost,
    openai,
    reasked,
    retried,
)
from calibrant.ratings import Usage
from calibrant.store import Workspace


def test_the_call_that_would_pass_the_budget_is_not_made():
    judge = ScriptedInvoker("yes")
    model = budgeted(judge, Budget(calls=2))
    ended = together(model, [OPEN] * 5)
    assert [type(one).__name__ for one in ended] == ["Reply", "Reply", *["BudgetError"] * 3]
    assert "the budget of 2 calls is used up; scripted/judge was not asked" in str(ended[4])
    assert len(judge.requests) == 2


def test_one_budget_is_shared_by_the_models_of_a_run():
    budget = Budget(calls=3)
    judges = [ScriptedInvoker("yes"), ScriptedInvoker("no", name="scripted/other")]
    for judge in judges:
        together(budgeted(judge, budget), [OPEN] * 2)
    assert [len(judge.requests) for judge in judges] == [2, 1]
    assert budget.spent.calls == 3


@pytest.mark.parametrize("cap", [{"tokens": 1000}, {"usd": 0.001}])
def test_tokens_and_money_are_never_passed_by_calls_in_flight(cap):
    usage = Usage(calls=1, input_tokens=40, output_tokens=60, usd=0.0001)
    judge = Costly(usage=usage, price=Price(1.0, 1.0), delay=0.001)
    budget = Budget(**cap)
    ended = together(budgeted(judge, budget), [Request.of("x" * 160, sampling={"max_tokens": 60})] * 50)
    refused = [one for one in ended if isinstance(one, BudgetError)]
    spent = budget.spent.input_tokens + budget.spent.output_tokens
    assert spent <= 1000
    # What calls in flight gave back was used: not much of the cap is left over.
    assert spent >= 800
    assert len(refused) == 50 - judge.calls
    assert "the next call would pass the budget" in str(refused[0])


def test_failed_attempts_are_part_of_what_was_spent():
    judge = ScriptedInvoker([failure(), JudgeReplyError("bad", usage=Usage(calls=1, input_tokens=7)), "yes"])
    budget = Budget(calls=3)
    hands = Hands()
    ask(reasked(retried(budgeted(judge, budget), clock=hands.clock)))
    assert budget.spent.calls == 3
    assert budget.spent.input_tokens >= 7


def test_a_budget_in_money_needs_a_price():
    judge = Costly(usage=Usage(calls=1, usd=None))
    with pytest.raises(BudgetError, match="because the price of test/costly is unknown: give it") as caught:
        ask(budgeted(judge, Budget(usd=5.0)))
    assert caught.value.code == "budget_exhausted"
    assert judge.calls == 0


def test_a_model_that_tells_its_price_afterwards_is_believed_to_cost_what_its_dearest_call_did():
    told = Reply(text="yes", data="yes", usage=Usage(calls=1, usd=0.4))
    judge = ScriptedInvoker(told)
    budget = Budget(usd=1.0)
    model = budgeted(judge, budget)
    ask(model, OPEN, OPEN)
    with pytest.raises(BudgetError, match=r"\$0\.8 of \$1 spent"):
        ask(model)
    assert len(judge.requests) == 2


def test_a_reply_without_a_price_ends_a_budget_in_money():
    judge = ScriptedInvoker(Reply(text="yes", data="yes", usage=Usage(calls=1, input_tokens=5, usd=None)))
    model = budgeted(judge, Budget(usd=1.0))
    ask(model)
    with pytest.raises(BudgetError, match="the price of scripted/judge is unknown"):
        ask(model)


@pytest.mark.parametrize("wrong", [{"usd": -1}, {"calls": "many"}, {"tokens": float("nan")}, {"calls": True}])
def test_a_budget_is_a_number(wrong):
    with pytest.raises(InputError, match=r"a budget's .* is a number, 0 or more"):
        Budget(**wrong)


def test_a_budget_shows_its_caps():
    assert repr(Budget(usd=5.0, calls=10)) == "Budget(usd=5.0, calls=10)"


def test_costs_are_estimated_before_a_call_is_made(tmp_path):
    judge = Costly(usage=Usage(calls=1), price=Price(2.0, 10.0))
    requests = [Request.of(f"{number} " + "word " * 79) for number in range(10)]
    with Workspace(tmp_path) as workspace:
        ask(cached(judge, workspace), requests[0])
        found = estimate_cost(judge, [*requests, requests[1]], output_tokens=50, workspace=workspace)
    assert (found.calls, found.cached, found.output_tokens) == (9, 1, 450)
    assert found.input_tokens == pytest.approx(9 * 105, rel=0.1)
    assert found.usd == pytest.approx((2 * found.input_tokens + 10 * 450) / 1e6)
    assert judge.calls == 1


def test_an_unknown_price_makes_an_unknown_cost():
    found = estimate_cost(Costly(usage=Usage()), [OPEN])
    assert found.usd is None
    assert found.to_json()["usd"] is None
    assert str(found).endswith("price unknown")


def test_list_prices_come_from_genai_prices():
    # OpenAI's price of gpt-4o since 2024-10: 2.50 and 10.00 US dollars per million tokens (openai.com/api/pricing).
    pytest.importorskip("genai_prices")
    assert openai("gpt-4o").cost(1_000_000, 0) == pytest.approx(2.5)
    assert openai("gpt-4o").cost(0, 1_000_000) == pytest.approx(10.0)
    assert openai("no-such-model").cost(1, 1) is None


def test_a_reply_that_was_not_in_form_and_not_counted_is_estimated_too():
    judge = ScriptedInvoker(JudgeReplyError("bad", reply="w" * 400))
    budget = Budget(tokens=1000)
    together(budgeted(judge, budget), [Request.of("x" * 400)] * 9)
    assert len(judge.requests) < 9
    assert 600 < budget.spent.input_tokens + budget.spent.output_tokens <= 1000
