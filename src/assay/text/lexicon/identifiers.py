"""Identifiers in a text: addresses, paths, versions, codes and numbered references, each in a normal form.

Only tokens that contain a digit, an at sign, a slash, a backslash, an underscore or "www." are examined, each once, so
the cost is linear in the length of any text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from assay.text.lexicon.lexemes import word_list

IdentifierKind = Literal["email", "url", "uuid", "path", "version", "code", "isbn", "ip", "phone", "hash", "reference"]

_TRIGGER = re.compile(r"[\d@/\\_w](?:(?<!w)|(?<=w)ww\.)")
"""A digit, a sign that only identifiers have, or "www."; one leading character class keeps the search fast."""

_RUN = re.compile(r"\S+")
_MAX_LENGTH = 2048
"""Characters; a longer run without white space is not an identifier (in practice also the limit of URLs)."""

_OPENERS = "([{<\"'“‘«`*,;|="
_CLOSERS = ")]}>\"'”’»`*,;:.!?|=…"

_EMAIL = re.compile(r"[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,15}://|www\.)\S+")
_BARE_URL = re.compile(
    r"(?:[a-z0-9-]{1,63}\.){1,5}(?:com|org|net|io|ai|dev|gov|edu|co|uk|de|eu|info)(?:/\S*)?", re.IGNORECASE
)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_IP = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?")
_VERSION = re.compile(
    r"[vV]\d{1,6}(?:\.\d{1,8}){0,4}(?:[-+.]?(?:alpha|beta|rc|dev|post|a|b)[.-]?\d{0,4})?|\d{1,6}\.\d{1,6}\.\d{1,8}(?:\.\d{1,8})?(?:[-+][\w.]{1,20})?"
)
_PATH = re.compile(
    r"(?:~|\.{1,2})?/(?:[\w.@+-]+/?)+|[A-Za-z]:\\[^\s]*|(?:[\w.-]+/){2,}[\w.-]*|[\w-]+/[\w-]+\.[A-Za-z]\w{0,5}"
)
_ISBN = re.compile(r"(?:97[89][- ]?)(?:\d[- ]?){9}[\dXx]")
_HASH = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}")
_PHONE = re.compile(r"\+?\(?\d{1,4}\)?(?:[-.]\(?\d{2,5}\)?){2,4}|\+\d{7,15}")
_CODE = re.compile(r"(?=[^\W_]*[A-Za-z])[^\W_]{1,24}(?:[-_][^\W_]{1,24}){0,6}|[^\W_]+(?:_[^\W_]+)+")
_FILE = re.compile(r"[\w-]{1,64}(?:\.[\w-]{1,32}){0,4}\.[A-Za-z][A-Za-z0-9]{0,5}")
_MEASURE = re.compile(
    r"[$€£]?\d[\d.,]*(?:[^\W\d_]{1,4}|°[CF])?(?:/[^\W\d_]{1,4})?|\d{1,4}(?:st|nd|rd|th|s|D|d)|\d{1,2}(?:am|pm)|\d+[-–—]\d+(?:-?[^\W\d_]+)?|\d+-[^\W\d_]+(?:-[^\W\d_]+)*|\d{1,3}/\d{1,3}|[A-Za-z]{2,}(?:-[A-Za-z]+)*/[A-Za-z-]+|'?\d0s|Q[1-4]|FY\d+|(?:[a-z]{2,}|[A-Z][a-z]+)[-–—](?:1\d|20)\d\d|US\$\S+"
)
_REFERENCE_NUMBER = re.compile(r"#?(\d{1,12}(?:[.:-]\d{1,6}){0,5}[a-z]?(?:\([a-z0-9]{1,3}\))*)")
_LABELS = {
    word: word
    for word in word_list(
        """section article chapter page figure table clause rule paragraph appendix annex step level phase tier room
    gate flight line volume act title part item exhibit schedule regulation recital ticket case order invoice
    issue bug error code port number version build revision protocol route highway platform question episode
    season lesson module class stage grade type iso iec rfc"""
    )
} | {
    "fig.": "figure",
    "sec.": "section",
    "art.": "article",
    "ch.": "chapter",
    "p.": "page",
    "pp.": "page",
    "vol.": "volume",
    "no.": "number",
    "rev.": "revision",
    "§": "section",
    "release": "version",
}
_COUNTED_AFTER = re.compile(
    r"\s(?:million|billion|percent|%|hours?|days?|weeks?|months?|years?|minutes?|seconds?|people|euros|dollars)\b"
)
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+(?:[.,]\d+)?")
_DATE_LIKE = re.compile(r"\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier, as written and in its normal form."""

    start: int
    end: int
    kind: IdentifierKind
    text: str
    key: str
    """The normal form; two identifiers name the same thing when their keys are equal."""
    label: str = ""
    """The word that a reference numbers, such as `article`."""


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without enclosing punctuation; a closing bracket stays if its partner is inside."""
    while start < end and text[start] in _OPENERS:
        start += 1
    while end > start and text[end - 1] in _CLOSERS:
        if text[end - 1] == ")" and "(" in text[start:end]:
            break
        end -= 1
    return start, end


def _classify(token: str) -> tuple[IdentifierKind, str] | None:
    if token.isdecimal():
        return None
    if "@" in token and _EMAIL.fullmatch(token):
        return "email", token.casefold()
    if _URL.fullmatch(token) or ("." in token and _BARE_URL.fullmatch(token)):
        return "url", _url_key(token)
    if _IP.fullmatch(token):
        return "ip", token
    if token[0].isdigit() and _GROUPED.fullmatch(token):
        return None
    if _VERSION.fullmatch(token) and not _DATE_LIKE.fullmatch(token):
        return "version", _version_key(token)
    if _MEASURE.fullmatch(token) or _DATE_LIKE.fullmatch(token):
        return None
    if _UUID.fullmatch(token):
        return "uuid", token.lower()
    if _ISBN.fullmatch(token):
        return "isbn", re.sub(r"[- ]", "", token).upper()
    if _PHONE.fullmatch(token):
        return "phone", re.sub(r"\D", "", token)
    if ("/" in token or "\\" in token) and _PATH.fullmatch(token):
        return "path", token.rstrip("/")
    if _HASH.fullmatch(token):
        return "hash", token
    if _CODE.fullmatch(token) and (any(c.isdigit() for c in token) or "_" in token):
        return "code", token.casefold().replace("_", "-") if "_" not in token else token.casefold()
    if "." in token and _FILE.fullmatch(token) and not token[0].isdigit():
        return "path", token
    return None


def _url_key(url: str) -> str:
    key = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://", "", url)
    key = key.removeprefix("www.").rstrip("/")
    host, slash, rest = key.partition("/")
    return host.casefold() + slash + rest


def _version_key(version: str) -> str:
    return version.lower().lstrip("v")


def _candidates(text: str) -> Iterator[tuple[int, int]]:
    """The runs without white space that contain a trigger character."""
    read_to = 0
    for match in _TRIGGER.finditer(text):
        at = match.start()
        if at < read_to:
            continue
        start = max(read_to, at - _MAX_LENGTH, text.rfind(" ", max(read_to, at - _MAX_LENGTH), at) + 1)
        if start < at:
            head = text[start:at].split()
            start = at if not head or text[at - 1].isspace() else at - len(head[-1])
        run = _RUN.match(text, at)
        end = run.end() if run else at + 1
        read_to = end
        if end - start <= _MAX_LENGTH:
            yield _trim(text, start, end)


def find_identifiers(text: str) -> tuple[Identifier, ...]:
    """The identifiers of a text in reading order, without overlaps.

    >>> [(i.kind, i.key) for i in find_identifiers("See ABC-123, v2.1.3 and Article 17.")]
    [('code', 'abc-123'), ('version', '2.1.3'), ('reference', 'article 17')]
    """
    found: list[Identifier] = []
    for start, end in _candidates(text):
        token = text[start:end]
        if token[:1].isdigit() or token[:1] in {"#", "§"}:
            reference = _reference(text, start + (token[:1] == "§"), end)
            if reference is not None:
                found.append(reference)
                continue
        kind = _classify(token) if token else None
        if kind is not None:
            found.append(Identifier(start, end, kind[0], token, kind[1]))
        elif token.count("/") == 1:
            for part_start, part in _around_slash(start, token):
                part_kind = _classify(part) if part else None
                if part_kind is not None and part_kind[0] == "code":
                    found.append(Identifier(part_start, part_start + len(part), "code", part, part_kind[1]))
    return tuple(found)


def _around_slash(start: int, token: str) -> Iterator[tuple[int, str]]:
    left, _, right = token.partition("/")
    yield start, left
    yield start + len(left) + 1, right


def _reference(text: str, start: int, end: int) -> Identifier | None:
    """The number at `start` with the label before it, as in "Article 17"; none where it has no label."""
    left = text[max(0, start - 14) : start].rstrip(" #\u00a0")
    word = "§" if left.endswith("§") else left.split(" ")[-1].lstrip("([").lower()
    label = _LABELS.get(word)
    number = _REFERENCE_NUMBER.fullmatch(text, start, end) if label is not None else None
    if label is None or number is None or _COUNTED_AFTER.match(text, end):
        return None
    begin = max(0, start - 14) + len(left) - len(word)
    return Identifier(begin, end, "reference", text[begin:end], f"{label} {number.group(1)}", label)
