"""Every Python block of the README and the docs runs, block after block, in a folder of its own."""

import ast
import re
import tomllib

import pytest
from pages import PAGES, ROOT, blocks, name_of, write_files

from calibrant.errors import CODES
from reference.pages import REFERENCE


def is_run(block):
    return block.language == "python" and not block.title


WITH_PYTHON = [page for page in PAGES if any(map(is_run, blocks(page)))]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name_of)
def test_the_python_of_a_page_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    write_files(found, tmp_path)
    namespace = {"__name__": "__page__"}
    for block in found:
        if not is_run(block):
            continue
        tree = ast.parse(block.text, filename=str(page))
        ast.increment_lineno(tree, block.line - 1)
        exec(compile(tree, str(page), "exec"), namespace)  # noqa: S102 - that is what an example is for
        out = capsys.readouterr().out
        if block.behind is not None:
            assert [text.rstrip() for text in out.splitlines()] == [text.rstrip() for text in block.behind.splitlines()]


def test_every_failure_code_is_documented():
    text = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
    for code, meaning in CODES.items():
        assert f"| `{code}` | {meaning.status.replace('_', ' ')} |" in text
        assert meaning.meaning in text


def links(page):
    """Where the page's links and pictures lead, as they are written, without those out of the project."""
    found = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return [target for target in found if not target.startswith(("http:", "https:", "mailto:"))]


def slug(heading):
    """A heading as the site and GitHub write it in an address."""
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower())


def without_code(page):
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def headings(page):
    return {slug(found) for found in re.findall(r"^#+ (.+)$", without_code(page), re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_into_a_page_lead_to_a_heading_that_it_has(page):
    for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", without_code(page)):
        place = (page.parent / target).resolve() if target else page
        if place.exists():
            assert anchor in headings(place), f"{name_of(page)} leads to {target}#{anchor}"


def test_the_first_page_leads_to_every_page():
    index = ROOT / "docs" / "index.md"
    led = {(index.parent / target).resolve() for target in links(index)}
    written = {page for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert written - led == {index}
    by_hand = {ROOT / "docs" / "reference" / name for name in REFERENCE if "/" not in name}
    assert by_hand - led == set()


def is_written_by_the_build(page, target):
    place = (page.parent / target).resolve()
    folder = ROOT / "docs" / "reference"
    return place.is_relative_to(folder) and str(place.relative_to(folder)) in REFERENCE


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_to_other_pages_lead_somewhere(page):
    for target in links(page):
        exists = (page.parent / target).exists() or is_written_by_the_build(page, target)
        assert exists, f"{page.name} links to {target}"


def test_every_page_is_in_the_navigation_and_nothing_else_is():
    nav = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    listed = [*_paths(nav)]
    written = {str(page.relative_to(ROOT / "docs")) for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert len(listed) == len(set(listed))
    assert set(listed) == written | {f"reference/{name}" for name in REFERENCE}


def _paths(nav):
    for entry in nav:
        for inner in entry.values():
            if isinstance(inner, str):
                yield inner
            else:
                yield from _paths(inner)
