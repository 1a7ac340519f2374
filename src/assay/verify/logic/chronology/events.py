"""Reads the dated events of a sentence: the thing, the event and its date, such as "the bridge | opened | 1932".

    The bridge (was) opened in 1932.        In 1932 the bridge opened.          Opened in 1932, the bridge ...
    The bridge, which opened in 1932, ...   the bridge (opened in 1932)         its opening in 1932
    the opening of the bridge in 1932       the bridge's 1932 opening           since opening in 1932, the bridge ...

Only events stated outright with one exact date are read: not plans, doubts, reports of others, ranges or parts of a
thing. Pronouns are resolved by the caller.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Span
from assay.text.dates import DateMention
from assay.text.lexicon import word_set
from assay.verify.logic.chronology.event_words import NEEDS_PASSIVE, NOUNS, VERBS

_EVENT_WORD: Final = re.compile(
    rf"(?<![\w’'-])(?:(?P<verb>{'|'.join(sorted(VERBS, key=len, reverse=True))})|(?P<noun>{'|'.join(sorted(NOUNS))}))"
    r"(?![\w’'-])",
    re.IGNORECASE,
)
_NOT_STATED: Final = re.compile(
    r"\b(?:plan\w*|schedul\w+|expect\w*|intend\w*|propos\w+|due|hop(?:ed|es|ing)|project(?:ed|ions?)|target\w*|"
    r"slated|suppos\w+|original(?:ly)?|initial(?:ly)?|delay\w*|postpon\w+|(?:was|were|been|be)\smoved|moved\s(?:forward|back|up)|brought\sforward|pushed|reschedul\w+|"
    r"instead|rather|not|never|wrong\w*|erroneous\w*|incorrect\w*|mistaken\w*|although|though|contrary|if|whether|"
    r"unless|would|could|might|may(?!\s\d)|according|says?|said|claim(?:s|ed|ing)|reports?|reportedly|"
    r"states|stated|cit(?:es|ed)|quot\w+|lists?|listed|gives|gave|believ\w+|thought|think\w*|alleg\w+|estimat\w+|"
    r"assum\w+|suggest\w*|some|sources?|other|others|another|disput\w+|uncertain|unclear|unknown|probabl[ey]|perhaps|"
    r"possibly|likely|approximately|about|around|circa|roughly|or|either|tradition\w*|legend\w*|annual\w*|yearly|"
    r"every|each|seasons?|editions?|recurring|again|partial\w*|partly|correct(?:ed|ion)|typo|versus|vs|until|till|"
    r"previous\w*|former\w*|earlier|second|third|new\s(?:site|building|home|location|premises|wing|headquarters|edition|version|name))\b|\?|n[’']t\b|\bre-\w+|[\"“”«»]",
    re.IGNORECASE,
)
"""Words with which the date of an event is not stated outright, or is one of several."""
_PREPOSITION: Final = re.compile(
    r"(?:^|\s)(?:in|on)(?:\sthe\s(?:year|spring|summer|autumn|fall|winter)(?:\sof)?|\sspring|\ssummer|\sautumn|\sfall|"
    r"\swinter|\searly|\slate)?\s(?:\w+day,?\s)?$",
    re.IGNORECASE,
)
_BRACKETED: Final = re.compile(r"\s")
_DATE_CONTINUES: Final = re.compile(
    r"\s?(?:[-–—/]\s?\d|(?:to|through|or|and|&)\s(?:again|(?:in\s|on\s)?(?:early\s|late\s)?\d|[A-Z][a-z]+\s\d)|"
    r"\((?:or|not|\d)|,\s(?:\d{4}\b|\d{1,2}\s[A-Z])|, and)"
)
"""What follows a date that is the first of several."""
_FRONT: Final = re.compile(r"\W{0,4}(?:In|On)\s(?:the\syear\s)?")
_CLAUSE_END: Final = re.compile(r"[,.;:()]|\s(?:and|but|with|after|as|while|to\sreplace)\s|$")
_TAKEN_PLACE: Final = re.compile(
    r"(?:,?\s(?:took\splace|occurred|happened|came|was|dates\sfrom))?\s(?:in|on)\s(?:the\syear\s)?"
)
_OF: Final = re.compile(r"\sof(?P<of>(?:\s(?!(?:in|on|took|occurred|happened|came|was|dates)\b)[\w'’&.-]+){1,7})")
_BULLET: Final = re.compile(r"[-•>#+]+|\d{1,2}[.)]")
_PARTS: Final = re.compile(r"[;:()?!]")
_NAME: Final = re.compile(r"[\w'’&.-]+")
_ADVERBS: Final = word_set(
    """also then finally eventually subsequently later soon thereafter however thus just only had has have was were
    been itself therefore now first"""
)
_PLAIN_ADVERBS: Final = word_set("finally eventually subsequently only formally officially first")
_PLAIN_ADJECTIVES: Final = word_set("grand formal public ceremonial official")
_PASSIVE: Final = word_set("was were been")
_JOINTS: Final = word_set("and but because while since when after before as that if whereas so than until once where")
_NEW_CLAUSE: Final = word_set(
    "and but because while when after before since that which who whose where whereas until so then from through during"
)
_NOT_IN_NAME: Final = word_set(
    """and but because while since when after before as that if where than which who whom whose until once by with
    into during through yet or nor it he she they there at to from"""
)
_BEFORE_OWNER: Final = _NOT_IN_NAME | word_set("of in for on at")
_INDEFINITE: Final = word_set(
    """a an another any each every many most several some few no all both two three four five six seven eight nine ten
    these those one it's there what such its his her their my in on at for by from with"""
)
_DETERMINERS: Final = word_set("the this our your")
_PRONOUNS: Final = word_set("it he she they")
_POSSESSIVES: Final = {"its": "it", "his": "he", "her": "she", "their": "they"}
_VERBAL: Final = word_set("is was were are has had have be been being did does do can will which")
_EMPTY_QUALIFIERS: Final = word_set("its doors the a an of officially on in to public traffic at near")
_PLACE: Final = re.compile(r"\s(?:in|at|near)(?:\sthe)?(?:\s[A-Z][\w'’.-]*,?){1,5}")
_VARIES_BY_PLACE: Final = frozenset(
    {"open", "release", "launch", "introduce", "publish", "premiere", "debut", "begin", "close"}
)
"""Events that may happen in several places at different times."""
_YEAR_BEFORE: Final = re.compile(r"(?<!\S)(1\d{3}|20\d{2})\s$")
_CAPITALS: Final = re.compile(r"(?:[A-Z][\w'’&.-]*)(?:\s(?:(?:of|and|the|for|de|von)\s)?[A-Z][\w'’&.-]*){0,6}")
_DEFINITE: Final = re.compile(r"(?:the|this|our|your)\s((?:[\w'’&-]+\s){1,5})", re.IGNORECASE)
_FINITE: Final = re.compile(r"(?:[a-z]+(?:ed|s)|became|grew|saw|drew|made|took|lost|kept|ran)")
_OBJECT: Final = re.compile(r"\s(?:the\s\w|[A-Z])")
_ACTIVE: Final = "<does>"
"""A qualifier of events in the active voice: \"Borel acquired Acme\"."""
_SINCE: Final = word_set("since after before upon on following")
_REDUCED: Final = re.compile(r"\s(?:is|was|were|are|has|had|have|can|will|[a-z]{3,}(?:ed|es))\b")
_LONGEST_GAP: Final = 90
_LONGEST_SUBJECT: Final = 7
_LONGEST_CLAUSE: Final = 120
_MARKS: Final = ",;:()[]—–*|\n"
_MOST_DATES: Final = 3
"""The most dates of a sentence; one with more is a list of dates."""


