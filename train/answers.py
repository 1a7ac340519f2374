"""Rows in answer form from labelled claims: what a person labelled as a whole, and answers put together.

    python -m train.answers --data ../shared/data --part test --out ../answers.jsonl.gz
    assay eval ../answers.jsonl.gz

An answer is wrong if anything in it is wrong. No set of the training data labels long answers over the passages of a
search, so they are put together here, from claims that people labelled: `told_SET` are answers of `LEAST` to `MOST`
supported claims of one set beside the evidence of all of them, of which one in `WRONG_EVERY` has one claim more that
people found wrong. Sentences that claim nothing stand in front, between and behind, as in answers of chat models; they
were written for this file. The rows of `NATIVE`, summaries and replies of one or more sentences, come as they are.

The sides of the split are those of `train/rows.py`: an answer's evidence lies on one side altogether.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.text.claims.pronouns import opens_with_pronoun
from assay.text.lexicon.tokens import tokenise
from train.held_out import chosen, write
from train.rows import Part, Row, detokenise, fold, load_training_sets, part_of

NATIVE = (
    "begin_cmudog",
    "begin_topicalchat",
    "begin_wow",
    "bump_task1",
    "bump_task2",
    "defacto",
    "factcheck_gpt",
    "faithdial_audit",
    "halueval_qa500",
    "q2_wow_cross",
    "storysumm",
    "summedits_ectsum",
    "summedits_qmsumm",
    "summedits_sales_email",
    "summedits_samsum",
    "wice_claim",
    "wice_claim_oracle",
)
"""Sets whose claims are answers, summaries or sentences of one, labelled as a whole."""
TOLD = (
    "checkcovid",
    "defacto",
    "factcheck_gpt",
    "fever_rte",
    "fevernli_binary",
    "fm2",
    "infotabs",
    "scifact_rte",
    "wice_claim_oracle",
)
"""Sets whose claims are sentences that can stand beside others in an answer."""

LEAST, MOST = 3, 8
"""Claims of an answer."""
PASSAGES = 8
"""Documents beside an answer at most; those of a search."""
IDLE = 2
"""Of these, how many bring no claim at most."""
WRONG_EVERY = 5
"""One answer in so many has a wrong claim."""
NEIGHBOURS = 25
"""How many of the documents closest in words an answer's documents are drawn from."""

OPENERS = (
    "Based on the provided passages, here is what I found:",
    "Sure, here is a brief answer to your question:",
    "Here is a summary of what the passages say.",
    "Great question!",
    "Thank you for your question.",
    "Certainly! Let me summarize the main points.",
    "According to the passages, here are the key points:",
)
ASCRIBED = (
    ("Passage {n} states that ", ""),
    ("According to passage {n}, ", ""),
    ("As mentioned in passage {n}, ", ""),
    ("", " (passage {n})"),
    ("", " (Passage {n})"),
    ("", ", as stated in passage {n}"),
    ("", ", according to passage {n}"),
)
"""How answers say which passage a claim is from: what stands before it and behind it."""
LEADS = ("Based on the given passages, ", "According to the passages, ", "From the information provided, ")
JOINTS = ("Additionally, ", "Furthermore, ", "Also, ", "In addition, ", "Moreover, ", "According to the passages, ")
SMALL = frozenset({"The", "A", "An", "It", "In", "There", "This", "These", "Some", "Most", "His", "Her", "Its"})
"""Words that lose their capital behind a lead-in."""
ASIDES = (
    "The passages do not mention anything else about this.",
    "However, the passages do not provide further details.",
    "There is no further information about this in the passages.",
    "Unfortunately, the provided passages do not specify more than that.",
)
CLOSERS = (
    "I hope this helps!",
    "Let me know if you have any further questions.",
    "Please feel free to ask if you need anything else.",
    "I hope this information is helpful to you.",
)


@dataclass(frozen=True)
class Told:
    """One answer put together."""

    source: str
    evidence: tuple[str, ...]
    text: str
    claims: tuple[str, ...]
    """The labelled claims in it, in order."""
    wrong: int | None
    """Which of them is wrong; none where all are supported."""
    span: tuple[int, int] | None
    """Where the wrong claim stands in the text."""


def told(rows: Sequence[Row], part: Part, most: int, seed: int = 3) -> Iterator[Told]:
    """Answers put together from the claims of one side of the split.

    Args:
        rows: all rows.
        part: the side of the split.
        most: answers of each set.
        seed: of what is drawn.
    """
    for source in TOLD:
        pool = [row for row in rows if row.source == source and part_of(row) == part and row.question is None]
        rng = random.Random(f"{seed} {source} {part}")
        documents: dict[str, list[Row]] = {}
        for row in pool:
            documents.setdefault(row.document, []).append(row)
        borne_out = {fold(row.claim) for row in pool if row.label == "supported"}
        words = {document: frozenset(document.split()) for document in documents}
        for number in range(most if documents else 0):
            made = _told(rng, documents, words, borne_out, wrong=number % WRONG_EVERY == 0)
            if made is not None:
                yield made


