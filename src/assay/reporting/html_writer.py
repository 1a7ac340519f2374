"""A small HTML writer that escapes everything; all text of a page goes through it.

`tag` takes strings as text and escapes them; only `Markup`, which `tag` itself makes, is written as it is. Pages are
self-contained. They contain their style sheet and, where there is one, their script, and a content security policy
allows these two alone, by their digests. So even if an escape were missed, foreign text could neither run a script nor
load an image nor send a request.

Invisible characters, such as one that reverses the order of the text after it, are written out (`seen`). The values of
fields and text areas are the exception: a person may send them back, so they stay as they are.
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
"""Elements whose text is used, not only read: invisible characters in it stay as they are."""


@dataclass(frozen=True, slots=True)
class Markup:
    """Finished HTML, which is not escaped again. Made by the functions of this module only."""

    html: str


Child: TypeAlias = "str | Markup | Iterable[Child] | None"
"""What an element may contain: text, elements, nothing, or any nesting of these."""


def _render(child: Child, *, verbatim: bool = False) -> str:
    """A child as HTML; with `verbatim`, invisible characters are escaped like others and not written out."""
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
    """One element.

    In the names of attributes a trailing underscore is dropped and other underscores become hyphens. An attribute
    that is `None` or `False` is left out; one that is `True` is written without a value.

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
    """Text from models, documents or users, isolated so that its direction cannot reorder the page around it."""
    return tag(name, text, dir="auto", **attributes)


def direction(text: str) -> str:
    """`rtl` where the first letter that has a direction is written from right to left, else `ltr`.

    >>> direction("12 שלום hello"), direction("hello")
    ('rtl', 'ltr')
    """
    classes = (unicodedata.bidirectional(character) for character in text)
    return "rtl" if next((c for c in classes if c in {"L", "R", "AL"}), "L") != "L" else "ltr"


def scrolled(name: str, *children: Child) -> Markup:
    """Content that may be wider than the window, in a box that scrolls by itself, also with the keyboard.

    Args:
        name: what the content is, for assistive technology.
        children: the content.
    """
    return tag("div", children, class_="scroll", tabindex=0, role="group", aria_label=name)


def page(title: str, style: str, *body: Child, script: str | None = None) -> str:
    """A whole HTML document that makes no network requests.

    Args:
        title: the document's title; it is escaped.
        style: the style sheet: a constant of assay, never foreign text, since it is not escaped.
        body: the content of the body.
        script: a script that runs once the body is loaded; a constant of assay as well. The page has to be readable
            without it.
    """
    allowed = f"style-src '{_csp_hash(style)}'"
    if script is not None:
        allowed += f"; script-src '{_csp_hash(script)}'"
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
    script_tag = None if script is None else Markup(f"<script>{script}</script>")
    return "<!doctype html>\n" + tag("html", head, tag("body", body, script_tag), lang="en").html + "\n"


def _csp_hash(content: str) -> str:
    """The hash by which a content security policy allows an inline style or script (CSP level 3, section 2.3.1)."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
