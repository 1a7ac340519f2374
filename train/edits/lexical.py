"""Rows in which one content word is exchanged: for a synonym or a wider word, for a sister term, an opposite or more.

Both kinds look alike: a true row and a wrong one have the same sentence with another word in it, on either side (claim
or evidence), and either may have a second word exchanged for its synonym. What tells them apart is what the words mean.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from assay.text.lexicon.lexemes import stem
from assay.text.lexicon.tokens import Token
from train.edits.context import Bank
from train.edits.document import Document, parse
from train.edits.generate import (
    EDITABLE,
    LONG_SHARE,
    LONG_WINDOW_WORDS,
    WINDOW_WORDS,
    base_claims,
    contradicted,
    edit_claim,
    evidence_of,
    is_prose,
)
from train.edits.kinds import Base, replace
from train.edits.wordnet import Form, Lexicon, Pos, Synset
from train.rows import Label, Row, detokenise

PAIRS = frozenset({"snli", "mnli", "taxinli", "cad_nli"})
"""Sets of short premises; a word of a supported claim that the premise has too can be exchanged on either side."""
TRUE_KINDS = ("synonym", "wider")
WRONG_KINDS = ("antonym", "sister", "colour", "narrower", "unlike")
_WEIGHTS = {"unlike": 0.3, "wider": 0.7}
SECOND_SHARE = 0.3
"""This share of the pairs has another word exchanged for its synonym on both sides of the label."""
EVIDENCE_SHARE = 0.3
"""This share has the word exchanged in the evidence, so that the claim's words are those that people wrote."""
EDIT_SHARE = 0.15
"""This share of the pairs of documents: the true reworded claim beside the same with another kind of error in it."""
PAIR_SHARE = 0.45
"""At most this share of the rows is made of short premises."""
SEEN_AT_LEAST = 12
"""Occurrences of a word form in the documents, below which it is too rare to be put anywhere."""
_COUNTED_WORDS = 2_500_000
_TRIES = 5

