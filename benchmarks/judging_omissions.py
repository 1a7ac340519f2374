"""Omissions as the rules find them: python -m benchmarks.judging_omissions [DATA] [--rows N].

Pairs of answers to the same evidence, all made up here: one leaves a qualification out, one says it, half of the time
in other words. Then, with DATA, supported claims of labelled sets, of which none is known to leave anything out that
matters: each alarm there counts as false.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from assay.schema import Evidence
from assay.text.claims.rule_extractor import RuleClaimExtractor
from assay.verify.exact import index_evidence
from assay.verify.omissions.detection import AnswerClaim, find_omissions

PAIRS: Final = (
    # Evidence, an answer that leaves something out, one that does not.
    (
        "Remote work is permitted subject to manager approval.",
        "Remote work is permitted.",
        "Remote work is permitted if your manager approves.",
    ),
    (
        "Members may borrow books. Books must be returned within 3 weeks.",
        "Members may borrow books.",
        "Members may borrow books and have to return them within three weeks.",
    ),
    (
        "The pool is open to residents, except on Mondays.",
        "The pool is open to residents.",
        "The pool is open to residents on every day but Monday.",
    ),
    (
        "Parking is free for visitors for up to 2 hours.",
        "Parking is free for visitors.",
        "Visitors park free of charge for at most two hours.",
    ),
    (
        "Staff may book taxis with the prior consent of the office manager.",
        "Staff may book taxis.",
        "Staff may book taxis once the office manager has given consent.",
    ),
    (
        "The warranty covers parts and labour. It does not cover batteries.",
        "The warranty covers parts and labour.",
        "The warranty covers parts and labour, batteries excluded.",
    ),
    ("Tickets can be exchanged until 30 June.", "Tickets can be exchanged.", "Tickets can be exchanged by 30 June."),
    (
        "Travel costs are refunded, provided that receipts are enclosed.",
        "Travel costs are refunded.",
        "Travel costs are refunded when you enclose the receipts.",
    ),
    (
        "Pupils may use the laboratory only with a teacher.",
        "Pupils may use the laboratory.",
        "Pupils may use the laboratory together with a teacher.",
    ),
    (
        "Employees get a bonus after 12 months of service.",
        "Employees get a bonus.",
        "Employees get a bonus once they have served a year, that is 12 months.",
    ),
    (
        "The discount applies to all books. It expires after 6 months.",
        "The discount applies to all books.",
        "The discount applies to all books for six months.",
    ),
    (
        "Guests may bring dogs unless they are staying in the annex.",
        "Guests may bring dogs.",
        "Guests may bring dogs, but not into the annex.",
    ),
    (
        "Volunteers are insured. This does not apply to trips abroad.",
        "Volunteers are insured.",
        "Volunteers are insured, though not on trips abroad.",
    ),
    (
        "A refund can be claimed no later than 14 days after purchase.",
        "A refund can be claimed.",
        "A refund can be claimed in the 14 days after purchase.",
    ),
    (
        "Each household may rent at most two garden plots.",
        "Each household may rent garden plots.",
        "Each household may rent two garden plots at most.",
    ),
    (
        "The ointment can be used by adults. It must not be used during pregnancy.",
        "The ointment can be used by adults.",
        "The ointment can be used by adults who are not pregnant.",
    ),
    (
        "Students get the grant if their income is below the limit.",
        "Students get the grant.",
        "Students get the grant where their income stays below the limit.",
    ),
    (
        "The hall may be hired by clubs. Bookings need the approval of the council.",
        "The hall may be hired by clubs.",
        "The hall may be hired by clubs if the council approves.",
    ),
    (
        "Cancellation is free of charge at least 24 hours in advance.",
        "Cancellation is free of charge.",
        "Cancellation is free of charge 24 hours ahead.",
    ),
    (
        "Contractors may enter the site as long as they wear a helmet.",
        "Contractors may enter the site.",
        "Contractors may enter the site with a helmet on.",
    ),
)


def alarms(evidence: list[str], answer: str, question: str | None = None) -> int:
    """How many omissions the rules find in one answer."""
    claims = [
        AnswerClaim(one.text, one.span) for one in RuleClaimExtractor().extract(answer, question) if one.checkable
    ]
    index = index_evidence([Evidence(id=f"e{number}", text=text) for number, text in enumerate(evidence)])
    return len(find_omissions(claims, answer, question, index))


def supported(path: Path, rows: int) -> Iterator[dict[str, Any]]:
    """Supported rows of a set, drawn from a seed."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        held = [row for row in map(json.loads, file) if row["label"] == "supported"]
    random.Random(1).shuffle(held)
    yield from held[:rows]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=300)
    given = parser.parse_args()
    found = sum(bool(alarms([evidence], short)) for evidence, short, _ in PAIRS)
    false = sum(bool(alarms([evidence], whole)) for evidence, _, whole in PAIRS)
    sys.stdout.write(f"own pairs: {found} of {len(PAIRS)} omissions found, {false} of {len(PAIRS)} false alarms\n")
    for path in sorted(given.data.glob("*.jsonl.gz")) if given.data else ():
        begun, number, flagged = time.process_time(), 0, 0
        for row in supported(path, given.rows):
            number += 1
            flagged += bool(alarms(row["evidence"], row["claim"], (row.get("meta") or {}).get("question")))
        spent = 1_000 * (time.process_time() - begun) / max(1, number)
        if number:
            sys.stdout.write(f"{path.name}: {flagged} alarms in {number} supported rows, {spent:.1f} CPU ms a row\n")


if __name__ == "__main__":
    main()
