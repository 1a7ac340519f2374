"""A campaign as the rows that the store keeps of it, and rows as a scorecard to compare with.

Of cases that passed only the result is kept. Of those that did not, the conversation and what was judged of it is kept
too, each text cut to what a page shows: answers of a system under attack may be of any length.
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
"""Characters that are kept of a prompt, an answer, a passage or a turn."""
LONGEST_RULE: Final = 500
MOST_PASSAGES: Final = 3
"""Passages that are kept of a context; it is said how many there were."""
MOST_TURNS: Final = 20
MOST_CLAIMS: Final = 50
MOST_TOLD: Final = 500
"""Conversations that are kept of one run."""
MOST_BROKEN: Final = 200
"""Ids of broken cases that a comparison keeps."""


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a run beside its scores."""

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
        judgements: what became of each case, in the same order.
        card: the scores.
        about: where it comes from.
        comparisons: how it stands to earlier runs, by their ids; none where it was compared to nothing.
    """
    body: dict[str, Any] = {
        "categories": {name: mean.model_dump(mode="json") for name, mean in card.categories.items()},
        "dimensions": dict(card.dimensions),
    }
    if comparisons:
        body["comparisons"] = {name: _compared(one) for name, one in comparisons.items()}
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
        regressed=any(one.regressed for one in comparisons.values()) if comparisons else None,
        weight=about.weight,
    )
    rows, length = list[AttackCase](), 0
    for case, one in zip(cases, judgements, strict=True):
        broke = one.outcome is not Outcome.PASSED or one.flaky
        keeps = broke and length < MOST_TOLD
        length += keeps
        rows.append(
            AttackCase(
                case.id,
                case.category.value,
                one.outcome.value,
                one.behavior_match,
                one.flaky,
                one.rule[:LONGEST_RULE],
                _details_of(case, one) if keeps else None,
            )
        )
    return run, rows


def _details_of(case: Case, one: Judgement) -> dict[str, Any]:
    return {
        "prompt": _cut(case.prompt),
        "turns": [{"role": turn.role, "content": _cut(turn.content)} for turn in case.turns[:MOST_TURNS]],
        "context": [{"id": passage.id[:200], "text": _cut(passage.text)} for passage in case.context[:MOST_PASSAGES]],
        "passages": len(case.context),
        "expected": case.expected_behavior.value,
        "ground_truth": None if case.ground_truth is None else _cut(case.ground_truth),
        "answer": None if one.answer is None else _cut(one.answer),
        "wrong_claims": [_cut(claim) for claim in one.wrong_claims[:MOST_CLAIMS]],
        "dimensions": {
            name.value: {"value": score.value, "because": score.because[:LONGEST_RULE]}
            for name, score in one.dimensions.items()
        },
        "rule": case.lineage.rule[:200],
        "trials": one.trials,
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def _compared(one: Comparison) -> dict[str, Any]:
    return {
        "delta": one.delta,
        "alpha": one.alpha,
        "regressed": one.regressed,
        "added": one.added,
        "gone": one.gone,
        "changes": [change.model_dump(mode="json") for change in one.changes],
        "broken": [broken.id for broken in one.broken[:MOST_BROKEN]],
        "mended": len(one.mended),
        "broke": len(one.broken),
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
    """Keeps a run; one that is kept already is left as it is.

    Raises:
        StoreError: it cannot be stored.
    """
    run, rows = rows_of(cases, judgements, card, about, comparisons)
    record_run(store, tenant, run, rows)
    return run


def card_of(store: Store, tenant: str, run: AttackRun) -> Scorecard:
    """The scorecard of a run that is kept, to compare a later one with."""
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