def _told(
    rng: random.Random,
    documents: dict[str, list[Row]],
    words: dict[str, frozenset[str]],
    borne_out: set[str],
    *,
    wrong: bool,
) -> Told | None:
    """One answer about a document drawn at random and those closest to it; none where claims are lacking."""
    first = rng.choice(sorted(documents))
    near = sorted(documents, key=lambda other: (-_alike(words[first], words[other]), other))[:NEIGHBOURS]
    wanted = rng.randint(LEAST, MOST)
    good: list[Row] = []
    faulty: list[Row] = []
    passages: list[str] = []
    idle = 0
    others = near[1:]
    rng.shuffle(others)
    for document in [first, *others]:
        if len(passages) == PASSAGES or (len(good) >= wanted and (faulty or not wrong)):
            break
        members = documents[document]
        brings = any(row.label == "supported" or wrong for row in members)
        if not brings and idle == IDLE:
            continue
        idle += not brings
        passages.append(document)
        alone = [row for row in members if not opens_with_pronoun(tokenise(row.claim))]
        good += [row for row in alone if row.label == "supported"]
        faulty += [row for row in alone if row.label != "supported" and fold(row.claim) not in borne_out]
    good = list({fold(row.claim): row for row in good}.values())
    if len(good) < LEAST or (wrong and not faulty):
        return None
    rng.shuffle(good)
    parts = good[: wanted - 1] if wrong else good[:wanted]
    at = None
    if wrong:
        at = rng.randint(0, len(parts))
        parts = [*parts[:at], rng.choice(faulty), *parts[at:]]
    # Evidence of a document whose claims were not taken stays: a search finds more than an answer tells.
    rng.shuffle(passages)
    pieces = ["\n".join(map(detokenise, documents[document][0].evidence)).strip() for document in passages]
    numbers = [passages.index(row.document) + 1 for row in parts]
    text, spans = _written(rng, [detokenise(row.claim) for row in parts], numbers)
    return Told(
        source=f"told_{parts[0].source}",
        evidence=tuple(piece for piece in dict.fromkeys(pieces) if piece),
        text=text,
        claims=tuple(row.claim for row in parts),
        wrong=at,
        span=None if at is None else spans[at],
    )


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity of two documents' words."""
    return len(one & other) / len(one | other) if one | other else 0.0


def _written(rng: random.Random, claims: Sequence[str], numbers: Sequence[int]) -> tuple[str, list[tuple[int, int]]]:
    """The text of an answer, and where each claim stands in it; half of all answers name the passages by number."""
    text = rng.choice(OPENERS) + " " if rng.random() < 0.6 else ""
    spans = []
    aside = rng.randrange(len(claims)) if rng.random() < 0.25 else -1
    ascribes = rng.random() < 0.5
    for number, (claim, passage) in enumerate(zip(claims, numbers, strict=True)):
        bare = claim.strip()
        bare, end = (bare[:-1], bare[-1]) if bare.endswith((".", "!", "?")) else (bare, ".")
        bare = bare[:1].upper() + bare[1:]
        lead, tail = "", ""
        if ascribes and rng.random() < 0.5:
            lead, tail = (part.format(n=passage) for part in rng.choice(ASCRIBED))
        elif number == 0 and not text and rng.random() < 0.7:
            lead = rng.choice(LEADS)
        elif number and rng.random() < 0.3:
            lead = rng.choice(JOINTS)
        if lead and bare.split(" ", 1)[0] in SMALL:
            bare = bare[:1].lower() + bare[1:]
        spans.append((len(text) + len(lead), len(text) + len(lead) + len(bare)))
        text += lead + bare + tail + end + " "
        if number == aside:
            text += rng.choice(ASIDES) + " "
    if rng.random() < 0.4:
        text += rng.choice(CLOSERS)
    return text.rstrip(), spans


def records(rows: Sequence[Row], part: Part, most: int | None, answers: int) -> Iterator[dict[str, Any]]:
    """Rows of `NATIVE` and answers put together, in the form that `assay eval` reads, `answer` in place of `claim`."""
    for row in chosen([row for row in rows if row.source in NATIVE], part, most):
        evidence = [detokenise(piece) for piece in row.evidence if piece.strip()]
        answer = detokenise(row.claim)
        if not evidence or not answer.strip():
            continue
        name = _name(f"{row.document}\0{fold(row.claim)}\0{row.label}")
        record = {"set": row.source, "id": name, "evidence": evidence, "answer": answer, "label": row.label}
        yield record | ({"question": row.question} if row.question is not None else {})
    for one in told(rows, part, answers):
        label = "supported" if one.wrong is None else "not_supported"
        name = _name("\0".join([*one.evidence, one.text]))
        spans = [] if one.span is None else [list(one.span)]
        yield {
            "set": one.source,
            "id": name,
            "evidence": list(one.evidence),
            "answer": one.text,
            "label": label,
            "spans": spans,
        }


def _name(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def main() -> None:
    """Read arguments, choose and put together, write, print the rows of each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--part", choices=("test", "fit"), default="test")
    parser.add_argument("--most", type=int, default=120, help="rows of each labelled set, to the end of a document")
    parser.add_argument("--answers", type=int, default=60, help="answers put together of each set")
    arguments = parser.parse_args()
    rows = load_training_sets(arguments.data)
    counts = write(arguments.out, records(rows, arguments.part, arguments.most, arguments.answers))
    for name, count in sorted(counts.items()):
        print(f"{name:28}{count:7}")
    print(f"{'all':28}{counts.total():7}")


if __name__ == "__main__":
    main()
