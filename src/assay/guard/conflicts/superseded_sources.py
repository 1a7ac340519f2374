"""Which sources are out of use: older versions of a document, drafts, sources that another one replaces, those that are
not in force on the day in question, and those that say so of themselves.

A claim about the present is judged by the sources in use, a claim about the past by all sources.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from assay.guard.conflicts.source_matching import claim_share_in_passage, values_of
from assay.schema import Evidence
from assay.text.dates import DateMention, find_dates
from assay.text.lexicon import find_words
from assay.text.sentences import split_sentences

_VERSION: Final = re.compile(
    r"(?<![^\W_])(?:v|ver|version|rev|revision|edition|release)\.?\s?(\d+(?:\.\d+)*)(?![^\W_])", re.IGNORECASE
)
_TITLE_VERSION: Final = re.compile(
    rf"{_VERSION.pattern}|(?<![^\W_])(?:r|rev)\.?\s?(\d+(?:\.\d+)*)(?![^\W_])|(?<![\d.])(\d+(?:\.\d+)+)(?![\d.])",
    re.IGNORECASE,
)
"""A version in a title, which takes fewer words: "Backup plan r5", "Installation guide 1.4", "handbook_v3.pdf"."""
_OUT: Final = (
    r"(?:superseded|replaced|repealed|revoked|rescinded|withdrawn|retired|deprecated|outdated|out of date|out of use|"
    r"archived|obsolete|expired|cancell?ed|no longer (?:valid|in force|current|in use|maintained|applicable|apply|"
    r"applies))"
)
"""Words for something that is out of use."""
_GONE: Final = _OUT.replace("cancell?ed|", "")
"""The same for a source that says so of itself: a plan about something cancelled is not itself out of use."""
_MARKED: Final = re.compile(
    rf"\b(?:this|these)\s(?:\w+\s){{1,3}}?(?:[^.\n]{{0,40}}?\s)?(?:is|are|was|were|has been|have been)\s(?:now\s)?"
    rf"{_GONE}\b"
    rf"|\b(?:this|these)\s(?:\w+\s){{1,3}}?no longer appl(?:y|ies)\b"
    rf"|^\W*{_GONE}(?:\s(?:by|on|since|version|page|document|policy)\b[^.\n]{{0,60}})?\W*(?:[:.\]\n]|$)",
    re.IGNORECASE,
)
_TITLE_MARK: Final = re.compile(
    rf"[\[(]\s*(?:{_GONE}|archive|old version)\b[^\])]{{0,60}}[\])]|^\s*{_GONE}\b|[-–—:,]\s*{_GONE}\b",
    re.IGNORECASE,
)
OLD: Final = re.compile(r"^\s*(?:old|former|previous)\s+", re.IGNORECASE)
"""The beginning of a title that calls its document old."""
DRAFT: Final = re.compile(r"\b(?:draft|provisional|preliminary|proposed|proposal)\b", re.IGNORECASE)
"""Words of a title that calls its document a draft."""
_REPLACES: Final = re.compile(
    r"\b(?:replac(?:es|ing)|supersed(?:es|ing)|repeals?|takes the place of)\b\s(?P<what>[^.;:()\n]{3,120})",
    re.IGNORECASE,
)
_IS_OUT: Final = re.compile(
    rf"(?:^|[.;\n]\s*)(?P<what>[^.;\n]{{3,80}}?)\s(?:is|are|has been|have been)\s(?:hereby\s|now\s)?{_OUT}\b",
    re.IGNORECASE,
)
_ITSELF: Final = re.compile(r"\s*(?:this|these|it)\b", re.IGNORECASE)
_PART: Final = re.compile(r"\b(?:amend\w*|errat\w*|correct\w*|addend\w*|supplement\w*)\b", re.IGNORECASE)
"""Words by which a source calls itself a change to a part of another."""
_STAMP: Final = re.compile(
    r"\b(?:valid|effective|in force|applies|applicable|as of|as from|updated?|revised|revision|reviewed|issued?|"
    r"published|dated?|version|edition|status)\b",
    re.IGNORECASE,
)
_STAMP_WORDS: Final = 4
"""The most words beside the date of a sentence that only says from when or until when the source is in force."""
OPENING: Final = 400
"""The characters at the beginning of a source in which it says that it is out of use, or from when it is in force."""
_LONGEST: Final = 20_000
"""The most characters of a source that are compared word by word."""
_CLOSING: Final = 120
_ALIKE: Final = 0.34
"""The lowest share of the shorter text's content words that two versions of a document have in common."""
_ON_IT: Final = 0.5
"""The share of a claim that a change to a part of a source must say for it to be about the claim."""
_PAST: Final = re.compile(
    r"\b(?:previous(?:ly)?|former(?:ly)?|old|older|earlier|until|used to|before|no longer|originally|at first|"
    r"outdated|superseded|replaced|archived|drafts?|versions?|since|was|were|"
    r"(?<!is )(?<!are )(?<!be )(?:changed|increased|reduced|raised|lowered)|"
    r"had been|disagree\w*|differ\w*|contradict\w*|conflict\w*|while|whereas|although|both)\b",
    re.IGNORECASE,
)

