"""Fits the model that says how likely it is that a passage bears on a question.

    python -m train.fit_relevance --data ../shared/data --cache .work/relevance.json

Rows are questions with passages. A passage is relevant where the set gives it with the question (`SETS`; of sets whose
passages were cited by a system only those that bear a sentence out), and in written scenarios where a right claim of
the answer rests on it; other passages of such a scenario are left out. Not relevant are passages of other questions of
the same set: the six that BM25 likes best, and two drawn by chance; a passage that shares half of its words with a
relevant one is left out. Documents, with their questions, stand on one side of the split alone: 30% of them, and of the
scenarios the held-out batches, are for the figures. Each set weighs the same, half of it on its relevant rows.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.models.cross_encoder import OnnxCrossEncoder
from assay.retrieve.ranking import WindowRanker
from assay.retrieve.relevance import (
    RelevanceModel,
    best_windows,
    network_features,
    network_scores,
    parse_question,
    stems_of,
    word_features,
)
from assay.schema import Evidence, Window
from assay.stats.calibration import ece
from assay.stats.classification import auroc
from train.fit_combination import fit
from train.rows import bucket, fold
from train.scenario_rows import WEIGHTS, Side, batches, evidence_of, kept_claims

SETS: dict[str, bool] = {
    "condaqa.dev_test123": False,
    "pubmedqa_yesno.labelled": False,
    "halueval_qa500.gen": False,
    "mtrag_human_eval.all": False,
    "refchecker_dolly_answers.all": False,
    "expertqa.val": True,
    "expertqa_ab.dev": True,
    "stanford_gensearch.dev": True,
    "attributedqa.dev": True,
}
"""The sets, and whether only passages count that bear out what cites them."""
MOST_FIT, MOST_TEST = 30, 22
"""Questions of a set for fitting and for the figures; of the scenarios three times as many."""
HARD, EASY = 6, 2
"""Passages of other questions: those that BM25 likes best, and those drawn by chance."""
KIN = 0.5
"""A passage that shares this much of the content words of the shorter one may well be relevant too."""
TEST_BUCKETS = range(8, 38)
RESTS_ON = 0.4
"""The share of a claim's words that the passage has which it rests on."""
LONGEST = 6_000
MINIMUMS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)


@dataclass(frozen=True)
class Question:
    """A question and its relevant passages."""

    source: str
    test: bool
    text: str
    passages: tuple[str, ...]


@dataclass(frozen=True)
class Pooled:
    """A passage in the pool of a question."""

    text: str
    relevant: bool
    bm25: float


