"""Labelled answers and summaries as the verifier reads them: cut into sentences, beside assembled evidence.

People labelled whole answers and summaries; in use each sentence is judged by itself, beside the sentences of the
evidence that bear on it (`assay.retrieve.premises`). Of an answer that is right every sentence is right; of one whose
wrong words are marked those sentences are wrong in which they stand. Of one that is wrong somewhere nobody knows
where, so that it stays whole.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from assay.models.cross_encoder import OnnxCrossEncoder
from assay.retrieve.premises import EvidenceIndex, PremiseOptions
from assay.schema import Evidence
from assay.text.sentences.splitting import split_sentences
from train.rows import Row

WEIGHTS = Path(__file__).resolve().parents[1] / "src/assay/models/weights"
ASSEMBLED = "assembled:"
"""What the set of a row begins with whose evidence was assembled."""
SUMMARIES = frozenset(
    {
        "xsumfaith",
        "cliff",
        "fib_xsum",
        "defacto",
        "storysumm",
        "bump_task1",
        "bump_task2",
        "summedits_ectsum",
        "summedits_qmsumm",
        "summedits_sales_email",
        "summedits_samsum",
        "faithdial_audit",
        "begin_wow",
        "begin_cmudog",
        "begin_topicalchat",
        "q2_wow_cross",
        "factcheck_gpt",
        "wice_claim",
        "wice_claim_oracle",
        "wice_nonsupported_tokens",
        "bamboo_senhallu_4k",
        "bamboo_abshallu_4k",
    }
)
"""Sets of summaries, replies in dialogues and claims against web passages that people labelled."""
SHORTEST = 4
"""Words of a sentence that is judged by itself."""


def by_sentence(row: Row) -> Iterator[Row]:
    """The sentences of a text, each with what its label says of it; the whole text where that says nothing of them.

    >>> text = "The fee is 40 euros. It is due in the month of May."
    >>> whole = Row("x", ("e",), text, "not_supported", spans=((11, 13),))
    >>> [(part.claim, part.label, part.spans) for part in by_sentence(whole)]
    [('The fee is 40 euros.', 'not_supported', ((11, 13),)), ('It is due in the month of May.', 'supported', ())]
    """
    if row.label != "supported" and not row.spans:
        yield row
        return
    pieces = split_sentences(row.claim)
    if len(pieces) < 2 or any(len(row.claim[piece.start : piece.end].split()) < SHORTEST for piece in pieces):
        yield row
        return
    for piece in pieces:
        inside = tuple(
            (max(start, piece.start) - piece.start, min(end, piece.end) - piece.start)
            for start, end in row.spans
            if start < piece.end and end > piece.start
        )
        label = row.label if inside else "supported"
        yield replace(row, claim=row.claim[piece.start : piece.end], label=label, spans=inside)


def as_read(rows: Sequence[Row], tokens: Sequence[int] = (224, 384), seed: int = 7) -> list[Row]:
    """The sentences of labelled texts, each beside evidence assembled to a length drawn from `tokens`.

    Args:
        rows: answers, summaries or single claims, each with its evidence.
        tokens: lengths in tokens of the network.
        seed: of the lengths.
    """
    rng = random.Random(seed)
    count = OnnxCrossEncoder.load(WEIGHTS).count_tokens
    indices: dict[tuple[tuple[str, ...], int], EvidenceIndex] = {}
    found = []
    for row in rows:
        size = rng.choice(tokens)
        passages = tuple(text for text in row.evidence if text.strip())
        if not passages:
            continue
        index = indices.get((passages, size))
        if index is None:
            evidence = [Evidence(id=str(place), text=text) for place, text in enumerate(passages, 1)]
            index = indices[passages, size] = EvidenceIndex(evidence, count, PremiseOptions(document_tokens=size))
        for part in by_sentence(row):
            read = f"{part.question} {part.claim}" if part.question else part.claim
            premises = index.candidates(read).premises
            shown = next((one for one in premises if one.granularity == "document"), premises[0])
            found.append(replace(part, source=f"{ASSEMBLED}{row.source}", evidence=(shown.text,)))
    return found
