"""Pages as the tests read them: fenced blocks in their order, and the commands that stand in them."""

import re
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "decisions").rglob("*.md"))]
FENCE = re.compile(r"^```(?P<info>[^`\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="(?P<title>[^"]+)"')


class Block(NamedTuple):
    """A fenced block: `line` is where its text begins; `behind` is what a plain block right behind it holds."""

    language: str
    title: str
    text: str
    line: int
    behind: str | None


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    text = page.read_text(encoding="utf-8")
    found = [*FENCE.finditer(text)]
    return [_block(text, match, following) for match, following in zip_longest(found, found[1:])]


def _block(text, match, following):
    info = match["info"].strip()
    title = TITLE.search(info)
    is_behind = following is not None and not following["info"].strip()
    is_behind = is_behind and not text[match.end() : following.start()].strip()
    return Block(
        language=info.partition(" ")[0],
        title=title["title"] if title else "",
        text=match["text"],
        line=text[: match.start()].count("\n") + 2,
        behind=following["text"] if is_behind else None,
    )


def commands_in(block):
    """The command lines of a console block, each with what the page says it prints."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        yield line.strip(), printed


def write_files(found, folder):
    """Write the blocks that have a title to `folder`, under that name."""
    for block in found:
        if block.title:
            place = folder / block.title
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.text, encoding="utf-8")