def public_questions(data: Path) -> Iterator[Question]:
    """Questions of the public sets."""
    rng = random.Random(3)
    for name, cited in SETS.items():
        found: dict[str, dict[str, None]] = {}
        with gzip.open(data / "train" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for raw in map(json.loads, lines):
                question = raw.get("question") or (raw.get("meta") or {}).get("question")
                if question and not (cited and raw["label"] != "supported"):
                    texts = [one if isinstance(one, str) else one["text"] for one in raw["evidence"]]
                    found.setdefault(question, {}).update(
                        dict.fromkeys(text[:LONGEST] for text in texts if text.strip())
                    )
        asked = sorted(found.items())
        rng.shuffle(asked)
        seen: set[str] = set()
        for question, passages in asked:
            texts = list(passages)[:4]
            if not texts or any(text[:80] in seen for text in texts):
                continue  # versions of one passage, edited by people, would be each other's wrong passages
            seen.update(text[:80] for text in texts)
            yield Question(name.split(".")[0], bucket(fold(texts[0])) in TEST_BUCKETS, question, tuple(texts))


def written_questions() -> Iterator[Question]:
    """Questions of the written scenarios, with the passages that right claims of the answer rest on."""
    rng = random.Random(4)
    sides: tuple[Side, ...] = ("train", "fit", "test")
    for side in sides:
        scenarios = [one for found in batches(side).values() for one in found if one.get("question", "").strip()]
        rng.shuffle(scenarios)
        for scenario in scenarios:
            texts = [f"{item.title or ''} {item.text}".strip() for item in evidence_of(scenario)]
            stems = [set(stems_of(text)) for text in texts]
            answered = set(scenario.get("in_answer") or range(len(scenario["claims"])))
            wanted: set[int] = set()
            for place, claim in kept_claims(scenario):
                said = set(stems_of(claim["text"]))
                if claim["label"] == "supported" and place in answered and said and stems:
                    shares = [len(said & one) / len(said) for one in stems]
                    wanted |= {n for n, share in enumerate(shares) if share == max(shares) and share >= RESTS_ON}
            if wanted:
                passages = tuple(texts[n][:LONGEST] for n in sorted(wanted))
                yield Question("scenario", side == "test", scenario["question"], passages[:4])


def pools(questions: Sequence[Question]) -> Iterator[tuple[Question, list[Pooled]]]:
    """Each question with its passages and those of others, as many questions of a set and a side as are asked for."""
    rng = random.Random(5)
    sides: dict[tuple[str, bool], list[Question]] = defaultdict(list)
    for question in questions:
        sides[question.source, question.test].append(question)
    for (source, test), asked in sorted(sides.items()):
        texts = list(dict.fromkeys(text for question in asked for text in question.passages))
        stems = [set(stems_of(text)) for text in texts]
        place = {text: n for n, text in enumerate(texts)}
        ranker = WindowRanker([Window(str(n), 0, len(text), text) for n, text in enumerate(texts)])
        most = (MOST_TEST if test else MOST_FIT) * (3 if source == "scenario" else 1)
        for question in asked[:most]:
            own = [place[text] for text in question.passages]
            scores = ranker.score(question.text)

            def stranger(n: int, own: Sequence[int] = own, stems: Sequence[set[str]] = stems) -> bool:
                return n not in own and all(
                    len(stems[n] & stems[o]) < KIN * min(len(stems[n]), len(stems[o])) for o in own
                )

            hard = [n for n in ranker.top(question.text, 40) if stranger(n)][:HARD]
            rest = [n for n in range(len(texts)) if n not in hard and stranger(n)]
            chosen = [*hard, *rng.sample(rest, min(EASY, len(rest)))]
            yield question, [Pooled(texts[n], n in own, scores[n]) for n in (*own, *chosen)]


Features = dict[str, float]


def features_of(question: str, passages: Sequence[str], scorer: OnnxCrossEncoder) -> list[Features]:
    """The features of each passage, and the network's bare scores beside them."""
    asked = parse_question(question)
    items = [Evidence(id=str(n), text=text) for n, text in enumerate(passages)]
    read = best_windows(question, items, scorer)
    bare = scorer.score([(one.text, asked.text) for one in read if one is not None]).tolist()
    found = []
    for one, heard in zip(read, network_scores(asked, read, scorer), strict=True):
        if one is None:
            raise ValueError("a passage of the pool says nothing")
        own = bare.pop(0)
        features = {**word_features(asked, one), **network_features(heard)}
        found.append({**features, "bare_entail": own[0], "bare_related": 1 - own[1]})
    return found


def cached(
    pooled: Sequence[tuple[Question, list[Pooled]]], path: Path, scorer: OnnxCrossEncoder
) -> list[list[Features]]:
    """The features of all pools, kept in a file by the network's digest and the texts."""
    known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = []
    for number, (question, pool) in enumerate(pooled, start=1):
        texts = "\0".join(one.text for one in pool)
        key = hashlib.sha256(f"{scorer.digest}\0{question.text}\0{texts}".encode()).hexdigest()[:24]
        if key not in known:
            known[key] = features_of(question.text, [one.text for one in pool], scorer)
        found.append(known[key])
        if number % 50 == 0 or number == len(pooled):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(known), encoding="utf-8")
            print(f"{number} of {len(pooled)} questions", flush=True)
    return found


Row = tuple[Question, Pooled, Features]


