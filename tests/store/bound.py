"""A store in which every table has rows, and every way to change one value of one row beside the log.

What the log binds is enumerated from the tables themselves: a column that somebody adds is tampered with from then on,
or has to be listed with a reason (`assay.store.audit.units`).
"""

import random
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Double,
    Integer,
    LargeBinary,
    Row,
    Table,
    and_,
    delete,
    insert,
    null,
    select,
    type_coerce,
    update,
)
from tests.store.making import DAY, EVIDENCE, KEY, KEYS, RING, record_of, report_of
from tests.store.reviewing import ANN, BOB, TENANT, Clock, approve, held, reject
from tests.store.tampering import Outcome

from assay.receipt import new_receipt_id, sign
from assay.schema import Action, ClaimKind, ClaimReport, ClaimStatus, Evidence, Span, Verdict
from assay.schema.access import Permission, Role
from assay.schema.escalation import ReviewAct
from assay.schema.verdict import Category
from assay.store.access.api_keys import create_key, note_uses, revoke_key, rotate_key
from assay.store.access.sessions import RESET, end_session, make_token, open_session
from assay.store.access.users import change_user, create_user, forget_user, note_failure
from assay.store.audit.merkle.anchors import anchor_in_file
from assay.store.audit.merkle.checkpoint import read_checkpoint
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.units import UNBOUND, UNBOUND_ROWS, UNBOUND_TABLES
from assay.store.audit.verification.incremental import VerificationState, read_verification_state, verify_contents_since
from assay.store.audit.verification.log import LogVerification, verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.datasets import (
    Fault,
    Label,
    add_rows,
    keep_outcomes,
    label_rows,
    make_dataset,
    save_view,
    start_experiment,
)
from assay.store.datasets import Outcome as RowOutcome
from assay.store.db import tables
from assay.store.db.column_values import micros
from assay.store.db.engine import writing
from assay.store.db.leases import take_lease
from assay.store.db.row_security import EVERY_TENANT, set_acting_tenant
from assay.store.db.store import Store
from assay.store.db.tables import Packed
from assay.store.monitoring import (
    AlarmRow,
    ChangeRow,
    StoredState,
    add_changes,
    advance_charts,
    set_alarm,
    set_consequences,
)
from assay.store.records.erasure import erase_evidence, erase_runs
from assay.store.records.retention import Rule, write_rules
from assay.store.records.run_events import give_feedback, note_receipt
from assay.store.redteam import (
    AttackCase,
    AttackRun,
    ProposalDecision,
    ProposedCase,
    add_proposals,
    decide_proposal,
    record_run,
)
from assay.store.reviews.actions import ReviewDecision
from assay.store.reviews.queue import Reviews

OTHER = "globex"
HASH = "the hash of a password"
TAPE: dict[str, Any] = {
    "form": 1,
    "model": "judge-1",
    "digest": "d",
    "price": None,
    "known": {},
    "answers": [
        {
            "purpose": "judge",
            "request": "r",
            "error": {"kind": "chat", "message": "no", "retryable": False, "calls": 1},
        },
    ],
}


@dataclass(frozen=True, slots=True)
class Full:
    """A store with rows in every table, and what is known of it elsewhere."""

    store: Store
    anchor: str
    """A checkpoint of all of it, kept elsewhere."""


def make_full(url: str, folder: Path) -> Full:
    """Everything that a store remembers, done once or more."""
    clock = Clock(DAY)
    store = Store(url, clock=clock)
    claim = ClaimReport(
        text="Partners get 4 weeks.",
        span=Span(start=0, end=21),
        kind=ClaimKind.FACTUAL,
        critical=True,
        verdict=Verdict.CONTRADICTED,
        score=0.1,
        status=ClaimStatus.BLOCK,
        category=Category.CONTEXTUAL,
        contradiction=0.9,
    )
    bad = report_of("Partners get 4 weeks.", claims=(claim,), action=Action.BLOCK)
    heard = record_of(report=report_of("Another.").taped(TAPE), caller="app")
    checks = [record_of(), heard, record_of(report=bad, asked={"answer": "x"})]
    for check in checks:
        clock.go(seconds=7)
        store.record(check)
    _reviews(store, clock)
    note_receipt(store, checks[0].id, sign(checks[0].report, KEY, issued_at=DAY, receipt_id=new_receipt_id()))
    give_feedback(store, checks[1].id, "wrong", comment="It is 2 weeks.", author="kim", claim=0)
    gone, bare = record_of("To be erased."), record_of("Bare.", evidence=(Evidence(id="own", text="Alone."),))
    store.record(gone)
    store.record(bare)
    erase_runs(store, [gone.id], "request", TENANT)
    erase_evidence(store, [bare.id], "licence", TENANT)
    _people(store, clock)
    write_rules(store, TENANT, [Rule(400)], 0, "ann")
    _monitored(store)
    _attacked(store)
    _kept(store, [one.id for one in checks])
    store.record(record_of(tenant=OTHER))
    take_lease(store, TENANT, "signing", "me", 60)
    make_checkpoint(store, KEYS, TENANT)
    store.record(record_of("The last."))
    note = make_checkpoint(store, KEYS, TENANT)
    anchor_in_file(store, TENANT, note, folder / "anchor.txt")
    return Full(store, note)


