"""What counts as the name of a source: known ids, numbers, tokens that look like ids, files, addresses, authors.

A bracket in prose is a citation only if every part of its content reads as such a name; `[sic]`, `[x]` and `[your
name]` do not. Precision comes first, because an answer that cites a source that does not exist is withheld.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

LARGEST_NUMBER: Final = 999
"""Greater numbers are years or amounts unless a piece of evidence has them as its id."""

LONGEST_RANGE: Final = 50
"""The most sources that one range such as `[1-3]` may name."""

_FILE: Final = r"[\w][\w \-.()]{0,100}\.(?:pdf|docx?|txt|md|html?|xlsx?|csv|pptx?|json|xml|rst|eml)"
_ID_LIKE: Final = re.compile(
    r"(?=[^\d\s]{1,40}\d)(?!v\d|(?:COVID|SARS|GPT|UTF|SHA|Section|Fig|Figure|Table|Step|Type|Phase|Level|Part)\b)"
    r"[A-Za-z][A-Za-z0-9]{0,24}(?:[-_.:/#][A-Za-z0-9]{1,36}){1,8}"
)
_HEX: Final = re.compile(r"(?=[a-f\d-]*\d)(?=[a-f\d-]*[a-f])[a-f\d]{8,64}(?:-[a-f\d]{4,12}){0,4}", re.IGNORECASE)
_FILE_NAME: Final = re.compile(_FILE, re.IGNORECASE)
_URL: Final = re.compile(r"(?:https?://|www\.)[^\s<>\"\]\[]{3,2000}", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[1-9]\d{0,2}")
_RANGE: Final = re.compile(r"(\d{1,4})\s?[-–—]\s?(\d{1,4})")
_AUTHOR_YEAR: Final = re.compile(
    r"(?!(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|January|February|March|April|May|June|July|August|September"
    r"|October|November|December|Q\d|FY|Note|Updated"
    r"|Since|Spring|Summer|Autumn|Fall|Winter|Accessed|Revised|Published|Effective|Fiscal|Release|Version|Edition"
    r"|Windows|Office|Copyright|Circa|As|In|By|From|Until|Before|After)\b)"
    r"(?:[A-Z][\w'’-]{1,30}(?:(?: et al\.?|(?:,? (?:and|&) [A-Z][\w'’-]{1,30})),? |, )(?:19|20)\d\d[a-z]?"
    r"|[A-Z][\w'’-]{1,30} (?:19|20)\d\d[a-z]?)"
)
_LOCATION: Final = re.compile(
    r"(?i:(?:pp?\.?|pages?|§{1,2}|sec\.?|sections?|clauses?|art\.?|articles?|lines?|ch\.?|chapters?|para\.?"
    r"|paragraphs?|annex|appendix|slides?|rows?|fig\.?|table|L)\s{0,2})(?:\d[\w.()–-]{0,20}|(?<=\s)[A-Z](?!\w))"
)
_WITH_LOCATION: Final = re.compile(rf"(?P<name>\S.{{0,199}}?)\s{{0,2}}[,:#]?\s{{0,2}}(?P<at>{_LOCATION.pattern})")
_JOINT: Final = re.compile(r"\s*(?:[,;]|\s&\s|\sand\s)\s*")
_CUE: Final = re.compile(
    r"(?:(?P<strong>sources?|doc(?:ument)?s?|ref(?:erence)?s?|citations?|passages?|chunks?|evidence|context)"
    r"|(?P<weak>see(?: also)?|per|cf\.?|from|in|according to|as stated in))\b\s{0,3}(?P<colon>[:#]|nos?\.)?\s{0,3}",
    re.IGNORECASE,
)
_NOT_NAMES: Final = frozenset(
    (
        "sic",
        "needed",
        "omitted",
        "missing",
        "required",
        "unavailable",
        "unknown",
        "removed",
        "redacted",
        "here",
        "above",
        "below",
        "continues",
        "attached",
        "code",
        "text",
        "file",
        "files",
        "link",
        "links",
        "list",
        "added",
        "material",
        "materials",
        "available",
        "provided",
        "given",
        "used",
        "name",
        "note",
        "notes",
        "none",
    )
)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names of the available sources, prepared for lookup."""

    exact: frozenset[str]
    folded: frozenset[str]
    shapes: frozenset[str]
    """The patterns of the ids (see `shape`): `a-9` for `hr-2`."""
    phrases: tuple[str, ...]
    """Folded names of several words, longest first."""

    @classmethod
    def of(cls, names: Collection[str]) -> "KnownNames":
        """Prepares names for lookup."""
        folded = frozenset(fold(name) for name in names)
        shapes = frozenset(s for s in (shape(name) for name in names if len(name) <= 64) if "9" in s and s != "9")
        phrases = tuple(sorted((name for name in folded if " " in name), key=lambda name: (-len(name), name)))
        return cls(frozenset(names), folded, shapes, phrases)

    def knows(self, name: str) -> bool:
        """Whether a source has this name, regardless of case and white space."""
        return name in self.exact or fold(name) in self.folded


@dataclass(frozen=True, slots=True)
class Label:
    """The sources that one marker names, with the place in them."""

    sources: tuple[str, ...]
    location: str | None = None


def fold(name: str) -> str:
    """The name in folded case and with single spaces.

    >>> fold("  Leave\\nPolicy ")
    'leave policy'
    """
    return " ".join(name.casefold().split())


def shape(name: str) -> str:
    """The name with each run of letters as `a` and each run of digits as `9`.

    >>> shape("HR-12b")
    'a-9a'
    """
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", name))