_ANIMAL, _ARTEFACT, _BODY, _FOOD, _LOCATION, _PERSON, _PLANT = 5, 6, 8, 13, 15, 18, 20
CONCRETE = frozenset({_ANIMAL, _ARTEFACT, _BODY, _FOOD, _LOCATION, _PERSON, _PLANT, 17, 27})
"""Topics of nouns whose wider, narrower and sister words are clear: things, not notions."""
EXCLUSIVE = frozenset({_ANIMAL, _FOOD, _PLANT})
"""Topics in which a thing is not its sister too; a doctor may be a poet, and who wears a coat may wear a shirt."""
ACTIONS = frozenset({29, 34, 35, 38})
"""Topics of verbs whose sister words are clear: body, consumption, contact, motion."""
COLOURS = ("red", "blue", "green", "yellow", "black", "white", "orange", "purple", "pink", "brown")
_TOO_WIDE = frozenset(
    """entity object thing whole unit matter organism being part piece something group abstraction attribute state
    act event artifact artefact instrumentality substance region area location point causal agent cause
    structure device equipment covering material commodity means way system content relation measure amount body
    living_thing unfortunate creation article good chordate vertebrate mammal placental carnivore ungulate
    representation facility adult grownup individual mortal soul male female relative kin intellectual
    communicator contestant ground earth land soil entertainer expert preserver follower unwelcome deciduous
    conveyance construction container room weapon skin someone somebody beast""".split()  # noqa: SIM905 reads better as text
)
_NEVER = frozenset(
    """one two thing things way ways kind type sort part number lot time times year years day days week month
    people percent percentage help assist aid case cases fact facts use used using make made making take took
    taken get got have has had go went gone going come came do done did say said be been being will can may show
    shown see seen set put let know known find found give given keep kept left right first last next same other
    such more most less least many much own new old good bad well only even name named call called state states
    unit side end top back front line area place places second minute hour century decade member members home
    work works series head long late early high low little few man men woman women boy boys girl girls us
    someone somebody anyone anybody everyone bulk scope portal mama daddy mommy papa mummy authorities
    government cite mention banner cited mentioned battle engagement scheme role all some ability capacity
    setting image""".split()  # noqa: SIM905 reads better as text
)
"""Words that mean too many things, and people by sex and age, who are each other's sisters and wider words at once."""
_PERSONS_BY_AGE = frozenset(
    """man woman boy girl child kid lady guy person human baby adult infant toddler teenager teen youth
    youngster mom mum dad mother father parent wife husband daughter son couple beginner""".split()  # noqa: SIM905 reads better as text
)
_QUANTIFIED = re.compile(
    r"\b(?:all|every|each|any|no|not|none|nor|never|neither|only|most|if|few|fewer|less|least|without|unless|whether|"
    r"than|first|last|second|third|main|primary|sole|same|other|another|different|deny|denied|denies|doubt|doubts|"
    r"doubted|refused|refuses|failed|fails|avoid|avoids|avoided|prevent|prevents|prevented|lack|lacks|lacked|hardly|"
    r"rarely|seldom|barely|favou?rite|unique|exactly|number of|total|percent|per|like|likes|liked|love|loves|loved|"
    r"hate|hates|prefers?|\w+n't|\w{3,}est|best|worst|when|would|could|should|must|may|might|can|cannot)\b|%",
    re.IGNORECASE,
)
"""Where a wider word need not follow: negations, quantities, ranks, conditions, attitudes, what is possible."""
_NEGATED = re.compile(
    r"\b(?:no|not|none|nor|never|neither|without|hardly|rarely|barely|unless|if|\w+n't)\b", re.IGNORECASE
)
_IS_PAST = re.compile(r"\b(?:was|were|had|has been|have been)\b|\b\w{3,}ed\b|\b(?:is|are) \w+ing\b")
_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*|\d[\d.,]*|[.;:!?]")
_LOWER = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class Change:
    """One word of a sentence and what is put in its place."""

    kind: str
    start: int
    end: int
    new: str
    label: Label
    lemma: str
    """The base form of the word that is taken out."""
    pos: Pos
    back: str | None = None
    """The kind that results where the change is made in the evidence instead; nothing where it cannot be."""


@dataclass(frozen=True)
class Usage:
    """How often words and neighbouring words occur in the documents, in lower case."""

    words: Counter[str]
    pairs: Counter[tuple[str, str]]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Usage:
        """Counts the evidence of rows, each once, in their order, up to a limit of words."""
        words: Counter[str] = Counter()
        pairs: Counter[tuple[str, str]] = Counter()
        seen: set[tuple[str, ...]] = set()
        size = 0
        for row in rows:
            if row.evidence in seen:
                continue
            seen.add(row.evidence)
            for text in row.evidence:
                found = _WORD.findall(text.lower())
                words.update(found)
                pairs.update(pairwise(found))
                size += len(found)
            if size > _COUNTED_WORDS:
                break
        return cls(words, pairs)


@dataclass(frozen=True)
class Spot:
    """A word of a sentence that is surely used in one sense."""

    token: Token
    lemma: str
    pos: Pos
    form: Form
    sense: Synset
    before: str
    after: str
    """Its neighbours in lower case; empty at the end and before marks."""


