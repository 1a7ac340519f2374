"""Fitting the models that combine the tiers' signals."""

import json
import random

import pytest
from train.fit_combination import LOGITS, fit_all, sign_against, sign_of_support
from train.rows import Row

from assay.verify.exact import EXACT_SIGNALS
from assay.verify.network.combination import Combination
from assay.verify.network.entailment import ENTAILMENT_SIGNALS

NAMES = (*EXACT_SIGNALS, *ENTAILMENT_SIGNALS, "evidence_size")
LABELS = ("supported", "contradicted", "unsupported", "not_supported")


def case(label: str, rng: random.Random) -> dict[str, float]:
    """Signals as they are in use: entailment where supported, contradiction and shared words where contradicted."""
    high_where = {
        "entail_": label == "supported",
        "contra_": label == "contradicted",
        "wrong_": label == "contradicted",
        "word_recall": label != "unsupported",
        "bigram_": label != "unsupported",
    }

    def value(name: str) -> float:
        high = next((high for start, high in high_where.items() if name.startswith(start)), None)
        return rng.random() if high is None else rng.uniform(0.6, 0.98) if high else rng.uniform(0.02, 0.4)

    return {name: value(name) for name in NAMES}


@pytest.fixture(scope="module")
def combination() -> Combination:
    rng = random.Random(3)
    labels = [LABELS[i % 4] for i in range(600)]
    rows = [Row("made", (f"document {i}",), f"claim {i}", label) for i, label in enumerate(labels)]  # type: ignore[arg-type]
    fitted = fit_all(rows, [case(label, rng) for label in labels])
    return Combination.from_json(json.dumps({"logits": list(LOGITS), **fitted}))


def test_each_label_is_told_from_the_others(combination: Combination) -> None:
    rng = random.Random(4)
    for _ in range(40):
        judged = {label: combination.judge(case(label, rng)) for label in LABELS}
        assert judged["supported"].support > 0.5 > judged["contradicted"].support
        assert judged["contradicted"].contradiction > 0.5 > judged["unsupported"].contradiction
        assert judged["supported"].contradiction < 0.5


def test_no_coefficient_has_a_sign_that_no_reader_could_follow(combination: Combination) -> None:
    for name, weight in combination.support.weights.items():
        assert weight * sign_of_support(name) >= 0, name
    for name, weight in combination.against.weights.items():
        assert weight * sign_against(name) >= 0, name
    assert (
        combination.contradiction.weights["logit(support)"] <= 0 <= combination.contradiction.weights["logit(against)"]
    )


def test_shared_words_speak_for_support_and_either_way_of_what_is_not_supported() -> None:
    assert sign_of_support("word_recall_all") == 1
    assert sign_against("word_recall_all") == 0
    assert sign_against("logit(contra_max)") == sign_against("contradicts_number") == 1
    assert sign_of_support("contradicts_number") == -1
