"""What is being judged: one item, and a dataset of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, cast

from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.fingerprints import fingerprint

__all__ = ["Dataset", "EvalInput", "ItemDigest", "identifier"]


def identifier(value: object, what: str = "id") -> str:
    """An id as the string that it is everywhere: texts as they are, whole numbers in digits.

    A table reader that met an empty cell turns the ids of a column into floats; those that are whole come back as they
    were written.

    >>> identifier("q1"), identifier(7), identifier(7.0)
    ('q1', '7', '7')
    """
    if isinstance(value, str):
        if not value.strip():
            raise InputError(f"{what} is empty; every {what} is a text or a whole number")
        return value
    if not isinstance(value, bool):
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
        index = getattr(value, "__index__", None)
        if index is not None:
            return str(index())
    raise InputError(f"{what} is a text or a whole number, not {shortened(value)}")


class EvalInput:
    """One thing to be judged. Every field is optional, a missing one is None, and fields of your own are kept.

    What the system under test produced is `answer`, `contexts` and `retrieved_chunks`; the rest is input. An item
    without an id is named by the hash of its inputs, so the same question has the same id under every version of the
    system. Items are immutable: `replace` makes a changed copy, which keeps the id.

    >>> item = EvalInput(id=7, query="Is it open?", answer="Yes.", ticket="T-1")
    >>> item.id, item.ticket, item.contexts
    ('7', 'T-1', None)
    """

    FIELDS: ClassVar[tuple[str, ...]] = (
        "query",
        "answer",
        "contexts",
        "ground_truth",
        "retrieved_chunks",
        "relevant_ids",
        "metadata",
    )
    PRODUCED: ClassVar[frozenset[str]] = frozenset({"answer", "contexts", "retrieved_chunks"})

    __slots__ = ("_extra", "_fields", "_id")
    _id: str
    _fields: dict[str, Any]
    _extra: dict[str, Any]

    def __init__(  # noqa: PLR0913 - an item has these fields
        self,
        *,
        id: object = None,  # noqa: A002 - the name that users and the interface give it
        query: str | None = None,
        answer: Any = None,
        contexts: Sequence[str] | str | None = None,
        ground_truth: Any = None,
        retrieved_chunks: Sequence[Any] | None = None,
        relevant_ids: Sequence[object] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **extra: Any,
    ) -> None:
        fields = {
            "query": query,
            "answer": answer,
            "contexts": _texts(contexts),
            "ground_truth": ground_truth,
            "retrieved_chunks": _sequence("retrieved_chunks", retrieved_chunks),
            "relevant_ids": _identifiers(relevant_ids),
            "metadata": None if metadata is None else dict(metadata),
        }
        clash = [name for name in extra if name.startswith("_") or hasattr(EvalInput, name)]
        if clash:
            raise InputError(f"a field cannot be named {', '.join(sorted(clash))}: EvalInput has that name itself")
        _set(self, "_fields", fields)
        _set(self, "_extra", extra)
        _set(self, "_id", identifier(id) if id is not None else _hash_of_inputs(fields, extra))

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The item that `record` describes; keys that are no field of EvalInput are kept as extras."""
        return cls(**{str(name): value for name, value in record.items()})

    @property
    def id(self) -> str:
        """The item's name: as given, or the hash of its inputs."""
        return self._id

    @property
    def query(self) -> str | None:
        """What was asked of the system."""
        return self._fields["query"]

    @property
    def answer(self) -> Any:
        """What the system answered."""
        return self._fields["answer"]

    @property
    def contexts(self) -> tuple[str, ...] | None:
        """The texts that the system was given to answer from."""
        return self._fields["contexts"]

    @property
    def ground_truth(self) -> Any:
        """A reference answer."""
        return self._fields["ground_truth"]

    @property
    def retrieved_chunks(self) -> tuple[Any, ...] | None:
        """What the retriever returned, best first: ids, or anything with an id."""
        return self._fields["retrieved_chunks"]

    @property
    def relevant_ids(self) -> tuple[str, ...] | None:
        """The ids of the documents that are relevant."""
        return self._fields["relevant_ids"]

    @property
    def metadata(self) -> Mapping[str, Any] | None:
        """Notes about the item, a copy; no part of its identity."""
        notes = self._fields["metadata"]
        return None if notes is None else dict(notes)

    @property
    def extra(self) -> Mapping[str, Any]:
        """The fields that EvalInput itself does not have, a copy."""
        return dict(self._extra)

    def get(self, name: str, default: Any = None) -> Any:
        """The field or extra called `name`; `default` when it is missing or None."""
        own = name in ("id", "metadata")
        value = getattr(self, name) if own else self._fields.get(name, self._extra.get(name))
        return default if value is None else value

    def replace(self, **changes: Any) -> Self:
        """A copy with `changes`. It keeps the id, whatever changes."""
        fields: dict[str, Any] = {"id": self._id, **self._fields, **self._extra, **changes}
        return type(self)(**fields)

    def inputs(self) -> dict[str, Any]:
        """What was put to the system: all but what it produced, and but the metadata."""
        return _inputs(self._fields, self._extra)

    def to_json(self) -> dict[str, Any]:
        """The id and every field that is not None."""
        fields = {**self._fields, "metadata": self.metadata, **self._extra}
        return {"id": self._id, **{name: value for name, value in fields.items() if value is not None}}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._extra:
            return self._extra[name]
        known = ", ".join(["id", *self.FIELDS, *(self._extra if not name.startswith("_") else ())])
        raise AttributeError(f"item has no field {name!r}; it has: {known}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"items are immutable; item.replace({name}=...) makes a changed copy")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"items are immutable; item.replace({name}=None) makes a copy without it")

    def __reduce__(self) -> tuple[Any, ...]:
        return EvalInput.from_dict, ({"id": self._id, **self._fields, **self._extra},)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EvalInput):
            return NotImplemented
        return (self._id, self._fields, self._extra) == (other._id, other._fields, other._extra)

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={shortened(value)}" for name, value in self.to_json().items())
        return f"EvalInput({shown})"


