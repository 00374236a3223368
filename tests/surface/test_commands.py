"""What every command has in common, and that the examples in its help work as they stand."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from provider_server import ProviderServer

from calibrant.cli.group import calibrant
from reference.commands import command_examples, commands

COMMANDS = dict(commands())
NAMES = sorted(COMMANDS)
ALWAYS_ONE_FORM = {"calibrant plan schema", "calibrant completion"}
"""Prints JSON alone; prints a shell script."""

ITEMS = "id,query,answer\n1,Open?,Until six.\n2,Why?,\n3,How?,By bus.\n"
QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 c 1\nq3 0 d 0\n"
RANKING = "q1 Q0 {} 1 2.0 x\nq1 Q0 {} 2 1.0 x\nq2 Q0 c 1 1.5 x\nq3 Q0 d 1 1.0 x\n"
PEOPLE = "".join(f"{item},{who},{'yes' if item % 3 else 'no'}\n" for who in ("kim", "lee") for item in range(40))
JUDGE = "".join(f"{item},{'yes' if item % 3 or item == 6 else 'no'}\n" for item in range(40))
FILES = {
    "items.csv": ITEMS,
    "qrels.txt": QRELS,
    "bm25.run": RANKING.format("b", "a"),
    "dense.run": RANKING.format("a", "b"),
    "people.csv": f"original_id,annotator_id,polite\n{PEOPLE}",
    "judge.csv": f"original_id,polite\n{JUDGE}",
}


def flags(name):
    return {flag for option in COMMANDS[name].params for flag in option.opts}


@pytest.mark.parametrize("name", NAMES)
def test_every_command_can_be_quiet_and_print_json(name):
    assert {"--quiet", "-q"} <= flags(name)
    assert "--json" in flags(name) or name in ALWAYS_ONE_FORM


@pytest.mark.parametrize("name", NAMES)
def test_every_option_says_what_it_does_and_every_command_has_an_example(name):
    command = COMMANDS[name]
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{name} {option.opts[0]} has no help"
    assert command.help
    assert command_examples(command), f"{name} --help ends without an example; see calibrant.cli.options.examples"
    assert all(name in line or name.removesuffix(" report") in line for line in command_examples(command))


def groups():
    context = click.Context(calibrant, info_name="calibrant")
    found = {word: calibrant.get_command(context, word) for word in calibrant.list_commands(context)}
    return {name: group for name, group in found.items() if isinstance(group, click.Group)}


@pytest.mark.parametrize("name", ["", *sorted(groups())])
def test_the_help_of_a_group_has_an_example_and_whole_sentences(name, environment, tmp_path):
    shown = typed(f"calibrant {name} --help", tmp_path, environment).stdout
    listed, _, after = shown.partition("Commands:")[2].partition("Examples:")
    assert listed
    assert "..." not in listed
    assert f"calibrant {name}".strip() in after


def test_one_option_has_one_meaning_everywhere():
    """A flag takes a value in all commands or in none, and a short form belongs to one long form."""
    kinds, long_forms = {}, {}
    for command in COMMANDS.values():
        for option in command.params:
            if not isinstance(option, click.Option):
                continue
            *short, long = sorted(option.opts, key=len)
            kinds.setdefault(long, set()).add(option.is_flag)
            for flag in short:
                long_forms.setdefault(flag, set()).add(long)
    assert {flag for flag, kind in kinds.items() if len(kind) > 1} == set()
    assert {flag for flag, long in long_forms.items() if len(long) > 1} == set()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An empty home, the command on the path, and a provider on loopback in the place of OpenAI."""
    home = tmp_path_factory.mktemp("home")
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    with ProviderServer(lambda _: "Yes.") as server:
        yield {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(home),
            "XDG_CACHE_HOME": cache,  # the offline judge, if it was fetched before
            "LC_ALL": "C.UTF-8",
            "OPENAI_BASE_URL": server.openai_url,
            "OPENAI_API_KEY": "sk-of-nobody",
        }


def typed(line, folder, environment):
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture
def workshop(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def measured_once(tmp_path_factory, environment):
    folder = tmp_path_factory.mktemp("measured")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    for line in ("init items.csv", "run plan.yaml --name first", "run plan.yaml --name second"):
        done = typed(f"calibrant {line} --quiet", folder, environment)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def measured(tmp_path, measured_once):
    """The same folder after a first plan and two runs of it, `first` and `second`."""
    return shutil.copytree(measured_once, tmp_path, dirs_exist_ok=True)


EXAMPLES = [pytest.param(name, line, id=line) for name in NAMES for line in command_examples(COMMANDS[name])]


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_an_example_of_the_help_works(name, line, request, environment):
    folder = request.getfixturevalue("workshop" if name == "calibrant init" else "measured")
    if "local/smollm2" in line:
        from calibrant.models.gguf_files import is_fetched

        if not is_fetched("local/smollm2"):
            pytest.skip("the offline judge was not fetched")
    done = typed(line, folder, environment)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("name", NAMES)
def test_wrong_use_is_told_in_one_screen_with_a_remedy(name, environment, tmp_path):
    done = typed(f"{name} --bogus", tmp_path, environment)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "No such option" in done.stderr
    assert "--help" in done.stderr
    assert len(done.stderr.splitlines()) < 24


@pytest.mark.parametrize("line", ["calibrant run plan.yaml", "calibrant show", "calibrant models list"])
def test_no_color_and_no_terminal_leave_colours_out(line, measured, environment):
    script = f"import pty, sys; sys.exit(pty.spawn({line.split()!r}))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=measured,
        env={**environment, "NO_COLOR": "1", "TERM": "xterm"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout
    assert "\x1b[3" not in done.stdout
    assert "\x1b[1m" not in done.stdout
    assert "\x1b" not in typed(line, measured, environment).stdout
