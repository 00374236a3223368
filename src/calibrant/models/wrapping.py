"""All wrappers around one model, in the order that makes them right."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

from calibrant.errors import UnknownNameError
from calibrant.models.budgets import Budget, BudgetedInvoker
from calibrant.models.caching import CachedInvoker
from calibrant.models.limiting import LimitedInvoker, Limiter
from calibrant.models.reasking import ReaskedInvoker
from calibrant.models.retrying import RetriedInvoker
from calibrant.models.timing import Latencies, TimedInvoker

if TYPE_CHECKING:
    from calibrant.models.clocks import Clock
    from calibrant.models.invoker import BaseLMInvoker
    from calibrant.store.workspace import Workspace

__all__ = ["wrapped"]

OWN_OPTIONS = ("workspace", "budget", "latencies", "clock")


class RetryOptions(TypedDict, total=False):
    """What may be said about asking again; see `retried`."""

    attempts: int
    first_wait: float
    longest_wait: float
    patience: float


def wrapped(
    invoker: BaseLMInvoker,
    *,
    workspace: Workspace | None = None,
    budget: Budget | None = None,
    latencies: Latencies | None = None,
    clock: Clock | None = None,
    **retrying: Unpack[RetryOptions],
) -> CachedInvoker:
    """`invoker` as a run asks it: cached, re-asked, retried, budgeted, limited and timed, from the caller inwards.

    Limits that came with the model (`connect(NAME, requests_per_minute=...)`) are kept; `retrying` goes to `retried`.
    """
    for name in retrying:
        if name not in RetryOptions.__annotations__:
            raise UnknownNameError.among("option of wrapped", name, (*OWN_OPTIONS, *RetryOptions.__annotations__))
    limiter = Limiter(clock=clock)
    if isinstance(invoker, LimitedInvoker):
        invoker, limiter = invoker.inner, invoker.limiter
    paced = LimitedInvoker(TimedInvoker(invoker, latencies, clock=clock), limiter)
    bounded = BudgetedInvoker(paced, budget or Budget())
    return CachedInvoker(ReaskedInvoker(RetriedInvoker(bounded, clock=clock, **retrying)), workspace)
