"""A record of many outputs, good and bad ones, at moments of their own."""

from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import Connection, insert
from tests.store.making import DAY, KEY, RING, record_of, report_of

from assay.schema import Action, ClaimKind, ClaimReport, ClaimStatus, Span, Verdict
from assay.schema.verdict import Category
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.interface import CheckRecord

TENANT = "default"
__all__ = ["DAY", "KEY", "RING", "TENANT", "Clock", "bad_record", "fill", "good_record", "plant"]


class Clock:
    """A clock that is set."""

    def __init__(self, now: datetime = DAY) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def good_record(text: str = "Partners get 2 weeks.") -> CheckRecord:
    return record_of(text, caller="app")


def bad_record(text: str = "Partners get 4 weeks.") -> CheckRecord:
    claim = ClaimReport(
        text=text,
        span=Span(start=0, end=len(text)),
        kind=ClaimKind.FACTUAL,
        critical=True,
        verdict=Verdict.CONTRADICTED,
        score=0.1,
        status=ClaimStatus.BLOCK,
        category=Category.CONTEXTUAL,
        contradiction=0.9,
    )
    report = report_of(text, claims=(claim,), action=Action.BLOCK, overall_score=0.1)
    return record_of(text, report=report, caller="app")


def fill(store: Store, clock: Clock, flags: list[bool], every_s: float = 10.0) -> list[str]:
    """Record outputs one after the other; the ids in their order."""
    ids = []
    for flag in flags:
        clock.now += timedelta(seconds=every_s)
        record = bad_record() if flag else good_record()
        store.record(record)
        ids.append(record.id)
    return ids


def plant(store: Store, rates: list[tuple[int, float]], seed: int, begin: int, every: int = 1_000_000) -> list[int]:
    """Observations without reports, straight into the table: so many at each rate. The moments, rising."""
    rng, at = np.random.default_rng(seed), begin
    rows: list[dict[str, object]] = []
    for count, rate in rates:
        for flag in rng.random(count) < rate:
            at += every
            rows.append(row_of(f"{len(rows):032x}", at, float(flag)))

    def act(connection: Connection) -> tuple[()]:
        connection.execute(insert(tables.observations), rows)
        return ()

    store.apply(Change(TENANT, act=act))
    return [int(str(row["at"])) for row in rows]


def row_of(id_: str, at: int, bad: float) -> dict[str, object]:
    return {
        "tenant": TENANT,
        "id": id_,
        "at": at,
        "added": at,
        "stakes": "medium",
        "agent": "app",
        "route": "check",
        "model": None,
        "categories": "contextual" if bad else "",
        "probability": 1.0,
        "sampled": True,
        "bad": bad,
        "score": 0.9 if bad else 0.05,
        "unfaithful": None,
        "unfactual": None,
        "withheld": bad,
        "fabricated": 0.0,
        "unretrieved": 0.0,
    }
