"""Rows of the scenarios that are kept in the repository."""

import random

from train.scenario_rows import (
    FIT,
    HELD_OUT,
    WEIGHTS,
    batches,
    evaluation_answers,
    evaluation_claims,
    kept_claims,
    rows_of,
    side_of,
    wrong_spans,
)

from assay.models.cross_encoder import OnnxCrossEncoder


def test_every_batch_is_on_one_side() -> None:
    sides = {side: set(batches(side)) for side in ("train", "fit", "test")}
    assert sides["test"] >= HELD_OUT
    assert sides["fit"] >= FIT
    assert not (sides["train"] & (sides["fit"] | sides["test"]))
    assert all(side_of(name) == side for side, names in sides.items() for name in names)


def test_claims_that_two_readers_judged_otherwise_are_left_out() -> None:
    scenario = {
        "claims": [
            {"label": "supported"},
            {"label": "supported", "second": "supported"},
            {"label": "contradicted", "second": "unsupported"},
            {"label": "supported", "second": "unsupported"},
            {"label": "supported", "second": "arguable"},
        ]
    }
    assert [place for place, _ in kept_claims(scenario)] == [0, 1, 2]


def test_wrong_words_slice_back_to_themselves() -> None:
    for scenarios in batches("test").values():
        for scenario in scenarios:
            for claim in scenario["claims"]:
                assert [claim["text"][a:b] for a, b in wrong_spans(claim)] == claim.get("wrong", [])


def test_a_row_shows_the_evidence_as_the_verifier_assembles_it() -> None:
    scorer = OnnxCrossEncoder.load(WEIGHTS)
    name, scenarios = next(iter(batches("test").items()))
    rows = [row for row, _ in rows_of(scenarios[:4], name, scorer.count_tokens, (224,), random.Random(1))]
    assert len(rows) == sum(len(list(kept_claims(one))) for one in scenarios[:4])
    assert all(len(row.evidence) == 1 and row.source == f"scenario:{name}" for row in rows)
    assert max(scorer.count_tokens([row.evidence[0] for row in rows])) <= 240
    assert {row.label for row in rows} == {"supported", "contradicted", "unsupported"}


def test_held_out_claims_and_answers_are_rows_of_an_evaluation() -> None:
    claims = list(evaluation_claims("test"))
    assert len({row["id"] for row in claims}) == len(claims) > 1_900
    assert all(row["evidence"] and row["claim"].strip() for row in claims)
    answers = list(evaluation_answers("test"))
    right = [row for row in answers if row["id"].endswith("-right")]
    twins = [row for row in answers if row["id"].endswith("-one")]
    assert len(right) == len(twins) > 100
    assert all(row["label"] == "supported" for row in right)
    assert all(row["label"] != "supported" for row in twins)
