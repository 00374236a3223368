"""The declared input of a metric, field by field: a TypedDict, a dataclass, a pydantic model or any typed class."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

from calibrant.errors import WrongTypeError, shortened

__all__ = ["field_names", "field_specs"]


def field_names(input_type: type) -> list[str]:
    """The names of the fields that `input_type` declares, in its order."""
    return [spec["name"] for spec in field_specs(input_type)]


def field_specs(input_type: type) -> list[dict[str, Any]]:
    """Name, type and whether it is required, for each field; and the default of one that has a plain default.

    >>> class Asked(typing.TypedDict):
    ...     query: str
    >>> field_specs(Asked)
    [{'name': 'query', 'type': 'str', 'required': True}]
    """
    if not isinstance(input_type, type):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise WrongTypeError(f"input_type is a class with typed fields, not {shortened(input_type)}")
    pydantic_fields = getattr(input_type, "model_fields", None)
    if isinstance(pydantic_fields, dict):
        return [_pydantic_spec(name, info) for name, info in pydantic_fields.items()]
    defaults = _defaults(input_type)
    optional = getattr(input_type, "__optional_keys__", frozenset[str]())
    return [
        _spec(name, hint, required=name not in defaults and name not in optional, default=defaults.get(name))
        for name, hint in typing.get_type_hints(input_type).items()
        if not name.startswith("_") and typing.get_origin(hint) is not typing.ClassVar
    ]


def _spec(name: str, hint: Any, *, required: bool, default: Any = None) -> dict[str, Any]:
    text = hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint).replace("typing.", "")
    spec: dict[str, Any] = {"name": name, "type": text, "required": required}
    return spec if default is None else {**spec, "default": default}


def _pydantic_spec(name: str, info: Any) -> dict[str, Any]:
    required = info.is_required()
    has_default = not required and info.default_factory is None
    return _spec(name, info.annotation, required=required, default=info.default if has_default else None)


def _defaults(input_type: type) -> dict[str, Any]:
    if dataclasses.is_dataclass(input_type):
        missing = dataclasses.MISSING
        return {
            spec.name: None if spec.default is missing else spec.default
            for spec in dataclasses.fields(input_type)
            if spec.default is not missing or spec.default_factory is not missing
        }
    # Of the built-in bases none is a default: a TypedDict is a dict, and may have a field called `items`.
    owners = [owner for owner in reversed(input_type.__mro__) if owner.__module__ != "builtins"]
    return {name: value for owner in owners for name, value in vars(owner).items() if not name.startswith("_")}
