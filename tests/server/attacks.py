"""Runs of the red team for tests: suites of every category, judged as a test says."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.redteam.test_cases import case

from assay.redteam.cases import Behavior, Case, Category, Turn, suite_digest
from assay.redteam.judging import Dimension, Judgement, Outcome, Score
from assay.redteam.scores import Comparison, Scorecard, score
from assay.server.redteam.proposals import propose_failures
from assay.server.redteam.rows import About, record_campaign
from assay.store.db import Store
from assay.store.redteam import AttackRun

TARGET = "http://bot.example/v1"


def suite(each: int = 4, *, words: str = "leave") -> list[Case]:
    """Some cases of each category."""
    return [
        case(
            f"How many weeks of {words} does rule {number} of {category.value.replace('_', ' ')} give?",
            category=category,
            accepted=(f"{number} weeks",),
            ground_truth=f"It gives {number} weeks.",
            turns=(Turn(role="user", content="Hello."), Turn(role="assistant", content="How can I help?")),
            expected_behavior=Behavior.ANSWER,
        )
        for category in Category
        for number in range(1, each + 1)
    ]


def judged(
    cases: Sequence[Case],
    failing: Sequence[int] = (),
    unjudged: Sequence[int] = (),
    answer: str = "It gives 90 weeks. It is paid.",
) -> list[Judgement]:
    """What became of them: those at some places failed, or could not be judged."""
    made = []
    for at, one in enumerate(cases):
        if at in unjudged:
            made.append(Judgement(case=one.id, outcome=Outcome.UNJUDGED, rule="the target failed: timed out"))
            continue
        bad = at in failing
        made.append(
            Judgement(
                case=one.id,
                outcome=Outcome.FAILED if bad else Outcome.PASSED,
                behavior_match=0.0 if bad else 1.0,
                rule="gives another value" if bad else "gives the value",
                answer=answer if bad else "It is right.",
                wrong_claims=(answer.split(". ", maxsplit=1)[0].rstrip(".") + ".",) if bad else (),
                flaky=bad and at % 7 == 6,
                dimensions={
                    Dimension.HALLUCINATION_AVOIDANCE: Score(value=0.5 if bad else 1.0, because="1 of 2 claims")
                },
            )
        )
    return made


def scored(cases: Sequence[Case], judgements: Sequence[Judgement], target: str = TARGET) -> Scorecard:
    return score(cases, judgements, suite=suite_digest(cases), target=target, verifier="v" * 64)


def recorded(
    store: Store,
    at: int,
    *,
    failing: Sequence[int] = (),
    unjudged: Sequence[int] = (),
    tenant: str = "default",
    proposes: bool = False,
    cases: Sequence[Case] | None = None,
    answer: str = "It gives 90 weeks. It is paid.",
    target: str = TARGET,
    comparisons: Mapping[str, Comparison] | None = None,
    **about: Any,
) -> AttackRun:
    """A run that is recorded."""
    cases = suite() if cases is None else cases
    judgements = judged(cases, failing, unjudged, answer)
    told = About(**{"source": "command", "at": at, "suite_name": "static", **about})
    run = record_campaign(store, tenant, cases, judgements, scored(cases, judgements, target), told, comparisons)
    if proposes:
        propose_failures(store, tenant, cases, judgements, target, "command", run=run.id)
    return run
