"""Which sources are out of use: older versions of a document, drafts, sources that another one replaces, those that are
not in force on the day in question, and those that say so of themselves.

A claim about the present is judged by the sources in use, a claim about the past by all sources.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Final, Literal

from assay.guard.conflicts.document_titles import OPENING, OUT_OF_USE, VERSION, Titles, document_name, version_of
from assay.guard.conflicts.source_matching import claim_share_in_passage, values_of
from assay.schema import Evidence
from assay.text.dates import DateMention, find_dates
from assay.text.lexicon import find_words
from assay.text.sentences import split_sentences

_GONE: Final = OUT_OF_USE.replace("cancell?ed|", "")
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
_PART: Final = re.compile(r"\b(?:amend\w*|errat\w*|correct\w*|addend\w*|supplement\w*)\b", re.IGNORECASE)
"""Words by which a source calls itself a change to a part of another."""
_STAMP: Final = re.compile(
    r"\b(?:valid|effective|in force|applies|applicable|as of|as from|updated?|revised|revision|reviewed|issued?|"
    r"published|dated?|version|edition|status)\b",
    re.IGNORECASE,
)
_STAMP_WORDS: Final = 4
"""The most words beside the date of a sentence that only says from when or until when the source is in force."""
_LONGEST: Final = 20_000
"""The most characters of a source that are compared word by word."""
_CLOSING: Final = 120
_MOST_LATER: Final = 64
"""How many sources of later versions, the latest first, one is compared with."""
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
    out |= _replaced(in_force)
    titles = Titles(in_force)
    for place, item in enumerate(in_force):
        if item.id in out:
            continue
        final = [in_force[other].id for other in titles.finals_of(place)]
        if final:
            out[item.id] = OutOfUse("draft", max(final))
        elif says_it_is_out(item) or titles.currents_of(place):
            out[item.id] = OutOfUse("marked")
    return out if len(out) < len(evidence) else {}


def _replaced(items: Sequence[Evidence]) -> dict[str, OutOfUse]:
    """The sources of which another one is a later version, or that another one says it replaces, by their ids."""
    titles = Titles(items)
    found: dict[str, OutOfUse] = {}
    for place, item in enumerate(items):
        for other in titles.replaced_by(place):
            known = found.get(items[other].id)
            if known is None or known.to is None or item.id > known.to:
                part = _PART.search(f"{item.title or ''} {item.text[:OPENING]}")
                found[items[other].id] = OutOfUse("replaced", item.id, item.text if part else None)
    named: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        if name := document_name(item):
            named[name].append(place)
    for places in named.values():
        of_age: dict[_Age, list[int]] = defaultdict(list)
        for place in sorted(places, key=lambda place: items[place].id, reverse=True) if len(places) > 1 else ():
            of_age[age_of(items[place])].append(place)
        newest_first = sorted(of_age, reverse=True)
        for age, older in of_age.items():
            later = list(islice((p for one in newest_first if _is_later(one, age) for p in of_age[one]), _MOST_LATER))
            for place in older:
                newest = next((other for other in later if titles.are_alike(place, other)), None)
                if newest is not None:
                    found[items[place].id] = OutOfUse("version", items[newest].id)
    return found


_Age = tuple[date, tuple[int, ...]]
"""The day from which a source is in force, and its version."""


def _is_later(one: _Age, other: _Age) -> bool:
    """Whether a version is later than another one of the same document."""
    (day, version), (other_day, other_version) = one, other
    if version and other_version and version != other_version:
        return version > other_version
    return day > other_day and date.min not in (day, other_day)


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
    return VERSION.search(claim) is not None


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


def age_of(item: Evidence) -> tuple[date, tuple[int, ...]]:
    """The day from which a source is in force, and its version; `date.min` and no version if it names neither."""
    name, version = item.title or item.source or "", version_of(item)
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
