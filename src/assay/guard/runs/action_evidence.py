"""The evidence for a claimed action: a call's arguments, its result, and the records that share an identifier with it.

A run may have the words of both "I have cancelled order W-17" and "I have cancelled order W-18" in different places.
So a claimed action is checked against the evidence of the calls that may have done it, and not against all evidence:
every number, date, identifier, code and name of the claim must be there. Records are joined to a call by identifiers:
the record `{"id": "card_88", "last_four": "7334"}`, wherever it stands in the run, belongs to a payment by `card_88`.
Records are joined one step far, and with their own fields only.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from functools import cached_property
from typing import Any, Final

from assay.schema import Evidence
from assay.text.dates import DateMention, DateRelation, find_dates, relate_dates
from assay.text.lexicon import content_stems, find_identifiers, find_words
from assay.text.quantities import find_quantities
from assay.verify.tools import ClaimedAction, name_words, reads_only

MOST_JSON: Final = 200_000
"""The most characters of a result that is read as JSON."""
MOST_OBJECTS: Final = 5_000
"""The most objects of a result that are read."""
MOST_JOINED: Final = 50
"""The most records that are joined to a call."""
MOST_TEXT: Final = 60_000
"""The most characters of a call's evidence that are read for values."""
MOST_WORDS: Final = 0.7
"""The share of a claim's words that must belong to a call for the tiers to judge the rest of the claim."""

_WISHED: Final = re.compile(r"step:\d+/(?:user|system|developer)(?:[@#~]\d+)*")
"""The ids of texts by users and operators, as `runs.evidence` makes them; a tool may be called `user_orders`."""
_NEGATED: Final = re.compile(
    r"\b(?:not|no|never|none|null|false|without|will|would|can|could|may|should|must|to be|unable|cannot|if|once|until|"
    r"when|pending|queued|requested|scheduled|processing|awaiting|waiting|skipped|disabled|failed|failure|error|"
    r"declined|denied|rejected|unsuccessful|unsent|later|soon)\b|n['\u2019]t\b|\"\s*:\s*(?:0(?:\.0*)?\b|\"\s*\")",
    re.IGNORECASE,
)
"""Words of a result which say that something in it was not done, or is not done yet."""
_SHORTEST_PART: Final = 4
"""The fewest letters of a word that may be a part of a longer one, as "mail" is of "email"."""
_NEUTRAL: Final = content_stems(
    find_words(
        """successfully following details request requested action actions accordingly change changes new additional
        account using used ending compensation option"""
    ).lexemes
)
"""Words of a claimed action that do not tell what was done."""
_TOKEN: Final = re.compile(r"[\w-]+")
_NAME: Final = re.compile(r"[A-Za-z0-9][\w-]{1,63}")
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9][\w-]{3,63}")
_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[A-Za-z]")
_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:\n])[\s\W]*$")


def names_in(text: str) -> list[str]:
    """The words of a text, with dashes in them, that have a digit.

    >>> names_in("Order W-17 of 2026 is late")
    ['W-17', '2026']
    """
    return list(_found_in(text, _NAME, _DIGIT))


def identifiers_in(text: str) -> list[str]:
    """The words of a text of four characters or more that have a digit and a letter.

    >>> identifiers_in("Order W-17 of 2026 is late")
    ['W-17']
    """
    return list(_found_in(text, _IDENTIFIER, _DIGIT, _LETTER))


def _found_in(text: str, shape: re.Pattern[str], *needed: re.Pattern[str]) -> Iterator[str]:
    """The matches of a shape from which on their token still has one of each kind of needed characters.

    Each token is looked at once: a lookahead at each of its places makes a long row of dashes take minutes.
    """
    for token in _TOKEN.finditer(text):
        lasts = [max((m.start() for m in one.finditer(text, *token.span())), default=-1) for one in needed]
        if min(lasts) >= 0:
            for match in shape.finditer(text, *token.span()):
                if match.start() > min(lasts):
                    break
                yield match.group()