Why = Literal["version", "replaced", "draft", "marked", "not yet", "no more"]


@dataclass(frozen=True, slots=True)
class OutOfUse:
    """Why a source is out of use."""

    why: Why
    to: str | None = None
    """The id of the source that replaces it, if that is known."""
    partly: str | None = None
    """The text of the source that replaces only a part of it: only what is said there is out of use."""

    def applies_to(self, claim: str) -> bool:
        """Whether the source is out of use for a claim."""
        return self.partly is None or claim_share_in_passage(claim, self.partly, ()) >= _ON_IT


def superseded(evidence: Sequence[Evidence], as_of: date | None = None) -> Mapping[str, OutOfUse]:
    """The sources that are out of use, by their ids.

    A source is out of use if a version of the same document (the same title except for version and date, and a similar
    text) has a higher number or a later date, if another source says that it replaces it, if it is a draft of another,
    or if it is superseded, withdrawn or outdated by its own words, or not in force on the day. If all were, none is.

    Args:
        evidence: all sources.
        as_of: the day in question; without it no source is too early or too late.

    >>> old = Evidence(id="a", title="Leave policy v1", text="Partners get 2 weeks of leave.")
    >>> new = Evidence(id="b", title="Leave policy v2", text="Partners get 4 weeks of leave.")
    >>> superseded([old, new])["a"].to
    'b'
    """
    if len(evidence) == 1:
        return {}
    out: dict[str, OutOfUse] = {item.id: why for item in evidence if (why := out_of_force(item, as_of)) is not None}
    in_force = [item for item in evidence if item.id not in out]
    for item in in_force:
        found = _why_out_of_use(item, [other for other in in_force if other.id != item.id], len(evidence))
        if found is not None:
            out[item.id] = found
    return out if len(out) < len(evidence) else {}


def _why_out_of_use(item: Evidence, others: Sequence[Evidence], count: int) -> OutOfUse | None:
    later = [other for other in others if _replaces(other, item)]
    if later:
        return OutOfUse("version", max(later, key=lambda other: (age_of(other), other.id)).id)
    naming = [other for other in others if says_that_it_replaces(other, item)]
    if naming:
        last = max(naming, key=lambda other: other.id)
        part = _PART.search(f"{last.title or ''} {last.text[:OPENING]}")
        return OutOfUse("replaced", last.id, last.text if part else None)
    final = [other for other in others if is_draft_of(item, other)]
    if final:
        return OutOfUse("draft", max(final, key=lambda other: other.id).id)
    return OutOfUse("marked") if count > 1 and (says_it_is_out(item) or is_called_old(item, others)) else None


def out_of_force(item: Evidence, as_of: date | None) -> OutOfUse | None:
    """Why a source is not in force on a day."""
    if as_of is None:
        return None
    stamps = _stamps(item)
    begins = item.effective_date or max((day for day, until in stamps if not until), default=None)
    ends = item.expiry_date or max((day for day, until in stamps if until), default=None)
    if begins is not None and begins > as_of:
        return OutOfUse("not yet")
    ended = ends is not None and (ends <= as_of if item.expiry_date else ends < as_of)
    return OutOfUse("no more") if ended else None


