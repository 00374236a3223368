"""The comparison that docs/ab-testing.md shows is what the command prints for the files that the page writes."""

import re
import shlex
from pathlib import Path

import pytest

from calibrant.cli import main

PAGE = (Path(__file__).parents[3] / "docs" / "ab-testing.md").read_text(encoding="utf-8")
PART = PAGE[PAGE.index("## Many rankings") :]


def test_the_command_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__page__"}
    for code in re.findall(r"^```python\n(.*?)^```$", PART, flags=re.MULTILINE | re.DOTALL):
        exec(code, namespace)  # noqa: S102 - that is what an example is for
    command, _, shown = re.search(r"^```console\n\$ (.*?)^```$", PART, flags=re.MULTILINE | re.DOTALL)[1].partition(
        "\n"
    )
    with pytest.raises(SystemExit) as stopped:
        main(shlex.split(command)[1:])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == shown
