"""Reads which thing a sentence gives which date of which event: "the bridge | opened | 1932".

    The bridge (was) opened in 1932.        In 1932 the bridge opened.          Opened in 1932, the bridge ...
    The bridge, which opened in 1932, ...   the bridge (opened in 1932)         its opening in 1932
    the opening of the bridge in 1932       the bridge's 1932 opening           since opening in 1932, the bridge ...

Only what is stated outright, with one exact date, is read: plans, doubts, reports of others, ranges and parts of a
thing are none. What a pronoun stands for is left to whoever compares.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Span
from assay.text.dates import DateMention
from assay.text.lexicon import word_set
from assay.verify.logic.chronology.event_words import NEEDS_PASSIVE, NOUNS, VERBS

_WORDS: Final = re.compile(
    rf"(?<![\w’'-])(?:(?P<verb>{'|'.join(sorted(VERBS, key=len, reverse=True))})|(?P<noun>{'|'.join(sorted(NOUNS))}))"
    r"(?![\w’'-])",
    re.IGNORECASE,
)
_DOUBTED: Final = re.compile(
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
"""Words with which the date of an event is not stated outright, or with which it is one of several."""
_PREPOSITION: Final = re.compile(
    r"(?:^|\s)(?:in|on)(?:\sthe\s(?:year|spring|summer|autumn|fall|winter)(?:\sof)?|\sspring|\ssummer|\sautumn|\sfall|"
    r"\swinter|\searly|\slate)?\s(?:\w+day,?\s)?$",
    re.IGNORECASE,
)
_BRACKETED: Final = re.compile(r"\s")
_GOES_ON: Final = re.compile(
    r"\s?(?:[-–—/]\s?\d|(?:to|through|or|and|&)\s(?:again|(?:in\s|on\s)?(?:early\s|late\s)?\d|[A-Z][a-z]+\s\d)|"
    r"\((?:or|not|\d)|,\s(?:\d{4}\b|\d{1,2}\s[A-Z])|, and)"
)
"""What goes on behind a date that is the first of several."""
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
_NO_NAME: Final = word_set(
    """and but because while since when after before as that if where than which who whom whose until once by with
    into during through yet or nor it he she they there at to from"""
)
_BEFORE_OWNER: Final = _NO_NAME | word_set("of in for on at")
_INDEFINITE: Final = word_set(
    """a an another any each every many most several some few no all both two three four five six seven eight nine ten
    these those one it's there what such its his her their my in on at for by from with"""
)
_DETERMINERS: Final = word_set("the this our your")
_PRONOUNS: Final = word_set("it he she they")
_POSSESSIVES: Final = {"its": "it", "his": "he", "her": "she", "their": "they"}
_VERBAL: Final = word_set("is was were are has had have be been being did does do can will which")
_EMPTY: Final = word_set("its doors the a an of officially on in to public traffic at near")
_PLACE: Final = re.compile(r"\s(?:in|at|near)(?:\sthe)?(?:\s[A-Z][\w'’.-]*,?){1,5}")
_BY_PLACE: Final = frozenset(
    {"open", "release", "launch", "introduce", "publish", "premiere", "debut", "begin", "close"}
)
"""Events that come about in one place after another."""
_YEAR_BEFORE: Final = re.compile(r"(?<!\S)(1\d{3}|20\d{2})\s$")
_CAPITALS: Final = re.compile(r"(?:[A-Z][\w'’&.-]*)(?:\s(?:(?:of|and|the|for|de|von)\s)?[A-Z][\w'’&.-]*){0,6}")
_DEFINITE: Final = re.compile(r"(?:the|this|our|your)\s((?:[\w'’&-]+\s){1,5})", re.IGNORECASE)
_FINITE: Final = re.compile(r"(?:[a-z]+(?:ed|s)|became|grew|saw|drew|made|took|lost|kept|ran)")
_OBJECT: Final = re.compile(r"\s(?:the\s\w|[A-Z])")
_DOES: Final = "<does>"
"""Told of whoever does it: \"Borel acquired Acme\"."""
_SINCE: Final = word_set("since after before upon on following")
_REDUCED: Final = re.compile(r"\s(?:is|was|were|are|has|had|have|can|will|[a-z]{3,}(?:ed|es))\b")
_LONGEST_GAP: Final = 90
_LONGEST_SUBJECT: Final = 7
_LONGEST_CLAUSE: Final = 120
_MARKS: Final = ",;:()[]—–*|\n"
_MOST_DATES: Final = 3
"""Dates of a sentence; one with more of them is a list of dates."""