def _kept(store: Store, runs: list[str]) -> None:
    """A dataset with labels, an experiment on it, and a view."""
    set_ = make_dataset(store, TENANT, "Leave", maker="ann", actor="local")
    add_rows(store, TENANT, set_, runs, adder="ann", actor="local")
    label_rows(store, TENANT, set_, {runs[2]: (Label.WRONG, [0])}, labeller="bob", actor="local")
    found = start_experiment(
        store, TENANT, set_, "Stricter", policy="d" * 64, policy_name="strict", maker="ann", actor="local"
    )
    outcomes = [RowOutcome(run, "block", "block", 0.25, ("contradicted",)) for run in runs[:2]]
    keep_outcomes(store, TENANT, found, outcomes, verifier="network 1")
    keep_outcomes(store, TENANT, found, [RowOutcome(runs[2], fault=Fault.FAILED)])
    save_view(store, TENANT, "local", "runs", "Mine", "action=block")


def _monitored(store: Store) -> None:
    at = micros(store.now())
    add_changes(
        store,
        TENANT,
        [
            ChangeRow("one", at, "prompt", "v7", "shorter", actor="ann"),
            ChangeRow("two", at + 1, "model", "m-2"),
        ],
    )
    alarm = AlarmRow("a" * 32, "bad|all|", "up", at, {"rate": 0.1})
    advance_charts(store, TENANT, None, StoredState(at, {"series": {}}), [alarm], 0)
    set_alarm(store, TENANT, alarm.id, "acknowledged", "ann")
    set_consequences(store, TENANT, {"deployment_freeze": True}, {"left": -1.0}, "ann")


def _attacked(store: Store) -> None:
    at = micros(store.now())
    run = AttackRun(
        "c" * 32,
        at,
        "d" * 64,
        "static",
        "python:bot:answer",
        "e" * 64,
        "schedule",
        0.5,
        0.1,
        0.9,
        2,
        1,
        1,
        0,
        1,
        {"categories": {}},
        "v3",
        "nightly",
        at,
        "schedule",
        True,
        0.1,
    )
    cases = [
        AttackCase("rt-1", "scale_stress", "passed", 1.0, False, "answers", {}),
        AttackCase("rt-2", "compositional", "failed", 0.0, True, "another number", {"answer": "12"}),
        AttackCase("rt-3", "compositional", "unjudged", None, False, None),
    ]
    record_run(store, TENANT, run, cases)
    proposals = [
        ProposedCase(f"rt-{name}", "compositional", "bot", 0.0, "another number", False, {"case": {}}, "c" * 32)
        for name in ("2", "4", "5")
    ]
    add_proposals(store, TENANT, proposals, "schedule")
    said = ProposalDecision("approved", "ann", "user:ann", "It broke twice.", {"id": "rt-2"}, "rt-2")
    decide_proposal(store, TENANT, "rt-2", said, ",".join)
    decide_proposal(store, TENANT, "rt-4", ProposalDecision("rejected", "ann", "user:ann", "Nobody asks so."), ",".join)


def _reviews(store: Store, clock: Clock) -> None:
    queue = Reviews(store)
    waiting, edited, rejected, asked = (held(f"Answer {number}.", caller="app") for number in range(4))
    for record in (waiting, edited, rejected, asked):
        clock.go(seconds=3)
        store.record(record)
    queue.assign(TENANT, waiting.id, "boss", to="bob", expertise="legal")
    queue.claim(TENANT, waiting.id, BOB)
    said = report_of("Partners get 2 weeks.")
    queue.decide(TENANT, edited.id, ANN, ReviewDecision(ReviewAct.EDIT, "Two, not four.", released=said))
    queue.decide(TENANT, rejected.id, ANN, reject(response="I do not know.", claims={0: Verdict.UNSUPPORTED}))
    queue.ask(TENANT, asked.id, ANN, "Which handbook?")
    more = [*EVIDENCE, Evidence(id="new", text="Four weeks from 2027 on.")]
    queue.supply(TENANT, asked.id, "app", more[2:], asked.report)
    queue.decide(TENANT, asked.id, ANN, approve(released=asked.report))


