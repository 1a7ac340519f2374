"""Held outputs and clocks for tests of the review queue."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import insert
from tests.store.making import DAY, record_of, report_of

from assay.policy import Policy, preset
from assay.policy.routes import labels_for
from assay.schema import Action, ClaimKind, ClaimReport, ClaimStatus, Decision, Span, Stakes, Verdict
from assay.schema.escalation import ReviewAct
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.records.interface import CheckRecord
from assay.store.reviews.actions import ReviewDecision, Reviewer

ANN, BOB = Reviewer("ann"), Reviewer("bob")
TENANT = "default"


class Clock:
    """A clock that stands until it is set."""

    def __init__(self, now: datetime = DAY) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def go(self, **by: float) -> None:
        self.now += timedelta(**by)


def escalating(**escalation: Any) -> Policy:
    """A policy with these rules of escalation."""
    base = preset("general")
    told = base.escalation.model_copy(update=escalation)
    return Policy.model_validate({**base.model_dump(), "escalation": told.model_dump()})


def held(
    output: str = "Partners get 4 weeks of leave.", *, policy: Policy | None = None, **changes: Any
) -> CheckRecord:
    """A record that the gate escalated."""
    decision = Decision(action=Action.ESCALATE, route="review", reasons=("A person decides.",))
    claim = ClaimReport(
        text=output,
        span=Span(start=0, end=len(output)),
        kind=ClaimKind.FACTUAL,
        critical=True,
        verdict=Verdict.UNSUPPORTED,
        score=0.3,
        status=ClaimStatus.REVISE,
    )
    rules = policy or preset("general")
    report = report_of(
        output,
        action=Action.ESCALATE,
        decision=decision,
        labels=labels_for(decision),
        overall_score=0.3,
        stakes=changes.pop("stakes", Stakes.HIGH),
        claims=(claim,),
    )
    named = report.policy.model_copy(update={"name": rules.name, "digest": rules.digest})
    report = report.model_copy(update={"policy": named})
    return record_of(output, report=report, policy=rules, **changes)


def user(store: Store, name: str, *expertise: str, roles: str = "reviewer", tenant: str = TENANT) -> None:
    """A person among the users."""
    row = {
        "tenant": tenant,
        "id": name,
        "name": name,
        "password": None,
        "roles": roles,
        "created": 0,
        "disabled": None,
        "expertise": " ".join(expertise),
        "version": 1,
    }
    from assay.store.db.writer import Change

    def act(connection: Any) -> tuple[()]:
        connection.execute(insert(tables.users).values(**row))
        return ()

    store.apply(Change(tenant, act=act))


def approve(reason: str = "It holds.", **more: Any) -> ReviewDecision:
    """A decision that needs no other report."""
    return ReviewDecision(ReviewAct.APPROVE, reason, **more)


def reject(reason: str = "It does not hold.", **more: Any) -> ReviewDecision:
    """The other one."""
    return ReviewDecision(ReviewAct.REJECT, reason, **more)
