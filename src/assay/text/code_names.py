"""Names in code that its documentation has to have: endpoints, addresses, flags, calls, arguments, enumerated values.

A variable may be called anything; an endpoint that does not exist fails. So only names of which code itself shows that
somebody else chose them are taken: paths and addresses, long flags, called and passed names with an underscore, and
quoted words in capitals.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MOST_NAMES: Final = 40
"""Names of one block; code that holds more is read up to there."""
_LONGEST: Final = 200
_NAME: Final = re.compile(
    r"(?P<address>https?://[^\s'\"`<>\\)]{3,200})"
    r"|(?P<path>(?<![\w.:/<])/(?!/)[A-Za-z][\w-]*(?:/[\w{}<>:.$-]+)*)(?=[\s'\"`?),;]|$)"
    r"|(?P<flag>(?<![\w-])--[A-Za-z][\w-]*)"
    r"|(?P<call>(?<=\.)[A-Za-z]\w*_\w*(?=\())"
    r"|(?P<argument>(?<=[(,\s])[a-z]\w*_\w*(?=\s?=(?!=)))"
    r"|(?P<value>(?<=['\"])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*(?=['\"]))"
)
_SHORTEST_VALUE: Final = 4
_HOSTS: Final = ("localhost", "127.0.0.1", "example.com", "example.org")
"""Hosts that stand for any."""


@dataclass(frozen=True, slots=True)
class CodeName:
    """A name and where it stands in the code."""

    text: str
    start: int
    end: int


def code_names(code: str) -> Iterator[CodeName]:
    """The names of a block of code, each once, in their order.

    >>> [name.text for name in code_names("curl -X POST https://api.acme.io/v1/refunds --retry 3")]
    ['https://api.acme.io/v1/refunds', '--retry']
    """
    seen: set[str] = set()
    for match in _NAME.finditer(code):
        text = match.group().rstrip(".,;:")
        kind = match.lastgroup
        if text in seen or len(text) > _LONGEST or (kind == "value" and len(text) < _SHORTEST_VALUE):
            continue
        if kind == "argument" and code[: match.start()].rpartition("\n")[2].strip() == "":
            continue  # a variable that is set
        seen.add(text)
        yield CodeName(text, match.start(), match.start() + len(text))
        if len(seen) == MOST_NAMES:
            return


def is_code_name(text: str) -> bool:
    """Whether a text is one such name and nothing else.

    >>> is_code_name("--dry-run"), is_code_name("/v1/orders/{id}"), is_code_name("four weeks")
    (True, True, False)
    """
    if len(text) > _LONGEST or any(c.isspace() for c in text):
        return False
    return _ALONE.fullmatch(text) is not None


_ALONE: Final = re.compile(
    r"https?://\S{3,}|/[A-Za-z][\w-]*(?:/[\w{}<>:.$-]+)*|--[A-Za-z][\w-]*|[A-Za-z]\w*_\w*|[A-Z][A-Z0-9]{3,}"
)


def place_of(name: str, text: str) -> tuple[int, int] | None:
    """Where a text has the name; segments of a path that stand for anything (`{id}`, 42) meet one another.

    >>> place_of("/v1/orders/42", "Call GET /v1/orders/{id} for one order.")
    (9, 24)
    >>> place_of("--force", "There is --force-all.") is None
    True
    """
    match = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
    if match is not None:
        return match.span()
    path = _path_of(name, text)
    if path is None:
        return None
    wanted = [_segment(part) for part in path.strip("/").split("/")]
    for found in re.finditer(r"(?:https?://[^\s/'\"`<>]+)?(/[A-Za-z][\w-]*(?:/[\w{}<>:.$-]+)*)", text):
        theirs = found[1].rstrip(".,;:").strip("/").split("/")
        if [_segment(part) for part in theirs] == wanted:
            return found.start(1), found.start(1) + len(found[1].rstrip(".,;:"))
    return None


def _path_of(name: str, text: str) -> str | None:
    if name.startswith("/"):
        return name.partition("?")[0]
    address = re.match(r"https?://([^/\s?#]+)(/[^\s?#]*)?", name)
    if address is None or not address[2] or address[2] == "/":
        return None
    host = address[1].partition(":")[0].lower()
    known = host in text.lower() or host in _HOSTS or "://" not in text
    return address[2] if known else None


def _segment(part: str) -> str:
    free = re.fullmatch(r"[{<:$].*|\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[A-Za-z]{1,4}[-_]?\d[\w-]*", part)
    return "*" if free and not re.fullmatch(r"v\d+(?:\.\d+)?", part) else part.lower()
