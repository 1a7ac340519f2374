"""Which passages are in force on a day: not those that have expired or are to come, or have a newer version.

Passages belong to one document if their metadata name the same document. Those whose metadata name none belong
together if their titles are the same except for version and date, and those without a title if one nearly repeats the
other. A title never overrules metadata, nor content a title. The screening reports what was inferred.

Within a document the version decides, then the day from which it is in force, then the day on which it was written. A
version that is not in force yet replaces nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

from assay.guard.conflicts.document_titles import (
    DRAFT,
    LONGEST_NUMBER,
    OLD,
    OPENING,
    Titles,
    document_name,
    names_of_replaced,
    says_alike,
)
from assay.guard.conflicts.superseded_sources import age_of, out_of_force, says_it_is_out
from assay.retrieve import Passage, similar_pairs
from assay.schema import Evidence, Standing
from assay.text.dates import find_dates
from assay.text.files import read_metadata_day
from assay.text.lexicon import find_words

VERSIONS_OF_ONE: Final = 0.5
"""The likeness from which two passages without metadata and title may be versions of one text."""
MOST_COMPARED: Final = 8
"""How many passages of the newest version a passage of an older one is compared with."""
_MARKED: Final = re.compile(r"(?<![^\W_])(?:v|ver|version|rev|revision|edition|release)\.?\s?\d", re.IGNORECASE)
"""A title that marks a number as its version."""
_NUMBERS: Final = re.compile(
    r"^(?:v|ver|version|rev|revision|r|release|edition)?[\s.:#-]*(\d+(?:[._]\d+)*)[\s._-]*(?P<pre>a|b|c|rc|alpha|beta|pre|dev|draft)?"
    r"[\s._-]*(?P<number>\d+)?(?:\s*\(.{0,60}\))?(?:\+.*)?$",
    re.IGNORECASE,
)
_LETTER: Final = re.compile(r"^(?:v|ver|version|rev|revision|release|edition)?[\s.:#-]*([A-Z])$", re.IGNORECASE)
_PRE: Final = {"dev": -5, "draft": -4, "pre": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "c": -1, "rc": -1}


_REPLACING: Final = re.compile(r"replac|supersed|repeal|takes the place|withdrawn|revoked|rescinded", re.IGNORECASE)
"""Words without which no passage says that it replaces another: that something has expired says it of no document."""
Key = tuple[str, tuple[int, ...]]
"""A version in a form that can be compared: its kind and its numbers. Different kinds cannot be compared."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the document of a passage."""

    document: str | None = None
    by: str | None = None
    """`metadata`, `title` or `content`."""
    version: str | None = None
    key: Key | None = None
    day: date | None = None
    """The day from which it is in force, as far as its metadata, title or stamps tell."""
    written: date | None = None
    standing: Standing = Standing.IN_FORCE
    other: str | None = None
    """The id of the passage that replaces it."""
    why: str = ""
    """Why it is not in force, as a sentence; empty if it is."""


@dataclass(frozen=True, slots=True)
class Versions:
    """What is known of the documents of all passages, by id, and what of it was inferred."""

    of: Mapping[str, Known]
    inferred: tuple[str, ...] = ()


def version_key(text: str | None) -> Key | None:
    """A version in a form that can be compared; None if it is not a number, a letter or a day.

    >>> version_key("v3.1") > version_key("2.8"), version_key("Rev. B") > version_key("rev a")
    (True, True)
    >>> version_key("2.0-rc1") < version_key("2.0"), version_key("2.0") == version_key("2"), version_key("latest")
    (True, True, None)
    """
    stripped = (text or "").strip()[:80]
    if not stripped:
        return None
    if re.fullmatch(r"(?:19|20)\d\d[-/.]\d\d?(?:[-/.]\d\d?)?", stripped):
        return "day", tuple(int(part) for part in re.split(r"[-/.]", stripped))
    letter = _LETTER.fullmatch(stripped)
    if letter is not None:
        return "letter", (ord(letter[1].upper()),)
    numbers = _NUMBERS.fullmatch(stripped)
    if numbers is not None:
        return "number", _number_key(numbers)
    day = read_metadata_day(stripped) if re.search(r"\d", stripped) else None
    return None if day is None else ("day", (day.year, day.month, day.day))