@dataclass(frozen=True, slots=True)
class DatedEvent:
    """One event of one thing with one date, as a sentence states it."""

    event: str
    subject: tuple[str, ...]
    """The words of the thing in lower case, without an article; empty where only a pronoun refers to it."""
    pronoun: str
    """`it`, `he`, `she` or `they`; `gerund` where the thing is the subject of the sentence; else empty."""
    named: bool
    """Whether the thing has a proper name."""
    qualifiers: frozenset[str]
    """Words that qualify the event: "to the public", "first"."""
    date: DateMention
    """The date, with offsets into the sentence."""
    span: Span
    """The words from the event to its date, in the text."""
    sentence: int
    """The index of the sentence."""
    main: str
    """The part of the sentence that begins with its subject, where the thing is a pronoun."""


def read_events(sentence: str, offset: int, number: int, dates: Sequence[DateMention]) -> Iterator[DatedEvent]:
    """The dated events of one sentence.

    Args:
        sentence: the sentence.
        offset: where it begins in the text.
        number: its index.
        dates: its dates, in order.

    >>> from assay.text.dates.detection import find_dates
    >>> text = "The old bridge was opened in 1932."
    >>> [(one.subject, one.event, one.date.year) for one in read_events(text, 0, 0, find_dates(text))]
    [(('old', 'bridge'), 'open', 1932)]
    """
    if len(dates) > _MOST_DATES or _NOT_STATED.search(sentence) is not None:
        return
    for match in _EVENT_WORD.finditer(sentence):
        parts = (_read_verb if match.group("verb") else _read_noun)(sentence, match, dates)
        if parts is None:
            continue
        thing, qualifiers, date, main = parts
        if not _is_exact(date) or _DATE_CONTINUES.match(sentence, date.end) is not None:
            continue
        word = _normal_spaces(match.group())
        place = Span(start=offset + min(match.start(), date.start), end=offset + max(match.end(), date.end))
        event = VERBS.get(word) or NOUNS[word]
        yield DatedEvent(event, thing.words, thing.pronoun, thing.named, qualifiers, date, place, number, main)


