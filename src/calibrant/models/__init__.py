"""Models: one async call, whoever answers it."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.models.budgets import Budget, BudgetedInvoker, budgeted
    from calibrant.models.caching import CachedInvoker, cached
    from calibrant.models.clocks import Clock
    from calibrant.models.connecting import anthropic, connect, openai, openai_compatible
    from calibrant.models.costs import CostEstimate, estimate_cost
    from calibrant.models.embedding import EmbeddingCache, default_embedding_model, embed
    from calibrant.models.embedding_models import embedding_model
    from calibrant.models.gguf_files import fetch_model
    from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Message, Reply, Request, SchemaInvoker
    from calibrant.models.limiting import LimitedInvoker, Limiter, limited
    from calibrant.models.prices import Price
    from calibrant.models.reasking import ReaskedInvoker, reasked
    from calibrant.models.replaying import ReplayedInvoker, ReplayInvoker, replayed, write_calls
    from calibrant.models.retrying import RetriedInvoker, retried
    from calibrant.models.scripted import ScriptedInvoker
    from calibrant.models.timing import Latencies, TimedInvoker, timed
    from calibrant.models.wrapping import wrapped

__all__ = [
    "BaseLMInvoker",
    "Budget",
    "BudgetedInvoker",
    "CachedInvoker",
    "Clock",
    "CostEstimate",
    "EmbeddingCache",
    "InvokerWrapper",
    "Latencies",
    "LimitedInvoker",
    "Limiter",
    "Message",
    "Price",
    "ReaskedInvoker",
    "ReplayInvoker",
    "ReplayedInvoker",
    "Reply",
    "Request",
    "RetriedInvoker",
    "SchemaInvoker",
    "ScriptedInvoker",
    "TimedInvoker",
    "anthropic",
    "budgeted",
    "cached",
    "connect",
    "default_embedding_model",
    "embed",
    "embedding_model",
    "estimate_cost",
    "fetch_model",
    "limited",
    "openai",
    "openai_compatible",
    "reasked",
    "replayed",
    "retried",
    "timed",
    "wrapped",
    "write_calls",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "BaseLMInvoker": "calibrant.models.invoker",
        "Budget": "calibrant.models.budgets",
        "BudgetedInvoker": "calibrant.models.budgets",
        "CachedInvoker": "calibrant.models.caching",
        "Clock": "calibrant.models.clocks",
        "CostEstimate": "calibrant.models.costs",
        "EmbeddingCache": "calibrant.models.embedding",
        "InvokerWrapper": "calibrant.models.invoker",
        "Latencies": "calibrant.models.timing",
        "LimitedInvoker": "calibrant.models.limiting",
        "Limiter": "calibrant.models.limiting",
        "Message": "calibrant.models.invoker",
        "Price": "calibrant.models.prices",
        "ReaskedInvoker": "calibrant.models.reasking",
        "ReplayInvoker": "calibrant.models.replaying",
        "ReplayedInvoker": "calibrant.models.replaying",
        "Reply": "calibrant.models.invoker",
        "Request": "calibrant.models.invoker",
        "RetriedInvoker": "calibrant.models.retrying",
        "SchemaInvoker": "calibrant.models.invoker",
        "ScriptedInvoker": "calibrant.models.scripted",
        "TimedInvoker": "calibrant.models.timing",
        "anthropic": "calibrant.models.connecting",
        "budgeted": "calibrant.models.budgets",
        "cached": "calibrant.models.caching",
        "connect": "calibrant.models.connecting",
        "default_embedding_model": "calibrant.models.embedding",
        "embed": "calibrant.models.embedding",
        "embedding_model": "calibrant.models.embedding_models",
        "estimate_cost": "calibrant.models.costs",
        "fetch_model": "calibrant.models.gguf_files",
        "limited": "calibrant.models.limiting",
        "openai": "calibrant.models.connecting",
        "openai_compatible": "calibrant.models.connecting",
        "reasked": "calibrant.models.reasking",
        "replayed": "calibrant.models.replaying",
        "retried": "calibrant.models.retrying",
        "timed": "calibrant.models.timing",
        "wrapped": "calibrant.models.wrapping",
        "write_calls": "calibrant.models.replaying",
    },
)