def _number_key(numbers: re.Match[str]) -> tuple[int, ...]:
    """The parts of a numbered version in six places, then what precedes a release, with its number."""
    parts = [int(part[:LONGEST_NUMBER]) for part in re.split(r"[._]", numbers[1])[:6]]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    parts += [0] * (6 - len(parts))
    pre = _PRE[numbers["pre"].lower()] if numbers["pre"] else 0
    return (*parts, pre, int((numbers["number"] or "0")[:LONGEST_NUMBER]))


@dataclass(slots=True)
class _Group:
    """The passages of one document."""

    name: str
    by: str
    places: list[int] = field(default_factory=list)


def versions_of(passages: Sequence[Passage], as_of: date) -> Versions:
    """What is known of the documents of passages, and which passages are in force on a day.

    The cost is linear in the number of passages and the length of their texts.

    Args:
        passages: the passages, with unique ids.
        as_of: the day in question.
    """
    known = [_read(one) for one in passages]
    inferred: list[str] = []
    off = {place: _off(one.item, as_of) for place, one in enumerate(passages)}
    for group in _groups(passages, inferred):
        for place in group.places:
            known[place] = _with(known[place], document=group.name, by=group.by)
        _compare(group, passages, known, off, inferred)
    _say_themselves(passages, known, off)
    for place, found in off.items():
        if found is not None and known[place].standing is not Standing.NOT_YET:
            standing, why = found
            known[place] = _with(known[place], standing=standing, why=why, other=None)
    return Versions({one.item.id: found for one, found in zip(passages, known, strict=True)}, tuple(inferred))


def keys_of(one: Passage) -> tuple[str, ...]:
    """The keys under which versions of a passage's document are found among any number of others.

    Passages that share no key are of different documents, except those without metadata and title, and those that
    another passage says it replaces.

    >>> from assay.retrieve import read_passages
    >>> keys_of(read_passages([{"id": "a", "text": "x", "title": "Draft: Leave policy v2", "document_id": "hr"}])[0])
    ('m:hr', 't:draft leave policy', 't:leave policy')
    """
    title = one.item.title or ""
    names = [document_name(one.item)]
    if DRAFT.search(title) or OLD.search(title):
        plain_title = DRAFT.sub(" ", OLD.sub(" ", title))
        names.append(document_name(one.item.model_copy(update={"title": plain_title or title})))
    title_keys = (f"t:{name}" for name in names if name)
    return tuple(dict.fromkeys((*((f"m:{one.document.casefold()}",) if one.document else ()), *title_keys)))


def replaced_by(item: Evidence) -> str | None:
    """The opening of a passage that says that it replaces another one, or that another is withdrawn; else None."""
    opening = f"{item.title or ''}\n{item.text[:OPENING]}"
    return opening if _REPLACING.search(opening) and names_of_replaced(item) else None


def _with(known: Known, **changes: Any) -> Known:
    return replace(known, **changes)


def _read(one: Passage) -> Known:
    day, numbers = age_of(one.item)
    named = version_key(one.item.version)
    titled: Key | None = ("number", (*numbers, *([0] * (6 - len(numbers))), 0, 0)) if numbers else None
    if named is None and titled is not None and one.item.version is None:
        return Known(version=".".join(map(str, numbers)), key=titled, day=_known(day), written=one.written)
    return Known(version=one.item.version, key=named, day=_known(day), written=one.written)


def _known(day: date) -> date | None:
    return None if day == date.min else day


def _off(item: Evidence, as_of: date) -> tuple[Standing, str] | None:
    """Why a passage is not in force on a day, as far as it says itself; None if it is."""
    found = out_of_force(item, as_of)
    if found is None:
        return None
    if found.why == "not yet":
        return Standing.NOT_YET, f"It holds from {_shown(item.effective_date)} on; asked about is {as_of}."
    return Standing.EXPIRED, f"It ceased to hold on {_shown(item.expiry_date)}; asked about is {as_of}."


def _shown(day: date | None) -> str:
    return "a later day, as it says itself," if day is None else day.isoformat()