_NOTES: Final[Mapping[Why, str]] = {
    "version": "{old} is superseded by {new}, a later version of the same document, and was left out of the check.",
    "replaced": "{old} is superseded by {new}, which says that it replaces it, and was left out of the check.",
    "draft": "{old} is a draft of {new} and was left out of the check.",
    "marked": "{old} states that it is no longer in use and was left out of the check.",
    "not yet": "{old} is not in force yet on the day in question and was left out of the check.",
    "no more": "{old} is no longer in force on the day in question and was left out of the check.",
}


def out_of_use_notes(out_of_use: Mapping[str, OutOfUse]) -> tuple[str, ...]:
    """The report's notes on the sources that are out of use."""
    return tuple(_NOTES[one.why].format(old=old, new=one.to) for old, one in sorted(out_of_use.items()))


def looks_back(claim: str, old_sources: Iterable[Evidence]) -> bool:
    """Whether a claim is about the past or about a change, or names the version or date of a source out of use."""
    if _PAST.search(claim):
        return True
    years = {mention.year for mention in find_dates(claim, find_words(claim)) if mention.year is not None}
    if years & {year for item in old_sources if (year := age_of(item)[0].year) > 1}:
        return True
    return _VERSION.search(claim) is not None


def follows(claim: str, out_of_use: Iterable[Evidence], holding: Iterable[Evidence]) -> bool:
    """Whether a claim has a value that only sources which are out of use have.

    A network reads over digits: to it, "Use port 8443" seems to support "The port is 8080".

    >>> old = Evidence(id="a", title="Guide (deprecated)", text="Use port 8080.")
    >>> new = Evidence(id="b", title="Guide", text="Use port 8443.")
    >>> follows("The port is 8080.", [old], [new]), follows("The port is 8443.", [old], [new])
    (True, False)
    """
    stated = values_of(claim)
    if not stated:
        return False
    old, current = (
        {word.fold for item in items for word in find_words(item.text[:_LONGEST]).lexemes}
        for items in (out_of_use, holding)
    )
    return bool(stated & (old - current))


def is_outdated(claim: str, evidence: Sequence[Evidence], out_of_use: Mapping[str, OutOfUse]) -> bool:
    """Whether a claim about the present has a value that only a source out of use has."""
    gone = {name for name, one in out_of_use.items() if one.applies_to(claim)}
    out = [item for item in evidence if item.id in gone]
    return bool(out) and not looks_back(claim, out) and follows(claim, out, (e for e in evidence if e.id not in gone))


def says_it_is_out(item: Evidence) -> bool:
    """Whether a source says of itself, in its title or opening, that it is out of use."""
    return bool((item.title and _TITLE_MARK.search(item.title)) or _MARKED.search(item.text[:OPENING]))


def is_called_old(item: Evidence, others: Sequence[Evidence]) -> bool:
    """Whether the title of a source is that of another one with "old" before it."""
    plain_title = OLD.sub("", item.title or "")
    return plain_title != (item.title or "") and any(
        (other.title or "").strip().casefold() == plain_title.strip().casefold() for other in others
    )


def says_that_it_replaces(other: Evidence, item: Evidence) -> bool:
    """Whether a source says that it replaces another, which it names by its title."""
    title = _name_words(item.title or "")
    if not title or title == _name_words(other.title or ""):
        return False
    opening = f"{other.title or ''}\n{other.text[:OPENING]}"
    for match in (*_REPLACES.finditer(opening), *_IS_OUT.finditer(opening)):
        if _ITSELF.match(match["what"]):
            continue
        named = _name_words(match["what"])
        numbered = any(any(sign.isdigit() for sign in word) for word in named)
        if title <= named or (numbered and len(named) > 1 and named <= title):
            return True
    return False


