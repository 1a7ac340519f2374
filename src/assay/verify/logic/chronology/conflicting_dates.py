"""Finds events with two dates in one text: "The bridge opened in 1932. ... Since its opening in 1934 ...".

One of the two is wrong, whatever the evidence says. It must be the same event: the same thing, named by the same words,
by its last word if the text has no other such thing, or by a pronoun in an unbroken run of sentences about it; with the
same qualifiers; and without words in between which state that it happened again.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Final

from assay.text.dates import DateRelation, find_dates, relate_dates
from assay.text.lexicon import word_set
from assay.text.sentences import Sentence
from assay.verify.logic.chronology.events import DatedEvent, has_event, read_events
from assay.verify.logic.findings import LogicFinding

_SOURCES_DIFFER: Final = re.compile(
    r"\b(?:sources?|documents?|records?|accounts?|dates?|reports?|passages?|texts?|articles?|pages?|entries|figures)\b"
    r"[^.\n]{0,80}\b(?:disagree\w*|differ\w*|conflict\w*|contradict\w*|inconsisten\w+|var(?:y|ies)|diverg\w+)|"
    r"\bdiscrepanc\w+|\b(?:conflicting|contradictory|different|differing|inconsistent)\s(?:\w+\s)?(?:dates?|years?|sources?|accounts?|"
    r"information|records?)\b|\bon\sthe\sother\shand\b|\bmeanwhile\b",
    re.IGNORECASE,
)
"""Words of a text that itself reports different dates."""
_REPETITION: Final = re.compile(
    r"\b(?:again|anew|second\stime|re-?(?:open|buil|establish|found|launch|issu|publish|form|releas|start|construct|"
    r"incorporat|creat|introduc|instat|sign|appoint|elect|hir|store|unif|locat|nam|brand|discover|submit|sent|sched|mak)\w*|"
    r"restor\w+|renovat\w+|revive\w*|(?:was|were)\sreplaced|replacement|burn\w*|fires?|expanded|extended|extension|successor|sequel|remake|remaster\w*)\b",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    r"(?:[-*•>#\s]*)(?:(?:however|moreover|furthermore|today|also|then|later|nevertheless|meanwhile),?\s)?"
    r"(?:(?:in|on|at|after|during|since|by|for|from|over|under|with|as|when|while|before|following|upon|until|despite)\b"
    r"[^,.;]{1,90},\s)?",
    re.IGNORECASE,
)
"""What may come before the subject of a sentence."""
_PRONOUN: Final = re.compile(r"(it|its|he|his|she|her|they|their)\b", re.IGNORECASE)
_PRONOUN_FAMILY: Final = {
    "it": "it",
    "its": "it",
    "he": "he",
    "his": "he",
    "she": "she",
    "her": "she",
    "they": "they",
    "their": "they",
}
_ARTICLE: Final = re.compile(r"(?:the|this|our|your)\s", re.IGNORECASE)
_FUNCTION_WORDS: Final = word_set(
    "the a an this that its our your their his her my and of or to in on at for by with as from is was"
)
_CONTRASTING: Final = word_set(
    """old new first second third last original previous current present former later next other main upper lower north
    south east west northern southern eastern western big small great little"""
)
"""Words that distinguish things with the same noun."""
_PRONOUN_REACH: Final = 4
"""The most sentences between a pronoun and the name that it refers to."""
_MOST_COMPARED: Final = 6
"""The most earlier mentions of an event that are compared with a mention."""
MOST_EVENTS: Final = 400
"""The most dated events of a text that are read."""
_CONFIDENCE: Final = 0.9


@dataclass(frozen=True, slots=True)
class _TextIndex:
    text: str
    sentences: Sequence[Sentence]
    repetitions: tuple[int, ...]
    """Offsets of words which state that something happened again, ascending."""
    sections: tuple[int, ...]
    """For each sentence, the number of headings up to it."""
    modifiers: dict[str, frozenset[str]]
    """The words before the last words of things: "harbour" before "bridge"."""

    def sentence(self, number: int) -> str:
        one = self.sentences[number]
        return self.text[one.start : one.end]


def conflicting_date_findings(text: str, sentences: Sequence[Sentence]) -> list[LogicFinding]:
    """The events to which a text gives two dates.

    Args:
        text: the text.
        sentences: the sentences of the text.

    >>> from assay.text.sentences.splitting import split_sentences
    >>> text = "The bridge opened in 1932. Since its opening in 1934, the bridge has carried trams."
    >>> [found.message for found in conflicting_date_findings(text, split_sentences(text))]
    ['“opened in 1932” and “opening in 1934”: one event has two dates.']
    """
    events = list(islice(_events(text, sentences), MOST_EVENTS))
    if len(events) < 2 or _SOURCES_DIFFER.search(text) is not None:
        return []
    heads = {other.subject[-1] for other in events if other.subject}
    sections = tuple(accumulate(sentence.block == "heading" for sentence in sentences))
    repetitions = tuple(match.start() for match in _REPETITION.finditer(text))
    index = _TextIndex(text, sentences, repetitions, sections, _modifiers(text, heads))
    resolved: list[DatedEvent] = []
    by_event: dict[str, list[DatedEvent]] = defaultdict(list)
    findings = []
    for event in events:
        later = _resolve_pronoun(event, resolved, index)
        for earlier in reversed(by_event[later.event][-_MOST_COMPARED:]):
            if _same_event(earlier, later, index):
                if relate_dates(later.date, earlier.date) is DateRelation.DIFFERENT:
                    findings.append(_finding(text, earlier, later))
                break
        by_event[later.event].append(later)
        resolved.append(later)
    return findings


def _resolve_pronoun(event: DatedEvent, before: Sequence[DatedEvent], index: _TextIndex) -> DatedEvent:
    """An event with the thing that its pronoun refers to, if an earlier event names it."""
    if not event.pronoun:
        return event
    for earlier in reversed(before[-_MOST_COMPARED:]):
        if earlier.subject and _refers_to(earlier, event, index):
            return replace(event, subject=earlier.subject, named=earlier.named)
    return event


def _events(text: str, sentences: Sequence[Sentence]) -> Iterator[DatedEvent]:
    for number, indexed in enumerate(sentences):
        if indexed.block in {"code", "table_row", "heading"} or indexed.end - indexed.start > 1000:
            continue
        sentence = text[indexed.start : indexed.end]
        if has_event(sentence) and any(c.isdigit() for c in sentence):
            yield from read_events(sentence, indexed.start, number, find_dates(sentence))


def _modifiers(text: str, heads: set[str]) -> dict[str, frozenset[str]]:
    """The words before each of some nouns in a text; the plural of a noun counts as one of them."""
    modifiers: dict[str, set[str]] = {head: set() for head in heads}
    previous = ""
    for match in re.finditer(r"[^\W_]+(?:['’-][^\W_]+)*", text.lower()):
        word = match.group().removesuffix("'s").removesuffix("’s")
        if word in modifiers and previous not in _FUNCTION_WORDS:
            modifiers[word].add(previous)
        if word.endswith("s") and word[:-1] in modifiers:
            modifiers[word[:-1]].add(word)
        previous = word
    return {head: frozenset(words) for head, words in modifiers.items()}


def _same_event(first: DatedEvent, second: DatedEvent, index: _TextIndex) -> bool:
    if first.qualifiers != second.qualifiers or (first.date.year is None) != (second.date.year is None):
        return False
    repetitions = bisect_left(index.repetitions, first.span.start)
    if repetitions < len(index.repetitions) and index.repetitions[repetitions] <= second.span.end + 80:
        return False
    if index.sections[first.sentence] != index.sections[second.sentence]:
        return False
    if first.subject and second.subject:
        return _same_thing(first, second, index)
    return not first.subject and not second.subject and _refers_to(first, second, index)


def _same_thing(first: DatedEvent, second: DatedEvent, index: _TextIndex) -> bool:
    """Whether two events have the same name, or the same noun of which the text has no other thing."""
    first_noun, second_noun = first.subject[-1], second.subject[-1]
    if first_noun != second_noun:
        return False
    if first.subject == second.subject and first.named:
        return True
    if not _CONTRASTING.isdisjoint(set(first.subject) ^ set(second.subject)):
        return False
    others = index.modifiers[second_noun] - set(first.subject) - set(second.subject)
    if len(first.subject) > 1 and len(second.subject) > 1 and first.subject != second.subject:
        longer, shorter = sorted((first.subject, second.subject), key=len, reverse=True)
        return first.named and second.named and longer[-len(shorter) :] == shorter and not others
    return not others


def _refers_to(first: DatedEvent, second: DatedEvent, index: _TextIndex) -> bool:
    """Whether a pronoun refers to the thing of an earlier event: every sentence in between mentions it."""
    if first.pronoun == "gerund" or second.sentence - first.sentence > _PRONOUN_REACH:
        return False
    family = second.pronoun
    own_clause = second.main or index.sentence(second.sentence)
    if second.sentence == first.sentence:
        return False
    kind = _subject_kind(own_clause, first, family, index)
    for number in range(second.sentence - 1, first.sentence, -1):
        if kind == "thing":
            return True
        if kind != "pronoun":
            return False
        if index.text.count("\n\n", index.sentences[number].end, index.sentences[number + 1].start):
            return False
        kind = _subject_kind(index.sentence(number), first, family, index)
    return kind in {"thing", "pronoun"} and (kind == "thing" or _is_about(first, index))


def _is_about(first: DatedEvent, index: _TextIndex) -> bool:
    """Whether the thing of an event is also the subject of its sentence."""
    return _subject_kind(index.sentence(first.sentence), first, first.pronoun, index) in {"thing", "pronoun"} or bool(
        first.subject and first.span.start - index.sentences[first.sentence].start < 60
    )


def _subject_kind(sentence: str, thing: DatedEvent, family: str, index: _TextIndex) -> str:
    """The subject of a sentence: `thing`, `pronoun` or `other`."""
    for start in sorted({0, _OPENING.match(sentence).end()}, reverse=True):  # type: ignore[union-attr]
        rest = sentence[start : start + 120]
        pronoun = _PRONOUN.match(rest)
        if pronoun is not None:
            same = family == "gerund" or _PRONOUN_FAMILY[pronoun.group().lower()] == family
            return "pronoun" if same else "other"
        article = _ARTICLE.match(rest)
        words = [w.lower() for w in re.findall(r"[\w'’&.-]+", rest[article.end() if article is not None else 0 :])]
        size = len(thing.subject)
        if size and tuple(words[:size]) == thing.subject:
            return "thing"
        if thing.subject and article is not None and words[:1] == [thing.subject[-1]]:
            return "thing" if not index.modifiers[thing.subject[-1]] - set(thing.subject) else "other"
    return "other"


def _finding(text: str, earlier: DatedEvent, later: DatedEvent) -> LogicFinding:
    first, second = (text[event.span.start : event.span.end] for event in (earlier, later))
    message = f"“{_shorten(first)}” and “{_shorten(second)}”: one event has two dates."
    return LogicFinding("logic.two_dates", message, later.span, (earlier.span,), _CONFIDENCE)


def _shorten(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= 80 else f"{flat[:40]}…{flat[-38:]}"