def _groups(passages: Sequence[Passage], inferred: list[str]) -> list[_Group]:
    """The documents with their passages; a passage that belongs to none is left out."""
    by_key: dict[str, _Group] = {}
    of_title: dict[str, str] = {}
    names = [document_name(one.item) for one in passages]
    for place, one in enumerate(passages):
        if one.document is None:
            continue
        key = f"m:{one.document.casefold()}"
        by_key.setdefault(key, _Group(one.document, "metadata")).places.append(place)
        if names[place]:
            of_title.setdefault(names[place], key)
    unnamed = [place for place, one in enumerate(passages) if one.document is None and not names[place]]
    for place, one in enumerate(passages):
        if one.document is not None or not names[place]:
            continue
        key = of_title.get(names[place], f"t:{names[place]}")
        group = by_key.setdefault(key, _Group(names[place], "title"))
        group.places.append(place)
        if group.by == "metadata":
            inferred.append(f"{one.item.id} names no document; by its title it was taken for a part of {group.name!r}.")
    _by_content(passages, unnamed, by_key, inferred)
    return [group for group in by_key.values() if group.places]


def _by_content(
    passages: Sequence[Passage], unnamed: Sequence[int], by_key: dict[str, _Group], inferred: list[str]
) -> None:
    """Adds passages without metadata and title to the documents of those that they nearly repeat."""
    if not unnamed:
        return
    group_of = {place: key for key, group in by_key.items() for place in group.places}
    order = [*group_of, *unnamed]
    alone = set(unnamed)
    for one in similar_pairs([passages[place].item.text for place in order], VERSIONS_OF_ONE):
        first, second = order[one.first], order[one.second]
        if second not in alone or second in group_of:
            continue
        key = group_of.get(first)
        if key is None:
            key = f"c:{first}"
            by_key[key] = _Group(passages[first].item.id, "content", [first])
            group_of[first] = key
        by_key[key].places.append(second)
        group_of[second] = key
        inferred.append(
            f"{passages[second].item.id} was taken for the document of {passages[first].item.id}: they share "
            f"{one.jaccard:.0%} of their wording."
        )


def _compare(
    group: _Group,
    passages: Sequence[Passage],
    known: list[Known],
    off: Mapping[int, tuple[Standing, str] | None],
    inferred: list[str],
) -> None:
    """Marks the passages of a document that a newer version replaces."""
    if len(group.places) < 2:
        return
    holding = [place for place in group.places if (off[place] or (None,))[0] is not Standing.NOT_YET]
    ages = _Ages([(place, known[place]) for place in holding])
    for place in group.places:
        over = ages.newer_than(known[place])
        if not over or not _are_versions(group, passages, known, place, over):
            continue
        best = min(over, key=lambda other: (off[other] is not None, passages[other].item.id))
        one, other = passages[place].item.id, passages[best].item.id
        newer, own = _age_words(known[best]), _age_words(known[place])
        why = f"A newer version, {newer} of the same document ({group.name!r}) is {other}; this is {own}."
        known[place] = _with(known[place], standing=Standing.SUPERSEDED, other=other, why=why)
        if group.by != "metadata":
            inferred.append(f"{one} was taken for an older version of {other}, by {_BY[group.by]}.")


_BY: Final = {"title": "their titles", "content": "what they say"}


def _age_words(known: Known) -> str:
    if known.version:
        return f"version {known.version}"
    day = known.day or known.written
    return f"of {day}" if day else "undated"


@dataclass(frozen=True, slots=True)
class _Newest:
    key: Key | None
    day: date | None
    written: date | None


class _Ages:
    """The ages of the passages of one document, looked up by version, day and day of writing."""

    def __init__(self, passages: Sequence[tuple[int, Known]]) -> None:
        self._known = dict(passages)
        self._newest_keys: dict[str, Key] = {}
        self._of_key: dict[Key, list[int]] = defaultdict(list)
        self._of_day: dict[date, list[int]] = defaultdict(list)
        self._of_written: dict[date, list[int]] = defaultdict(list)
        for place, one in passages:
            if one.key:
                self._newest_keys[one.key[0]] = max(self._newest_keys.get(one.key[0], one.key), one.key)
                self._of_key[one.key].append(place)
            if one.day:
                self._of_day[one.day].append(place)
            if one.written:
                self._of_written[one.written].append(place)
        self._newest_day, self._newest_written = max(self._of_day, default=None), max(self._of_written, default=None)
        self._newer: dict[tuple[Key | None, date | None, date | None], list[int]] = {}

    def newer_than(self, one: Known) -> list[int]:
        """The passages of the newest version, if it is newer than that of one passage, in their order."""
        age = one.key, one.day, one.written
        if age not in self._newer:
            key = self._newest_keys.get(one.key[0]) if one.key else None
            newest = _Newest(key, self._newest_day, self._newest_written)
            if key is not None and key != one.key:
                near = self._of_key[key]
            elif one.day and newest.day and newest.day != one.day:
                near = self._of_day[newest.day]
            else:
                near = self._of_written[newest.written] if newest.written else []
            self._newer[age] = [place for place in near if _is_newer(one, self._known[place], newest)]
        return self._newer[age]


