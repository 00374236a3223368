"""All wrappers in their order."""

from model_doubles import OPEN, Hands, ask, failure

from calibrant.errors import JudgeReplyError
from calibrant.models import (
    Budget,
    Latencies,
    ScriptedInvoker,
    wrapped,
)
from calibrant.store import Workspace


def test_everything_in_order_is_one_model_to_the_caller(tmp_path):
    hands = Hands()
    judge = ScriptedInvoker([failure(), JudgeReplyError("bad", reply="x"), "yes"])
    budget, latencies = Budget(calls=10), Latencies()
    with Workspace(tmp_path) as workspace:
        model = wrapped(judge, workspace=workspace, budget=budget, latencies=latencies, clock=hands.clock)
        first, second = ask(model, OPEN, OPEN)
    assert (first.data, second.usage.cached) == ("yes", 1)
    assert (budget.spent.calls, latencies.count, len(judge.requests)) == (3, 1, 3)
    assert repr(model) == (
        "CachedInvoker(ReaskedInvoker(RetriedInvoker(BudgetedInvoker("
        "LimitedInvoker(TimedInvoker(ScriptedInvoker('scripted/judge')))))))"
    )
