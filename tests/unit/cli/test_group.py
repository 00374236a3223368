import subprocess
import sys

import click
import pytest

from calibrant.cli import group
from calibrant.errors import InputError


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "calibrant", *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def test_help_names_every_command_and_the_exit_codes():
    shown = run("--help").stdout
    for command, (_, summary) in group.COMMANDS.items():
        assert command in shown
        assert summary.split()[0] in shown
    assert "Exit codes: 0 done and passed" in shown


def test_the_version_is_printed():
    assert run("--version").stdout.startswith("calibrant 0.")


def test_an_unknown_command_is_wrong_use():
    done = run("evalute")
    assert done.returncode == 2
    assert "No such command 'evalute'" in done.stderr


@pytest.mark.parametrize("command", sorted(group.COMMANDS))
def test_every_command_can_be_loaded_and_has_help(command):
    module, _, name = group.COMMANDS[command][0].partition(":")
    assert isinstance(getattr(__import__(module, fromlist=[name]), name), click.Command)


def exits(monkeypatch, error):
    def fail(**_):
        raise error

    monkeypatch.setattr(group.calibrant, "main", fail)
    with pytest.raises(SystemExit) as stop:
        group.main([])
    return stop.value.code


def test_our_errors_are_one_screen_and_exit_2(monkeypatch, capsys):
    assert exits(monkeypatch, InputError("items.csv has no rows")) == 2
    assert capsys.readouterr().err == "error: items.csv has no rows\n"


def test_an_interruption_is_incomplete(monkeypatch, capsys):
    assert exits(monkeypatch, click.exceptions.Abort()) == 4
    assert capsys.readouterr().err == "interrupted\n"
