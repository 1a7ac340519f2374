"""Controlled edits: from a sentence of real evidence, a claim that is true of it or wrong in one recorded place.

Each edit is a pure function of the sentence, its document and a random generator. It returns the edited claim with
the character span that changed, or None where the sentence offers nothing to change.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from train.premises import sentences
from train.rows import Row

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
NUMBER = re.compile(r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w-])|(?<![\w.,-])\d+(?:\.\d+)?(?![\w-]|[.,]\d)")
NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][a-z]+(?:\s+(?:of|de|van|the)?\s?[A-Z][a-z]+)*\b")
WORD_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
LEADING_PRONOUN = re.compile(
    r"^(?:he|she|it|they|this|these|those|that|such|his|her|its|their|however|but|and|also)\b", re.IGNORECASE
)

SWAPS: dict[str, tuple[tuple[str, str], ...]] = {
    "quantifier": (
        ("all", "some"), ("most", "few"), ("many", "few"), ("every", "no"), ("several", "no"), ("always", "never"),
        ("often", "rarely"), ("usually", "rarely"), ("both", "neither"), ("only", "not only"), ("at least", "at most"),
        ("more than", "less than"), ("over", "under"), ("majority", "minority"),
    ),
    "modality": (
        ("may", "must"), ("can", "cannot"), ("must", "may"), ("could", "did"), ("might", "will"),
        ("should", "need not"), ("required", "optional"), ("allowed", "forbidden"), ("permitted", "prohibited"),
    ),
    "comparative": (
        ("more", "less"), ("higher", "lower"), ("larger", "smaller"), ("increased", "decreased"), ("rose", "fell"),
        ("increase", "decrease"), ("highest", "lowest"), ("largest", "smallest"), ("oldest", "youngest"),
        ("better", "worse"), ("best", "worst"), ("longer", "shorter"), ("faster", "slower"), ("early", "late"),
        ("older", "younger"), ("gained", "lost"), ("won", "lost"), ("success", "failure"),
    ),
    "order": (("before", "after"), ("first", "last"), ("began", "ended"), ("opened", "closed"), ("since", "until"),
              ("born", "died"), ("started", "finished"), ("former", "current"), ("previous", "next")),
    "antonym": (
        ("north", "south"), ("east", "west"), ("northern", "southern"), ("eastern", "western"), ("male", "female"),
        ("father", "mother"), ("son", "daughter"), ("brother", "sister"), ("husband", "wife"), ("positive", "negative"),
        ("public", "private"), ("major", "minor"), ("left", "right"), ("support", "oppose"), ("accepted", "rejected"),
        ("includes", "excludes"), ("with", "without"), ("agreed", "refused"), ("buy", "sell"), ("bought", "sold"),
    ),
}  # fmt: skip
AUXILIARY = re.compile(
    r"\b(is|was|are|were|has|have|had|will|would|can|could|should|did|does|do|must|may|might)\b(?!\s+not|n't)"
)


@dataclass(frozen=True)
class Edit:
    """A claim that differs from a true sentence in one place."""

    kind: str
    claim: str
    span: tuple[int, int]
    """What is wrong in the claim, as a character range of it."""


def replace(kind: str, text: str, start: int, end: int, new: str) -> Edit:
    """The text with one range replaced; the span covers what was put there."""
    return Edit(kind, text[:start] + new + text[end:], (start, start + len(new)))


def match_case(model: str, word: str) -> str:
    """The word in upper case at its start where the model has it."""
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def number(text: str, _document: Sequence[str], rng: random.Random) -> Edit | None:
    """Change one number; years stay years and the written form (commas, decimals) is kept."""
    found = list(NUMBER.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    shown = match.group()
    value = float(shown.replace(",", ""))
    decimals = len(shown.split(".")[1]) if "." in shown else 0
    if decimals == 0 and 1100 <= value <= 2100 and "," not in shown:
        new = value + rng.choice((-1, 1)) * rng.choice((1, 1, 2, 3, 5, 10, 17))
    elif decimals == 0 and value <= 12:
        new = rng.choice([n for n in range(1, 15) if n != value])
    else:
        new = value * rng.choice((0.1, 0.5, 0.8, 0.9, 1.1, 1.25, 2, 10)) + rng.choice((0, 1, 2))
    written = f"{new:,.{decimals}f}" if "," in shown else f"{new:.{decimals}f}"
    if float(written.replace(",", "")) == value:
        return None
    return replace("number", text, *match.span(), written)


def number_word(text: str, _document: Sequence[str], rng: random.Random) -> Edit | None:
    """Change one number that is written as a word."""
    found = list(re.finditer(rf"\b(?:{'|'.join(WORD_NUMBERS[1:])})\b", text, re.IGNORECASE))
    if not found:
        return None
    match = rng.choice(found)
    new = rng.choice([w for w in WORD_NUMBERS[1:] if w != match.group().lower()])
    return replace("number", text, *match.span(), match_case(match.group(), new))


def month(text: str, _document: Sequence[str], rng: random.Random) -> Edit | None:
    """Change one month."""
    found = [
        m
        for m in re.finditer(rf"\b(?:{'|'.join(MONTHS)})\b", text)
        if m.group() != "May" or re.match(r"\s\d", text[m.end() :])
    ]
    if not found:
        return None
    match = rng.choice(found)
    return replace("date", text, *match.span(), rng.choice([m for m in MONTHS if m != match.group()]))


def name(text: str, document: Sequence[str], rng: random.Random) -> Edit | None:
    """Put another name of the document in a name's place."""
    here = list(NAME.finditer(text))
    there = sorted({m.group() for s in document for m in NAME.finditer(s)} - {m.group() for m in here} - set(MONTHS))
    there = [n for n in there if n not in text]
    if not here or not there:
        return None
    match = rng.choice(here)
    same_length = [n for n in there if len(n.split()) == len(match.group().split())] or there
    return replace("name", text, *match.span(), rng.choice(same_length))