class Dataset:
    """Items in order, under a name, with the cluster that each belongs to.

    `items` are EvalInputs or mappings. `clusters` names for each item the document, customer or conversation that it
    shares with others, or the field that says so. Two items with one id are refused, with every place that has them.

    >>> data = Dataset([{"id": "a", "query": "Hi?"}, {"id": "b", "query": "Bye?"}], name="chat")
    >>> len(data), data["b"].query, data.hash == Dataset(reversed(data.items)).hash
    (2, 'Bye?', True)
    """

    __slots__ = ("_positions", "clusters", "items", "name")

    def __init__(
        self,
        items: Iterable[EvalInput | Mapping[str, Any]],
        *,
        name: str = "",
        clusters: Sequence[object] | str | None = None,
    ) -> None:
        self.items = _gathered_items(items, name or "the dataset")
        self.name = name
        self.clusters = _clusters(clusters, self.items)
        self._positions = {item.id: position for position, item in enumerate(self.items)}

    @property
    def hash(self) -> str:
        """The hash of ids and inputs, whatever their order, and without what the system produced."""
        digest = ItemDigest()
        for item in self.items:
            digest.add(item)
        return digest.inputs

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[EvalInput]:
        return iter(self.items)

    def __getitem__(self, key: str | int) -> EvalInput:
        return self.items[key] if isinstance(key, int) else self.items[self._positions[key]]

    def __contains__(self, key: object) -> bool:
        return key in self._positions

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dataset):
            return NotImplemented
        return (self.items, self.name, self.clusters) == (other.items, other.name, other.clusters)

    __hash__ = None  # type: ignore[assignment]  # a dataset is a container

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {len(self)} items)"


