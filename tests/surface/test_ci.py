"""What CI runs, with everything that it calls replaced by scripts that write down how they were called."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ["make", "cc", "git", "python3", "chromium"]


@pytest.fixture
def ci(tmp_path):
    """Run `.ci/run` where only the named commands exist: exit code, calls, and what it said."""
    bash = shutil.which("bash")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "dirname").symlink_to(shutil.which("dirname"))
    (folder / "bash").symlink_to(bash)

    def run(*commands):
        for command in commands:
            then = 'exec "$@"' if command == "sudo" else "exit 0"
            script = folder / command
            script.write_text(f'#!{bash}\necho "{command} $*" >> "{tmp_path}/calls"\n{then}\n', encoding="utf-8")
            script.chmod(0o755)
        done = subprocess.run(
            [bash, ROOT / ".ci" / "run"], env={"PATH": str(folder)}, capture_output=True, text=True, check=False
        )
        calls = tmp_path / "calls"
        return done.returncode, calls.read_text(encoding="utf-8").splitlines() if calls.exists() else [], done.stderr

    return run


def test_where_nothing_is_missing_nothing_is_installed(ci):
    code, calls, _ = ci(*TOOLS, "apt-get")
    assert code == 0
    assert not [call for call in calls if "apt-get" in call]
    assert calls[-1] == "make test"


def test_only_what_is_missing_is_installed(ci):
    code, calls, _ = ci(*(tool for tool in TOOLS if tool != "git"), "apt-get", "sudo")
    assert code == 0
    installs = [call for call in calls if call.startswith("apt-get install")]
    assert [call.split()[-1] for call in installs] == ["git"]
    assert calls[-1] == "make test"


def test_without_a_way_to_install_it_says_what_is_missing(ci):
    code, calls, said = ci("make", "git", "python3", "chromium")
    assert code == 2
    assert said.startswith("The tests need gcc from the system; install them")
    assert "make test" not in calls
