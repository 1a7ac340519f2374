"""Rows of training and pairs for evaluation, made of the evidence of labelled rows by controlled edits."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from assay.schema import Evidence
from assay.verify.exact import check_exact, index_evidence
from train.edits.additions import addition
from train.edits.context import Bank, Context, Maker
from train.edits.document import Document, excerpt, parse, usable, words_of
from train.edits.entities import blend, condition, name, role
from train.edits.framing import draw_frame, frame_edit, framed
from train.edits.kinds import Base, Edit, is_single, weighted_order
from train.edits.numbers import date, number, number_word, unit, wrong_subject
from train.edits.records import as_json, record_claims
from train.edits.true_forms import atomic, merged, reordered, resolved, shorten, voice
from train.edits.true_values import CONVERSIONS
from train.edits.values import wrong_value
from train.edits.words import antonym, cause, comparative, modality, negation, order, quantifier
from train.rows import Row, detokenise, fold

EDITS: tuple[tuple[str, float, Maker], ...] = (
    ("number", 8, number),
    ("number_word", 6, number_word),
    ("unit", 6, unit),
    ("date", 5, date),
    ("name", 4, name),
    ("wrong_subject", 9, wrong_subject),
    ("blend", 30, blend),
    ("role", 22, role),
    ("negation", 1, negation),
    ("quantifier", 6, quantifier),
    ("modality", 12, modality),
    ("comparative", 9, comparative),
    ("order", 5, order),
    ("cause", 10, cause),
    ("antonym", 5, antonym),
    ("condition", 30, condition),
    ("addition", 3.5, addition),
    ("wrong_value", 12, wrong_value),
)
"""Every edit with its weight: rare ones weigh more than their share, because few sentences offer them."""

RARE = ("blend", "blend", "blend", "condition", "condition", "role", "unit", "cause", "modality", "wrong_subject")
"""Kinds that few sentences offer: one of them is looked for in several claims of each longer document."""
SUPPORTED_SHARE = 0.45
CONTRADICTED_AT = 0.8
"""A finding of the exact tier this sure against a claim that ought to be true drops the claim."""
DENIAL_SHARE = 0.5
"""How often a claim's denials are looked for; few claims offer both."""
LONGEST_DENIED = 18
"""Words: to deny a long sentence denies nobody knows which part of it."""
WINDOW_WORDS = 95
"""Most rows show a run of sentences about this long around what the claim needs; it fits one premise whole."""
LONG_WINDOW_WORDS = 210
LONG_SHARE = 0.2
"""This share of the documents shows runs up to the longer length: passages and pages are longer than paragraphs."""
LONGEST_EVIDENCE = 20_000
"""Characters; longer documents are left out. Edits look at claims of one or two sentences alone."""
RECORD_SHARE = 0.3
"""At most this share of the documents that rows are made of are records and tables: they give fewer rows than prose."""
PLANTED_RECORD_SHARE = 0.15
"""The same for evaluation, where a document gives at most one pair of a kind."""
SHARED_SENTENCES = 0.5
"""A document that shares more of its sentences than this with those that gave pairs of a kind gives none of it."""
_BANK_DOCUMENTS = 6_000
EDITABLE = frozenset(
    {
        "begin_cmudog",
        "bump_task1",
        "bump_task2",
        "defacto",
        "factcheck_gpt",
        "faithdial_audit",
        "fever_rte",
        "fevernli_binary",
        "fm2",
        "halueval_qa500",
        "infotabs",
        "scifact_rte",
        "scitab",
        "storysumm",
        "summedits_ectsum",
        "summedits_sales_email",
        "summedits_samsum",
        "tabfact_pairs",
        "wice_claim",
        "wice_claim_oracle",
        "wice_nonsupported_tokens",
    }
)
"""Sets whose evidence is prose, records or tables, from which edits read naturally."""


@dataclass(frozen=True)
class Made:
    """What a run of the generator gave."""

    rows: list[Row]
    dropped: Counter[str]
    """True claims that the exact tier spoke against and that were left out, by form."""