class Exchanger:
    """Finds words of a sentence that can be exchanged, and what for."""

    def __init__(self, lexicon: Lexicon, usage: Usage) -> None:
        self.lexicon = lexicon
        self.usage = usage
        self._words_of = lru_cache(maxsize=1 << 16)(self._clear_words)
        self._offers_of = lru_cache(maxsize=1 << 15)(self._offers)
        self.hyponyms = lru_cache(maxsize=1 << 15)(self._hyponyms)

    def spots(self, text: str) -> list[Spot]:
        """The words of a sentence that stand where their part of speech is clear, outside of names and compounds."""
        tokens = parse(text).tokens
        found = []
        for i, token in enumerate(tokens):
            if len(token.low) < 3 or not _LOWER.fullmatch(token.text) or token.low in _NEVER or token.glued:
                continue
            if text[token.end : token.end + 1] in ("'", "’", "-", "/"):
                continue
            for pos in ("n", "v", "a"):
                spot = self._spot(tokens, i, pos)
                if spot is not None:
                    found.append(spot)
                    break
        return found

    def _spot(self, tokens: Sequence[Token], i: int, pos: Pos) -> Spot | None:
        token = tokens[i]
        read = self.lexicon.analyse(token.low, pos)
        if read is None:
            return None
        lemma, form = read
        if lemma in _NEVER or not self._mostly(token.low, lemma, pos):
            return None
        sense = self.lexicon.clear_sense(lemma, pos)
        if sense is None:
            return None
        before = tokens[i - 1] if i else None
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        if self._compound(before, token.low, lemma, after):
            return None
        place = {"n": self._noun_place, "v": self._verb_place, "a": self._adjective_place}[pos](tokens, i, form)
        if place is None:
            return None
        return Spot(token, lemma, pos, place, sense, before.low if before else "", after.low if after else "")

    def _mostly(self, form: str, lemma: str, pos: Pos) -> bool:
        """Whether the word form is mostly of this part of speech."""
        own = self.lexicon.weight(lemma, pos)
        for other in ("n", "v", "a"):
            if other == pos:
                continue
            read = self.lexicon.analyse(form, other)
            if read is not None and self.lexicon.weight(read[0], other) * 2 > own:
                return False
        return True

    def _compound(self, before: Token | None, form: str, lemma: str, after: Token | None) -> bool:
        entries = self.lexicon.entries
        joined = []
        if before is not None:
            joined += [f"{before.low}_{form}", f"{before.low}_{lemma}"]
        if after is not None:
            joined += [f"{form}_{after.low}", f"{lemma}_{after.low}", f"{lemma}_{after.low.removesuffix('s')}"]
        return any(j in known for j in joined for known in entries.values())

    def _is(self, token: Token, pos: Pos) -> bool:
        read = self.lexicon.analyse(token.low, pos)
        return read is not None and self._mostly(token.low, read[0], pos)

    def _noun_place(self, tokens: Sequence[Token], i: int, form: Form) -> Form | None:
        if i == 0 or form not in ("base", "plural"):
            return None
        before = tokens[i - 1]
        if i + 1 < len(tokens):
            after = tokens[i + 1]
            if after.tag in ("NAME", "NUM", "DET", "QUOTE", "PRON") and after.low != "who":
                return None
            if after.tag == "W" and not (after.low.endswith("ing") and self.lexicon.analyse(after.low, "v")):
                return None
        opened = before.tag == "DET" or before.tag == "NUM" or before.low.endswith(("'s", "’s"))
        if before.tag == "W" and self.lexicon.analyse(before.low, "a") and not self._is(before, "n") and i > 1:
            opened = tokens[i - 2].tag in ("DET", "NUM") or (form == "plural" and tokens[i - 2].tag in ("PREP", "AUX"))
        if form == "plural" and before.tag in ("PREP", "V", "AND"):
            opened = True
        return form if opened else None

    def _adjective_place(self, tokens: Sequence[Token], i: int, form: Form) -> Form | None:
        if i == 0 or i + 1 >= len(tokens) or form != "base":
            return None
        before, after = tokens[i - 1], tokens[i + 1]
        if after.tag in ("W", "VA") and before.tag in ("DET", "NUM", "PREP", "AUX"):
            follows = tokens[i + 2] if i + 2 < len(tokens) else None
            plain = follows is None or follows.tag not in ("W", "NAME", "NUM")
            return form if plain and self.lexicon.analyse(after.low, "n") else None
        if (before.tag == "AUX" or before.low in ("very", "quite")) and after.tag in (".", ",", "AND", "PREP"):
            return form
        return None

    def _verb_place(self, tokens: Sequence[Token], i: int, form: Form) -> Form | None:
        if i == 0:
            return None
        k = i - 1
        while k > 0 and tokens[k].tag == "ADV" and tokens[k].low != "not":
            k -= 1
        before = tokens[k]
        if i + 1 < len(tokens):
            after = f"{tokens[i].low} {tokens[i + 1].low}"
            if self.usage.pairs[(tokens[i].low, tokens[i + 1].low)] < 1 and tokens[i + 1].tag == "PREP":
                return None
            if after.endswith((" up", " down", " off", " out", " away", " back", " on", " over", " to", " that")):
                return None
        if form == "ing":
            return form if before.low in ("is", "are", "was", "were", "been") else None
        if form == "past":
            if before.low in ("was", "were", "been", "has", "have", "had", "is", "are", "being"):
                return "participle"
            parsed_ok = before.tag in ("NAME", "PRON") or (before.tag == "W" and self._is(before, "n"))
            return "past" if (parsed_ok and before.low != "who") or before.low == "who" else None
        if form == "third":
            return form if before.tag in ("NAME", "PRON") or (before.tag == "W" and self._is(before, "n")) else None
        if form == "base" and before.low in ("will", "would", "can", "could", "must", "should", "to"):
            return form
        return None

    def base_of(self, form: str) -> str:
        """The base form of a noun."""
        read = self.lexicon.analyse(form, "n")
        return read[0] if read is not None else form

    def _clear_words(self, pos: Pos, offset: int) -> tuple[str, ...]:
        """Words of a synset that mostly mean just it and are frequent enough to be put into a sentence."""
        return tuple(
            word
            for word in self.lexicon.synset(pos, offset).words
            if _LOWER.fullmatch(word)
            and len(word) > 2
            and word not in _NEVER
            and self.usage.words[word] >= SEEN_AT_LEAST
            and (entry := self.lexicon.entry(word, pos)) is not None
            and entry.offsets[0] == offset
            and entry.clear
            and self._mostly(word, word, pos)
        )

    def _related(self, a: str, b: str, pos: Pos) -> bool:
        """Whether two words may mean the same, or one may be a kind of the other, in any sense."""
        ours, theirs = self.lexicon.entry(a, pos), self.lexicon.entry(b, pos)
        if ours is None or theirs is None:
            return True
        for one in ours.offsets:
            for other in theirs.offsets:
                if one in self.lexicon.ancestors(pos, other) or other in self.lexicon.ancestors(pos, one):
                    return True
        return self._defined_by(a, b, pos) or self._defined_by(b, a, pos)

    def _defined_by(self, a: str, b: str, pos: Pos) -> bool:
        """Whether the gloss of the first word's senses speaks of the second."""
        entry = self.lexicon.entry(a, pos)
        wanted = stem(b)
        return entry is not None and any(
            wanted in {stem(w) for w in _LOWER.findall(self.lexicon.synset(pos, o).gloss.split(";")[0].lower())}
            for o in entry.offsets[:3]
        )

    def _wider(self, sense: Synset) -> Iterator[str]:
        for first in sense.linked("@"):
            yield from self._words_of("n", first.offset)
            for second in self.lexicon.synset("n", first.offset).linked("@"):
                yield from self._words_of("n", second.offset)

    def _hyponyms(self, pos: Pos, offset: int) -> tuple[str, ...]:
        return tuple(
            word for link in self.lexicon.synset(pos, offset).linked("~") for word in self._words_of(pos, link.offset)
        )

    def _opposites(self, spot: Spot) -> Iterator[str]:
        for link in spot.sense.linked("!"):
            if link.pos == spot.pos and spot.sense.words[link.source - 1].lower() == spot.lemma:
                yield self.lexicon.synset(link.pos, link.offset).words[link.target - 1]

    def _offers(self, lemma: str, pos: Pos, offset: int) -> tuple[tuple[str, str], ...]:
        """Kinds of change with words in base form, for a word in a sense."""
        sense = self.lexicon.synset(pos, offset)
        offers = [("synonym", w) for w in self._words_of(pos, offset) if w != lemma]
        if pos == "n" and sense.topic in CONCRETE:
            offers += [("wider", w) for w in self._wider(sense) if w not in _TOO_WIDE]
            offers += [
                ("narrower", w)
                for w in self.hyponyms("n", offset)
                if lemma not in _PERSONS_BY_AGE and not self._defined_by(lemma, w, pos)
            ]
        if (pos == "n" and sense.topic in CONCRETE) or (pos == "v" and sense.topic in ACTIONS):
            for link in sense.linked("@"):
                parent = self.lexicon.synset(pos, link.offset)
                if not _TOO_WIDE & set(parent.words) and len(parent.links) <= 150:
                    offers += [
                        ("sister", w)
                        for w in self.hyponyms(pos, link.offset)
                        if w != lemma and not self._related(lemma, w, pos)
                    ]
        if pos == "a" and lemma in COLOURS:
            offers = [("colour", w) for w in COLOURS if w != lemma]
        return tuple(dict.fromkeys(offers))

    def _fits(self, spot: Spot, word: str) -> str | None:
        """The word inflected for the place, or nothing where it reads oddly there."""
        entry = self.lexicon.entry(word, spot.pos)
        form = self.lexicon.inflect(word, spot.pos, spot.form)
        if entry is None or form is None or self.usage.words[form] < (SEEN_AT_LEAST if spot.pos != "v" else 5):
            return None
        if spot.pos == "v":
            frames = self.lexicon.synset("v", entry.offsets[0]).frames
            if not frames & spot.sense.frames:
                return None
        pairs = self.usage.pairs
        if spot.pos == "n":
            if spot.before in ("a", "an") and pairs["a", form] + pairs["an", form] < 2:
                return None
            if spot.form == "base" and pairs["a", form] + pairs["an", form] == 0 and spot.before != "the":
                return None
            if spot.before not in ("a", "an", "the") and spot.before.isalpha() and pairs[spot.before, form] < 1:
                return None
        if spot.after.isalpha() and (spot.pos != "n" or spot.after == "of") and pairs[form, spot.after] < 1:
            return None
        if spot.pos == "v" and not spot.after.isalpha() and pairs[form, "."] < 1:
            return None
        if any(f"{word}_{spot.after}" in known for known in self.lexicon.entries.values()):
            return None
        return form

    def changes(self, text: str, around: frozenset[str], pool: Sequence[str], *, caption: bool) -> list[Change]:
        """All exchanges that a sentence offers.

        Args:
            text: the sentence.
            around: lower-case words of the evidence; what is put in must not be there, nor anything that it may mean.
            pool: wider words that other rows were made with; one that means something else is put in as an error.
            caption: whether the sentence describes a scene, where bare plurals are some and not all of their kind.
        """
        stems = Counter(stem(w) for w in _LOWER.findall(text.lower()))
        shown = Counter(stem(w) for w in around)
        monotone = not _QUANTIFIED.search(text) and (caption or _IS_PAST.search(text) is not None)
        negated = _NEGATED.search(text) is not None
        found = []
        for spot in self.spots(text):
            if stems[stem(spot.token.low)] > 1:
                continue
            offers = list(self._offers_of(spot.lemma, spot.pos, spot.sense.offset))
            offers += [("antonym", w) for w in self._opposites(spot)]
            if spot.pos == "n" and spot.sense.topic in CONCRETE:
                offers += [("unlike", w) for w in pool if self._unlike(spot, w)]
            upward = monotone and spot.pos == "n" and self._existential(spot, caption)
            here = stem(spot.token.low) in shown
            for kind, word in offers:
                if word in _NEVER or (negated and kind != "synonym") or (kind == "wider" and not upward):
                    continue
                if kind in ("sister", "narrower", "unlike") and {spot.lemma, word} & _PERSONS_BY_AGE:
                    continue  # who is said to be a teenager may be called a kid
                if (kind == "unlike" and spot.sense.topic == _PERSON) or (word == "person" and not caption):
                    continue  # a cyclist may well be an athlete; "the person and vocalist" says nothing
                true = kind in TRUE_KINDS
                form = self._fits(spot, word)
                if form is None or shown[stem(form)] or stems[stem(form)] or (not true and not here):
                    continue
                if not true and self._spoken_of(word, spot, around):
                    continue
                found.append(self._change(kind, spot, form, upward, caption))
        return found

    def _unlike(self, spot: Spot, word: str) -> bool:
        """Whether a word is of the same topic and means something else, whatever sense it is used in."""
        sense = self.lexicon.clear_sense(word, "n")
        return sense is not None and sense.topic == spot.sense.topic and not self._related(spot.lemma, word, "n")

    def _existential(self, spot: Spot, caption: bool) -> bool:
        """Whether a noun phrase is about some thing rather than about all of a kind."""
        if spot.form == "plural":
            return caption or spot.before in ("two", "three", "four", "five", "six", "several", "some", "the")
        return spot.before in ("a", "an", "the", "his", "her", "its", "their") or caption

    def _spoken_of(self, word: str, spot: Spot, around: frozenset[str]) -> bool:
        """Whether the evidence names the new word's meaning in another word: a synonym, or a kind of it."""
        entry = self.lexicon.entry(word, spot.pos)
        if entry is None:
            return True
        senses = set(entry.offsets)
        for other in around:
            read = self.lexicon.analyse(other, spot.pos)
            if read is None or read[0] == spot.lemma:
                continue
            theirs = self.lexicon.entry(read[0], spot.pos)
            if theirs is not None and any(senses & self.lexicon.ancestors(spot.pos, o) for o in theirs.offsets[:3]):
                return True
        return False

    def _change(self, kind: str, spot: Spot, form: str, upward: bool, caption: bool) -> Change:
        label: Label = "not_supported"
        if kind in TRUE_KINDS:
            label = "supported"
        elif kind in ("antonym", "colour") or (kind == "sister" and caption and spot.sense.topic in EXCLUSIVE):
            label = "contradicted"
        back: str | None = {"wider": "narrower", "narrower": "wider" if upward else None}.get(kind, kind)
        return Change(kind, spot.token.start, spot.token.end, form, label, spot.lemma, spot.pos, back)


