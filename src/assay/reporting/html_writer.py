"""A small HTML writer that escapes everything: the only way to get text into a page is through it.

`tag` takes strings as text and escapes them; only `Markup`, which `tag` itself makes, goes in as it is. Pages are
self-contained: the style sheet, and a script where a page has one, are inside, named by their digests in a content
security policy that allows nothing else, so that neither another script, nor an image, nor a request can come out of
foreign text even where an escape were missed.

What is there and cannot be seen, such as a sign that reverses the order of what follows, is written out (`seen`) but in
what a person may send back: values of fields and text areas.
"""

import base64
import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from assay.harmless import escape, seen

__all__ = ["Child", "Markup", "direction", "escape", "foreign", "group", "page", "scrolled", "tag"]

_VOID: Final = frozenset({"br", "hr", "input", "link", "meta"})
"""HTML elements without an end tag; in SVG every element needs its end."""

_VERBATIM: Final = frozenset({"textarea", "script", "style"})
"""Elements whose text is not for reading alone."""


@dataclass(frozen=True, slots=True)
class Markup:
    """Finished HTML. Made by `tag` and `style_sheet` only."""

    html: str


Child: TypeAlias = "str | Markup | Iterable[Child] | None"
"""What an element may contain: text, elements, nothing, or any nesting of these."""


def _render(child: Child, *, verbatim: bool = False) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child.html
    if isinstance(child, str):
        return escape(child if verbatim else seen(child))
    return "".join(_render(part, verbatim=verbatim) for part in child)


def group(*children: Child) -> Markup:
    """Several children as one."""
    return Markup(_render(children))


def tag(name: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """One element. Attribute names lose a trailing underscore and turn the others into hyphens; none and false are
    left out, true is written without a value.

    >>> tag("a", "1 < 2", class_="x", href="#c1", hidden=True).html
    '<a class="x" href="#c1" hidden>1 &lt; 2</a>'
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        parts.append(label if value is True else f'{label}="{escape(str(value))}"')
    opening = f"<{' '.join(parts)}>"
    return Markup(opening if name in _VOID else f"{opening}{_render(children, verbatim=name in _VERBATIM)}</{name}>")


def foreign(text: str, name: str = "bdi", **attributes: str | float | bool | None) -> Markup:
    """Text that somebody else wrote, isolated so that its direction cannot reorder the page around it."""
    return tag(name, text, dir="auto", **attributes)


def direction(text: str) -> str:
    """`rtl` where the first letter with a direction is written from right to left, else `ltr`.

    >>> direction("12 שלום hello"), direction("hello")
    ('rtl', 'ltr')
    """
    classes = (unicodedata.bidirectional(character) for character in text)
    return "rtl" if next((c for c in classes if c in {"L", "R", "AL"}), "L") != "L" else "ltr"


def scrolled(name: str, *children: Child) -> Markup:
    """What may be wider than the window: it scrolls by itself, with the keyboard too.

    Args:
        name: what it is, for assistive technology.
        children: what scrolls.
    """
    return tag("div", children, class_="scroll", tabindex=0, role="group", aria_label=name)


def page(title: str, style: str, *body: Child, script: str | None = None) -> str:
    """A whole document that asks the network for nothing.

    Args:
        title: the document's title, escaped.
        style: the style sheet; a constant of ours, never foreign text.
        body: what is in the body.
        script: a script that runs when the body is there; a constant of ours as well. The page has to be readable
            without it.
    """
    allowed = f"style-src '{_digest(style)}'" + (f"; script-src '{_digest(script)}'" if script is not None else "")
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name_="referrer", content="no-referrer"),
        tag("meta", name_="color-scheme", content="light dark"),
        tag("title", title),
        Markup(f"<style>{style}</style>"),
    )
    ours = None if script is None else Markup(f"<script>{script}</script>")
    return "<!doctype html>\n" + tag("html", head, tag("body", body, ours), lang="en").html + "\n"


def _digest(content: str) -> str:
    """The source expression of a content security policy for what stands inside an element."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