def _is_newer(one: Known, other: Known, newest: _Newest) -> bool:
    """Whether another passage is of the newest version, and this is newer than that of `one`."""
    if one.key and newest.key and newest.key != one.key:
        return newest.key > one.key and other.key == newest.key
    if one.key and newest.key:  # it has the newest version number itself
        if other.key is not None and other.key != one.key:
            return False
        if other.key == one.key and (one.day is None or other.day is None or other.day == one.day):
            return False
    if one.day and newest.day and newest.day != one.day:
        return newest.day > one.day and other.day == newest.day
    if one.day is None and one.written and newest.written and newest.written != one.written:
        return newest.written > one.written and other.written == newest.written
    return False


def _are_versions(
    group: _Group, passages: Sequence[Passage], known: Sequence[Known], place: int, over: Sequence[int]
) -> bool:
    """Whether passages with one title are versions of one document, and not issues of a series.

    Metadata count, and so do titles that mark a number as a version. Reports of two months have the same title as well,
    so in other cases the texts must be alike.
    """
    if group.by == "metadata":
        return True
    titles = [passages[at].item.title or passages[at].item.source or "" for at in (place, *over[:1])]
    if all(_MARKED.search(title) for title in titles) or (known[place].key and passages[place].item.version):
        return True
    mine = passages[place].item.text
    return any(says_alike(mine, passages[other].item.text) for other in over[:MOST_COMPARED])


def _say_themselves(
    passages: Sequence[Passage], known: list[Known], off: dict[int, tuple[Standing, str] | None]
) -> None:
    """Marks passages that say that they are out of use, that another says it replaces, and drafts of others."""
    items = [one.item for one in passages]
    for place, item in enumerate(items):
        if known[place].standing is Standing.IN_FORCE and off[place] is None and says_it_is_out(item):
            off[place] = (Standing.EXPIRED, "It states that it is no longer in use.")
    holding = [place for place in range(len(items)) if off[place] is None]
    titles = Titles([items[place] for place in holding])
    for number, at in enumerate(holding):
        if known[at].standing is Standing.IN_FORCE and replaced_by(items[at]) is not None:
            for place in (holding[other] for other in titles.replaced_by(number)):
                if known[place].standing is Standing.IN_FORCE:
                    why = f"{items[at].id} says that it replaces it."
                    known[place] = _with(known[place], standing=Standing.SUPERSEDED, other=items[at].id, why=why)
    for number, place in enumerate(holding):
        if known[place].standing is Standing.IN_FORCE:
            called_draft = DRAFT.search(items[place].title or "") is not None
            finals = titles.finals_of(number) if called_draft else titles.currents_of(number)
            if finals:
                final = items[holding[finals[0]]].id
                why = f"{final} is the version that holds of it."
                known[place] = _with(known[place], standing=Standing.SUPERSEDED, other=final, why=why)


def names_a_version(question: str, known: Mapping[str, Known]) -> bool:
    """Whether a question names the version or the day of a passage that is not in force.

    >>> old = Known(version="2.8", key=version_key("2.8"), standing=Standing.SUPERSEDED)
    >>> names_a_version("What did version 2.8 say?", {"a": old}), names_a_version("What is it?", {"a": old})
    (True, False)
    """
    out = [one for one in known.values() if one.standing in (Standing.SUPERSEDED, Standing.EXPIRED)]
    if not out:
        return False
    said = set(re.findall(r"\d+(?:\.\d+)+", question)) | set(
        re.findall(r"(?:v|version|rev|revision)\.?\s?(\d+(?:\.\d+)*)", question, re.IGNORECASE)
    )
    if any(one.version and re.sub(r"^\D+", "", one.version) in said for one in out):
        return True
    years = {mention.year for mention in find_dates(question, find_words(question)) if mention.year is not None}
    own = {day.year for one in out if (day := one.day or one.written) is not None}
    current = {
        day.year
        for one in known.values()
        if one.standing is Standing.IN_FORCE and (day := one.day or one.written) is not None
    }
    return bool(years & (own - current))
