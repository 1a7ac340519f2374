"""How often the ranking finds the evidence: recall of the sentences that annotators marked as deciding.

    python benchmarks/selector.py ../shared/data/train

Reads wice_claim.dev (a claim and a whole web page in sentences) and the marked sentences out of wice_claim_oracle.dev.
A marked sentence is found in a premise that contains all of its words in order. Reported for supported claims: the
share of marked sentences found, and of claims of which all are found, by number of windows and for the assembled
premise.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.models.cross_encoder import OnnxCrossEncoder
from assay.models.manifest import EMBEDDED
from assay.retrieve.premises import EvidenceIndex, PremiseOptions
from assay.schema import Evidence
from assay.schema.premise import ClaimCandidates


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a compressed JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def marked_sentences(path: Path) -> dict[str, set[str]]:
    """By claim id the sentences marked as its evidence, normalised in space."""
    marked: dict[str, set[str]] = {}
    for row in rows(path):
        where = dict(zip(row["meta"].get("chunk_idx", ()), row["evidence"], strict=False))
        found = {" ".join(where[i].split()) for i in row["meta"].get("oracle_idx", ()) if i in where}
        marked.setdefault(row["response_id"], set()).update(found)
    return marked


def found_in(candidates: ClaimCandidates, granularity: str, wanted: set[str]) -> int:
    """How many of the wanted sentences stand in some premise of a granularity."""
    texts = [" ".join(p.text.split()) for p in candidates.premises if p.granularity == granularity]
    return sum(any(sentence in text for text in texts) for sentence in wanted)


def main() -> None:
    """Print the recall table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder that holds the wice files")
    parser.add_argument(
        "--model", default=str(EMBEDDED), help="directory whose tokenizer counts; the embedded one by default"
    )
    args = parser.parse_args()
    count_tokens = OnnxCrossEncoder.load(args.model).count_tokens
    marked = marked_sentences(args.folder / "wice_claim_oracle.dev.jsonl.gz")
    claims = [
        r for r in rows(args.folder / "wice_claim.dev.jsonl.gz") if r["label"] == "supported" and marked.get(r["id"])
    ]
    settings = [("document, 112 tokens", "document", 1), *((f"{k} windows", "passage", k) for k in (1, 2, 3, 4, 8, 16))]
    settings += [(f"{k} sentences", "sentence", k) for k in (1, 2, 4)]
    totals = {name: [0, 0] for name, _, _ in settings}
    windows = sentences = 0
    spent = 0.0
    for row in claims:
        wanted = marked[row["id"]]
        index = EvidenceIndex([Evidence(id="page", text="\n".join(row["evidence"]))], count_tokens)
        windows += len(index.windows)
        sentences += len(wanted)
        begin = time.perf_counter()
        ranked = index.candidates(row["claim"], passages=16, sentences=4)
        spent += time.perf_counter() - begin
        for name, granularity, k in settings:
            own = [p for p in ranked.premises if p.granularity == granularity][:k]
            hits = found_in(ClaimCandidates(row["claim"], tuple(own)), granularity, wanted)
            totals[name][0] += hits
            totals[name][1] += hits == len(wanted)
    print(f"{len(claims)} supported claims, {windows / len(claims):.0f} windows a page, {PremiseOptions().windows}")
    print(f"ranking and assembling: {1e3 * spent / len(claims):.2f} ms a claim\n")
    print("| read | marked sentences found | claims with all of them |\n|---|---|---|")
    for name, (hits, whole) in totals.items():
        print(f"| {name} | {hits / sentences:.3f} | {whole / len(claims):.3f} |")


if __name__ == "__main__":
    main()