class KnownWords:
    """The words of texts, to tell whether a claimed action says more than they do."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Read the texts."""
        joined = "\n".join(texts)
        self._stems = content_stems(find_words(joined).lexemes)
        self._glued = "".join(c for c in joined.casefold() if c.isalnum())
        self._inside: dict[str, bool] = {}

    def cover(self, claim: str, verb: str) -> bool:
        """Whether every content word of a claim, except its verb, is in the texts or inside a word of them."""
        return self.share(claim, verb) == 1

    def share(self, claim: str, verb: str) -> float:
        """The share of a claim's content words, except its verb, that are in the texts, by their weight."""
        own = content_stems(find_words(verb).lexemes)
        weights = {w.stem: w.weight for w in find_words(claim).lexemes if w.weight and w.stem not in own}
        missing = sum(weight for stem, weight in weights.items() if not self._has(stem))
        return 1 - missing / sum(weights.values()) if weights else 1.0

    def say(self, verb: str) -> bool:
        """Whether the verb of an action is in the texts in any form."""
        return all(self._has(stem) for stem in content_stems(find_words(verb).lexemes))

    def _has(self, stem: str) -> bool:
        if stem not in self._inside:
            part = stem in _NEUTRAL or (len(stem) >= _SHORTEST_PART and stem in self._glued)
            self._inside[stem] = stem in self._stems or part
        return self._inside[stem]


class KnownValues:
    """The numbers, dates, identifiers, codes and names of texts.

    >>> known = KnownValues(['{"order_id": "W-17", "paid": 20, "date": "2026-05-03"}'])
    >>> known.hold("Order W-17 was paid with $20 on May 3."), known.hold("Order W-18 was paid.")
    (True, False)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Keep the texts; each kind of value is read when it is first asked for."""
        self._text = "\n".join(texts)[:MOST_TEXT]

    @cached_property
    def _low(self) -> str:
        return self._text.casefold()

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.casefold() for word in _WORD.findall(self._text))

    @cached_property
    def _numbers(self) -> frozenset[Decimal]:
        return frozenset(_numbers(self._text))

    @cached_property
    def _dates(self) -> tuple[DateMention, ...]:
        return tuple(find_dates(self._text.replace("T", " ")))

    def hold(self, claim: str) -> bool:
        """Whether every exact value of a claim is in the texts."""
        dates = find_dates(claim)
        if not all(self._has_date(date) for date in dates):
            return False
        spans = [(date.start, date.end) for date in dates]
        named = [i for i in find_identifiers(claim) if not any(i.start < end and i.end > start for start, end in spans)]
        if not all(self._has_name(i.text) for i in named):
            return False
        taken = [*spans, *((i.start, i.end) for i in named)]
        amounts = find_quantities(claim, skip=taken)
        for amount in amounts:
            spelled = claim[amount.number_start : amount.number_end]
            if not any(char.isdigit() for char in spelled) and abs(amount.value) not in self._numbers:
                return False
        return all(self._has(value) for value in _exact(claim, taken))

    def _has_date(self, date: DateMention) -> bool:
        return any(relate_dates(date, other) is DateRelation.SAME for other in self._dates)

    def _has_name(self, name: str) -> bool:
        whole = rf"(?<![^\W_]){re.escape(name.casefold())}(?![^\W_])"
        return re.search(whole, self._low) is not None

    def _has(self, value: str | Decimal) -> bool:
        return value in self._numbers if isinstance(value, Decimal) else value in self._words


def _numbers(text: str) -> Iterator[Decimal]:
    for match in _NUMBER.finditer(text):
        yield Decimal(match.group().replace(",", ""))


def _exact(claim: str, taken: Sequence[tuple[int, int]]) -> Iterator[str | Decimal]:
    """The values of a claim that must be exactly the same: numbers, and words with digits or capitals."""
    for word in _WORD.finditer(claim):
        start, end = word.span()
        if any(start < b and end > a for a, b in taken):
            continue
        written = word.group()
        if written.isdecimal():
            whole = next((m for m in _NUMBER.finditer(claim) if m.start() <= start < m.end()), None)
            if whole is not None and whole.start() == start:
                yield from _numbers(whole.group())
            continue
        digits = any(char.isdigit() for char in written)
        capital = written[0].isupper() and len(written) > 1 and not _SENTENCE_START.search(claim, 0, start)
        if digits or (written.isupper() and len(written) > 1) or capital:
            yield written.casefold()


