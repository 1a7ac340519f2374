"""Evidence of real documents, named in a scenario rather than repeated.

A fifth of the scenarios are claims of ours about documents of public sets. The claims are the project's own; the
documents are not, so that a passage names its set, the SHA-256 of the folded document (`train.rows.fold` of all its
passages, joined by spaces) and which passage of it is meant:

    {"id": "1", "document": "mtrag_human_eval", "sha256": "5e0b...", "passage": 0}

So that no sentence of a document stands in a claim either, claims repeat fewer than `MOST_REPEATED` of its words in a
row. Whoever has the labelled data reads them as they are; without the data such scenarios are left out and counted.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from train.rows import fold

MOST_REPEATED = 8
"""From so many words in a row on a claim would carry a sentence of somebody else's document."""
DATA = Path(__file__).resolve().parents[2] / "shared/data"
"""Where the labelled data lie beside the project; `ASSAY_TRAINING_DATA` names another folder."""


def digest_of_document(passages: Iterable[str]) -> str:
    """The identity of a document: SHA-256 of its folded text.

    >>> digest_of_document(["The fee:", "40 EUROS."]) == digest_of_document(["the fee 40 euros"])
    True
    """
    return hashlib.sha256(fold(" ".join(passages)).encode()).hexdigest()


def repeated_words(claim: str, evidence: str) -> int:
    """The longest run of words of a claim that stands in its evidence, letter case and punctuation aside.

    >>> repeated_words("The fee of 40 euros is due in May.", "A fee of 40 euros, paid in May.")
    4
    """
    wanted, there = fold(claim).split(), fold(evidence).split()
    places: dict[str, list[int]] = {}
    for at, word in enumerate(there):
        places.setdefault(word, []).append(at)
    longest, before = 0, dict[int, int]()
    for word in wanted:
        before = {at: before.get(at - 1, 0) + 1 for at in places.get(word, ())}
        longest = max(longest, *before.values(), 0)
    return longest


@functools.cache
def documents_of(name: str, data: Path) -> dict[str, tuple[str, ...]]:
    """The documents of all files of a set by their digests; empty where the data are not there."""
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted((data / "train").glob(f"{name}.*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                passages = tuple(json.loads(line)["evidence"])
                found.setdefault(digest_of_document(passages), passages)
    return found


def data_folder() -> Path:
    """The folder of labelled data."""
    return Path(os.environ.get("ASSAY_TRAINING_DATA", DATA))


def with_documents(scenarios: Iterable[dict[str, Any]], data: Path | None = None) -> Iterator[dict[str, Any]]:
    """The scenarios with the text of the documents that they name.

    Args:
        scenarios: as they stand in a file.
        data: the folder of labelled data; `data_folder()` if not given.

    Yields:
        Those whose evidence is all there, in their order.
    """
    folder = data_folder() if data is None else data
    for scenario in scenarios:
        evidence = [_resolved(passage, folder) for passage in scenario["evidence"]]
        if all("text" in passage for passage in evidence):
            yield {**scenario, "evidence": evidence}


def _resolved(passage: dict[str, Any], folder: Path) -> dict[str, Any]:
    if "document" not in passage:
        return passage
    passages = documents_of(passage["document"], folder).get(passage["sha256"])
    if passages is None:
        return passage
    text = "\n".join(passages) if passage["passage"] is None else passages[passage["passage"]]
    return {key: value for key, value in passage.items() if key in ("id", "title", "date")} | {"text": text}
