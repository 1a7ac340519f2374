"""Rows of the written scenarios: claims of answers beside the evidence as the verifier assembles it.

    python -m train.scenario_rows --out .work/scenarios.jsonl.gz
    python -m train.scenario_rows --held-out --evaluate ../scenarios-held-out.jsonl

Scenarios stand in ``train/scenarios``, one file a batch (its README says how they were made). A batch is held out as
a whole: `HELD_OUT` names those that nothing is trained or fitted on, `FIT` those that the combination and the
decision on answers are fitted on. Only claims that two readers judged alike are kept where a second has read them.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from assay.models.cross_encoder import OnnxCrossEncoder
from assay.retrieve.premises import EvidenceIndex, PremiseOptions
from assay.retrieve.windows import CountTokens
from assay.schema import Evidence
from assay.text.claims.answer_fragments import is_fragment
from train.contrast import edited, of_claim
from train.documents import with_documents
from train.rows import Row
from train.scenario_text import LABELS, Scenario, read_scenarios
from train.written import digest_of, write_made

SCENARIOS = Path(__file__).parent / "scenarios"
WEIGHTS = Path(__file__).resolve().parents[1] / "src/assay/models/weights"
HELD_OUT = frozenset({"d", "e", "j", "lh", "rt"})
FIT = frozenset({"g", "rv"})
SOURCE = "scenario"
Side = Literal["train", "fit", "test"]
GROUP = 4
"""Claims of one scenario that a margin is asked between; those that were made of them come on top."""


def side_of(batch: str) -> Side:
    """What a batch may be used for."""
    return "test" if batch in HELD_OUT else "fit" if batch in FIT else "train"


def batches(side: Side, folder: Path = SCENARIOS) -> dict[str, list[Scenario]]:
    """The batches of one side by their names, without scenarios over real documents that are not at hand."""
    found = sorted(folder.glob("*.jsonl"))
    return {path.stem: list(with_documents(read_scenarios(path))) for path in found if side_of(path.stem) == side}


def kept_claims(scenario: Scenario) -> Iterator[tuple[int, dict[str, Any]]]:
    """Claims that no second reader judged otherwise: all of a batch that nobody has read a second time."""
    for place, claim in enumerate(scenario["claims"]):
        second = claim.get("second")
        if second is None or (second in LABELS.values() and (second == "supported") == (claim["label"] == "supported")):
            yield place, claim


def evidence_of(scenario: Scenario) -> list[Evidence]:
    """The passages as the verifier is given them."""
    found = []
    for one in scenario["evidence"]:
        dated = re.match(r"\d{4}-\d\d-\d\d", one.get("date", ""))
        title = one.get("title") if dated or not one.get("date") else f"{one.get('title', '')} {one['date']}".strip()
        if one["text"].strip():
            found.append(
                Evidence(id=one["id"], text=one["text"], title=title, effective_date=dated[0] if dated else None)
            )
    return found


def wrong_spans(claim: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    """Character ranges of the words that a writer marked as wrong, the first place of each."""
    return tuple((at, at + len(part)) for part in claim.get("wrong", []) if (at := claim["text"].find(part)) >= 0)


def rows_of(
    scenarios: Iterable[Scenario], batch: str, count_tokens: CountTokens, tokens: Sequence[int], rng: random.Random
) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Each claim with its evidence assembled to a length drawn from `tokens`, a third of them with the question.

    A short answer ("Yes, up to ten hours.") always stands after its question, as in use. Up to four claims of a
    scenario make a group, right and wrong ones among them where there are both. Beside each row stands the claim as
    it was written.
    """
    for scenario in scenarios:
        evidence = evidence_of(scenario)
        indices = [EvidenceIndex(evidence, count_tokens, PremiseOptions(document_tokens=size)) for size in tokens]
        for number, claim in enumerate(_alternating([claim for _, claim in kept_claims(scenario)], rng)):
            asked = is_fragment(claim["text"]) or rng.random() < 1 / 3
            question = scenario["question"] if asked else None
            read = f"{question} {claim['text']}" if question else claim["text"]
            premises = rng.choice(indices).candidates(read).premises
            shown = next((one for one in premises if one.granularity == "document"), premises[0])
            row = Row(
                source=f"{SOURCE}:{batch}",
                evidence=(shown.text,),
                claim=claim["text"],
                label=claim["label"],
                question=question,
                spans=wrong_spans(claim),
                group=f"{scenario['id']}/{number // GROUP}",
            )
            yield row, claim


