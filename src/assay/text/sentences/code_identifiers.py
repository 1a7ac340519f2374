"""Names in code that its documentation must contain: endpoints, addresses with their parameters, flags, calls,
arguments, enumerated values.

A variable may be called anything, but an endpoint that does not exist fails. So only names that come from outside of
the code count: paths and addresses, long flags, called and passed names with an underscore, and quoted words in
capitals.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_NAMES: Final = 40
"""The most names of one block; the rest of the code is not read."""
_MAX_NAME_LENGTH: Final = 200
_NAME: Final = re.compile(
    r"(?P<address>https?://[^\s'\"`<>\\)]{3,200})"
    r"|(?P<path>(?<![\w.:/<])/(?!/)[A-Za-z][\w-]*(?:/[\w{}<>:.$-]+)*)(?=[\s'\"`?),;]|$)"
    r"|(?P<flag>(?<![\w-])--[A-Za-z][\w-]*)"
    r"|(?P<call>(?<=\.)[A-Za-z]\w*_\w*(?=\())"
    r"|(?P<argument>(?<=[(,\s])[a-z]\w*_\w*(?=\s?=(?!=)))"
    r"|(?P<value>(?<=['\"])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*(?=['\"]))"
)
_PARAMETER: Final = re.compile(r"[?&](?P<name>[A-Za-z][\w.\-\[\]]*)=(?P<value>[^&\s'\"`#<>)]{1,80})")
_MIN_VALUE_LENGTH: Final = 4
_PLACEHOLDER_HOSTS: Final = ("localhost", "127.0.0.1", "example.com", "example.org")
"""Hosts that stand for any host."""


@dataclass(frozen=True, slots=True)
class CodeName:
    """A name and its place in the code."""

    text: str
    start: int
    end: int


def code_names(code: str) -> Iterator[CodeName]:
    """The names in a block of code, each once, in order.

    >>> [name.text for name in code_names("curl -X POST https://api.acme.io/v1/refunds --retry 3")]
    ['https://api.acme.io/v1/refunds', '--retry']
    """
    seen: set[str] = set()
    for match in _NAME.finditer(code):
        text = match.group().rstrip(".,;:")
        kind = match.lastgroup
        if text in seen or len(text) > _MAX_NAME_LENGTH or (kind == "value" and len(text) < _MIN_VALUE_LENGTH):
            continue
        if kind == "argument" and code[: match.start()].rpartition("\n")[2].strip() == "":
            continue  # an assignment to a variable
        seen.add(text)
        yield CodeName(text, match.start(), match.start() + len(text))
        for parameter in _PARAMETER.finditer(text) if kind == "address" else _parameters(code, match):
            setting = parameter.group()[1:]
            if setting not in seen:
                seen.add(setting)
                start = (match.start() if kind == "address" else 0) + parameter.start() + 1
                yield CodeName(setting, start, start + len(setting))
        if len(seen) >= MAX_NAMES:
            return


def _parameters(code: str, path: re.Match[str]) -> Iterator[re.Match[str]]:
    """The parameters that follow a path without a host."""
    if path.lastgroup != "path" or code[path.end() : path.end() + 1] != "?":
        return
    end = re.compile(r"[\s'\"`]|$").search(code, path.end())
    yield from _PARAMETER.finditer(code, path.end(), end.start() if end else len(code))


def is_code_name(text: str) -> bool:
    """Whether a text is exactly one such name.

    >>> is_code_name("--dry-run"), is_code_name("/v1/orders/{id}"), is_code_name("four weeks")
    (True, True, False)
    """
    if len(text) > _MAX_NAME_LENGTH or any(c.isspace() for c in text):
        return False
    return _ONE_NAME.fullmatch(text) is not None


_ONE_NAME: Final = re.compile(
    r"[A-Za-z][\w.\-\[\]]*=[^&\s]+|https?://\S{3,}|/[A-Za-z][\w-]*(?:/[\w{}<>:.$-]+)*|--[A-Za-z][\w-]*|[A-Za-z]\w*_\w*|[A-Z][A-Z0-9]{3,}"
)


def parse_setting(name: str) -> tuple[str, str] | None:
    """The parameter and the value of a name such as `limit=500`; none for any other kind of name."""
    match = re.fullmatch(r"([A-Za-z][\w.\-\[\]]*)=([^&\s]+)", name)
    return (match[1], match[2]) if match else None


def forbids(value: str, sentence: str) -> bool:
    """Whether the description of a parameter rules out a value: outside of its range or not among its values.

    >>> forbids("500", "`limit` is a number from 1 to 100 (default 20)."), forbids("50", "`limit` is from 1 to 100.")
    (True, False)
    >>> forbids("gone", "`status` is one of `open`, `paid`, `shipped`."), forbids("paid", "`status`: `open` or `paid`")
    (True, False)
    """
    number = re.fullmatch(r"-?\d+(?:\.\d+)?", value)
    if number:
        low, high = _stated_range(sentence)
        return (low is not None and float(value) < low) or (high is not None and float(value) > high)
    listed = _LISTED_VALUES.search(sentence)
    if listed is None or re.fullmatch(r"[{<:$].*", value):
        return False
    return value not in re.findall(r"[`'\"]([\w.-]+)[`'\"]", listed[1])


_LISTED_VALUES: Final = re.compile(
    r"\b(?:one of|either|values?|may be|can be|must be|is)\b:?\s*"
    r"((?:[`'\"][\w.-]+[`'\"](?:,? (?:or|and) |, ?|\s?\|\s?)?){2,})"
)
_NUMBER: Final = r"(-?\d[\d,]*(?:\.\d+)?)"


def _stated_range(sentence: str) -> tuple[float | None, float | None]:
    bounds = re.search(rf"\b(?:from|between|range:?)?\s*{_NUMBER}\s*(?:to|and|–|-|\.\.)\s*{_NUMBER}", sentence)
    if bounds:
        return _to_float(bounds[1]), _to_float(bounds[2])
    low = re.search(rf"\b(?:at least|minimum(?: of| is|:)?|min\.?|no less than)\s*{_NUMBER}", sentence, re.IGNORECASE)
    high = re.search(
        rf"\b(?:at most|up to|maximum(?: of| is|:)?|max\.?|no more than|not exceed)\s*{_NUMBER}",
        sentence,
        re.IGNORECASE,
    )
    return _to_float(low[1]) if low else None, _to_float(high[1]) if high else None


def _to_float(text: str) -> float:
    return float(text.replace(",", ""))


def find_code_name(name: str, text: str) -> tuple[int, int] | None:
    """Where a text contains the name; variable segments of a path (`{id}`, 42) match each other.

    >>> find_code_name("/v1/orders/42", "Call GET /v1/orders/{id} for one order.")
    (9, 24)
    >>> find_code_name("--force", "There is --force-all.") is None
    True
    """
    match = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
    if match is not None:
        return match.span()
    path = _path_of(name, text)
    if path is None:
        return None
    segments = [_segment(part) for part in path.strip("/").split("/")]
    for found in re.finditer(r"(?:https?://[^\s/'\"`<>]+)?(/[A-Za-z][\w-]*(?:/[\w{}<>:.$-]+)*)", text):
        path_segments = found[1].rstrip(".,;:").strip("/").split("/")
        if [_segment(part) for part in path_segments] == segments:
            return found.start(1), found.start(1) + len(found[1].rstrip(".,;:"))
    return None


def _path_of(name: str, text: str) -> str | None:
    if name.startswith("/"):
        return name.partition("?")[0]
    address = re.match(r"https?://([^/\s?#]+)(/[^\s?#]*)?", name)
    if address is None or not address[2] or address[2] == "/":
        return None
    host = address[1].partition(":")[0].lower()
    known = host in text.lower() or host in _PLACEHOLDER_HOSTS or "://" not in text
    return address[2] if known else None


def _segment(part: str) -> str:
    free = re.fullmatch(r"[{<:$].*|\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[A-Za-z]{1,4}[-_]?\d[\w-]*", part)
    return "*" if free and not re.fullmatch(r"v\d+(?:\.\d+)?", part) else part.lower()