def applied(text: str, changes: Sequence[Change]) -> tuple[str, list[tuple[int, int]]]:
    """The text with its changes made, and where the new words lie, in the order of the changes."""
    spans: dict[Change, tuple[int, int]] = {}
    for change in sorted(changes, key=lambda c: -c.start):
        edit = replace(change.kind, text, change.start, change.end, change.new)
        grown = len(edit.claim) - len(text)
        spans = {c: (a + grown, b + grown) for c, (a, b) in spans.items()}
        text, spans[change] = edit.claim, edit.span
    return text, [spans[c] for c in changes]


def in_evidence(evidence: tuple[str, ...], old: str, new: str) -> tuple[str, ...] | None:
    """The evidence with a word exchanged that it has just once, in any inflection; otherwise nothing."""
    text = "\n".join(evidence)
    if sum(stem(w) == stem(old) for w in _LOWER.findall(text.lower())) != 1:
        return None
    places = [(i, m) for i, e in enumerate(evidence) for m in re.finditer(rf"(?<![\w'’-]){old}(?![\w'’-])", e)]
    if len(places) != 1:
        return None
    i, found = places[0]
    changed = replace("evidence", evidence[i], found.start(), found.end(), new).claim
    return (*evidence[:i], changed, *evidence[i + 1 :])


