"""The two loops that assay is timed against, run by an interpreter that has torch; asked by speed.py.

    PYTHON benchmarks/speed_torch.py CHECKPOINT PAIRS.json

PAIRS.json is a list of [premise, claim]. Prints one JSON object: for each loop seconds and the outputs of every pair.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import CrossEncoder
from transformers import AutoTokenizer, pipeline


def one_by_one(checkpoint: str, pairs: list[list[str]]) -> tuple[float, list[list[float]]]:
    """The common loop: a transformers pipeline asked for one pair at a time."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    ask = pipeline("text-classification", model=checkpoint, tokenizer=tokenizer, top_k=None, device=-1)
    index = ask.model.config.label2id
    ask([{"text": pairs[0][0], "text_pair": pairs[0][1]}])
    begin = time.perf_counter()
    answers: list[Any] = [ask({"text": p, "text_pair": c}, truncation=True) for p, c in pairs]
    seconds = time.perf_counter() - begin
    rows = []
    for answer in answers:
        flat = answer[0] if isinstance(answer[0], list) else answer
        rows.append([s["score"] for s in sorted(flat, key=lambda s: index[s["label"]])])
    return seconds, rows


def in_batches(checkpoint: str, pairs: list[list[str]]) -> tuple[float, list[list[float]]]:
    """sentence-transformers: the same pairs in batches of 32."""
    model = CrossEncoder(checkpoint, device="cpu")
    single = model.model.config.num_labels == 1
    act = torch.nn.Sigmoid() if single else torch.nn.Softmax(dim=-1)
    model.predict([tuple(pairs[0])], activation_fn=act, show_progress_bar=False)
    begin = time.perf_counter()
    scores = model.predict([tuple(p) for p in pairs], batch_size=32, activation_fn=act, show_progress_bar=False)
    seconds = time.perf_counter() - begin
    return seconds, scores.reshape(len(pairs), -1).tolist()


def main() -> None:
    """Time both loops over the pairs."""
    checkpoint, path = sys.argv[1], Path(sys.argv[2])
    pairs = json.loads(path.read_text(encoding="utf-8"))
    result = {}
    for name, loop in (("pipeline", one_by_one), ("sentence-transformers", in_batches)):
        seconds, rows = loop(checkpoint, pairs)
        result[name] = {"seconds": seconds, "rows": rows}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