def _people(store: Store, clock: Clock) -> None:
    ann = create_user(store, "ann", [Role.ADMIN], password=HASH, expertise=["legal"])
    bob = create_user(store, "bob", [Role.REVIEWER], password=HASH)
    carl = create_user(store, "carl", [Role.VIEWER], password=HASH)
    change_user(store, bob.id, TENANT, actor=ann.id, disabled=True)
    _, session = open_session(store, ann, timedelta(hours=12))
    _, other = open_session(store, carl, timedelta(hours=12))
    end_session(store, other.id, TENANT, actor=ann.id)
    forget_user(store, carl.id, TENANT, actor=ann.id)
    _, key = create_key(store, "app", [Permission.CHECK], lasts=timedelta(days=30), actor=ann.id)
    _, old = create_key(store, "old", [Permission.CHECK, Permission.AUDIT])
    revoke_key(store, old.id, TENANT, actor=ann.id)
    rotate_key(store, key.id, TENANT, actor=ann.id)
    note_uses(store, {(TENANT, key.id): clock.now})
    make_token(store, RESET, timedelta(hours=1), user=ann.id)
    note_failure(store, "digest")
    assert session.revoked is None


def verified(connection: Connection, full: Full) -> LogVerification:
    """What `verify` says, with the checkpoint from elsewhere."""
    return verify_contents(connection, TENANT, verify_log(connection, TENANT, RING, [full.anchor]))


def verified_since(connection: Connection, full: Full, since: VerificationState) -> bool:
    """Whether it holds, verified from an earlier verification on."""
    log = verify_log(connection, TENANT, RING, [full.anchor])
    return verify_contents_since(connection, TENANT, log, since)[0].holds


def state_of(full: Full) -> VerificationState:
    """What a verification of all of it leaves, out of its text."""
    with full.store.reading(TENANT) as connection:
        log = verify_log(connection, TENANT, RING, [full.anchor])
        found, left = verify_contents_since(connection, TENANT, log, None)
    assert left is not None, found.findings
    return read_verification_state(left.to_text())


def _may_be(connection: Connection, full: Full, what: str, row: Row[Any]) -> bool:
    """Whether it is one of the few rows that may be dropped or added unseen: not where a checkpoint was taken out, and
    not where the log was never signed."""
    if what not in UNBOUND_ROWS:
        return False
    signed = connection.execute(select(tables.audit_checkpoints.c.size)).scalars().all()
    taken = {*connection.execute(select(tables.audit_anchors.c.size)).scalars(), read_checkpoint(full.anchor).size}
    return bool(taken <= set(signed))


@contextmanager
def altering(store: Store) -> Iterator[Connection]:
    """A transaction beside the writer, which is rolled back at its end."""
    with writing(store.engine).connect() as connection:
        transaction = connection.begin()
        set_acting_tenant(connection, EVERY_TENANT)
        try:
            yield connection
        finally:
            transaction.rollback()


def bound_tables() -> list[Table]:
    """The tables that are bound, in whatever way."""
    return [table for table in tables.metadata.sorted_tables if table.name not in UNBOUND_TABLES]


def columns_to_try() -> list[Column[Any]]:
    """The columns of which a change has to be found."""
    unsigned = {"audit_checkpoints", "audit_anchors"}
    return [
        column
        for table in bound_tables()
        for column in table.columns
        if f"{table.name}.{column.name}" not in UNBOUND and not (table.name in unsigned and column.name == "tenant")
    ]


def rows_of(connection: Connection, table: Table) -> list[Row[Any]]:
    """The rows of the tenant, with their values as they are stored."""
    raw = [
        type_coerce(column, LargeBinary).label(column.name) if isinstance(column.type, Packed) else column
        for column in table.columns
    ]
    return list(connection.execute(select(*raw).where(table.c.tenant == TENANT).order_by(*table.primary_key)))