@dataclass(frozen=True)
class Candidate:
    """A row with what the two sides are balanced by: where it comes from and the part of speech exchanged."""

    row: Row
    group: tuple[bool, Pos]


def _draw(changes: Sequence[Change], kinds: Sequence[str], rng: random.Random) -> Change | None:
    """A change of one of the kinds: the kind first, so that kinds with few words come up too."""
    offered = sorted({c.kind for c in changes if c.kind in kinds})
    if not offered:
        return None
    kind = rng.choices(offered, [_WEIGHTS.get(kind, 1.0) for kind in offered])[0]
    return rng.choice([c for c in changes if c.kind == kind])


def _row(text: str, evidence: tuple[str, ...], change: Change, second: Change | None, rng: random.Random) -> Row | None:
    """One row of a change, made in the claim or in the evidence."""
    if change.back is not None and rng.random() < EVIDENCE_SHARE:
        old = text[change.start : change.end]
        shown = in_evidence(evidence, old, change.new)
        if shown is not None:
            claim, spans = (text, []) if second is None else applied(text, [second])
            at = (change.start, change.end)
            if second is not None and second.start < change.start:
                at = (at[0] + len(claim) - len(text), at[1] + len(claim) - len(text))
            if change.back in TRUE_KINDS:
                return Row(f"edit:true.{change.back}", shown, claim, "supported")
            label: Label = "not_supported" if change.back == "narrower" else change.label
            return Row(f"edit:{change.back}", shown, claim, label, spans=(at,))
    claim, spans = applied(text, [change] if second is None else [change, second])
    if change.kind in TRUE_KINDS:
        return Row(f"edit:true.{change.kind}", evidence, claim, "supported")
    return Row(f"edit:{change.kind}", evidence, claim, change.label, spans=(spans[0],))