@dataclass(frozen=True, slots=True)
class Dated:
    """One event of one thing with one date, as a sentence states it."""

    event: str
    subject: tuple[str, ...]
    """The words of the thing in lower case, without an article; empty where only a pronoun names it."""
    pronoun: str
    """`it`, `he`, `she` or `they`, or empty; of `gerund` the thing is the subject of the sentence."""
    named: bool
    """Whether the thing is called by a name."""
    qualifiers: frozenset[str]
    """What limits the event: "to the public", "first"."""
    date: DateMention
    """Its places are those of the sentence."""
    span: Span
    """The words of event and date, as a place in the text."""
    sentence: int
    """The number of the sentence."""
    main: str
    """Where the sentence's own subject is to be looked for, if the thing is a pronoun's."""


def read_events(sentence: str, offset: int, number: int, dates: Sequence[DateMention]) -> Iterator[Dated]:
    """The dated events of one sentence.

    Args:
        sentence: the sentence.
        offset: where it begins in the text.
        number: its number.
        dates: its dates, in order.

    >>> from assay.text.dates.detection import find_dates
    >>> text = "The old bridge was opened in 1932."
    >>> [(one.subject, one.event, one.date.year) for one in read_events(text, 0, 0, find_dates(text))]
    [(('old', 'bridge'), 'open', 1932)]
    """
    if len(dates) > _MOST_DATES or _DOUBTED.search(sentence) is not None:
        return
    for match in _WORDS.finditer(sentence):
        found = (_verb if match.group("verb") else _noun)(sentence, match, dates)
        if found is None:
            continue
        thing, qualifiers, date, main = found
        if not _exact(date) or _GOES_ON.match(sentence, date.end) is not None:
            continue
        word = _spaced(match.group())
        place = Span(start=offset + min(match.start(), date.start), end=offset + max(match.end(), date.end))
        event = VERBS.get(word) or NOUNS[word]
        yield Dated(event, thing.words, thing.pronoun, thing.named, qualifiers, date, place, number, main)


def has_event(sentence: str) -> bool:
    """Whether a sentence has any word of an event."""
    return _WORDS.search(sentence) is not None


@dataclass(frozen=True, slots=True)
class _Thing:
    """What an event befell."""

    words: tuple[str, ...] = ()
    pronoun: str = ""
    named: bool = False


_Read = tuple[_Thing, frozenset[str], DateMention, str]
"""The thing, what limits the event, the date, and where the sentence's own subject begins."""


def _exact(date: DateMention) -> bool:
    if date.minute is not None or date.other is not None or date.last_year is not None or date.last_month is not None:
        return False
    return date.bound == "exact" and (date.year is not None or (date.month is not None and date.day is not None))


