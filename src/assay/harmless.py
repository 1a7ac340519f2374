"""Foreign text made harmless, for terminals and for HTML, and scores as people are shown them."""

import html
import re
from math import floor
from typing import Final

_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Every control character but tab and newline, what reorders or breaks a line, and halves of surrogate pairs."""

_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that HTML forbids or that UTF-8 cannot carry."""


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
