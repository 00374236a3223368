"""`calibrant completion`: scripts that shells take, and what they complete, without importing what is not called."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from calibrant.cli.group import COMMANDS, main

BIN = Path(sys.executable).parent


def printed(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["completion", *arguments])
    return ended.value.code, *capsys.readouterr()


def completed(words, place):
    environment = {
        **os.environ,
        "_CALIBRANT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(place),
    }
    done = subprocess.run([BIN / "calibrant"], env=environment, capture_output=True, text=True, check=False, timeout=60)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_the_script_calls_the_command_back(capsys, shell):
    code, out, err = printed(capsys, shell)
    assert (code, err) == (0, "")
    assert "_CALIBRANT_COMPLETE" in out
    assert f"{shell}_complete" in out


def test_another_shell_is_wrong_use(capsys):
    code, out, err = printed(capsys, "tcsh")
    assert (code, out) == (2, "")
    assert "'tcsh' is not one of 'bash', 'fish', 'zsh'" in err


def test_bash_takes_its_script():
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    line = f'eval "$({BIN}/calibrant completion bash)" && complete -p calibrant'
    done = subprocess.run([bash, "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("calibrant")


def test_commands_are_completed_by_their_beginning():
    assert completed("calibrant re", 1) == sorted(name for name in COMMANDS if name.startswith("re"))
    assert completed("calibrant ", 1) == sorted(COMMANDS)
    assert completed("calibrant nothing", 1) == []


def test_subcommands_and_options_are_completed_too():
    assert completed("calibrant plan ", 2) == ["check", "schema"]
    assert "--max-cost" in completed("calibrant run --max", 2)
    assert completed("calibrant --vers", 1) == ["--version"]


def test_completing_commands_imports_none_of_them():
    code = (
        "import sys; from calibrant.cli.group import calibrant; import click\n"
        "found = calibrant.shell_complete(click.Context(calibrant, info_name='calibrant'), '')\n"
        "loaded = [name for name in sys.modules if name.startswith('calibrant.cli.')]\n"
        "print(len(found), loaded)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    count, _, loaded = done.stdout.partition(" ")
    assert int(count) == len(COMMANDS)
    assert loaded.strip() == "['calibrant.cli.options', 'calibrant.cli.group']"
