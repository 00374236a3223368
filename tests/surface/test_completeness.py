"""Whatever has a name is documented: commands, options, metrics, measures, failure codes, extras, keys of a plan."""

import importlib
import inspect
import re
import tomllib

import click
import pytest
from pages import PAGES, ROOT

from calibrant import errors
from calibrant.metrics.shipped import SHIPPED_METRICS
from calibrant.readers.plan import plan_schema
from calibrant.retrieval.notation import FAMILIES
from reference.commands import commands
from reference.names import PACKAGES, public_names
from reference.pages import REFERENCE

WRITTEN = {page: page.read_text(encoding="utf-8") for page in PAGES if not page.is_relative_to(ROOT / "decisions")}
BY_HAND = "\n".join(WRITTEN.values())
MADE = {name: write() for name, write in REFERENCE.items()}
COMMANDS = dict(commands())
OPTIONS = [
    (name, flag)
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
    for flag in option.opts
]


def said_by_hand(word):
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", BY_HAND)


def section(page, title):
    """The part of a page of the reference below the heading `title`."""
    return re.split(rf"^## {re.escape(title)}$", MADE[page], maxsplit=1, flags=re.MULTILINE)[1].partition("\n## ")[0]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_in_the_reference_and_in_a_page_that_was_written(name):
    assert section("commands.md", name)
    assert said_by_hand(name) or said_by_hand(name.removesuffix(" report")), f"no page says when to type {name}"


@pytest.mark.parametrize(("name", "flag"), OPTIONS, ids=str)
def test_every_option_is_in_its_command_s_section(name, flag):
    assert re.search(rf"^\| `[^`]*{re.escape(flag)}\b", section("commands.md", name), re.MULTILINE)


@pytest.mark.parametrize("name", sorted(SHIPPED_METRICS))
def test_every_metric_has_a_row_and_a_page(name):
    assert f"| `{name}` |" in MADE["metrics.md"]
    pages = "\n".join(text for page, text in WRITTEN.items() if "metrics" in page.parts)
    assert re.search(rf"(?<![\w.]){name}\b", pages), f"docs/metrics/ says nothing of {name}"


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_measure_has_a_row_and_a_place_among_the_measures(name):
    assert re.search(rf"^\| `{name}[`(]", MADE["measures.md"], re.MULTILINE)
    assert re.search(rf"\b{name}\b", (ROOT / "docs" / "retrieval.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("code", sorted(errors.CODES))
def test_every_failure_code_is_in_the_reference_and_on_its_page(code):
    assert f"| `{code}` |" in MADE["exceptions.md"]
    assert f"| `{code}` |" in (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", errors.__all__)
def test_every_exception_stands_in_the_tree(name):
    if inspect.isclass(getattr(errors, name)) and issubclass(getattr(errors, name), BaseException):
        assert name in MADE["exceptions.md"]


def test_every_extra_is_in_the_readme_with_what_it_brings_and_what_is_missing_without():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for extra in set(project["optional-dependencies"]) - {"all"}:
        assert re.search(rf"^\| `calibrant\[{extra}\]` \| [^|]+ \| [^|]+ \|$", readme, re.MULTILINE), extra
    assert "calibrant[all]" in readme


def keys(schema):
    for name, inner in schema.get("properties", {}).items():
        yield name
        yield from keys(inner)
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            yield from keys(schema[word])
    for form in schema.get("anyOf", ()):
        yield from keys(form)
    for inner in schema.get("properties", {}).values():
        for word in ("items", "additionalProperties", "anyOf"):
            for form in inner.get(word, ()) if isinstance(inner.get(word), list) else [inner.get(word)]:
                if isinstance(form, dict):
                    yield from keys(form)


@pytest.mark.parametrize("key", sorted(set(keys(plan_schema()))))
def test_every_key_of_a_plan_is_on_its_page_with_a_description(key):
    row = re.search(rf"^\| `(?:[\w\[\]]+\.)*{re.escape(key)}` \| (?P<said>.*) \|$", MADE["plan.md"], re.MULTILINE)
    assert row
    assert row["said"].strip() not in {"", "Required."}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_section_or_says_where_it_is_described(package):
    page = MADE[f"names/{package.removeprefix('calibrant.').replace('.', '-')}.md"]
    for name, value in public_names(package).items():
        described = f"## {name} {{#{name.lower()}}}" in page
        assert described or f"| `{name}` | [calibrant." in page, f"{package}.{name}"
        if described and (inspect.isclass(value) or inspect.isroutine(value)):
            assert inspect.getdoc(value), f"{package}.{name} has no docstring"


def test_no_package_is_left_out_of_the_reference():
    rooms = {path.parent.name for path in (ROOT / "src" / "calibrant").glob("*/__init__.py")}
    offering = {room for room in rooms if getattr(importlib.import_module(f"calibrant.{room}"), "__all__", ())}
    assert {f"calibrant.{room}" for room in offering - {"cli"}} <= set(PACKAGES)


def test_the_exit_codes_of_the_page_are_those_of_the_command():
    from calibrant.cli.group import EXIT_CODES

    for name, code in EXIT_CODES.items():
        assert f"| {code} | {name.replace('_', ' ')} |" in MADE["commands.md"]
