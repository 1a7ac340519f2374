"""Foreign text made harmless, for terminals and for HTML, and scores as people are shown them."""

import html
import re
from math import floor
from typing import Final

_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Every control character but tab and newline, what reorders or breaks a line, and halves of surrogate pairs."""

_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML forbids or that UTF-8 cannot carry."""
_UNSEEN: Final = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""What is there and cannot be seen: signs that reorder text, that have no width or no ink, or break a line."""
_MARKS: Final = frozenset("\u061c\u200e\u200f")
"""Signs that tell a direction without overriding one; texts from right to left have them."""
_JOINERS: Final = frozenset("\u180e\u200b\u200c\u200d")
"""Signs without width that some scripts and emoji need."""
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def clean(text: str) -> str:
    r"""Foreign text with every control character written out, so that it can neither move the cursor nor colour,
    hide or reorder anything. Newlines and tabs stay.

    >>> clean("a\x1b[2Jb\r\nc")
    'a\\x1b[2Jb\nc'
    """
    return _UNSAFE.sub(_written_out, text.replace("\r\n", "\n"))


def _written_out(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def seen(text: str) -> str:
    r"""Foreign text as it is shown on a page: what is there and cannot be seen is written out, so that a reader sees
    what was checked.

    What a script needs stays: joiners between characters that are not ASCII, soft hyphens between letters, and marks of
    direction in a text that has letters from right to left. What overrides a direction never does.

    >>> seen("pay 2\u200b0 to \u202e321")
    'pay 2\\u200b0 to \\u202e321'
    >>> persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    >>> seen(persian) == persian
    True
    """
    return _UNSEEN.sub(_seen, text) if _UNSEEN.search(text) else text


def _seen(match: re.Match[str]) -> str:
    sign, text = match.group(), match.string
    beside = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    if sign in _MARKS:
        stays = _RIGHT_TO_LEFT.search(text) is not None
    elif sign in _JOINERS:
        stays = all(one and not one.isascii() for one in beside)
    else:
        stays = sign == "\u00ad" and all(one.isalpha() for one in beside)
    code = ord(sign)
    return sign if stays else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str, limit: int | None = None) -> str:
    """Clean text on one line, shortened in the middle of nothing: only its end is cut, and the cut is shown.

    >>> one_line("two\\n  lines and more", 12)
    'two lines a…'
    """
    joined = " ".join(clean(text).split())
    return joined if limit is None or len(joined) <= limit else joined[: limit - 1] + "…"


def escape(text: str) -> str:
    """Text as it may be in an element or an attribute; what HTML cannot carry becomes U+FFFD.

    >>> escape('<b a="1">&\\x1b')
    '&lt;b a=&quot;1&quot;&gt;&amp;\\ufffd'
    """
    return html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text), quote=True)


def shown_score(score: float) -> str:
    """Two decimals, rounded down: a score just below a threshold must not read as if it had reached it.

    >>> shown_score(0.849), shown_score(0.1 + 0.2 - 0.2), shown_score(1.0)
    ('0.84', '0.10', '1.00')

    Args:
        score: in [0, 1]; what is missing for a hundredth by no more than a rounding error counts as there.
    """
    return f"{floor(score * 100 + 1e-7) / 100:.2f}"