def _verb(s: str, match: re.Match[str], dates: Sequence[DateMention]) -> _Read | None:
    event = VERBS[_spaced(match.group())]
    date, qualifiers = _date_after(s, match.end(), dates), None
    if date is not None:
        gap = s[match.end() : date.start]
        qualifiers = _qualifiers(gap if event in _BY_PLACE else _PLACE.sub("", gap))
    elif len(dates) == 1 and dates[0].end <= match.start() and _FRONT.fullmatch(s, 0, dates[0].start) is not None:
        date = dates[0]
        stop = _CLAUSE_END.search(s, match.end(), match.end() + _LONGEST_GAP)
        qualifiers = _qualifiers(f"{s[match.end() : stop.start()]} in ") if stop is not None else None
    if date is None or qualifiers is None:
        return None
    words, mark = _words_before(s, match.start(), date.end if date.end <= match.start() else 0)
    group: list[str] = []
    while words and (words[-1].lower() in _ADVERBS or words[-1].endswith("ly")):
        group.append(words.pop().lower())
    limits = qualifiers | {word for word in group if word.endswith("ly")} - _PLAIN_ADVERBS
    passive = not _PASSIVE.isdisjoint(group)
    if words and words[-1].lower() == "and":  # "was born in 1756 and died in 1791"
        thing = _main_thing(s)
        return (thing, limits, date, "") if thing is not None and event not in NEEDS_PASSIVE else None
    if not words:
        return _participle(s, match, date, limits, mark) if not passive and date.start >= match.end() else None
    if words[-1].lower() in {"which", "who"} and mark == ",":
        words, _ = _words_before(s, s.rfind(",", 0, match.start()), 0)
    elif not passive and date.start >= match.end() and _REDUCED.match(s, date.end):
        return None  # "the bridge opened in 1932 was ..."
    elif not passive and event in NEEDS_PASSIVE:
        if _OBJECT.match(s, match.end()) is None:
            return None
        limits |= {_DOES}
    thing = _thing(words)
    return (thing, limits, date, "") if thing is not None else None


def _participle(s: str, match: re.Match[str], date: DateMention, limits: frozenset[str], mark: str) -> _Read | None:
    """ "Opened in 1932, the bridge ...", "The bridge, opened in 1932, ...", "the bridge (opened in 1932)"."""
    if mark == "" and s[date.end : date.end + 2] == ", ":
        return _main_thing(s[date.end + 2 :]) or _Thing(pronoun="gerund"), limits, date, s[date.end + 2 :]
    if (mark == "," and s[date.end : date.end + 1] in {",", ""}) or (mark == "(" and s[date.end : date.end + 1] == ")"):
        words, _ = _words_before(s, s.rfind(mark, 0, match.start()), 0)
        thing = _thing(words)
        return (thing, limits, date, "") if thing is not None else None
    return None


def _noun(s: str, match: re.Match[str], dates: Sequence[DateMention]) -> _Read | None:
    """ "its opening in 1932", "the opening of the bridge in 1932", "the bridge's 1932 opening"."""
    begun = match.start()
    date = next((one for one in dates if one.end == begun - 1), None)
    year = _YEAR_BEFORE.search(s, max(0, begun - 6), begun)
    if date is None and year is not None:
        date = DateMention(year.start(1), year.end(1), year=int(year.group(1)))
    if date is not None:
        begun = date.start
    of = _OF.match(s, match.end())
    after = of.end() if of is not None else match.end()
    if date is None:
        date = _date_after(s, after, dates)
        if date is None or _TAKEN_PLACE.fullmatch(s[after : date.start]) is None:
            return None
    words, _ = _words_before(s, begun, 0)
    limits: set[str] = set()
    while words and words[-1].lower() in _PLAIN_ADJECTIVES:
        limits.add(words.pop().lower())
    if not words:
        return None
    last = words[-1].lower().replace("’", "'")
    front = s[date.end : date.end + 2] == ", "
    rest = s[date.end + 2 :] if front else s
    main = _main_thing(rest) if front else None
    if last in _POSSESSIVES and of is None:
        return main or _Thing(pronoun=_POSSESSIVES[last]), frozenset(limits), date, rest
    if last in _SINCE and match.group().lower().endswith("ing") and of is None and begun == match.start():
        return main or _main_thing(rest) or _Thing(pronoun="gerund"), frozenset(limits), date, rest
    if last == "the" and of is not None:
        thing = _thing(of.group("of").split())
        return (thing, frozenset(limits), date, "") if thing is not None else None
    if last.endswith("'s") and of is None:
        return _owner(words, frozenset(limits), date)
    return None