class ItemDigest:
    """The hashes of items that come one by one, whatever their order; a million of them take no memory.

    `inputs` is what two versions of a system have in common, `contents` also covers what they produced. Each is the sum
    of the items' hashes, so the order does not matter and nothing needs to be kept.

    >>> digest = ItemDigest()
    >>> digest.add(EvalInput(id="a", query="Hi?", answer="Hello."))
    >>> digest.inputs == Dataset([{"id": "a", "query": "Hi?", "answer": "Bye."}]).hash
    True
    """

    __slots__ = ("_contents", "_inputs", "n")

    def __init__(self) -> None:
        self.n = 0
        self._inputs = 0
        self._contents = 0

    def add(self, item: EvalInput) -> None:
        """Take `item` into account."""
        try:
            inputs, contents = _number([item.id, item.inputs()]), _number(item.to_json())
        except WrongTypeError as error:
            raise WrongTypeError(f"item {item.id!r}: {error}; make it a text, a number or a list of them") from None
        self.n += 1
        self._inputs += inputs
        self._contents += contents

    @property
    def inputs(self) -> str:
        """The hash of ids and inputs: two datasets compare when it is the same."""
        return fingerprint([self.n, str(self._inputs)])

    @property
    def contents(self) -> str:
        """The hash of all that the items hold, answers and metadata included."""
        return fingerprint([self.n, str(self._contents)])


_set = object.__setattr__


def _number(value: object) -> int:
    return int(fingerprint(value).removeprefix("sha256:"), 16)


def _inputs(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    left_out = EvalInput.PRODUCED | {"metadata"}
    given = {name: value for name, value in fields.items() if name not in left_out and value is not None}
    return {**given, **{name: value for name, value in extra.items() if value is not None}}


def _hash_of_inputs(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> str:
    """The hash of the inputs; of an item with none, such as a lone answer, of all that it has."""
    given = _inputs(fields, extra) or {name: value for name, value in fields.items() if value is not None}
    return fingerprint(given)[len("sha256:") :][:16]


def _texts(value: Sequence[str] | str | None) -> tuple[str, ...] | None:
    """One text is a list of one: a string is a sequence too, of letters, and nobody means that."""
    return (value,) if isinstance(value, str) else _sequence("contexts", value)


def _sequence(name: str, value: Any) -> tuple[Any, ...] | None:
    if value is None:
        return None
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise WrongTypeError(f"{name} is a list, not {shortened(value)}")
    return tuple(cast("Iterable[Any]", value))


def _identifiers(value: Sequence[object] | None) -> tuple[str, ...] | None:
    found = _sequence("relevant_ids", value)
    return None if found is None else tuple(identifier(one, "relevant id") for one in found)


def _gathered_items(items: Iterable[EvalInput | Mapping[str, Any]], what: str) -> tuple[EvalInput, ...]:
    if isinstance(items, str | bytes | Mapping | EvalInput) or not isinstance(items, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass paths and single items
        raise WrongTypeError(
            f"{what} is made of a list of items, not {shortened(items)}; put a single one in a list, and give the path "
            "of a file to run()"
        )
    made: list[EvalInput] = []
    problems: list[str] = []
    for row, item in enumerate(items, start=1):
        try:
            made.append(item if isinstance(item, EvalInput) else EvalInput.from_dict(item))
        except (InputError, WrongTypeError) as error:
            problems.append(f"item {row}: {error}")
        except (TypeError, AttributeError):
            problems.append(f"item {row}: expected an EvalInput or a mapping of its fields, got {shortened(item)}")
    counts = Counter(item.id for item in made)
    for repeated in (name for name, count in counts.items() if count > 1):
        rows = ", ".join(str(row) for row, item in enumerate(made, start=1) if item.id == repeated)
        problems.append(f"items {rows} share the id {repeated!r}; give each an id of its own")
    if problems:
        raise InputError.gathered(what, problems)
    return tuple(made)


def _clusters(clusters: Sequence[object] | str | None, items: Sequence[EvalInput]) -> tuple[str, ...] | None:
    if clusters is None:
        return None
    if isinstance(clusters, str):
        values: Sequence[object] = [item.get(clusters) for item in items]
        missing = [item.id for item, value in zip(items, values, strict=True) if value is None]
        if missing:
            raise InputError.gathered(f"cluster field {clusters!r}", [f"item {name} has none" for name in missing])
    else:
        values = clusters
    if len(values) != len(items):
        raise InputError(f"clusters names one cluster an item: expected {len(items)}, got {len(values)}")
    return tuple(identifier(value, "cluster") for value in values)