def ndcg(rows: Sequence[Row], score: Callable[[Row], float], places: int = 5) -> float:
    """The mean over questions of DCG@5 over the best there is (Järvelin and Kekäläinen 2002), with gains 0 and 1."""
    by_question: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by_question[row[0].source, row[0].text].append(row)
    values = []
    for pool in by_question.values():
        ranked = sorted(pool, key=lambda row: -score(row))[:places]
        gained = math.fsum(row[1].relevant / math.log2(n + 2) for n, row in enumerate(ranked))
        best = min(places, sum(row[1].relevant for row in pool))
        values.append(gained / math.fsum(1 / math.log2(n + 2) for n in range(best)))
    return math.fsum(values) / len(values)


def report(rows: Sequence[Row], model: RelevanceModel) -> None:
    """Print ranking, calibration, and what each minimum drops."""

    def fitted(row: Row) -> float:
        return model.probability(row[2])

    ways: dict[str, Callable[[Row], float]] = {
        "BM25": lambda row: row[1].bm25,
        "bare cross-encoder, entailment": lambda row: row[2]["bare_entail"],
        "bare cross-encoder, not neutral": lambda row: row[2]["bare_related"],
        "fitted": fitted,
    }
    truth = np.array([row[1].relevant for row in rows])
    for name, score in ways.items():
        value = auroc(truth, np.array([score(row) for row in rows])).value
        print(f"{name:34} nDCG@5 {ndcg(rows, score):.3f}  AUROC {value:.3f}")
    for source in sorted({row[0].source for row in rows}):
        some = [row for row in rows if row[0].source == source]
        said = [
            f"{auroc(np.array([r[1].relevant for r in some]), np.array([ways[n](r) for r in some])).value:.3f}"
            for n in ("BM25", "bare cross-encoder, not neutral", "fitted")
        ]
        print(f"  {source:28} AUROC of BM25, bare, fitted: {', '.join(said)}  ({len(some)} rows)")
    chances = np.array([fitted(row) for row in rows])
    wanted, others = chances[truth], chances[~truth]
    drawn = np.random.default_rng(1).choice(len(others), size=len(wanted))
    balanced = np.concatenate([wanted, others[drawn]])
    print(f"ECE at equal shares {ece(balanced, np.arange(len(balanced)) < len(wanted)):.3f}")
    for least in MINIMUMS:
        lost, spared = np.mean(wanted < least), np.mean(others < least)
        print(f"minimum {least:4}: drops {lost:.1%} of relevant, {spared:.1%} of others")


def main() -> None:
    """Build the pools, fit, report, write the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("src/assay/retrieve/relevance.json"))
    given = parser.parse_args()
    scorer = OnnxCrossEncoder.load(WEIGHTS)
    pooled = list(pools([*public_questions(given.data), *written_questions()]))
    features = cached(pooled, given.cache, scorer)
    rows = [
        (question, one, found)
        for (question, pool), of_pool in zip(pooled, features, strict=True)
        for one, found in zip(pool, of_pool, strict=True)
    ]
    some = [row for row in rows if not row[0].test]
    counts = Counter((row[0].source, row[1].relevant) for row in some)
    names = [name for name in some[0][2] if not name.startswith("bare_")]
    values = np.array([[row[2][name] for name in names] for row in some])
    weights = np.array([1 / counts[row[0].source, row[1].relevant] for row in some])
    signs = {"neutral": -1, "soft_of_few": -1}
    truth = np.array([row[1].relevant for row in some])
    made = fit(names, values, truth, weights / weights.mean(), lambda name: signs.get(name, 1))
    model = RelevanceModel(made["intercept"], made["weights"], "")
    tested = [row for row in rows if row[0].test]
    print(f"{len(some)} rows of {len({r[0].text for r in some})} questions fitted, {len(tested)} rows for the figures")
    report(tested, model)
    told = {
        "fitted_by": "python -m train.fit_relevance",
        "rows": f"{sum(truth)} relevant and {sum(~truth)} other passages of {len({r[0].text for r in some})} questions",
        "network": scorer.digest,
    }
    given.out.write_text(json.dumps({**made, **told}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
