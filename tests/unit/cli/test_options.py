"""`--quiet` and the notes that it silences, within a command and outside of one."""

import click
import pytest

from calibrant.cli.options import is_quiet, note, quiet_option


@click.group()
def root():
    """The root."""


@root.command()
@quiet_option
def speak():
    note("by the way")
    click.echo(f"quiet: {is_quiet()}")


def said(capsys, *arguments):
    root.main(list(arguments), standalone_mode=False)
    return capsys.readouterr()


def test_notes_go_to_the_error_stream(capsys):
    assert said(capsys, "speak") == ("quiet: False\n", "by the way\n")


@pytest.mark.parametrize("flags", [("--quiet",), ("-q",), ("-q", "--quiet")])
def test_quiet_leaves_the_result_alone(capsys, flags):
    assert said(capsys, "speak", *flags) == ("quiet: True\n", "")


def test_quiet_of_one_call_does_not_last_to_the_next(capsys):
    said(capsys, "speak", "-q")
    assert said(capsys, "speak").err == "by the way\n"


def test_outside_of_a_command_nothing_is_quiet(capsys):
    assert not is_quiet()
    note("from Python")
    assert capsys.readouterr() == ("", "from Python\n")
