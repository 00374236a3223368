"""Every Python block of the README and the docs runs, block after block, in a folder of its own."""

import ast
import re
from pathlib import Path

import pytest

from calibrant.errors import CODES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "decisions").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n\n^```\n(?P<printed>.*?)^```$)?", re.MULTILINE | re.DOTALL)
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page):
    """The page's Python blocks: first line, code, and what the plain block right behind it says is printed."""
    text = page.read_text(encoding="utf-8")
    return [(text[: match.start()].count("\n") + 2, match["code"], match["printed"]) for match in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_python_of_a_page_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__page__"}
    for line, code, printed in blocks(page):
        tree = ast.parse(code, filename=str(page))
        ast.increment_lineno(tree, line - 1)
        exec(compile(tree, str(page), "exec"), namespace)  # noqa: S102 - that is what an example is for
        out = capsys.readouterr().out
        if printed is not None:
            assert [text.rstrip() for text in out.splitlines()] == [text.rstrip() for text in printed.splitlines()]


def test_every_failure_code_is_documented():
    text = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
    for code, meaning in CODES.items():
        assert f"| `{code}` | {meaning.status.replace('_', ' ')} |" in text
        assert meaning.meaning in text


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_to_other_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