def names_something(claim: str) -> bool:
    """Whether a claim has a number, a date, an identifier or a name by which a record about it can be recognised.

    >>> names_something("Order W-17 has been cancelled."), names_something("Your other order has been cancelled.")
    (True, False)
    """
    return bool(find_dates(claim) or find_identifiers(claim)) or next(_exact(claim, ()), None) is not None


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """The evidence of one call that may have done an action, or of several."""

    words: KnownWords
    values: KnownValues

    def supports(self, claim: str, verb: str) -> bool:
        """Whether everything that a claim says is in this evidence."""
        return self.values.hold(claim) and self.words.cover(claim, verb)


class Telling(IntEnum):
    """How much of an action a call tells in its own words, without those of users."""

    NOTHING = 0
    PART = 1
    """Its verb, or what it was done to."""
    ALL = 2


class ActionRecords:
    """The calls of a run that worked, each with its evidence."""

    def __init__(self, calls: Sequence[Evidence], evidence: Sequence[Evidence], asked: Sequence[str]) -> None:
        """Keeps what is given; records are looked for when the first action is checked against them.

        Args:
            calls: the calls that worked, as sentences, with the tool's name as source.
            evidence: the evidence of the run.
            asked: the texts of users, including questions: they count for words and not for values.
        """
        self._calls = calls
        self._evidence = evidence
        self._asked = asked
        self._made: dict[tuple[str, ...], ActionRecord] = {}
        self._own: dict[int, KnownWords] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._identifiers: dict[str, frozenset[str]] = {}

    def supports(self, claim: str, verb: str, tools: tuple[str, ...]) -> bool:
        """Whether everything that a claim says belongs to one call.

        If a claim names several things, it may be several calls of one tool, each with one of them.

        Args:
            claim: the claim.
            verb: the verb of its action.
            tools: the tools that may have done it; if there are none, all evidence of the run counts.
        """
        if not tools:
            return self._record_of(tuple(self._seen)).supports(claim, verb)
        calls = [call for call in self._calls if call.source in tools]
        if any(self._record_of((call.text,)).supports(claim, verb) for call in calls):
            return True
        named = set(identifiers_in(claim))
        for tool in tools if len(named) > 1 else ():
            texts = [c.text for c in calls if c.source == tool and not named.isdisjoint(self._identifiers_of(c.text))]
            if len(texts) > 1 and self._record_of(tuple(texts)).supports(claim, verb):
                return True
        return False

    def may_support(self, claim: str, verb: str, tools: tuple[str, ...]) -> bool:
        """Whether calls that worked may support a claim: they have its values and most of its words."""
        calls = [call.text for call in self._calls if not tools or call.source in tools]
        each = [self._record_of((text,)) for text in calls]
        for record in [*each, self._record_of(tuple(calls))] if tools else [self._record_of(tuple(self._seen))]:
            if record.values.hold(claim) and record.words.share(claim, verb) >= MOST_WORDS:
                return True
        return False

    def reports(self, claim: str, verb: str) -> bool:
        """Whether the run's evidence reports an action that no call did, with its values and its verb.

        The claim needs a number, a name or an identifier, or else no text can be known to report just that action.
        Instructions and wishes report none.
        """
        if not names_something(claim):
            return False
        for piece in self._evidence:
            if not _WISHED.fullmatch(piece.id) and KnownWords((piece.text,)).say(verb):
                record = self._record_of((piece.text,))
                if record.values.hold(claim) and record.words.share(claim, verb) >= MOST_WORDS:
                    return True
        return False

    def results_tell(self, claim: str, verb: str) -> bool:
        """Whether the result of a call that worked and changed something tells of an action besides that of its name.

        `{"address": "12 Elm Street", "confirmation_email": "sent"}` of `update_address` tells that a confirmation was
        sent. A result in which anything is denied or still open tells of none.
        """
        changing = {call.source for call in self._calls if call.source and not reads_only(call.source)}
        for piece in self._evidence:
            if (
                piece.source not in changing
                or _WISHED.fullmatch(piece.id)
                or _NEGATED.search(piece.text.replace("_", " "))
            ):
                continue
            words = KnownWords((piece.text,))
            if words.say(verb) and words.share(claim, verb) >= MOST_WORDS and KnownValues((piece.text,)).hold(claim):
                return True
        return False

    def telling(self, text: str, verbs: str, action: ClaimedAction) -> dict[int, Telling]:
        """How the calls that may have done an action tell of it, by their places among the calls that worked.

        If any of them has the values of the text, only those that have them all are taken.

        Args:
            text: the words about the action.
            verbs: its verb, and those that share its object.
            action: the action.
        """
        fitting = [i for i, call in enumerate(self._calls) if call.source in action.tools]
        holding = [i for i in fitting if self._record_of((self._calls[i].text,)).values.hold(text)]
        found: dict[int, Telling] = {}
        for i in holding or fitting:
            call = self._calls[i]
            own = self._own_words(i)
            named = any(len(word) > 2 and action.verb.startswith(word) for word in name_words(call.source or ""))
            says = action.general or named or own.say(action.verb)
            has = own.share(text, verbs) >= MOST_WORDS
            found[i] = Telling.ALL if says and has else Telling.PART if says or has else Telling.NOTHING
        return found

    def _own_words(self, call: int) -> KnownWords:
        if call not in self._own:
            text = self._calls[call].text
            self._own[call] = KnownWords((text, *self._joined((text,))))
        return self._own[call]

    def say(self, verb: str) -> bool:
        """Whether a call that worked has a verb in any form, in itself or in its result."""
        return self._words_of_calls.say(verb)

    def names_of(self, text: str) -> frozenset[str]:
        """As `names_in`, read once for each text."""
        if text not in self._names:
            self._names[text] = frozenset(names_in(text))
        return self._names[text]

    def _identifiers_of(self, text: str) -> frozenset[str]:
        if text not in self._identifiers:
            self._identifiers[text] = frozenset(identifiers_in(text))
        return self._identifiers[text]

    @cached_property
    def _words_of_calls(self) -> KnownWords:
        return KnownWords(call.text for call in self._calls)

    @cached_property
    def _seen(self) -> list[str]:
        return [*(call.text for call in self._calls), *(piece.text for piece in self._evidence)]

    def _record_of(self, texts: tuple[str, ...]) -> ActionRecord:
        if texts not in self._made:
            whole = (*texts, *self._joined(texts))
            self._made[texts] = ActionRecord(KnownWords((*whole, *self._asked)), KnownValues(whole))
        return self._made[texts]

    @cached_property
    def _records(self) -> Mapping[str, Sequence[str]]:
        """The records by the identifiers that name them."""
        found: dict[str, list[str]] = {}
        for piece in self._evidence:
            for names, text in _objects(piece.text):
                for name in names:
                    found.setdefault(name, []).append(text)
        return found

    def _joined(self, texts: Sequence[str]) -> Iterator[str]:
        names = dict.fromkeys(name for text in texts for name in identifiers_in(text[:MOST_TEXT]))
        joined = dict.fromkeys(text for name in names for text in self._records.get(name, ()))
        yield from list(joined)[:MOST_JOINED]


