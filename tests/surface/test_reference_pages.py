"""What writes the reference: Markdown that holds whatever a docstring holds, and a folder that is made anew."""

import click
import pytest

from calibrant.cli.options import examples
from reference.commands import command_examples, commands, commands_page
from reference.markdown import code, docstring, page, table
from reference.names import package_page, public_names
from reference.pages import REFERENCE, write_site
from reference.tables import exceptions_page, plan_page


def test_a_page_has_a_title_and_leaves_out_what_is_empty():
    assert page("Title", "one", "", "two") == "# Title\n\none\n\ntwo\n"


@pytest.mark.parametrize(
    ("cell", "shown"), [("a|b", "a\\|b"), ("two\n  lines", "two lines"), ("", ""), ("größer", "größer")]
)
def test_a_cell_stays_one_cell(cell, shown):
    assert table(("x", "y"), [(cell, "z")]).splitlines() == ["| x | y |", "|---|---|", f"| {shown} | z |"]


def test_a_fence_is_longer_than_any_fence_in_its_text():
    assert code("plain", "python") == "```python\nplain\n```"
    assert code("```\ninner\n```", "text").startswith("````text\n")
    assert code("````\ninner\n````", "text").startswith("`````text\n")


def test_the_examples_of_a_docstring_become_one_block_and_its_prose_stays():
    text = "First sentence.\n\nMore.\n\n>>> 1 + 1\n2\n\n>>> 2 + 2\n4\n\nThe end."
    assert docstring(text).split("\n\n") == [
        *("First sentence.", "More.", "```pycon\n>>> 1 + 1\n2"),
        *(">>> 2 + 2\n4\n```", "The end."),
    ]


def test_a_docstring_that_ends_with_an_example_closes_its_block():
    assert docstring("It adds.\n\n>>> 1 + 1\n2").endswith(">>> 1 + 1\n2\n```")


def test_a_drawing_keeps_its_places():
    assert docstring("A tree:\n\n    a\n      b") == "A tree:\n\n```text\n    a\n      b\n```"


def test_examples_of_help_are_read_back_as_they_were_written():
    lines = ["calibrant run plan.yaml", 'calibrant align --require "kappa >= 0.6"']

    @click.command(epilog=examples(*lines))
    def command():
        """Do."""

    assert command_examples(command) == lines
    assert command_examples(click.Command("none")) == []


def test_examples_stand_line_by_line_in_the_help():
    command = click.Command("x", epilog=examples("calibrant run plan.yaml", "calibrant run other.yaml"))
    shown = command.get_help(click.Context(command)).splitlines()
    assert shown[-3:] == ["  Examples:", "    calibrant run plan.yaml", "    calibrant run other.yaml"]


def test_commands_are_found_however_deep_and_groups_are_none():
    @click.group()
    def root():
        """The root."""

    @root.group()
    def inner():
        """Inside."""

    @inner.command("leaf")
    def leaf():
        """The leaf."""

    assert [name for name, _ in commands(root, "tool")] == ["tool inner leaf"]


def test_the_page_of_commands_has_usage_options_with_defaults_and_examples():
    text = commands_page()
    part = text.partition("## calibrant align correct\n")[2].partition("\n## ")[0]
    assert "calibrant align correct [OPTIONS]" in part
    assert "| `--positive ANSWER` | The answer whose rate is wanted. [default: true] |" in part
    assert "| `-h, --help` |" in part
    assert "```console\ncalibrant align correct --judge judge.csv" in part
    assert "\b" not in text


def test_a_class_has_its_constructor_its_docstring_and_its_members():
    part = package_page("calibrant.runs").partition("## Comparison {#comparison}\n")[2].partition("\n## ")[0]
    assert "class Comparison:" in part
    assert "Runs compared pair by pair" in part
    assert "### between" in part
    assert "### settled" in part
    assert "self" not in part.partition("### between")[2].partition("```\n\n")[0]
    assert "'" not in part.partition("```python")[2].partition("```")[0], "annotations stand without quotes"


def test_a_function_has_its_signature_and_its_example():
    part = package_page("calibrant.runs").partition("## compare {#compare}\n")[2].partition("\n## ")[0]
    assert "def compare(a: Run | str, b: Run | str, *others: Run | str" in part
    assert "```pycon\n>>> from calibrant.runs import run" in part


def test_data_has_what_is_said_below_its_assignment():
    part = package_page("calibrant.stats")
    names = [name for name, value in public_names("calibrant.stats").items() if isinstance(value, tuple | dict)]
    for name in names:
        assert part.partition(f"## {name} {{#{name.lower()}}}\n")[2].partition("\n## ")[0].strip()


def test_the_top_package_points_to_where_a_name_is_described():
    text = package_page("calibrant")
    assert "| `FaithfulnessMetric` | [calibrant.metrics](metrics.md#faithfulnessmetric) |" in text
    assert "## Estimate {#estimate}" in text


def test_the_plan_s_page_has_keys_inside_keys_and_says_what_is_required():
    text = plan_page()
    assert "| `dataset.path` | The file with the items, relative to the plan. Required. |" in text
    assert "| `models[].price.input` |" in text
    assert "| `metrics[].rubric` |" in text


def test_the_exceptions_are_drawn_as_in_the_source():
    assert "    ├── InputError (ValueError)" in exceptions_page()
    assert "\n::\n" not in exceptions_page()


def test_the_site_s_folder_is_made_anew_with_pages_pictures_and_the_reference(tmp_path):
    docs, target = tmp_path / "docs", tmp_path / "build"
    for name in ("index.md", "how-to/one.md", "images/report.png", "reference/pages.py", "stray.py"):
        place = docs / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"# x\n")
    target.mkdir()
    (target / "old.md").write_text("# gone\n", encoding="utf-8")
    write_site(docs, target)
    written = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert written == {"index.md", "how-to/one.md", "images/report.png", *(f"reference/{name}" for name in REFERENCE)}