def has_event(sentence: str) -> bool:
    """Whether a sentence has a word of an event."""
    return _EVENT_WORD.search(sentence) is not None


@dataclass(frozen=True, slots=True)
class _Thing:
    """The thing of an event."""

    words: tuple[str, ...] = ()
    pronoun: str = ""
    named: bool = False


_EventParts = tuple[_Thing, frozenset[str], DateMention, str]
"""The thing, the qualifiers of the event, the date, and the part of the sentence that begins with its subject."""


def _is_exact(date: DateMention) -> bool:
    if date.minute is not None or date.other is not None or date.last_year is not None or date.last_month is not None:
        return False
    return date.bound == "exact" and (date.year is not None or (date.month is not None and date.day is not None))


def _read_verb(sentence: str, match: re.Match[str], dates: Sequence[DateMention]) -> _EventParts | None:
    event = VERBS[_normal_spaces(match.group())]
    date, qualifiers = _date_after(sentence, match.end(), dates), None
    if date is not None:
        gap = sentence[match.end() : date.start]
        qualifiers = _qualifiers(gap if event in _VARIES_BY_PLACE else _PLACE.sub("", gap))
    elif (
        len(dates) == 1 and dates[0].end <= match.start() and _FRONT.fullmatch(sentence, 0, dates[0].start) is not None
    ):
        date = dates[0]
        stop = _CLAUSE_END.search(sentence, match.end(), match.end() + _LONGEST_GAP)
        qualifiers = _qualifiers(f"{sentence[match.end() : stop.start()]} in ") if stop is not None else None
    if date is None or qualifiers is None:
        return None
    words, mark = _words_before(sentence, match.start(), date.end if date.end <= match.start() else 0)
    group: list[str] = []
    while words and (words[-1].lower() in _ADVERBS or words[-1].endswith("ly")):
        group.append(words.pop().lower())
    limits = qualifiers | {word for word in group if word.endswith("ly")} - _PLAIN_ADVERBS
    passive = not _PASSIVE.isdisjoint(group)
    if words and words[-1].lower() == "and":  # "was born in 1756 and died in 1791"
        thing = _main_subject(sentence)
        return (thing, limits, date, "") if thing is not None and event not in NEEDS_PASSIVE else None
    if not words:
        return (
            _read_participle(sentence, match, date, limits, mark) if not passive and date.start >= match.end() else None
        )
    if words[-1].lower() in {"which", "who"} and mark == ",":
        words, _ = _words_before(sentence, sentence.rfind(",", 0, match.start()), 0)
    elif not passive and date.start >= match.end() and _REDUCED.match(sentence, date.end):
        return None  # "the bridge opened in 1932 was ..."
    elif not passive and event in NEEDS_PASSIVE:
        if _OBJECT.match(sentence, match.end()) is None:
            return None
        limits |= {_ACTIVE}
    thing = _read_thing(words)
    return (thing, limits, date, "") if thing is not None else None