def _objects(text: str) -> Iterator[tuple[set[str], str]]:
    """The records of a JSON text: the identifiers that name each of them, and its own fields written out.

    A record is named by the key that it stands under, by a field `id`, and, if it is not a part of another record, by
    the first of its fields that holds an identifier. Other identifiers in it are references: the buyer of an order does
    not join the buyer's other orders to it.
    """
    waiting: list[tuple[str, Any, bool]] = [("", _parsed(text), False)]
    for _ in range(MOST_OBJECTS):
        if not waiting:
            return
        key, here, inner = waiting.pop()
        if isinstance(here, list):
            waiting += [("", item, inner) for item in reversed(here) if isinstance(item, dict | list)]
        elif isinstance(here, dict):
            waiting += [(name, item, True) for name, item in reversed(here.items()) if isinstance(item, dict | list)]
            own = {name: item for name, item in here.items() if isinstance(item, str | int | float)}
            first = next(filter(_is_identifier, own.values()), None) if not inner else None
            names = {str(name) for name in (key, own.get("id"), first) if _is_identifier(name)}
            if names and own:
                yield names, "\n".join(f"{name}: {item}" for name, item in ((key, ""), *own.items()))


def _parsed(text: str) -> Any:
    """The object or array in a JSON text; None if it has neither or is too long."""
    if len(text) > MOST_JSON or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_identifier(value: object) -> bool:
    if not isinstance(value, str) or _IDENTIFIER.fullmatch(value) is None:
        return False
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None
