"""HTML and SVG put together from elements: every text is escaped unless an element was made of it."""

from __future__ import annotations

from html import escape
from typing import TypeAlias

__all__ = ["DASH", "Child", "Markup", "element", "joined"]

DASH = "\N{EN DASH}"
"""What stands where there is no number."""

VOID = frozenset({"br", "col", "hr", "link", "meta", "wbr"})


class Markup(str):
    """A text that is HTML already. Only `element` and `joined` make it of what came from outside."""

    __slots__ = ()


Child: TypeAlias = "Markup | str | float | None"
"""What may stand in an element: markup as it is, any other text escaped, nothing for None."""


def element(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """One element, its attributes escaped too: `class_` is class, `aria_label` aria-label; None leaves one out.

    >>> element("p", "a < b & c", element("b", "!"), class_="note", title='say "no"')
    '<p class="note" title="say &quot;no&quot;">a &lt; b &amp; c<b>!</b></p>'
    """
    given = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    opened = f"<{name}{given}>"
    return Markup(opened if name in VOID else f"{opened}{joined(*children)}</{name}>")


def joined(*children: Child) -> Markup:
    """The children behind each other.

    >>> joined("1 < 2", None, element("br"))
    '1 &lt; 2<br>'
    """
    return Markup(
        "".join(child if isinstance(child, Markup) else _plain(str(child)) for child in children if child is not None)
    )


def _attribute(key: str, value: str | float | bool) -> str:  # noqa: FBT001 - an attribute may be a switch
    name = key.rstrip("_").replace("_", "-")
    if isinstance(value, bool):
        return f" {name}" if value else ""
    return f' {name}="{_plain(str(value), quote=True)}"'


def _plain(text: str, *, quote: bool = False) -> str:
    """The text escaped, without the characters that no HTML may hold."""
    kept = "".join(one for one in text if one in "\n\t" or (one >= " " and not "\x7f" <= one <= "\x9f"))
    return escape(kept.encode("utf-8", "replace").decode("utf-8"), quote=quote)