def _name_words(text: str) -> frozenset[str]:
    """The words of a title that tell it from others: content words and numbers outside of brackets."""
    words = find_words(re.sub(r"[(\[][^)\]]*[)\]]", " ", text))
    return frozenset(w.stem for w in words.lexemes if w.weight or w.fold[:1].isdigit())


def is_draft_of(item: Evidence, other: Evidence) -> bool:
    """Whether a source is called a draft, and another one has the same name without that."""
    if not item.title or not other.title or not DRAFT.search(item.title) or DRAFT.search(other.title):
        return False
    final = {word.stem for word in find_words(_undated(other.title)).lexemes if word.weight} - {"final", "approv"}
    draft = {word.stem for word in find_words(_undated(item.title)).lexemes if word.weight}
    return bool(final) and final <= draft and says_alike(item.text, other.text)


def _replaces(other: Evidence, item: Evidence) -> bool:
    name = document_name(item)
    if not name or name != document_name(other) or not says_alike(item.text, other.text):
        return False
    (mine, my_version), (theirs, their_version) = age_of(item), age_of(other)
    if my_version and their_version and my_version != their_version:
        return their_version > my_version
    return mine < theirs and date.min not in (mine, theirs)


def _undated(name: str) -> str:
    """A name without version and date."""
    name = _TITLE_VERSION.sub(" ", name)
    kept = list(name)
    for mention in find_dates(name, find_words(name)):
        kept[mention.start : mention.end] = " " * (mention.end - mention.start)
    return "".join(kept)


def document_name(item: Evidence) -> str:
    """The name of the document without version and date."""
    return " ".join(re.findall(r"[^\W\d_]+", _undated(item.title or item.source or "").casefold()))


def age_of(item: Evidence) -> tuple[date, tuple[int, ...]]:
    """The day from which a source is in force, and its version; `date.min` and no version if it names neither."""
    name = item.title or item.source or ""
    found = _TITLE_VERSION.search(f"{item.version or ''} {name}")
    number = next((group for group in (found.groups() if found else ()) if group), None)
    number = number or (item.version if item.version and re.fullmatch(r"\d+(?:\.\d+)*", item.version) else None)
    version = tuple(int(part) for part in number.split(".")[:6]) if number else ()
    if item.effective_date is not None:
        return item.effective_date, version
    for mention in find_dates(name, find_words(name)):
        if (day := _day(mention)) is not None:
            return day, version
    return max((day for day, until in _stamps(item) if not until), default=date.min), version


def _day(mention: DateMention) -> date | None:
    """The first day of a date that names a year."""
    if mention.year is None or not 1 <= mention.year <= date.max.year:
        return None
    return date(mention.year, mention.month or 1, mention.day or 1)


def _stamps(item: Evidence) -> list[tuple[date, bool]]:
    """The days from which (False) or until which (True) a source is in force, from sentences that say nothing else.

    "Last updated: 3 June 2025.", "Valid until 31 August.", "Rules of 1 February 2025." under the title "Library rules".
    """
    title = {word.stem for word in find_words(item.title or "").lexemes if word.weight}
    found: list[tuple[date, bool]] = []
    for one in split_sentences(item.text):
        if one.end > OPENING and one.start < len(item.text) - _CLOSING:
            continue
        for line in item.text[one.start : one.end].split("\n"):
            words = find_words(line)
            dates = find_dates(line, words)
            day = _day(dates[0]) if len(dates) == 1 else None
            if day is None:
                continue
            said = line[: dates[0].start] + " " + line[dates[0].end :]
            beside = find_words(said).lexemes
            named = any(word.stem in title for word in beside if word.weight)
            if len(beside) <= _STAMP_WORDS and (_STAMP.search(line) or named):
                found.append((day, dates[0].bound in {"until", "before"} or "until" in line.casefold().split()))
    return found


def says_alike(one: str, other: str) -> bool:
    """Whether two texts may be versions of one: they share a third of the shorter one's content words."""
    first, second = (
        {word.stem for word in find_words(text[:_LONGEST]).lexemes if word.weight} for text in (one, other)
    )
    smaller = min(len(first), len(second))
    return smaller > 0 and len(first & second) >= _ALIKE * smaller
