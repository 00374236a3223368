"""Models: one async call, whoever answers it."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Message, Reply, Request, SchemaInvoker
    from calibrant.models.scripted import ScriptedInvoker

__all__ = ["BaseLMInvoker", "InvokerWrapper", "Message", "Reply", "Request", "SchemaInvoker", "ScriptedInvoker"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "BaseLMInvoker": "calibrant.models.invoker",
        "InvokerWrapper": "calibrant.models.invoker",
        "Message": "calibrant.models.invoker",
        "Reply": "calibrant.models.invoker",
        "Request": "calibrant.models.invoker",
        "SchemaInvoker": "calibrant.models.invoker",
        "ScriptedInvoker": "calibrant.models.scripted",
    },
)
