"""Converts a campaign to the rows that the store keeps, and rows back to a scorecard for comparison.

For cases that passed only the result is kept. For others the conversation and its judgement are kept as well, each text
cut to what a page shows, since answers of a system under attack may have any length.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from assay.redteam.cases import Case
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.scores import Comparison, Mean, Result, Scorecard
from assay.store.db import Store
from assay.store.redteam import AttackCase, AttackRun, read_cases, record_run

LONGEST_TEXT: Final = 4_000
"""The most characters that are kept of a prompt, an answer, a passage or a turn."""
LONGEST_RULE: Final = 500
"""The most characters that are kept of a rule or the reason of a score."""
MOST_PASSAGES: Final = 3
"""The most passages that are kept of a context, beside their number."""
MOST_TURNS: Final = 20
"""The most turns that are kept of a conversation."""
MOST_CLAIMS: Final = 50
"""The most wrong claims that are kept of an answer."""
MOST_CONVERSATIONS: Final = 500
"""The most conversations that are kept of one run."""
MOST_BROKEN: Final = 200
"""The most ids of broken cases that are kept of a comparison."""


@dataclass(frozen=True, slots=True)
class About:
    """The metadata of a run."""

    source: str
    """`command`, `api` or `schedule`."""
    at: int
    """When it ended, in microseconds since 1970."""
    suite_name: str
    target_version: str | None = None
    actor: str | None = None
    schedule: str | None = None
    due: int | None = None
    weight: float | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(16))


def rows_of(
    cases: Sequence[Case],
    judgements: Sequence[Judgement],
    card: Scorecard,
    about: About,
    comparisons: Mapping[str, Comparison] | None = None,
) -> tuple[AttackRun, list[AttackCase]]:
    """The rows of a run.

    Args:
        cases: the suite.
        judgements: one for each case, in the same order.
        card: the scores.
        about: the metadata of the run.
        comparisons: the comparisons with earlier runs, by their ids; none where there were none.
    """
    body: dict[str, Any] = {
        "categories": {name: mean.model_dump(mode="json") for name, mean in card.categories.items()},
        "dimensions": dict(card.dimensions),
    }
    if comparisons:
        body["comparisons"] = {name: _comparison_json(judgement) for name, judgement in comparisons.items()}
    run = AttackRun(
        id=about.id,
        at=about.at,
        suite=card.suite,
        suite_name=about.suite_name,
        target=card.target,
        verifier=card.verifier,
        source=about.source,
        ars=card.ars,
        low=card.low,
        high=card.high,
        cases=card.cases,
        passed=card.passed,
        failed=card.cases - card.passed - card.unjudged,
        unjudged=card.unjudged,
        flaky=card.flaky,
        body=body,
        target_version=about.target_version,
        schedule=about.schedule,
        due=about.due,
        actor=about.actor,
        regressed=any(judgement.regressed for judgement in comparisons.values()) if comparisons else None,
        weight=about.weight,
    )
    rows, conversations = list[AttackCase](), 0
    for case, judgement in zip(cases, judgements, strict=True):
        did_not_pass = judgement.outcome is not Outcome.PASSED or judgement.flaky
        keeps_conversation = did_not_pass and conversations < MOST_CONVERSATIONS
        conversations += keeps_conversation
        rows.append(
            AttackCase(
                case.id,
                case.category.value,
                judgement.outcome.value,
                judgement.behavior_match,
                judgement.flaky,
                judgement.rule[:LONGEST_RULE],
                _conversation_of(case, judgement) if keeps_conversation else None,
            )
        )
    return run, rows


def _conversation_of(case: Case, judgement: Judgement) -> dict[str, Any]:
    return {
        "prompt": _cut(case.prompt),
        "turns": [{"role": turn.role, "content": _cut(turn.content)} for turn in case.turns[:MOST_TURNS]],
        "context": [{"id": passage.id[:200], "text": _cut(passage.text)} for passage in case.context[:MOST_PASSAGES]],
        "passages": len(case.context),
        "expected": case.expected_behavior.value,
        "ground_truth": None if case.ground_truth is None else _cut(case.ground_truth),
        "answer": None if judgement.answer is None else _cut(judgement.answer),
        "wrong_claims": [_cut(claim) for claim in judgement.wrong_claims[:MOST_CLAIMS]],
        "dimensions": {
            name.value: {"value": score.value, "because": score.because[:LONGEST_RULE]}
            for name, score in judgement.dimensions.items()
        },
        "rule": case.lineage.rule[:200],
        "trials": judgement.trials,
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def _comparison_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "delta": comparison.delta,
        "alpha": comparison.alpha,
        "regressed": comparison.regressed,
        "added": comparison.added,
        "gone": comparison.gone,
        "changes": [change.model_dump(mode="json") for change in comparison.changes],
        "broken": [broken.id for broken in comparison.broken[:MOST_BROKEN]],
        "mended": len(comparison.mended),
        "broke": len(comparison.broken),
    }


def record_campaign(
    store: Store,
    tenant: str,
    cases: Sequence[Case],
    judgements: Sequence[Judgement],
    card: Scorecard,
    about: About,
    comparisons: Mapping[str, Comparison] | None = None,
) -> AttackRun:
    """Stores a run; one that is already stored is left unchanged.

    Raises:
        StoreError: it cannot be stored.
    """
    run, rows = rows_of(cases, judgements, card, about, comparisons)
    record_run(store, tenant, run, rows)
    return run


def card_of(store: Store, tenant: str, run: AttackRun) -> Scorecard:
    """The scorecard of a stored run, for comparison with a later one."""
    with store.reading(tenant) as connection:
        rows = read_cases(connection, tenant, run.id)
    results = tuple(
        Result(
            id=one.case_id,
            category=one.category,
            outcome=Outcome(one.outcome),
            match=one.match,
            rule=one.rule or "",
            flaky=one.flaky,
        )
        for one in rows
    )
    categories = run.body.get("categories") or {}
    return Scorecard(
        ars=run.ars,
        low=run.low,
        high=run.high,
        unjudged=run.unjudged,
        cases=run.cases,
        passed=run.passed,
        categories={name: Mean.model_validate(one) for name, one in categories.items()},
        flaky=run.flaky,
        suite=run.suite,
        target=run.target,
        verifier=run.verifier,
        results=results,
    )