def wrong_subject(text: str, document: Sequence[str], rng: random.Random) -> Edit | None:
    """Give the claim a number that the document says of something else."""
    here = list(NUMBER.finditer(text))
    there = sorted({m.group() for s in document for m in NUMBER.finditer(s) if s != text} - {m.group() for m in here})
    if not here or not there:
        return None
    match = rng.choice(here)
    alike = [n for n in there if len(n) == len(match.group())] or there
    return replace("wrong_subject", text, *match.span(), rng.choice(alike))


def role(text: str, _document: Sequence[str], rng: random.Random) -> Edit | None:
    """Swap two names of the sentence; the span runs from the first to the second."""
    found = list(NAME.finditer(text))
    pairs = [
        (a, b)
        for i, a in enumerate(found)
        for b in found[i + 1 :]
        if a.group() != b.group() and " and " not in text[a.end() : b.start()]
    ]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    claim = text[: a.start()] + b.group() + text[a.end() : b.start()] + a.group() + text[b.end() :]
    return Edit("role", claim, (a.start(), b.end()))


def negation(text: str, _document: Sequence[str], rng: random.Random) -> Edit | None:
    """Negate the main verb, or take a negation away."""
    negated = list(
        re.finditer(r"\b(is|was|are|were|has|have|had|will|would|could|should|did|does|do|must)( not)\b", text)
    )
    if negated:
        match = rng.choice(negated)
        return Edit("negation", text[: match.end(1)] + text[match.end() :], match.span(1))
    match_ = AUXILIARY.search(text)
    if match_ is None:
        return None
    return Edit("negation", text[: match_.end()] + " not" + text[match_.end() :], (match_.start(), match_.end() + 4))


def swap(kind: str) -> Callable[[str, Sequence[str], random.Random], Edit | None]:
    """An edit that puts a word's counterpart in its place."""

    def edit(text: str, _document: Sequence[str], rng: random.Random) -> Edit | None:
        both = [*SWAPS[kind], *((b, a) for a, b in SWAPS[kind] if kind in ("comparative", "order", "antonym"))]
        found = [(m, new) for old, new in both for m in re.finditer(rf"\b{re.escape(old)}\b", text, re.IGNORECASE)]
        if not found:
            return None
        match, new = rng.choice(found)
        return replace(kind, text, *match.span(), match_case(match.group(), new))

    return edit


EDITS: tuple[tuple[str, int, Callable[[str, Sequence[str], random.Random], Edit | None]], ...] = (
    ("number", 5, number),
    ("number_word", 2, number_word),
    ("month", 2, month),
    ("name", 5, name),
    ("wrong_subject", 3, wrong_subject),
    ("role", 2, role),
    ("negation", 2, negation),
    *((kind, 2, swap(kind)) for kind in SWAPS),
)


def shorten(text: str, rng: random.Random) -> str:
    """A true, shorter form: parentheses, leading adverbs or trailing participial clauses left out."""
    shorter = re.sub(r"\s*\([^()]*\)", "", text) if rng.random() < 0.7 else text
    if rng.random() < 0.5:
        shorter = re.sub(
            r",\s(?:including|such as|making|following|according to|while|although|especially)\b[^,]*(?=[.,]|$)",
            "",
            shorter,
        )
    return shorter


def usable(sentence: str) -> bool:
    """Whether a sentence stands on its own as a claim."""
    words = sentence.split()
    return (
        6 <= len(words) <= 36 and sentence[0].isupper() and sentence[-1] in ".!" and not LEADING_PRONOUN.match(sentence)
    )


def rows_from_document(evidence: Sequence[str], rng: random.Random) -> list[Row]:
    """Rows made from one document: true claims, edited twins, and a claim whose evidence was taken away."""
    pieces = [s for text in evidence for s in sentences(text)]
    good = [s for s in pieces if usable(s)]
    if len(pieces) < 2 or not good:
        return []
    rows: list[Row] = []
    true = rng.choice(good)
    rows.append(Row("edit:true", (" ".join(pieces),), shorten(true, rng), "supported"))
    order = [e for e in EDITS for _ in range(e[1])]
    for _ in range(rng.choice((1, 1, 2))):
        sentence = shorten(rng.choice(good), rng)
        rng.shuffle(order)
        for _kind, _weight, make in order:
            edit = make(sentence, pieces, rng)
            if edit is not None:
                rows.append(
                    Row(f"edit:{edit.kind}", (" ".join(pieces),), edit.claim, "contradicted", spans=(edit.span,))
                )
                if rng.random() < 0.5:  # the unedited twin, so that nothing but the edit tells the two apart
                    rows.append(Row("edit:true", (" ".join(pieces),), sentence, "supported"))
                break
    if len(good) >= 2 and len(pieces) >= 3 and rng.random() < 0.6:
        absent = rng.choice(good)
        rest = [s for s in pieces if s != absent]
        rows.append(Row("edit:absent", (" ".join(rest),), shorten(absent, rng), "unsupported"))
    return rows


def make_rows(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """About `count` rows from the documents of `rows`, each document used once; order is seeded."""
    rng = random.Random(seed)
    documents = sorted(
        {
            row.evidence
            for row in rows
            if 25 <= sum(len(e.split()) for e in row.evidence) <= 900 and "\n" not in row.evidence[0]
        }
    )
    rng.shuffle(documents)
    made: list[Row] = []
    for evidence in documents:
        made.extend(rows_from_document(evidence, rng))
        if len(made) >= count:
            break
    return made