def read_label(content: str, known: KnownNames, *, cue_required: bool = False) -> Label | None:
    """The sources that the content of a bracket names; none where it is not a citation.

    Args:
        content: the text inside the bracket.
        known: the names of the available sources.
        cue_required: whether a cue such as `Source:` must come first, except before a known name.

    >>> read_label("Source: hr-2, p. 4", KnownNames.of(()))
    Label(sources=('hr-2',), location='p. 4')
    >>> read_label("1, 3-5", KnownNames.of(())).sources
    ('1', '3', '4', '5')
    >>> read_label("sic", KnownNames.of(())) is None
    True
    """
    content = content.strip()
    if known.knows(content) and not (content.isalpha() and len(content) == 1 and content in "xX"):
        return Label((content,))
    cue = _CUE.match(content)
    if cue is not None and cue.end() < len(content):
        rest = content[cue.end() :].strip()
        if cue["strong"] is not None:
            return _names_after_cue(rest, known, colon=cue["colon"] is not None)
        found = _joined_names(rest, known)
        return found if found is not None and all(known.knows(name) for name in found.sources) else None
    if cue_required:
        return None
    if _AUTHOR_YEAR.fullmatch(content):
        return Label((content,))
    return _joined_names(content, known)


def name_in(text: str, known: KnownNames) -> str:
    """The source that a definition or an entry of a reference list names: a known one, an address, or the entry.

    >>> name_in("Leave policy (hr-2), 2024.", KnownNames.of(["hr-2"]))
    'hr-2'
    """
    entry = text.strip().strip("*_").strip()[:300]
    if known.knows(entry.rstrip(".")):
        return entry.rstrip(".")
    url = _URL.search(entry)
    tokens = [token.strip(".,;:()[]<>\"'“”*_") for token in entry.split()]
    for name in ([url.group().rstrip(".,;)>")] if url is not None else []) + tokens:
        # A bare number in an entry is a year, a page or a count far more often than an id.
        if name and not name.isdigit() and known.knows(name):
            return name
    folded = fold(entry)
    for phrase in known.phrases:
        if phrase in folded:
            return phrase
    return url.group().rstrip(".,;)>") if url is not None else entry.rstrip(".")


def is_id_like(name: str, known: KnownNames) -> bool:
    """Whether a token looks like the id of a source: `hr-2`, `doc_12`, `policy.pdf`, an address, a UUID.

    >>> [is_id_like(name, KnownNames.of(["S1"])) for name in ["hr-2", "policy.pdf", "S9", "S-", "word"]]
    [True, True, True, False, False]
    """
    if len(name) > 200:
        return bool(_URL.fullmatch(name))
    patterns = (_ID_LIKE, _HEX, _FILE_NAME, _URL)
    return (shape(name) in known.shapes and len(name) <= 64) or any(pattern.fullmatch(name) for pattern in patterns)


def _names_after_cue(rest: str, known: KnownNames, *, colon: bool) -> Label | None:
    """The names after a cue such as `Source`: after a colon anything, otherwise only what reads as a name."""
    found = _joined_names(rest, known)
    if found is not None:
        return found
    if fold(rest) in _NOT_NAMES or not any(c.isalnum() for c in rest):
        return None
    located = _WITH_LOCATION.fullmatch(rest)
    name, at = (located["name"], located["at"]) if located is not None else (rest, None)
    words = name.split()
    if colon:
        pieces = [piece.strip() for piece in name.split(";") if piece.strip()]
        return Label(tuple(pieces), at) if pieces else None
    titled = len(words) <= 8 and all(word[0].isupper() or word[0].isdigit() or len(word) <= 3 for word in words)
    return Label((name,), at) if titled and fold(words[0]) not in _NOT_NAMES else None


def _joined_names(content: str, known: KnownNames) -> Label | None:
    """Names joined by commas, semicolons or `and`, each with or without a place; none if any part is not a name."""
    if known.knows(content):
        return Label((content,))
    sources: list[str] = []
    location: str | None = None
    for raw in _JOINT.split(content):
        part = raw.strip()
        if not part:
            return None
        cue = _CUE.match(part)
        if cue is not None and cue["strong"] and cue.end() < len(part):
            part = part[cue.end() :].strip()
        names = _names_in_part(part, known)
        if names is not None:
            sources.extend(names)
        elif sources and _LOCATION.fullmatch(part):
            location = part
        elif (located := _name_with_location(part, known)) is not None:
            sources.append(located.sources[0])
            location = located.location
        else:
            return None
    return Label(tuple(dict.fromkeys(sources)), location) if sources else None


def _names_in_part(part: str, known: KnownNames) -> list[str] | None:
    """The name that a part is, or the numbers of a range; none where it is neither."""
    if known.knows(part):
        return [part]
    if "#" in part and not _URL.fullmatch(part):
        return None
    span = _RANGE.fullmatch(part)
    if span is not None:
        first, last = int(span[1]), int(span[2])
        if 0 < first < last <= LARGEST_NUMBER and last - first < LONGEST_RANGE:
            return [str(number) for number in range(first, last + 1)]
        return None
    if _NUMBER.fullmatch(part) or is_id_like(part, known):
        return [part]
    return None


def _name_with_location(part: str, known: KnownNames) -> Label | None:
    """A name with a place in the source: `hr-2 §3.1`, `hr-2:12-15`, `policy.pdf#page=3`."""
    match = _WITH_LOCATION.fullmatch(part)
    if match is not None and _names_in_part(match["name"].strip(), known) is not None:
        return Label((match["name"].strip(),), match["at"])
    for sign in "#:":
        name, found, at = part.partition(sign)
        if found and at and len(at) <= 40 and (known.knows(name) or (sign == "#" and is_id_like(name, known))):
            return Label((name.strip(),), at.strip())
    return None