def _alternating(claims: list[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """Claims in a random order in which right and wrong ones take turns for as long as there are both."""
    sides: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for claim in rng.sample(claims, len(claims)):
        sides[claim["label"] == "supported"].append(claim)
    short, long = sorted(sides, key=len)
    turns = [one for pair in zip(short, long, strict=False) for one in pair]
    return turns + long[len(short) :]


def training_rows(
    tokens: Sequence[int] = (224, 384),
    seed: int = 7,
    folder: Path = SCENARIOS,
    *,
    only: Callable[[str], bool] = bool,
    edits: float = 0.0,
) -> list[Row]:
    """The rows of batches for training.

    Args:
        tokens: lengths that evidence is assembled to.
        seed: of all choices.
        folder: where the batches stand.
        only: whether a batch is read, by its name; all of them if not given.
        edits: the share of right claims that get a wrong twin by one edit; above 0 the wrong ones give their
            contrasts too (`train.contrast`).
    """
    rng = random.Random(seed)
    scorer = OnnxCrossEncoder.load(WEIGHTS)
    found: list[Row] = []
    for batch, scenarios in batches("train", folder).items():
        if not only(batch):
            continue
        made = list(rows_of(scenarios, batch, scorer.count_tokens, tokens, rng))
        found += [row for row, _ in made]
        if edits:
            found += [other for row, claim in made for other in of_claim(row, claim)]
            found += edited([row for row, _ in made], edits, rng)
    return [replace(row, group=f"{row.group}/{seed}" if row.group else None) for row in found]


def evaluation_claims(side: Side, folder: Path = SCENARIOS) -> Iterator[dict[str, Any]]:
    """One row a claim in the form that `assay eval` reads."""
    for batch, scenarios in batches(side, folder).items():
        for scenario in scenarios:
            for place, claim in kept_claims(scenario):
                yield {
                    "set": f"scenarios-{batch}",
                    "id": f"{scenario['id']}-{place}",
                    "evidence": [item.model_dump(mode="json", exclude_none=True) for item in evidence_of(scenario)],
                    "question": scenario["question"],
                    "claim": claim["text"],
                    "label": claim["label"],
                    "spans": [list(span) for span in wrong_spans(claim)],
                }


def evaluation_answers(side: Side, folder: Path = SCENARIOS) -> Iterator[dict[str, Any]]:
    """One row an answer: the written one, and of each scenario one with right claims only and one with a single error.

    An answer of right claims and its twin with one of them replaced by a wrong one measure the two rates of a gate on
    texts that differ by one sentence.
    """
    for batch, scenarios in batches(side, folder).items():
        for scenario in scenarios:
            kept = dict(kept_claims(scenario))
            shared = {
                "evidence": [item.model_dump(mode="json", exclude_none=True) for item in evidence_of(scenario)],
                "question": scenario["question"],
            }
            rng = random.Random(scenario["id"])
            right = [claim for claim in kept.values() if claim["label"] == "supported" and not _leans(claim["text"])]
            wrong = [claim for claim in kept.values() if claim["label"] != "supported" and not _leans(claim["text"])]
            if len(right) >= 4 and wrong:
                chosen = rng.sample(right, 4)
                texts = [claim["text"] for claim in chosen]
                base = {"set": f"answers-{batch}", **shared}
                yield {**base, "id": f"{scenario['id']}-right", "answer": " ".join(texts), "label": "supported"}
                bad = rng.choice(wrong)
                texts[rng.randrange(4)] = bad["text"]
                yield {**base, "id": f"{scenario['id']}-one", "answer": " ".join(texts), "label": bad["label"]}
            if scenario["in_answer"] and set(scenario["in_answer"]) <= set(kept):
                labels = {kept[place]["label"] for place in scenario["in_answer"]}
                label = next((one for one in ("contradicted", "unsupported") if one in labels), "supported")
                yield {
                    "set": f"written-{batch}",
                    "id": f"{scenario['id']}-answer",
                    **shared,
                    "answer": scenario["answer"],
                    "label": label,
                }


def _leans(text: str) -> bool:
    """Whether a claim needs its question."""
    return is_fragment(text) or bool(re.match(r"(yes|no)\b", text, re.IGNORECASE))


def main() -> None:
    """Read arguments, write rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="a .jsonl.gz of rows to train on")
    parser.add_argument("--side", choices=("train", "fit", "test"), default="test", help="of --claims and --answers")
    parser.add_argument("--claims", type=Path, help="a .jsonl of claims for `assay eval`")
    parser.add_argument("--answers", type=Path, help="a .jsonl of answers for `assay eval`")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    if given.out:
        rows = training_rows(seed=given.seed)
        write_made(given.out, rows)
        print(f"{len(rows):,} rows, SHA-256 {digest_of(rows)}: {given.out}")
    for path, found in ((given.claims, evaluation_claims), (given.answers, evaluation_answers)):
        if path:
            made = list(found(given.side))
            path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in made), encoding="utf-8")
            print(f"{len(made):,} rows: {path}")


if __name__ == "__main__":
    main()
