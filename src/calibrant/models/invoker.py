"""What every model looks like to the rest of Calibrant: one async call from a Request to a Reply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.fingerprints import fingerprint
from calibrant.ratings import Usage

__all__ = ["BaseLMInvoker", "InvokerWrapper", "Message", "Reply", "Request", "SchemaInvoker", "json_schema_of"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked of a model: the messages, and the form that the reply shall have.

    With `schema` the reply is JSON of that schema, with `labels` it is one of them, else it is text. `sampling` holds
    only what is to be sent (`temperature`, `max_tokens`, `seed`, ...). `slot` tells equal questions of one jury apart.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    labels: tuple[str, ...] = ()
    sampling: Mapping[str, Any] = field(default_factory=dict[str, Any])
    logprobs: bool = False
    slot: int = 0

    def __post_init__(self) -> None:
        for message in self.messages:
            if not isinstance(message, Message) or not isinstance(message.content, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass dicts and fields that are None
                raise WrongTypeError(f"messages are several Message(role, text), not {shortened(message)}")
        if self.labels:
            self._check_labels()

    def _check_labels(self) -> None:
        labels: object = self.labels
        if isinstance(labels, str) or not all(isinstance(label, str) for label in self.labels):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass one text
            raise WrongTypeError(f"labels are several texts such as ('yes', 'no'), not {shortened(labels)}")
        if not all(label.strip() for label in self.labels):
            raise InputError(f"a label is a text that can be said, and one is empty: {shortened(labels)}")
        if len(set(self.labels)) < len(self.labels):
            raise InputError(f"labels differ from each other, got {shortened(labels)}")
        if self.schema is not None:
            raise InputError("a request asks for JSON of a schema or for one of its labels, not for both")

    @classmethod
    def of(cls, prompt: str, *, system: str = "", **form: Any) -> Request:
        """The request that puts one `prompt`, under a `system` message if there is one.

        >>> Request.of("Is it grounded?", labels=("yes", "no")).messages[0].role
        'user'
        """
        if not isinstance(prompt, str):  # pyright: ignore[reportUnnecessaryIsInstance] - fields may be None, or no text
            raise WrongTypeError(f"a prompt is a text, not {shortened(prompt)}")
        opening = (Message("system", system),) if system else ()
        return cls(messages=(*opening, Message("user", prompt)), **form)

    @staticmethod
    def checked(given: object) -> Request:
        """`given`, if it is a Request; a bare prompt is an error that says how to make one."""
        if not isinstance(given, Request):
            raise WrongTypeError(
                f"a model is asked with a Request, not {shortened(given)}; Request.of(prompt) makes one"
            )
        return given

    def to_json(self) -> dict[str, Any]:
        """Everything that makes this request differ from another."""
        return {
            "messages": [[message.role, message.content] for message in self.messages],
            "schema": self.schema,
            "labels": self.labels,
            "sampling": self.sampling,
            "logprobs": self.logprobs,
            "slot": self.slot,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered.

    `data` is the parsed reply (a JSON value, or the label), `mode` says how the form was asked for (`text`,
    `json_schema`, `json_object`, `prompted_schema`, `label`, ...), `model` is the name that the provider gave back.
    `label_probs` holds probabilities over the labels that sum to 1, `off_label_mass` what was on none of them.
    `reasoning` is what a reasoning model thought before it answered, kept apart from `text`. `seconds` is how long
    the call took, where it was timed, and `rate_limit` what the provider said about its limits.
    """

    text: str
    data: Any = None
    label_probs: Mapping[str, float] | None = None
    mode: str = "text"
    model: str = ""
    usage: Usage = Usage(calls=1)  # noqa: RUF009 - Usage is immutable
    off_label_mass: float | None = None
    reasoning: str = ""
    call_key: str = ""
    seconds: float | None = field(default=None, compare=False)
    rate_limit: Any = field(default=None, compare=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The reply as the journal has it: what the provider said about its limits is left out.

        >>> Reply.from_json(Reply(text="yes", data="yes").to_json()).data
        'yes'
        """
        return {
            "text": self.text,
            "data": self.data,
            "label_probs": None if self.label_probs is None else dict(self.label_probs),
            "mode": self.mode,
            "model": self.model,
            "usage": self.usage.to_json(),
            "off_label_mass": self.off_label_mass,
            "reasoning": self.reasoning,
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, call_key: str = "") -> Reply:
        """The reply that `to_json` wrote, under its call key."""
        usage = Usage(**data["usage"]) if data.get("usage") is not None else Usage(calls=1)
        fields: dict[str, Any] = {**data, "usage": usage, "call_key": call_key or data.get("call_key", "")}
        return cls(**fields)


class BaseLMInvoker(ABC):
    """A model that can be asked. Subclass it and write `invoke` to bring one of your own."""

    name: str

    @property
    def identity(self) -> Mapping[str, Any]:
        """What makes this model differ from another: part of every call key and instrument. Never a secret."""
        return {"model": self.name}

    @abstractmethod
    async def invoke(self, request: Request) -> Reply:
        """The model's reply; raises ModelCallError with a code when there is none."""

    def call_key(self, request: Request) -> str:
        """The hash of this request to this model, slot included: what the journal and the cache are keyed by."""
        return fingerprint([dict(self.identity), request.to_json()])

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002 - for those with a price
        """What so many tokens cost in US dollars; None when nobody knows, as here.

        Write it for a model of your own that has a price.
        """
        return None

    @property
    def tells_cost(self) -> bool:
        """Whether only its replies tell what they cost, so that a budget in money has to make a call to know."""
        return type(self).cost is BaseLMInvoker.cost

    async def aclose(self) -> None:  # noqa: B027 - most models hold nothing open
        """Let go of connections. Asking again opens them anew."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class InvokerWrapper(BaseLMInvoker):
    """A model behind one added behaviour; its name and identity are those of the model inside."""

    def __init__(self, inner: BaseLMInvoker) -> None:
        if not isinstance(inner, BaseLMInvoker):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass names
            raise WrongTypeError(f"expected a model to wrap, got {shortened(inner)}; connect(NAME) makes one")
        self.inner = inner
        self.name = inner.name

    @property
    def identity(self) -> Mapping[str, Any]:
        """The identity of the model inside."""
        return self.inner.identity

    def call_key(self, request: Request) -> str:
        """The call key that the model inside gives the request."""
        return self.inner.call_key(request)

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """What the model inside costs."""
        return self.inner.cost(input_tokens, output_tokens)

    @property
    def tells_cost(self) -> bool:
        """Whether only the replies of the model inside tell what they cost."""
        return self.inner.tells_cost

    async def aclose(self) -> None:
        """Let go of the connections of the model inside."""
        await self.inner.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.inner!r})"


class SchemaInvoker(InvokerWrapper):
    """The model inside, asked for JSON of `schema` whenever a request names no form of its own.

    It shares everything of its source: connections, limits, budget and journal.
    """

    def __init__(self, inner: BaseLMInvoker, schema: Mapping[str, Any]) -> None:
        super().__init__(inner)
        self.schema = schema

    async def invoke(self, request: Request) -> Reply:
        """The reply to `request` in the form of the schema."""
        return await self.inner.invoke(self._shaped(request))

    def call_key(self, request: Request) -> str:
        """The call key of the request as it is really put."""
        return self.inner.call_key(self._shaped(request))

    def _shaped(self, request: Request) -> Request:
        return request if request.schema is not None or request.labels else replace(request, schema=self.schema)


def json_schema_of(schema: Any) -> Mapping[str, Any]:
    """The JSON schema that `schema` stands for: a mapping as it is, a pydantic model by its own account.

    >>> json_schema_of({"type": "object"})
    {'type': 'object'}
    """
    if isinstance(schema, Mapping):
        return schema
    describe = getattr(schema, "model_json_schema", None)
    if callable(describe):
        described = describe()
        if isinstance(described, Mapping):
            return described
    raise WrongTypeError(f"a response schema is a JSON schema or a pydantic model class, not {shortened(schema)}")
