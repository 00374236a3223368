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


@pytest.mark.parametrize(("typed", "meant"), [("rnu", "run"), ("shwo", "show"), ("retreival", "retrieval")])
def test_a_slip_is_told_with_the_command_that_was_meant(typed, meant, capsys):
    with pytest.raises(SystemExit) as ended:
        group.main([typed])
    assert ended.value.code == 2
    assert f"No such command {typed!r}; did you mean {meant!r}?" in capsys.readouterr().err


def test_what_is_like_no_command_is_told_with_all_of_them(capsys):
    with pytest.raises(SystemExit):
        group.main(["xyzzy"])
    assert f"expected one of: {', '.join(sorted(group.COMMANDS))}" in capsys.readouterr().err


def test_a_file_that_cannot_be_used_is_named_without_a_traceback(monkeypatch, capsys):
    error = PermissionError(13, "Permission denied", "out/report.html")
    assert exits(monkeypatch, error) == 2
    assert capsys.readouterr().err == "error: cannot use out/report.html: Permission denied\n"


def test_an_error_of_the_system_without_a_file_is_told_too(monkeypatch, capsys):
    assert exits(monkeypatch, OSError("no space left")) == 2
    assert capsys.readouterr().err == "error: cannot use a file: no space left\n"


def test_a_number_that_a_command_returns_is_the_exit_code(monkeypatch):
    monkeypatch.setattr(group.calibrant, "main", lambda **_: 3)
    with pytest.raises(SystemExit) as ended:
        group.main([])
    assert ended.value.code == 3


def test_a_reader_that_went_away_is_no_error():
    line = f"{sys.executable} -m calibrant models list | head -c 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr
