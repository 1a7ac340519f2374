"""Claims that fork: one wording with places in which a right or a wrong value stands.

Both claims of a fork have the same form, so that the form gives no label away. The exact tier checks every right
version a second time, whatever maker it comes from, and drops those that it speaks against.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from train.edits.context import Bank
from train.edits.document import Document, usable
from train.edits.framing import BEFORE_SENTENCE, draw_frame, framed
from train.edits.generate import SHAPES, WINDOW_WORDS, contradicted, evidence_of, is_prose
from train.edits.kinds import changed
from train.rows import Label, Row

NAME = r"[A-Z][\w'’.-]*\w(?: (?:of |de |van |von |the )?[A-Z][\w'’.-]*\w){0,3}"
"""A capitalised name, as a pattern."""
_DOCUMENTS = 9_000
_BANK_DOCUMENTS = 1_500
_TRIES = 25
"""Sites looked at for each pair that is wanted of a maker."""
_LONGEST = 400


@dataclass(frozen=True)
class Fork:
    """A claim with one or more places that hold a right value in one version and a wrong one in the other."""

    kind: str
    parts: tuple[str | tuple[str, str], ...]
    """Text as it is, and pairs of a right and a wrong value."""
    evidence: tuple[str, ...]
    label: Label = "contradicted"

    @property
    def right(self) -> str:
        """The claim that the evidence supports."""
        return upper("".join(part if isinstance(part, str) else part[0] for part in self.parts))

    @property
    def wrong(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """The wrong claim, and the character ranges of those words of its wrong values that the right ones lack."""
        text = ""
        spans: list[tuple[int, int]] = []
        for part in self.parts:
            if isinstance(part, str):
                text += part
            else:
                first, last = changed(*part)
                spans.append((len(text) + first, len(text) + last))
                text += part[1]
        return upper(text), tuple(spans)


@dataclass(frozen=True)
class Site:
    """A sentence of a document that a maker may start from."""

    document: Document
    index: int

    @property
    def text(self) -> str:
        """The sentence."""
        return self.document.pieces[self.index]

    def evidence(self, rng: random.Random, *others: int) -> tuple[str, ...]:
        """The evidence that a row shows for the sentence, and for other ones by their indices."""
        return evidence_of(self.document, (self.index, *others), rng, WINDOW_WORDS)

    def shaped(self, rng: random.Random, share: float = 0.5) -> str:
        """The sentence, for this share in another shape: shortened, split, re-ordered or in the other voice."""
        if rng.random() < share:
            for _, _, reshape in sorted(SHAPES, key=lambda s: rng.expovariate(s[1])):
                other = reshape(self.text, rng)
                if other is not None and other != self.text and usable(other):
                    return other
        return self.text


@dataclass(frozen=True)
class World:
    """What makers draw from."""

    documents: tuple[Document, ...]
    """Prose alone."""
    records: tuple[Document, ...]
    bank: Bank

    def passage(self, sentences: Sequence[str], rng: random.Random, share: float = 0.6) -> tuple[str, ...]:
        """Sentences of our own as evidence: for this share among a run of sentences of some document."""
        own = list(sentences)
        if not self.documents or rng.random() >= share:
            return (" ".join(own),)
        document = rng.choice(self.documents)
        first = rng.randrange(len(document.pieces))
        around = [s for s in document.pieces[first : first + rng.randint(1, 4)] if len(s) <= _LONGEST and "|" not in s]
        at = rng.randint(0, len(around))
        return (" ".join((*around[:at], *own, *around[at:])),)


@dataclass(frozen=True)
class SiteMaker:
    """Makes forks of the sentences that a pattern finds."""

    kind: str
    weight: float
    gate: re.Pattern[str]
    make: Callable[[Site, World, random.Random], Fork | None]


@dataclass(frozen=True)
class FreeMaker:
    """Makes forks of what it draws itself."""

    kind: str
    weight: float
    make: Callable[[World, random.Random], Fork | None]


def upper(text: str) -> str:
    """The text with its first letter in upper case; its length stays."""
    return text[:1].upper() + text[1:] if len(text[:1].upper()) == 1 else text


def world_of(rows: Sequence[Row], rng: random.Random) -> World:
    """Documents of the rows in a seeded order, and the bank of names of some of them."""
    found = sorted({row.evidence for row in rows if is_prose(row.evidence)})
    rng.shuffle(found)
    documents = [Document(evidence) for evidence in found[: 2 * _DOCUMENTS]]
    prose = [d for d in documents if d.record is None and d.pieces][:_DOCUMENTS]
    records = [d for d in documents if d.record is not None]
    return World(tuple(prose), tuple(records), Bank.of([*prose[:_BANK_DOCUMENTS], *records[:300]]))


def _sites(world: World, makers: Sequence[SiteMaker]) -> dict[str, list[Site]]:
    found: dict[str, list[Site]] = {maker.kind: [] for maker in makers}
    for document in world.documents:
        for i, piece in enumerate(document.pieces):
            if not usable(f"The {piece}" if piece[:1].isdigit() else piece):
                continue
            for maker in makers:
                if maker.gate.search(piece):
                    found[maker.kind].append(Site(document, i))
    return found


def _rows(fork: Fork, rng: random.Random) -> tuple[Row, Row] | None:
    """The wrong row and its true twin; nothing where the fork is no fork or the exact tier speaks against the twin."""
    right, (wrong, spans) = fork.right, fork.wrong
    if right == wrong or any(end <= start for start, end in spans):
        return None
    prefix = draw_frame(rng, 0.2)
    if prefix:
        document = Document(("Given.",)) if prefix in BEFORE_SENTENCE else Document(fork.evidence)
        before, behind = framed(right, document, prefix), framed(wrong, document, prefix)
        if before is not None and behind is not None:
            right, wrong = before, behind
            spans = tuple((start + len(prefix), end + len(prefix)) for start, end in spans)
    twin = Row(f"edit:true.{fork.kind}", fork.evidence, right, "supported")
    if contradicted(twin):
        return None
    return Row(f"edit:{fork.kind}", fork.evidence, wrong, fork.label, spans=spans), twin


def forked_rows(
    rows: Sequence[Row], count: int, seed: int, on_sites: Sequence[SiteMaker], free: Sequence[FreeMaker]
) -> list[Row]:
    """About `count` rows, half of them supported, in a seeded order; each wrong one has its twin among them.

    Makers get their share by weight. What sentences do not offer, the makers that need none give.
    """
    rng = random.Random(seed)
    world = world_of(rows, rng)
    sites = _sites(world, on_sites)
    total = sum(maker.weight for maker in on_sites) + sum(maker.weight for maker in free)
    seen: set[tuple[str, str]] = set()
    pairs: list[tuple[Row, Row]] = []

    def take(fork: Fork | None, *, on_site: bool) -> bool:
        made = None if fork is None else _rows(fork, rng)
        if made is None:
            return False
        keys = {("" if on_site else " ".join(row.evidence), row.claim) for row in made}
        if keys & seen:
            return False
        seen.update(keys)
        pairs.append(made)
        return True

    for maker in on_sites:
        wanted = round(count / 2 * maker.weight / total)
        some = sites[maker.kind]
        rng.shuffle(some)
        for site in (some * 2)[: _TRIES * wanted]:
            if wanted <= 0:
                break
            wanted -= take(maker.make(site, world, rng), on_site=True)
    tries = 40 * count + 400
    while len(pairs) < count / 2 and free and tries:
        tries -= 1
        chosen = rng.choices(free, [maker.weight for maker in free])[0]
        take(chosen.make(world, rng), on_site=False)
    rng.shuffle(pairs)
    made = [row for pair in pairs for row in pair][: count - count % 2]
    rng.shuffle(made)
    return made
