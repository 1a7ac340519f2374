"""What `verify` says of a store: each thing that does not hold is named, and nothing else."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, func, select, text, update
from tests.store.making import DAY, EVIDENCE, KEY, KEYS, OTHER_KEY, RING, record_of, ring_of

from assay.errors import AuditError, ReceiptError, StoreError
from assay.receipt import FixedKeys, canonical
from assay.store.audit.across import tenants_of
from assay.store.audit.entries import COMMIT, DECISION, ERASURE, FEEDBACK, REVIEW, VERSION, commitment, entry, exact
from assay.store.audit.export import export_log, export_run
from assay.store.audit.log import Entry
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.merkle.proofs import prove_entry, prove_growth, read_proof
from assay.store.audit.verification.log import LogVerification, verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db import tables
from assay.store.db.engine import make_engine, writing
from assay.store.db.row_security import EVERY_TENANT, set_acting_tenant
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.erasure import erase_before, erase_runs, find_runs


def verified(store: Store, anchors: list[str] | None = None, tenant: str = "default") -> LogVerification:
    with store.reading_across() as connection:
        return verify_contents(connection, tenant, verify_log(connection, tenant, RING, anchors or []))


def codes(found: LogVerification) -> list[str]:
    return [one.code.value for one in found.findings]


def change(store: Store, *statements: Any) -> None:
    with writing(store.engine).begin() as connection:
        set_acting_tenant(connection, EVERY_TENANT)
        for statement in statements:
            connection.execute(statement)


def test_a_store_that_nobody_touched_holds(url: str) -> None:
    with Store(url) as store:
        for number in range(3):
            store.record(record_of(f"Answer {number}."))
        first = make_checkpoint(store, KEYS, "default")
        store.record(record_of())
        make_checkpoint(store, KEYS, "default")
        found = verified(store, [first])
        assert found.holds, found.findings
        assert (found.size, found.checkpoints, found.anchors, found.runs) == (4, 2, 1, 4)


def test_several_writers_append_to_one_log(url: str) -> None:
    with Store(url) as one, Store(url) as other:
        for number in range(12):
            (one if number % 2 else other).record(record_of(f"Answer {number}."))
        make_checkpoint(one, KEYS, "default")
        other.record(record_of())
        make_checkpoint(other, KEYS, "default")
        assert verified(one).size == 13
        assert verified(other).holds


def test_every_tenant_has_a_log_of_its_own(url: str) -> None:
    with Store(url) as store:
        for tenant in ("acme", "globex"):
            store.record(record_of(tenant=tenant))
            make_checkpoint(store, KEYS, tenant)
        with store.reading_across() as connection:
            assert list(tenants_of(connection)) == ["acme", "globex"]
            origins = {verify_log(connection, tenant, RING).origin for tenant in ("acme", "globex")}
        assert len(origins) == 2
        assert verified(store, tenant="acme").holds


def test_a_log_has_the_name_that_its_operator_gives(tmp_path: Path) -> None:
    from assay.store.db.store import StoreSettings

    with Store(str(tmp_path / "x.db"), StoreSettings(origin="example.com/assay")) as store:
        store.record(record_of())
        assert make_checkpoint(store, KEYS, "default").startswith("example.com/assay/default\n1\n")


def test_a_log_that_is_not_there_does_not_hold(url: str) -> None:
    with Store(url) as store:
        assert codes(verified(store)) == ["no_log"]


def test_an_entry_that_is_no_whole_decision_is_a_finding(url: str) -> None:
    """Who can write the database can append any entry: it has to be reported, and not to end the verification."""
    with Store(url) as store:
        record = store.record(record_of())
        broken: list[dict[str, Any]] = [{}, {"asked": 1, "evidence": None, "report": [], "output": {}, "query": None}]
        for fields in broken:
            data = {"at": "2026-01-01T00:00:00Z", **fields}
            store.apply(Change("default", entries=[entry(DECISION, record.id, data)]))
        make_checkpoint(store, KEYS, "default")
        with store.reading("default") as connection:
            found = verify_contents(connection, "default", verify_log(connection, "default", RING))
        assert "altered_entry" in codes(found)
        assert any("lacks what every decision has" in finding.message for finding in found.findings)


def test_a_report_that_is_none_is_a_finding_though_an_entry_commits_to_it(url: str) -> None:
    """The salt is in the tables: who can write them can commit to anything."""
    with Store(url) as store:
        record = store.record(record_of())
        with writing(store.engine).begin() as connection:
            set_acting_tenant(connection, "default")
            run = connection.execute(select(tables.runs)).one()
            body = {"output": 5, "run_id": None, "decision": "emit", "claims": [{"text": 5}]}
            connection.execute(update(tables.reports).values(body=body))
        salt = bytes(run.salt)
        pairs = [commitment(salt, "evidence", canonical(list(pair))) for pair in run.asked["evidence"]]
        data = {
            "at": "2026-01-01T00:00:00Z",
            "asked": commitment(salt, "asked", exact(run.asked)),
            "evidence": pairs,
            "report": commitment(salt, "report", sha256(canonical(body)).hexdigest().encode()),
        }
        store.apply(Change("default", entries=[entry(DECISION, record.id, data)]))
        for kind in (DECISION, REVIEW, COMMIT, FEEDBACK, ERASURE):
            bare = canonical({"v": VERSION, "kind": kind, "at": data["at"], "rows": 5, "labels": 5, "position": [1]})
            store.apply(Change("default", entries=[Entry(kind, bare, None)]))
        make_checkpoint(store, KEYS, "default")
        with store.reading("default") as connection:
            found = verify_contents(connection, "default", verify_log(connection, "default", RING))
        assert {"altered_content", "altered_entry"} <= set(codes(found))


CONTENT_CHANGES = [
    (update(tables.reports).values(action="block"), "altered_content"),
    (update(tables.reports).values(score=0.1), "altered_content"),
    (update(tables.claims).values(text="Forged."), "altered_content"),
    (update(tables.claims).values(verdict="contradicted"), "altered_content"),
    (update(tables.runs).values(salt=b"x" * 32), "altered_content"),
    (update(tables.runs).values(asked={"asked": {}, "evidence": []}), "altered_content"),
    (update(tables.evidence).values(body={"text": "Forged."}), "altered_content"),
    (delete(tables.evidence), "missing_content"),
    (delete(tables.reports), "missing_content"),
    (delete(tables.runs), "missing_content"),
    (update(tables.runs).values(salt=None), "missing_content"),
    (update(tables.reports).values(body=None), "missing_content"),
    (delete(tables.audit_entries), "missing_entry"),
    (update(tables.audit_entries).values(kind="note"), "altered_entry"),
    (update(tables.audit_entries).values(record="x"), "altered_entry"),
    (update(tables.decisions).values(action="block"), "altered_content"),
    (delete(tables.decisions), "altered_content"),
    (delete(tables.claims), "altered_content"),
    (update(tables.policies).values(body={}), "altered_content"),
    (text("UPDATE policies SET body = x'00'"), "altered_content"),
    (text("UPDATE reports SET body = x'00'"), "altered_content"),
    (text("UPDATE runs SET asked = x'789c'"), "altered_content"),
    (update(tables.reports).values(body=[1]), "altered_content"),
    (update(tables.reports).values(body={"claims": 1}), "altered_content"),
    (update(tables.runs).values(asked=[1]), "altered_content"),
    (update(tables.runs).values(asked={"evidence": [1, ["a"], ["a", "b", "c"]]}), "altered_content"),
]


@pytest.mark.parametrize(("statement", "code"), CONTENT_CHANGES)
def test_content_that_is_not_what_was_recorded_is_found(tmp_path: Path, statement: Any, code: str) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        store.record(record_of())
        change(store, statement)
        assert code in codes(verified(store))


def test_a_run_that_the_log_does_not_know_is_found(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        store.record(record_of())
        columns = ", ".join(column.name for column in tables.runs.columns if column.name != "id")
        change(store, text(f"INSERT INTO runs (id, {columns}) SELECT 'forged', {columns} FROM runs"))  # noqa: S608
        assert codes(verified(store)) == ["unlogged"]


# Checkpoints


def test_a_log_that_was_altered_gets_no_new_signature(url: str) -> None:
    with Store(url) as store:
        for number in range(3):
            store.record(record_of(f"Answer {number}."))
        make_checkpoint(store, KEYS, "default")
        change(store, update(tables.audit_tiles).values(hashes=b"x" * 96))
        with pytest.raises(AuditError, match="not those of the last checkpoint"):
            make_checkpoint(store, KEYS, "default")


def test_a_log_that_was_cut_gets_no_new_signature(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        store.record(record_of())
        make_checkpoint(store, KEYS, "default")
        change(store, update(tables.audit_logs).values(size=0))
        with pytest.raises(AuditError, match="states 1 entries, and the log has 0"):
            make_checkpoint(store, KEYS, "default")
        change(store, update(tables.audit_logs).values(size=1, origin="example.com/other"))
        with pytest.raises(AuditError, match="not signed"):
            make_checkpoint(store, KEYS, "default")


def test_the_same_log_is_signed_once_and_anew_after_a_rotation(url: str) -> None:
    with Store(url) as store:
        store.record(record_of())
        first = make_checkpoint(store, KEYS, "default")
        assert make_checkpoint(store, KEYS, "default") == first
        rotated = FixedKeys(ring_of(KEY, OTHER_KEY), OTHER_KEY)
        second = make_checkpoint(store, rotated, "default")
        assert second != first
        assert second.split("\n\n")[0] == first.split("\n\n")[0]


def test_nothing_is_signed_without_a_key_or_a_log(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        with pytest.raises(AuditError, match="there are none"):
            make_checkpoint(store, KEYS, "default")
        with pytest.raises(ReceiptError):
            make_checkpoint(store, FixedKeys(RING, None), "default")


# Proofs and bundles


def test_a_proof_is_read_and_verified_from_its_text(url: str) -> None:
    with Store(url) as store:
        for number in range(7):
            store.record(record_of(f"Answer {number}."))
        note = make_checkpoint(store, KEYS, "default")
        store.record(record_of())
        with store.reading_across() as connection:
            for index in range(7):
                proof = prove_entry(connection, "default", index)
                again = read_proof(proof.to_text())
                assert again == proof
                assert again.verify(RING).size == 7
            with pytest.raises(AuditError, match="no checkpoint has entry 7 yet"):
                prove_entry(connection, "default", 7)
            growth = prove_growth(connection, "default", 3, note)
            assert growth.startswith("old 3\n")
            assert growth.endswith(note)
            with pytest.raises(AuditError):
                prove_growth(connection, "default", 8, note)


def test_a_forged_proof_does_not_verify(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        for number in range(4):
            store.record(record_of(f"Answer {number}."))
        make_checkpoint(store, KEYS, "default")
        with store.reading_across() as connection:
            one, other = (prove_entry(connection, "default", index) for index in (1, 2))
        forged = other.to_text().replace("index 2", "index 1")
        with pytest.raises(AuditError, match="does not lead"):
            read_proof(forged).verify(RING)
        with pytest.raises(AuditError, match="no key of the ring"):
            one.verify(ring_of(OTHER_KEY))
        for broken in ("", "x\n\ny", one.to_text()[5:], one.to_text().replace("index 1", "index 01")):
            with pytest.raises(AuditError):
                read_proof(broken)


def test_an_altered_entry_is_neither_proved_nor_exported(tmp_path: Path) -> None:
    record = record_of()
    with Store(str(tmp_path / "x.db")) as store:
        store.record(record)
        store.record(record_of("Another."))
        make_checkpoint(store, KEYS, "default")
        change(store, update(tables.audit_entries).where(tables.audit_entries.c.idx == 0).values(data=b"{}"))
        with store.reading_across() as connection:
            with pytest.raises(AuditError, match="the log was altered"):
                prove_entry(connection, "default", 0)
            with pytest.raises(AuditError, match="the log was altered"):
                list(export_run(connection, "default", record.id))
            with pytest.raises(AuditError, match="there is none"):
                list(export_run(connection, "default", "nobody"))


def test_a_log_without_a_checkpoint_cannot_be_exported(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        store.record(record_of())
        with store.reading_across() as connection, pytest.raises(AuditError, match="no checkpoint yet"):
            list(export_log(connection, "default"))


# Erasure


def everything(connection: Connection) -> str:
    """All that the database holds, as one text."""
    found = []
    for table in (*tables.metadata.tables.values(), tables.report_search):
        found += [repr(tuple(row)) for row in connection.execute(select(table)).all()]
    return "\n".join(found)


def test_erased_content_is_gone_and_the_log_still_holds(url: str) -> None:
    secret = record_of("Mrs Smith of Elm Street has 2 weeks.", caller="smith-app")
    other = record_of("Partners get 2 weeks.", evidence=EVIDENCE[:1])
    with Store(url) as store:
        store.record(secret)
        store.record(other)
        before = make_checkpoint(store, KEYS, "default")
        erased = erase_runs(store, [secret.id, "unknown"], "request of the person", "default")
        assert (erased.runs, erased.entries) == ((secret.id,), (2,))
        make_checkpoint(store, KEYS, "default")
        found = verified(store, [before])
        assert found.holds, found.findings
        check = store.check(secret.id)
        assert check is not None
        assert (check.report, check.asked, check.salt, check.evidence, check.caller) == (None, None, None, (), None)
        assert store.report(other.id) == other.report
        with store.reading_across() as connection:
            assert "Smith" not in everything(connection)
            assert "smith" not in everything(connection)
            # Evidence that only the erased run had is gone, what another had is not.
            assert connection.execute(select(func.count()).select_from(tables.evidence)).scalar() == 1
            assert [row.id for row in store.page()] == [other.id, secret.id]
        assert erase_runs(store, [secret.id], "again", "default").runs == ()


def test_nothing_of_what_was_erased_is_left_in_the_files_of_sqlite(tmp_path: Path) -> None:
    marker = "Zaphod-Beeblebrox-42"
    record = record_of(f"{marker} has 2 weeks.", caller=marker)
    path = tmp_path / "x.db"
    with Store(str(path)) as store:
        store.record(record)
        assert any(marker.encode() in file.read_bytes() for file in tmp_path.iterdir())
        erase_runs(store, [record.id], "request", "default")
        assert not any(marker.encode() in file.read_bytes() for file in tmp_path.iterdir())


def test_retention_erases_what_is_old_and_only_that(url: str) -> None:
    moments = [DAY, DAY + timedelta(days=1), DAY + timedelta(days=40)]
    clock = iter([*moments, *[DAY + timedelta(days=41)] * 9])
    records = [record_of(f"Answer {number}.") for number in range(3)]
    with Store(url, clock=lambda: next(clock)) as store:
        for record in records:
            store.record(record)
        erased = erase_before(store, DAY + timedelta(days=10), "default")
        assert set(erased.runs) == {record.id for record in records[:2]}
        assert store.report(records[2].id) is not None
        assert verified(store).holds


def test_a_person_is_found_by_the_name_that_the_caller_gave(url: str) -> None:
    with Store(url) as store:
        record = record_of()
        store.record(record)
        assert find_runs(store, "run-1", "default") == [record.id]
        assert find_runs(store, "run-1", "acme") == []


def test_an_erasure_needs_a_reason(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store, pytest.raises(StoreError, match="reason"):
        erase_runs(store, ["x"], " ", "default")


def test_a_tenant_erases_nothing_of_another(url: str) -> None:
    record = record_of(tenant="acme")
    with Store(url) as store:
        store.record(record)
        assert erase_runs(store, [record.id], "request", "globex").runs == ()
        assert store.report(record.id, "acme") == record.report


def test_the_salt_is_new_for_each_run_so_that_equal_content_looks_different_in_the_log(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        for _ in range(2):
            store.record(record_of())
        with store.reading_across() as connection:
            rows = connection.execute(select(tables.audit_entries.c.data)).scalars().all()
    import json

    one, other = (json.loads(row) for row in rows)
    for name in ("query", "asked", "output", "report", "evidence"):
        assert one[name] != other[name], name


def test_an_engine_for_reading_begins_no_write(tmp_path: Path) -> None:
    path = str(tmp_path / "x.db")
    with Store(path) as store, store.reading_across() as connection:
        connection.execute(select(func.count()).select_from(tables.runs)).scalar()
        # Somebody else can write meanwhile.
        store.record(record_of())
        assert connection.execute(select(func.count()).select_from(tables.runs)).scalar() == 0
    engine = make_engine(path)
    with engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(tables.runs)).scalar() == 1
    engine.dispose()
