"""Pages that list what has a name: metrics, measures, failure codes, exceptions, and the keys of a plan."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant import errors
from calibrant.metrics.shipped import SHIPPED_METRICS
from calibrant.readers.plan import plan_schema
from calibrant.retrieval.notation import FAMILIES
from reference.markdown import code, page, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["exceptions_page", "measures_page", "metrics_page", "plan_page"]


def metrics_page() -> str:
    """Every shipped metric: its name in a plan, its class, what it says, and what it needs."""
    rows = [_metric(name, module, made) for name, (module, made) in sorted(SHIPPED_METRICS.items())]
    return page(
        "Every metric",
        "The name is what a plan and `named_metric` take. A metric that lacks a field skips the item and says so.",
        table(("name", "class", "says", "needs"), rows),
    )


def measures_page() -> str:
    """Every measure of rankings: how it is written, and what it is."""
    rows = [(f"`{_written(family)}`", family.meaning, "yes" if family.cut else "no") for family in FAMILIES.values()]
    return page(
        "Every measure",
        "Upper and lower case are the same, and parameters may be left out: `nDCG@10`, `P(rel=2)@5`.",
        table(("measure", "what it is", "can be cut, as in @10"), rows),
    )


def exceptions_page() -> str:
    """The tree of exceptions, and every failure code."""
    rows = [
        (f"`{name}`", one.status.replace("_", " "), "yes" if one.retryable else "no", one.meaning)
        for name, one in errors.CODES.items()
    ]
    return page(
        "Exceptions and failure codes",
        code(inspect.cleandoc(errors.__doc__ or "").replace("\n::\n", ""), "text"),
        "## Failure codes",
        table(("code", "counted as", "may asking again help?", "meaning"), rows),
    )


def plan_page() -> str:
    """Every key of a plan, with the keys inside it."""
    schema = plan_schema()
    return page(
        "The plan",
        f"{schema['description']} Unknown keys are errors, with their line. `calibrant plan schema` prints it as JSON.",
        table(("key", "what it says"), _keys(schema, "")),
    )


def _metric(name: str, module: str, made: str) -> tuple[str, ...]:
    found = getattr(import_module(module), made)
    said = (inspect.getdoc(found) or "").partition("\n\n")[0]
    needs = sorted(getattr(found, "required_fields", ()))
    return f"`{name}`", f"`{made}`", said, ", ".join(f"`{field}`" for field in needs) or "as it is set up"


def _written(family: Any) -> str:
    set_up = ", ".join(f"{name}={value}" for name, value in family.defaults.items() if value is not None)
    return f"{family.name}({set_up})" if set_up else family.name


def _keys(schema: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    """The keys of an object, and below each the keys that are inside it."""
    needed = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        required = " Required." if name in needed else ""
        yield f"`{before}{name}`", f"{inner.get('description', '')}{required}"
        for form in (inner, *inner.get("anyOf", ())):
            yield from _keys(form, f"{before}{name}.")
            for nested in (form.get("items"), form.get("additionalProperties")):
                for one in (nested, *nested.get("anyOf", ())) if isinstance(nested, dict) else ():
                    yield from _keys(one, f"{before}{name}[].")
