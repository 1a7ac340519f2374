"""Which sources give way to others: older versions of a document, and those that say of themselves that they are out.

A claim about what holds is judged by what holds. A claim about what was is judged by all sources.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from assay.schema import Evidence
from assay.text.dates import find_dates
from assay.text.lexemes import find_words

_VERSION: Final = re.compile(
    r"\b(?:v|ver|version|rev|revision|edition|release)\.?\s?(\d+(?:\.\d+)*)\b|\bv(\d+(?:\.\d+)*)\b", re.IGNORECASE
)
_TITLE_VERSION: Final = re.compile(
    rf"{_VERSION.pattern}|\b(?:r|rev)\.?\s?(\d+(?:\.\d+)*)\b|(?<![\d.])(\d+(?:\.\d+)+)(?![\d.])", re.IGNORECASE
)
"""A title says its version in fewer words: "Backup plan r5", "Installation guide 1.4"."""
_OUT: Final = (
    r"(?:superseded|replaced|repealed|revoked|withdrawn|retired|deprecated|outdated|out of date|out of use|archived|"
    r"obsolete|expired|no longer (?:valid|in force|current|in use|maintained|applicable|apply|applies))"
)
"""Words by which a source says that it holds no more."""
_MARKED: Final = re.compile(
    rf"\b(?:this|these)\s(?:\w+\s){{1,3}}?(?:[^.\n]{{0,40}}?\s)?(?:is|are|was|were|has been|have been)\s(?:now\s)?"
    rf"{_OUT}\b"
    rf"|\b(?:this|these)\s(?:\w+\s){{1,3}}?no longer appl(?:y|ies)\b"
    rf"|^\W*{_OUT}(?:\s(?:by|on|since|version|page|document|policy)\b[^.\n]{{0,60}})?\W*(?:[:.\]\n]|$)",
    re.IGNORECASE,
)
_TITLE_MARK: Final = re.compile(
    rf"[\[(]\s*(?:{_OUT}|archive|old version)\b[^\])]{{0,60}}[\])]|^\s*{_OUT}\b|[-–—:,]\s*{_OUT}\b", re.IGNORECASE
)
_OLD: Final = re.compile(r"^\s*(?:old|former|previous)\s+", re.IGNORECASE)
_OPENING: Final = 400
"""Characters of a source in which it says that it is out."""
_ALIKE: Final = 0.34
"""The least share of content words that two versions of a document have in common (of the shorter one)."""
_PAST: Final = re.compile(
    r"\b(?:previous(?:ly)?|former(?:ly)?|old|older|earlier|until|used to|before|no longer|originally|at first|"
    r"outdated|superseded|replaced|archived|versions?|changed|increased|reduced|raised|lowered|since|was|were|had been|"
    r"disagree\w*|differ\w*|contradict\w*|conflict\w*|while|whereas|although|both)\b",
    re.IGNORECASE,
)


def superseded(evidence: Sequence[Evidence]) -> Mapping[str, str | None]:
    """The sources that give way: the id of each with that of the source that takes its place, where that is known.

    A source gives way to a later version, or one of a later date, of the same document: the titles are alike but for
    version and date, and so are the words. One that says of itself that it is superseded, withdrawn or outdated gives
    way to whatever else there is.

    >>> old = Evidence(id="a", title="Leave policy v1", text="Partners get 2 weeks of leave.")
    >>> new = Evidence(id="b", title="Leave policy v2", text="Partners get 4 weeks of leave.")
    >>> dict(superseded([old, new]))
    {'a': 'b'}
    """
    out: dict[str, str | None] = {}
    for item in evidence:
        later = [other for other in evidence if other.id != item.id and _replaces(other, item)]
        if later:
            out[item.id] = max(later, key=lambda other: (_age(other), other.id)).id
        elif len(evidence) > 1 and (_says_so(item) or _is_called_old(item, evidence)):
            out[item.id] = None
    return out if len(out) < len(evidence) else {}


def gave_way(given_way: Mapping[str, str | None]) -> tuple[str, ...]:
    """What the report says of the sources that gave way."""
    return tuple(
        f"{old} gives way to {new}, a later version of the same document; what holds is judged without it."
        if new is not None
        else f"{old} says of itself that it is out of use; what holds is judged without it."
        for old, new in sorted(given_way.items())
    )


def looks_back(claim: str, given_way: Iterable[Evidence]) -> bool:
    """Whether a claim speaks of what was, of a change, or by version or date of a source that gave way."""
    if _PAST.search(claim):
        return True
    years = {mention.year for mention in find_dates(claim, find_words(claim)) if mention.year is not None}
    if years & {year for item in given_way if (year := _age(item)[0].year) > 1}:
        return True
    return _VERSION.search(claim) is not None


def _says_so(item: Evidence) -> bool:
    return bool((item.title and _TITLE_MARK.search(item.title)) or _MARKED.search(item.text[:_OPENING]))


def _is_called_old(item: Evidence, evidence: Sequence[Evidence]) -> bool:
    """Whether its title is that of another source with "old" before it."""
    bare = _OLD.sub("", item.title or "")
    return bare != (item.title or "") and any(
        other.id != item.id and (other.title or "").strip().casefold() == bare.strip().casefold() for other in evidence
    )


def _replaces(other: Evidence, item: Evidence) -> bool:
    name = _document(item)
    if not name or name != _document(other) or not _alike(item.text, other.text):
        return False
    (mine, my_version), (theirs, their_version) = _age(item), _age(other)
    if my_version and their_version and my_version != their_version:
        return their_version > my_version
    return mine < theirs and date.min not in (mine, theirs)


def _document(item: Evidence) -> str:
    """The name of the document without version and date."""
    name = item.title or item.source or ""
    name = _TITLE_VERSION.sub(" ", name)
    kept = list(name)
    for mention in find_dates(name, find_words(name)):
        kept[mention.start : mention.end] = " " * (mention.end - mention.start)
    return " ".join(re.findall(r"[^\W\d_]+", "".join(kept).casefold()))


def _age(item: Evidence) -> tuple[date, tuple[int, ...]]:
    """The day from which a source holds, and its version; the earliest day and no version where it says neither."""
    text = f"{item.version or ''} {item.title or ''}"
    found = _TITLE_VERSION.search(text)
    number = next((group for group in (found.groups() if found else ()) if group), None)
    number = number or (item.version if item.version and re.fullmatch(r"\d+(?:\.\d+)*", item.version) else None)
    version = tuple(int(part) for part in number.split(".")[:6]) if number else ()
    if item.effective_date is not None:
        return item.effective_date, version
    for mention in find_dates(item.title or "", find_words(item.title or "")):
        if mention.year is not None and 1 <= mention.year <= date.max.year:
            return date(mention.year, mention.month or 1, mention.day or 1), version
    return date.min, version


def _alike(one: str, other: str) -> bool:
    first, second = ({word.stem for word in find_words(text[:20_000]).lexemes if word.weight} for text in (one, other))
    smaller = min(len(first), len(second))
    return smaller > 0 and len(first & second) >= _ALIKE * smaller