SHAPES: tuple[tuple[str, float, Callable[[str, random.Random], str | None]], ...] = (
    ("shortened", 3, shorten),
    ("atomic", 4, atomic),
    ("reordered", 5, reordered),
    ("voice", 5, voice),
)
"""Ways to say a sentence in another shape, with their weights."""


def is_prose(evidence: Sequence[str]) -> bool:
    """Whether the evidence has a length that rows can be made of."""
    if sum(map(len, evidence)) > LONGEST_EVIDENCE:
        return False
    return 12 <= sum(len(e.split()) for e in evidence) <= 1_500


def base_claims(document: Document, rng: random.Random) -> Iterator[Base]:
    """True claims of a document without end: sentences, and what can be made of them without changing their truth."""
    if document.record is not None:
        for base in record_claims(document.record, rng):
            if detokenise(base.text) == base.text:
                yield base
            elif rng.random() < 0.02:
                return
    while document.usable:
        i = rng.choice(document.usable)
        text = changed = document.pieces[i]
        form = "extracted"
        if len(document.pieces) > 1 and rng.random() < 0.15:
            joined = resolved(document, rng) or merged(document, rng)
            if joined is not None and usable(joined.text):
                yield joined
                continue
        if rng.random() < 0.7:
            for kind, _, reshape in sorted(SHAPES, key=lambda s: rng.expovariate(s[1])):
                other = reshape(text, rng)
                if other is not None and other != text and usable(other):
                    changed, form = other, kind
                    spoken = voice(changed, rng) if kind == "atomic" else None
                    if spoken is not None and usable(spoken):
                        changed, form = spoken, "voice"
                    break
        if rng.random() < 0.55:
            for kind, _, convert in sorted(CONVERSIONS, key=lambda c: rng.expovariate(c[1])):
                said = convert(changed, document, rng)
                if said is not None and said != changed and usable(said):
                    changed, form = said, kind
                    break
        yield Base(changed, form, (i,))


