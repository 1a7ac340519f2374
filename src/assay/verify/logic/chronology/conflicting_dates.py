"""Two dates for one event within one text: "The bridge opened in 1932. ... Since its opening in 1934 ...".

One of the two is wrong, whatever the evidence says. It must be one event: the same thing, called by the same words, by
its last word where the text has no other such thing, or by a pronoun of an unbroken run of sentences about it; limited
by the same words; and nothing in between that says that it happened again.
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
from assay.verify.logic.chronology.events import Dated, has_event, read_events
from assay.verify.logic.findings import LogicFinding

_SOURCES_DIFFER: Final = re.compile(
    r"\b(?:sources?|documents?|records?|accounts?|dates?|reports?|passages?|texts?|articles?|pages?|entries|figures)\b"
    r"[^.\n]{0,80}\b(?:disagree\w*|differ\w*|conflict\w*|contradict\w*|inconsisten\w+|var(?:y|ies)|diverg\w+)|"
    r"\bdiscrepanc\w+|\b(?:conflicting|contradictory|different|differing|inconsistent)\s(?:\w+\s)?(?:dates?|years?|sources?|accounts?|"
    r"information|records?)\b|\bon\sthe\sother\shand\b|\bmeanwhile\b",
    re.IGNORECASE,
)
"""Words of a text that knows of two dates and says so."""
_ONCE_MORE: Final = re.compile(
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
"""What may stand before the subject of a sentence."""
_PRONOUN: Final = re.compile(r"(it|its|he|his|she|her|they|their)\b", re.IGNORECASE)
_FAMILY: Final = {
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
_PLAIN: Final = word_set(
    "the a an this that its our your their his her my and of or to in on at for by with as from is was"
)
_CONTRASTING: Final = word_set(
    """old new first second third last original previous current present former later next other main upper lower north
    south east west northern southern eastern western big small great little"""
)
"""Words that tell one thing from another of the same noun."""
_FAR_BACK: Final = 4
"""Sentences that a pronoun may be away from the name that it stands for."""
_COMPARED: Final = 6
"""Earlier mentions of the same event that one is checked against."""
MOST_EVENTS: Final = 400
"""Dated events of a text that are read at most."""
_CONFIDENCE: Final = 0.9


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    sentences: Sequence[Sentence]
    more: tuple[int, ...]
    """Places at which something is said to happen once more."""
    sections: tuple[int, ...]
    """Of each sentence, the number of headings up to it."""
    modifiers: dict[str, frozenset[str]]
    """What stands before the last words of things: "harbour" before "bridge"."""

    def sentence(self, number: int) -> str:
        one = self.sentences[number]
        return self.text[one.start : one.end]


def twice_dated(text: str, sentences: Sequence[Sentence]) -> list[LogicFinding]:
    """Events that a text gives two dates.

    Args:
        text: the text.
        sentences: those of the text.

    >>> from assay.text.sentences.splitting import split_sentences
    >>> text = "The bridge opened in 1932. Since its opening in 1934, the bridge has carried trams."
    >>> [found.message for found in twice_dated(text, split_sentences(text))]
    ['“opened in 1932” and “opening in 1934”: one event has two dates.']
    """
    events = list(islice(_events(text, sentences), MOST_EVENTS))
    if len(events) < 2 or _SOURCES_DIFFER.search(text) is not None:
        return []
    heads = {event.subject[-1] for event in events if event.subject}
    sections = tuple(accumulate(sentence.block == "heading" for sentence in sentences))
    more = tuple(match.start() for match in _ONCE_MORE.finditer(text))
    known = _Text(text, sentences, more, sections, _modifiers(text, heads))
    resolved: list[Dated] = []
    by_event: dict[str, list[Dated]] = defaultdict(list)
    found = []
    for read in events:
        later = _resolved(read, resolved, known)
        for earlier in reversed(by_event[later.event][-_COMPARED:]):
            if _same_event(earlier, later, known):
                if relate_dates(later.date, earlier.date) is DateRelation.DIFFERENT:
                    found.append(_finding(text, earlier, later))
                break
        by_event[later.event].append(later)
        resolved.append(later)
    return found


def _resolved(event: Dated, before: Sequence[Dated], known: _Text) -> Dated:
    """An event with the thing that its pronoun stands for, where an event before it names that."""
    if not event.pronoun:
        return event
    for earlier in reversed(before[-_COMPARED:]):
        if earlier.subject and _stands_for(earlier, event, known):
            return replace(event, subject=earlier.subject, named=earlier.named)
    return event


def _events(text: str, sentences: Sequence[Sentence]) -> Iterator[Dated]:
    for number, one in enumerate(sentences):
        if one.block in {"code", "table_row", "heading"} or one.end - one.start > 1000:
            continue
        sentence = text[one.start : one.end]
        if has_event(sentence) and any(c.isdigit() for c in sentence):
            yield from read_events(sentence, one.start, number, find_dates(sentence))


def _modifiers(text: str, heads: set[str]) -> dict[str, frozenset[str]]:
    """The words before each of some nouns, wherever they are in a text; the plural counts as one of them."""
    found: dict[str, set[str]] = {head: set() for head in heads}
    before = ""
    for match in re.finditer(r"[^\W_]+(?:['’-][^\W_]+)*", text.lower()):
        word = match.group().removesuffix("'s").removesuffix("’s")
        if word in found and before not in _PLAIN:
            found[word].add(before)
        if word.endswith("s") and word[:-1] in found:
            found[word[:-1]].add(word)
        before = word
    return {head: frozenset(words) for head, words in found.items()}


def _same_event(first: Dated, second: Dated, known: _Text) -> bool:
    if first.qualifiers != second.qualifiers or (first.date.year is None) != (second.date.year is None):
        return False
    more = bisect_left(known.more, first.span.start)
    if more < len(known.more) and known.more[more] <= second.span.end + 80:
        return False
    if known.sections[first.sentence] != known.sections[second.sentence]:
        return False
    if first.subject and second.subject:
        return _same_thing(first, second, known)
    return not first.subject and not second.subject and _stands_for(first, second, known)


def _same_thing(first: Dated, second: Dated, known: _Text) -> bool:
    """The same name; or the same noun, where the text has no other thing of that noun."""
    named, short = first.subject[-1], second.subject[-1]
    if named != short:
        return False
    if first.subject == second.subject and first.named:
        return True
    if not _CONTRASTING.isdisjoint(set(first.subject) ^ set(second.subject)):
        return False
    others = known.modifiers[short] - set(first.subject) - set(second.subject)
    if len(first.subject) > 1 and len(second.subject) > 1 and first.subject != second.subject:
        longer, shorter = sorted((first.subject, second.subject), key=len, reverse=True)
        return first.named and second.named and longer[-len(shorter) :] == shorter and not others
    return not others


def _stands_for(first: Dated, second: Dated, known: _Text) -> bool:
    """Whether a pronoun stands for the thing of an earlier event: every sentence between mentions it."""
    if first.pronoun == "gerund" or second.sentence - first.sentence > _FAR_BACK:
        return False
    family = second.pronoun
    own = second.main or known.sentence(second.sentence)
    if second.sentence == first.sentence:
        return False
    speaks = _speaks_of(own, first, family, known)
    for number in range(second.sentence - 1, first.sentence, -1):
        if speaks == "thing":
            return True
        if speaks != "pronoun":
            return False
        if known.text.count("\n\n", known.sentences[number].end, known.sentences[number + 1].start):
            return False
        speaks = _speaks_of(known.sentence(number), first, family, known)
    return speaks in {"thing", "pronoun"} and (speaks == "thing" or _is_about(first, known))


def _is_about(first: Dated, known: _Text) -> bool:
    """Whether the thing of an event is also what its sentence is about."""
    return _speaks_of(known.sentence(first.sentence), first, first.pronoun, known) in {"thing", "pronoun"} or bool(
        first.subject and first.span.start - known.sentences[first.sentence].start < 60
    )


def _speaks_of(sentence: str, thing: Dated, family: str, known: _Text) -> str:
    """What the subject of a sentence is: the thing, a pronoun, or something else."""
    for at in sorted({0, _OPENING.match(sentence).end()}, reverse=True):  # type: ignore[union-attr]
        rest = sentence[at : at + 120]
        pronoun = _PRONOUN.match(rest)
        if pronoun is not None:
            same = family == "gerund" or _FAMILY[pronoun.group().lower()] == family
            return "pronoun" if same else "other"
        article = _ARTICLE.match(rest)
        words = [w.lower() for w in re.findall(r"[\w'’&.-]+", rest[article.end() if article is not None else 0 :])]
        size = len(thing.subject)
        if size and tuple(words[:size]) == thing.subject:
            return "thing"
        if thing.subject and article is not None and words[:1] == [thing.subject[-1]]:
            return "thing" if not known.modifiers[thing.subject[-1]] - set(thing.subject) else "other"
    return "other"


def _finding(text: str, earlier: Dated, later: Dated) -> LogicFinding:
    first, second = (text[one.span.start : one.span.end] for one in (earlier, later))
    message = f"“{_short(first)}” and “{_short(second)}”: one event has two dates."
    return LogicFinding("logic.two_dates", message, later.span, (earlier.span,), _CONFIDENCE)


def _short(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= 80 else f"{flat[:40]}…{flat[-38:]}"
