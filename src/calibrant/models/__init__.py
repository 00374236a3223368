"""Models: one async call, whoever answers it."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.models.connecting import anthropic, connect, openai, openai_compatible
    from calibrant.models.embedding import EmbeddingCache, default_embedding_model, embed
    from calibrant.models.embedding_models import embedding_model
    from calibrant.models.gguf_files import fetch_model
    from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Message, Reply, Request, SchemaInvoker
    from calibrant.models.prices import Price
    from calibrant.models.scripted import ScriptedInvoker

__all__ = [
    "BaseLMInvoker",
    "EmbeddingCache",
    "InvokerWrapper",
    "Message",
    "Price",
    "Reply",
    "Request",
    "SchemaInvoker",
    "ScriptedInvoker",
    "anthropic",
    "connect",
    "default_embedding_model",
    "embed",
    "embedding_model",
    "fetch_model",
    "openai",
    "openai_compatible",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "BaseLMInvoker": "calibrant.models.invoker",
        "EmbeddingCache": "calibrant.models.embedding",
        "InvokerWrapper": "calibrant.models.invoker",
        "Message": "calibrant.models.invoker",
        "Price": "calibrant.models.prices",
        "Reply": "calibrant.models.invoker",
        "Request": "calibrant.models.invoker",
        "SchemaInvoker": "calibrant.models.invoker",
        "ScriptedInvoker": "calibrant.models.scripted",
        "anthropic": "calibrant.models.connecting",
        "connect": "calibrant.models.connecting",
        "default_embedding_model": "calibrant.models.embedding",
        "embed": "calibrant.models.embedding",
        "embedding_model": "calibrant.models.embedding_models",
        "fetch_model": "calibrant.models.gguf_files",
        "openai": "calibrant.models.connecting",
        "openai_compatible": "calibrant.models.connecting",
    },
)