def exchanged(
    text: str, evidence: tuple[str, ...], exchanger: Exchanger, pool: list[str], rng: random.Random, *, caption: bool
) -> list[Candidate]:
    """A true and a wrong row of one supported sentence, as far as it offers them."""
    around = frozenset(w for e in evidence for w in _LOWER.findall(e.lower()))
    words = rng.sample(pool, min(4, len(pool)))
    changes = exchanger.changes(text, around, words, caption=caption)
    true, wrong = _draw(changes, TRUE_KINDS, rng), _draw(changes, WRONG_KINDS, rng)
    synonyms = [c for c in changes if c.kind == "synonym" and c.start not in {x.start for x in (true, wrong) if x}]
    second = rng.choice(synonyms) if synonyms and rng.random() < SECOND_SHARE else None
    found = []
    for change in (true, wrong):
        row = None if change is None else _row(text, evidence, change, second, rng)
        if row is not None and change is not None and detokenise(row.claim) == row.claim:
            found.append(Candidate(row, (caption, change.pos)))
    if true is not None and true.kind == "wider":
        pool.append(exchanger.base_of(true.new))
        del pool[:-200]
    return found


def reworded_error(
    base: Base, document: Document, evidence: tuple[str, ...], exchanger: Exchanger, bank: Bank, rng: random.Random
) -> list[Candidate]:
    """A true claim with a synonym in it, and the same claim with an error of another kind."""
    around = frozenset(_LOWER.findall(document.text.lower()))
    change = _draw(exchanger.changes(base.text, around, (), caption=False), TRUE_KINDS, rng)
    if change is None:
        return []
    claim, (span,) = applied(base.text, [change])
    edit = edit_claim(Base(claim, base.form, base.sources), document, bank, rng)
    if edit is None or (edit.span[0] < span[1] and span[0] < edit.span[1]) or change.new not in edit.claim:
        return []
    true = Row(f"edit:true.{change.kind}", evidence, claim, "supported")
    wrong = Row(f"edit:{edit.kind}", evidence, edit.claim, edit.label, spans=(edit.span,))
    return [Candidate(true, (False, change.pos)), Candidate(wrong, (False, change.pos))]