def evidence_of(document: Document, sources: Sequence[int], rng: random.Random, window: int) -> tuple[str, ...]:
    """The evidence that a row shows: mostly a run of sentences around the claim's own, sometimes the whole document."""
    if document.record is not None:
        head = document.record.head
        body, own = document.pieces[head:], [i - head for i in sources]
        first, last = excerpt(body, own, rng.randint(window // 2, window)) if rng.random() < 0.75 else (0, len(body))
        if rng.random() < 0.3:
            return (as_json(document.record, range(first + head, last + head), rng),)
        return ("\n".join((*document.pieces[:head], *body[first:last])),)
    if len(sources) == 1 and rng.random() < 0.25:
        return (document.text,)
    first, last = excerpt(document.pieces, sources, rng.randint(window // 3, window))
    return (" ".join(document.pieces[first:last]),)


def edit_claim(base: Base, document: Document, bank: Bank, rng: random.Random, only: str | None = None) -> Edit | None:
    """One edit of the claim: the first that it offers, in a random order in which heavier kinds come first."""
    context = Context(document, bank, base.sources)
    for kind, make in weighted_order(EDITS, rng):
        if only is not None and kind != only:
            continue
        edit = make(base.text, context, rng)
        if edit is not None and is_single(base.text, edit) and detokenise(edit.claim) == edit.claim:
            return edit
    return None


def longer(base: Base, document: Document, rng: random.Random) -> tuple[str, str, tuple[int, ...]] | None:
    """True sentences to stand before and after a claim, so that one of two or three facts is the edited one."""
    free = [i for i in document.usable if i not in base.sources and abs(i - base.sources[0]) <= 4]
    if not free:
        return None
    some = sorted(rng.sample(free, min(len(free), rng.choice((1, 1, 2)))))
    before = " ".join(document.pieces[i] for i in some if i < base.sources[0])
    after = " ".join(document.pieces[i] for i in some if i > base.sources[0])
    return (before + " " if before else ""), (" " + after if after else ""), (*base.sources, *some)


def contradicted(row: Row) -> bool:
    """Whether the exact tier speaks against the claim with confidence: the second check of a true row."""
    index = index_evidence([Evidence(id=f"e{i}", text=text) for i, text in enumerate(row.evidence)])
    found = check_exact(row.claim, index).findings
    return any(f.effect == "contradicts" and f.confidence >= CONTRADICTED_AT for f in found)


@dataclass(frozen=True)
class Pair:
    """A claim made wrong and its twin without the edit, over the same evidence."""

    wrong: Row
    twin: Row


def make_pair(
    document: Document, bank: Bank, base: Base, rng: random.Random, window: int, only: str | None = None
) -> Pair | None:
    """An edited claim and its unedited twin, behind the same phrase and beside the same other sentences."""
    edit = edit_claim(base, document, bank, rng, only)
    if edit is None:
        return None
    original, sources = base.text, base.sources
    around = longer(base, document, rng) if rng.random() < 0.12 else None
    if around is not None:
        before, after, sources = around
        edit = edit.within(before, before + edit.claim + after)
        original = before + original + after
    edit, original = frame_edit(edit, original, document, draw_frame(rng))
    evidence = evidence_of(document, sources, rng, window)
    wrong = Row(f"edit:{edit.kind}", evidence, edit.claim, edit.label, spans=edit.spans)
    return Pair(wrong, Row(f"edit:true.{base.form}", evidence, original, "supported"))


DENIABLE = ("number", "number_word", "date", "name", "antonym", "comparative", "wrong_value")
"""Kinds whose denial follows from the evidence: who pays 40 does not pay 50."""


def denial(document: Document, bank: Bank, base: Base, rng: random.Random, window: int) -> Pair | None:
    """A true claim that denies something wrong, and the denial of the true claim itself.

    Without them a network learns that what denies is wrong.
    """
    if len(base.text.split()) > LONGEST_DENIED:
        return None
    context = Context(document, bank, base.sources)
    wrong = negation(base.text, context, rng)
    if wrong is None or len(wrong.claim) <= len(base.text) or not is_single(base.text, wrong):
        return None
    verb = parse(base.text).verb_start
    if re.search(r", | and | or ", base.text[verb:]):
        return None  # who denies a list of which one member is wrong denies the right ones too
    kinds = rng.sample(DENIABLE, len(DENIABLE))
    edits = (edit_claim(base, document, bank, rng, kind) for kind in kinds)
    edit = next((e for e in edits if e is not None and e.span[0] > verb), None)
    said = None if edit is None else negation(edit.claim, context, rng)
    if edit is None or said is None or len(said.claim) <= len(edit.claim):
        return None
    if any(detokenise(one.claim) != one.claim for one in (said, wrong)):
        return None
    evidence = evidence_of(document, base.sources, rng, window)
    return Pair(
        Row("edit:negation", evidence, wrong.claim, wrong.label, spans=(wrong.span,)),
        Row("edit:true.denial", evidence, said.claim, "supported"),
    )


def absent(document: Document, base: Base, rng: random.Random, window: int) -> Row | None:
    """A true claim whose sentence is taken out of the evidence, where nothing else there says nearly the same."""
    if document.record is not None:
        return None
    rest = [s for i, s in enumerate(document.pieces) if i not in base.sources]
    wanted = {w for w in words_of(base.text) if len(w) > 3}
    if len(rest) < 2 or not wanted:
        return None
    if any(len(wanted & words_of(s)) > 0.5 * len(wanted) for s in rest):
        return None
    near = min(max(base.sources[0], 1), len(rest) - 1)
    first, last = excerpt(rest, [near - 1, near], rng.randint(window // 3, window))
    claim = framed(base.text, document, draw_frame(rng)) or base.text
    return Row("edit:absent", (" ".join(rest[first:last]),), claim, "unsupported")


def rows_from_document(
    document: Document, bank: Bank, rng: random.Random, window: int, claims: int
) -> Iterator[tuple[Row, Row | None]]:
    """Pairs of a wrong row with its true twin; for a claim that offers no edit, the true row is missing its partner."""
    bases = base_claims(document, rng)
    seen: set[str] = set()
    if len(document.usable) >= 3:
        kind = rng.choice(RARE)
        for base in islice(bases, 6):
            rare = make_pair(document, bank, base, rng, window, kind)
            if rare is not None:
                seen.add(base.text)
                yield rare.wrong, rare.twin
                break
    for base in islice(bases, claims):
        if base.text in seen:
            continue
        seen.add(base.text)
        if rng.random() < 0.08:
            row = absent(document, base, rng, window)
            if row is not None:
                yield row, None
                continue
        pair = denial(document, bank, base, rng, window) if rng.random() < DENIAL_SHARE else None
        pair = pair or make_pair(document, bank, base, rng, window)
        if pair is not None:
            yield pair.wrong, pair.twin


def _documents(rows: Sequence[Row], rng: random.Random, record_share: float) -> list[Document]:
    found = sorted({row.evidence for row in rows if is_prose(row.evidence)})
    rng.shuffle(found)
    documents = [Document(evidence) for evidence in found]
    prose = sum(document.record is None for document in documents)
    most = max(50, int(record_share * prose / (1 - record_share)))
    records = [document for document in documents if document.record is not None][:most]
    kept = {id(document) for document in records}
    return [document for document in documents if document.record is None or id(document) in kept]


def generate(
    rows: Sequence[Row], count: int, seed: int, *, window: int = WINDOW_WORDS, exact_filter: bool = True
) -> Made:
    """About `count` rows from the documents of `rows`; the same arguments give the same rows in the same order.

    Each document gives a few claims in each of several rounds, until there are enough. `SUPPORTED_SHARE` of the rows
    are true: the twins of wrong ones as long as there are too few of them.
    """
    rng = random.Random(seed)
    documents = _documents(rows, rng, RECORD_SHARE)
    bank = Bank.of(documents[:_BANK_DOCUMENTS])
    made: list[Row] = []
    dropped: Counter[str] = Counter()
    supported = 0
    seen: set[tuple[str, str]] = set()
    for _ in range(6):
        for document in documents:
            if len(made) >= count:
                return Made(made[:count], dropped)
            claims = 2 if document.record is not None else min(6, max(1, len(document.usable)))
            shown = LONG_WINDOW_WORDS if rng.random() < LONG_SHARE else window
            for wrong, twin in rows_from_document(document, bank, rng, shown, claims):
                if (wrong.evidence[0], wrong.claim) in seen:
                    continue
                seen.add((wrong.evidence[0], wrong.claim))
                made.append(wrong)
                if twin is None or supported > SUPPORTED_SHARE * len(made):
                    continue
                if exact_filter and contradicted(twin):
                    dropped[twin.source] += 1
                    continue
                made.append(twin)
                supported += 1
    return Made(made[:count], dropped)


def make_rows(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """About `count` rows from the documents of `rows`; order is seeded."""
    return generate(rows, count, seed).rows


def planted(rows: Sequence[Row], per_kind: int, seed: int) -> dict[str, list[Pair]]:
    """For evaluation: for each kind of edit up to `per_kind` pairs of a wrong claim and its unedited twin.

    Give rows of documents that nothing was trained on. A document gives at most one pair of a kind, and of documents
    that share most of their sentences only the first gives one of that kind.
    """
    rng = random.Random(seed)
    documents = _documents(rows, rng, PLANTED_RECORD_SHARE)
    bank = Bank.of(documents[:_BANK_DOCUMENTS])
    found: dict[str, list[Pair]] = {kind: [] for kind, _, _ in EDITS}
    used: dict[str, set[str]] = {kind: set() for kind in found}
    for document in documents:
        sentences = {fold(piece) for piece in document.pieces}
        wanted = [
            kind
            for kind in found
            if len(found[kind]) < per_kind and len(sentences & used[kind]) <= SHARED_SENTENCES * len(sentences)
        ]
        if all(len(pairs) >= per_kind for pairs in found.values()):
            break
        if not wanted:
            continue
        bases = list(islice(base_claims(document, rng), min(40, 6 + 2 * len(document.usable))))
        for kind in wanted:
            for base in bases:
                pair = make_pair(document, bank, base, rng, WINDOW_WORDS, kind)
                if pair is not None and not contradicted(pair.twin):
                    found[kind].append(pair)
                    used[kind] |= sentences
                    break
    return found