def _read_participle(
    sentence: str, match: re.Match[str], date: DateMention, limits: frozenset[str], mark: str
) -> _EventParts | None:
    """Read "Opened in 1932, the bridge ...", "The bridge, opened in 1932, ...", "the bridge (opened in 1932)"."""
    if mark == "" and sentence[date.end : date.end + 2] == ", ":
        return (
            _main_subject(sentence[date.end + 2 :]) or _Thing(pronoun="gerund"),
            limits,
            date,
            sentence[date.end + 2 :],
        )
    if (mark == "," and sentence[date.end : date.end + 1] in {",", ""}) or (
        mark == "(" and sentence[date.end : date.end + 1] == ")"
    ):
        words, _ = _words_before(sentence, sentence.rfind(mark, 0, match.start()), 0)
        thing = _read_thing(words)
        return (thing, limits, date, "") if thing is not None else None
    return None


def _read_noun(sentence: str, match: re.Match[str], dates: Sequence[DateMention]) -> _EventParts | None:
    """Read "its opening in 1932", "the opening of the bridge in 1932", "the bridge's 1932 opening"."""
    start = match.start()
    date = next((mention for mention in dates if mention.end == start - 1), None)
    year = _YEAR_BEFORE.search(sentence, max(0, start - 6), start)
    if date is None and year is not None:
        date = DateMention(year.start(1), year.end(1), year=int(year.group(1)))
    if date is not None:
        start = date.start
    of = _OF.match(sentence, match.end())
    after = of.end() if of is not None else match.end()
    if date is None:
        date = _date_after(sentence, after, dates)
        if date is None or _TAKEN_PLACE.fullmatch(sentence[after : date.start]) is None:
            return None
    words, _ = _words_before(sentence, start, 0)
    limits: set[str] = set()
    while words and words[-1].lower() in _PLAIN_ADJECTIVES:
        limits.add(words.pop().lower())
    if not words:
        return None
    last = words[-1].lower().replace("’", "'")
    front = sentence[date.end : date.end + 2] == ", "
    rest = sentence[date.end + 2 :] if front else sentence
    main = _main_subject(rest) if front else None
    if last in _POSSESSIVES and of is None:
        return main or _Thing(pronoun=_POSSESSIVES[last]), frozenset(limits), date, rest
    if last in _SINCE and match.group().lower().endswith("ing") and of is None and start == match.start():
        return main or _main_subject(rest) or _Thing(pronoun="gerund"), frozenset(limits), date, rest
    if last == "the" and of is not None:
        thing = _read_thing(of.group("of").split())
        return (thing, frozenset(limits), date, "") if thing is not None else None
    if last.endswith("'s") and of is None:
        return _read_owner(words, frozenset(limits), date)
    return None