def reworded_pair(row: Row, exchanger: Exchanger, rng: random.Random) -> list[Candidate]:
    """A claim that people labelled as not supported, with a synonym in it; its label stays."""
    around = frozenset(w for e in row.evidence for w in _LOWER.findall(e.lower()))
    change = _draw(exchanger.changes(row.claim, around, (), caption=True), ("synonym",), rng)
    if change is None:
        return []
    claim, _ = applied(row.claim, [change])
    return [Candidate(Row("edit:reworded", row.evidence, claim, row.label), (True, change.pos))]


class _Balance:
    """Keeps as many wrong rows as true ones, for each group of candidates."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._counts: Counter[tuple[tuple[bool, Pos], bool]] = Counter()
        self._seen: set[tuple[tuple[str, ...], str]] = set()

    def take(self, candidates: Sequence[Candidate]) -> None:
        for candidate in candidates:
            row, true = candidate.row, candidate.row.label == "supported"
            if (row.evidence, row.claim) in self._seen:
                continue
            if self._counts[candidate.group, true] > self._counts[candidate.group, not true] + 3:
                continue
            if true and contradicted(row):
                continue
            self._seen.add((row.evidence, row.claim))
            self._counts[candidate.group, true] += 1
            self.rows.append(row)


def lexical_rows(rows: Sequence[Row], count: int, seed: int, lexicon: Lexicon) -> list[Row]:
    """About `count` rows in which one word is exchanged, half of them true; the same arguments give the same rows.

    Args:
        rows: labelled rows. Documents of the sets in `EDITABLE` give claims, those in `PAIRS` are changed themselves.
        count: how many rows to make; fewer come back where the rows offer no more.
        seed: of the random order.
        lexicon: the dictionary.
    """
    rng = random.Random(seed)
    ordered = sorted(rows, key=lambda r: (r.source, r.evidence, r.claim))
    rng.shuffle(ordered)
    exchanger = Exchanger(lexicon, Usage.of(ordered))
    pairs = [r for r in ordered if r.source in PAIRS and r.question is None and _readable(r)]
    evidence = sorted({r.evidence for r in ordered if r.source in EDITABLE and is_prose(r.evidence)})
    rng.shuffle(evidence)
    pool: list[str] = []
    short = _Balance()
    wanted = int(count * PAIR_SHARE) if evidence else count
    for row in pairs:
        if len(short.rows) >= wanted:
            break
        if row.label == "supported":
            short.take(exchanged(row.claim, row.evidence, exchanger, pool, rng, caption=True))
        elif rng.random() < EDIT_SHARE:
            short.take(reworded_pair(row, exchanger, rng))
    long = _Balance()
    documents = [d for d in map(Document, evidence[: 3 * count]) if d.record is None and d.usable]
    bank = Bank.of(documents[:2_000])
    for _ in range(_TRIES):
        for document in documents:
            if len(long.rows) + len(short.rows) >= count:
                break
            _from_document(document, exchanger, bank, pool, rng, long)
    made = (short.rows + long.rows)[:count]
    rng.shuffle(made)
    return made


def _readable(row: Row) -> bool:
    return len(row.evidence) == 1 and len(row.evidence[0].split()) <= 60 and 4 <= len(row.claim.split()) <= 30


def _from_document(
    document: Document, exchanger: Exchanger, bank: Bank, pool: list[str], rng: random.Random, balance: _Balance
) -> None:
    window = LONG_WINDOW_WORDS if rng.random() < LONG_SHARE else WINDOW_WORDS
    base = next(base_claims(document, rng), None)
    if base is None:
        return
    evidence = evidence_of(document, base.sources, rng, window)
    if rng.random() < EDIT_SHARE:
        balance.take(reworded_error(base, document, evidence, exchanger, bank, rng))
    else:
        balance.take(exchanged(base.text, evidence, exchanger, pool, rng, caption=False))
