"""Models: one async call, whoever answers it."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.models.connecting import anthropic, connect, openai, openai_compatible
    from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Message, Reply, Request, SchemaInvoker
    from calibrant.models.prices import Price
    from calibrant.models.scripted import ScriptedInvoker

__all__ = [
    "BaseLMInvoker",
    "InvokerWrapper",
    "Message",
    "Price",
    "Reply",
    "Request",
    "SchemaInvoker",
    "ScriptedInvoker",
    "anthropic",
    "connect",
    "openai",
    "openai_compatible",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "BaseLMInvoker": "calibrant.models.invoker",
        "InvokerWrapper": "calibrant.models.invoker",
        "Message": "calibrant.models.invoker",
        "Price": "calibrant.models.prices",
        "Reply": "calibrant.models.invoker",
        "Request": "calibrant.models.invoker",
        "SchemaInvoker": "calibrant.models.invoker",
        "ScriptedInvoker": "calibrant.models.scripted",
        "anthropic": "calibrant.models.connecting",
        "connect": "calibrant.models.connecting",
        "openai": "calibrant.models.connecting",
        "openai_compatible": "calibrant.models.connecting",
    },
)