def _read_owner(words: Sequence[str], limits: frozenset[str], date: DateMention) -> _EventParts | None:
    """The thing before "'s"."""
    without_s = [*words[:-1], words[-1][:-2]]
    for start in range(max(0, len(without_s) - _LONGEST_SUBJECT), len(without_s)):
        thing = _read_thing(without_s[start:])
        if thing is not None and (start == 0 or without_s[start - 1].lower() in _BEFORE_OWNER):
            return thing, limits, date, ""
    return None


def _main_subject(main: str) -> _Thing | None:
    """The subject at the beginning of a main clause, if it is a name, or "the" with a noun before a verb."""
    definite = _DEFINITE.match(main)
    if definite is not None:
        words = definite.group(1).split()
        stop = next((n for n, word in enumerate(words) if word in _VERBAL or (n and _FINITE.fullmatch(word))), 0)
        return _read_thing(["the", *words[:stop]]) if stop else None
    name = _CAPITALS.match(main)
    return _read_thing(name.group().split()) if name is not None and main[name.end() : name.end() + 1] == " " else None


def _date_after(sentence: str, offset: int, dates: Sequence[DateMention]) -> DateMention | None:
    """The first date after an offset, if "in" or "on" precedes it and it is close enough."""
    date = next((mention for mention in dates if mention.start >= offset), None)
    if date is None or date.start - offset > _LONGEST_GAP:
        return None
    gap = sentence[offset : date.start]
    return date if _PREPOSITION.search(gap) is not None or _BRACKETED.fullmatch(gap) is not None else None


def _qualifiers(gap: str) -> frozenset[str] | None:
    """The qualifiers of an event without its agent; none where another clause begins."""
    preposition = _PREPOSITION.search(gap)
    between = gap[: preposition.start()] if preposition is not None else ""
    if _PARTS.search(between) is not None:
        return None
    agent = between.find(" by ")
    limits = [word.lower() for word in _NAME.findall(between[:agent] if agent >= 0 else between)]
    if not _NEW_CLAUSE.isdisjoint(limits) or not _VERBAL.isdisjoint(between.lower().split()):
        return None
    return frozenset(limits) - _EMPTY_QUALIFIERS


def _words_before(sentence: str, offset: int, start: int) -> tuple[list[str], str]:
    """The words of the clause before an offset, and the punctuation mark before them."""
    start = max(start, offset - _LONGEST_CLAUSE)
    stretch = sentence[start:offset]
    cut = max(stretch.rfind(mark) for mark in _MARKS)
    if cut == len(stretch) - 1 and stretch[cut:] == ",":
        return [], ","
    mark = stretch[cut] if cut >= 0 else ""
    words = stretch[cut + 1 :].split()
    return _last_clause(words[1:] if words and _BULLET.fullmatch(words[0]) else words), mark


def _last_clause(words: list[str]) -> list[str]:
    """The words after the last conjunction that begins a clause."""
    for index in range(len(words) - 1, -1, -1):
        if words[index].lower() in _JOINTS and index + 1 < len(words):
            return words[index + 1 :]
    return words


def _read_thing(words: Sequence[str]) -> _Thing | None:
    """The thing that some words name; none where they are not plainly the name of one thing."""
    if len(words) == 1 and words[0].lower() in _PRONOUNS:
        return _Thing(pronoun=words[0].lower())
    lower = [word.lower().replace("’", "'") for word in words]
    if not words or len(words) > _LONGEST_SUBJECT or lower[0] in _INDEFINITE:
        return None
    definite = lower[0] in _DETERMINERS
    if not definite and not words[0][:1].isupper():
        return None
    body, lower_body = (list(words[1:]), lower[1:]) if definite else (list(words), lower)
    if (
        not body
        or any(w in _VERBAL or w in _NOT_IN_NAME for w in lower_body)
        or any(not _NAME.fullmatch(w) for w in body)
    ):
        return None
    return _Thing(tuple(lower_body), "", any(word[:1].isupper() for word in body))


def _normal_spaces(word: str) -> str:
    return " ".join(word.lower().split())