def key_of(table: Table, row: Row[Any]) -> Any:
    """The condition that a row is this one."""
    return and_(*(column == row._mapping[column.name] for column in table.primary_key))


def other_values(column: Column[Any], value: Any, draw: random.Random) -> list[Any]:
    """Values in place of one, none of them the same."""
    kind = column.type
    found: list[Any] = [null()] if column.nullable and value is not None else []
    if column.name == "tenant":
        return [OTHER, "elsewhere"]
    if isinstance(kind, Boolean):
        return [*found, not value]
    if isinstance(kind, (LargeBinary, Packed)):
        data = bytearray(value or b"x")
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        return [*found, tables.pack({"forged": draw.random()}), bytes(data) if value else b"x"]
    if isinstance(kind, Double):
        return [*found, 0.5 if value is None else value + draw.choice([-0.25, 1e-9, 0.5])]
    if isinstance(kind, Integer):
        return [*found, 1 if value is None else value + draw.choice([-1, 1, 1_000_000])]
    text = value or ""
    forged = [f"{text}x", "approved", "admin", "", f" {text}"]
    return [*found, *(one for one in forged if one != text)]


def tampered(connection: Connection, column: Column[Any], row: Row[Any], value: Any) -> bool:
    """Change a value; false where the database itself refuses it (a key that is taken)."""
    table = column.table
    assert isinstance(table, Table)
    stored = type_coerce(value, LargeBinary) if isinstance(value, bytes) else value
    taken = {**row._mapping, column.name: value}
    if column.primary_key:
        there = select(*table.primary_key).where(*(one == taken[one.name] for one in table.primary_key))
        if connection.execute(there).first() is not None:
            return False
    return connection.execute(update(table).where(key_of(table, row)).values({column.name: stored})).rowcount == 1


def row_trials(
    full: Full, count: int, seed: int, since: VerificationState | None = None, *, without: Collection[str] = ()
) -> Outcome:
    """So many changes of single values, and rows that are dropped or copied, over all tables and columns in turn.

    With the state of an earlier verification each is looked for from there on, too. Tables of `without` have no rows.
    """
    draw, outcome = random.Random(seed), Outcome(Counter(), [])
    columns = [one for one in columns_to_try() if one.table.name not in without]
    whole = [one for one in bound_tables() if one.name not in without]
    kinds: list[Any] = [*columns, *whole, *whole]
    with full.store.reading_across() as connection:
        stored = {table.name: rows_of(connection, table) for table in bound_tables()}
    number = 0
    while outcome.trials.total() < count:
        kind = kinds[number % len(kinds)]
        number += 1
        table = kind.table if isinstance(kind, Column) else kind
        row = draw.choice(stored[table.name])
        with altering(full.store) as connection:
            if isinstance(kind, Column):
                value = draw.choice(other_values(kind, row._mapping[kind.name], draw))
                what, done = f"{table.name}.{kind.name}", tampered(connection, kind, row, value)
            else:
                what, done = _whole_row(connection, table, row, drop=bool(number // len(kinds) % 2), draw=draw)
            if not done:
                continue
            if _may_be(connection, full, what, row):
                continue
            outcome.trials[what] += 1
            if verified(connection, full).holds or (since is not None and verified_since(connection, full, since)):
                outcome.missed.append(f"trial {number}: {what} of {dict(row._mapping)!a:.200}")
    return outcome


def _whole_row(
    connection: Connection, table: Table, row: Row[Any], *, drop: bool, draw: random.Random
) -> tuple[str, bool]:
    if drop:
        done = connection.execute(delete(table).where(key_of(table, row))).rowcount == 1
        return f"{table.name}: a row dropped", done
    own = [column for column in table.primary_key if column.name != "tenant"]
    if not own:
        return f"{table.name}: a row copied", False
    values = dict(row._mapping)
    for column in own:
        values[column.name] = f"{draw.getrandbits(128):032x}" if not isinstance(column.type, Integer) else 10_000
    for column in table.columns:
        if column.name == "digest" and not column.primary_key:
            values[column.name] = f"{draw.getrandbits(256):064x}"
        if isinstance(column.type, Packed) and values[column.name] is not None:
            values[column.name] = type_coerce(bytes(values[column.name]), LargeBinary)
    if table.name in ("users", "datasets"):
        values["name"] = "mallory"
    if table.name == "api_keys":
        values["id"] = f"{draw.getrandbits(96):024x}"
    connection.execute(insert(table).values(values))
    return f"{table.name}: a row copied", True