def _owner(words: Sequence[str], limits: frozenset[str], date: DateMention) -> _Read | None:
    """The thing before "'s", back to the word that it begins with."""
    without_s = [*words[:-1], words[-1][:-2]]
    for begun in range(max(0, len(without_s) - _LONGEST_SUBJECT), len(without_s)):
        thing = _thing(without_s[begun:])
        if thing is not None and (begun == 0 or without_s[begun - 1].lower() in _BEFORE_OWNER):
            return thing, limits, date, ""
    return None


def _main_thing(main: str) -> _Thing | None:
    """The subject that a main clause begins with, where it is a name or "the" with a noun and then a verb."""
    definite = _DEFINITE.match(main)
    if definite is not None:
        words = definite.group(1).split()
        stop = next((n for n, word in enumerate(words) if word in _VERBAL or (n and _FINITE.fullmatch(word))), 0)
        return _thing(["the", *words[:stop]]) if stop else None
    name = _CAPITALS.match(main)
    return _thing(name.group().split()) if name is not None and main[name.end() : name.end() + 1] == " " else None


def _date_after(s: str, at: int, dates: Sequence[DateMention]) -> DateMention | None:
    """The first date behind a place, where "in" or "on" leads to it within reach."""
    date = next((one for one in dates if one.start >= at), None)
    if date is None or date.start - at > _LONGEST_GAP:
        return None
    gap = s[at : date.start]
    return date if _PREPOSITION.search(gap) is not None or _BRACKETED.fullmatch(gap) is not None else None


def _qualifiers(gap: str) -> frozenset[str] | None:
    """What limits an event, without whoever did it; none where another clause begins."""
    preposition = _PREPOSITION.search(gap)
    between = gap[: preposition.start()] if preposition is not None else ""
    if _PARTS.search(between) is not None:
        return None
    agent = between.find(" by ")
    limits = [word.lower() for word in _NAME.findall(between[:agent] if agent >= 0 else between)]
    if not _NEW_CLAUSE.isdisjoint(limits) or not _VERBAL.isdisjoint(between.lower().split()):
        return None
    return frozenset(limits) - _EMPTY


def _words_before(s: str, at: int, begun: int) -> tuple[list[str], str]:
    """The words of the clause before a place, and the mark that stands before them."""
    begun = max(begun, at - _LONGEST_CLAUSE)
    stretch = s[begun:at]
    cut = max(stretch.rfind(mark) for mark in _MARKS)
    if cut == len(stretch) - 1 and stretch[cut:] == ",":
        return [], ","
    mark = stretch[cut] if cut >= 0 else ""
    words = stretch[cut + 1 :].split()
    return _last_clause(words[1:] if words and _BULLET.fullmatch(words[0]) else words), mark


def _last_clause(words: list[str]) -> list[str]:
    """What follows the last "and", "because" or "since" that begins a clause."""
    for at in range(len(words) - 1, -1, -1):
        if words[at].lower() in _JOINTS and at + 1 < len(words):
            return words[at + 1 :]
    return words


def _thing(words: Sequence[str]) -> _Thing | None:
    """The thing that some words name; none where they are no plain name of one thing."""
    if len(words) == 1 and words[0].lower() in _PRONOUNS:
        return _Thing(pronoun=words[0].lower())
    lower = [word.lower().replace("’", "'") for word in words]
    if not words or len(words) > _LONGEST_SUBJECT or lower[0] in _INDEFINITE:
        return None
    definite = lower[0] in _DETERMINERS
    if not definite and not words[0][:1].isupper():
        return None
    body, low = (list(words[1:]), lower[1:]) if definite else (list(words), lower)
    if not body or any(w in _VERBAL or w in _NO_NAME for w in low) or any(not _NAME.fullmatch(w) for w in body):
        return None
    return _Thing(tuple(low), "", any(word[:1].isupper() for word in body))


def _spaced(word: str) -> str:
    return " ".join(word.lower().split())
