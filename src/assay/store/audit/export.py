"""Bundles: what one takes away from a host to verify elsewhere, with `standalone.py` and nothing else.

A bundle is JSON Lines. The first line is the head, `{"bundle": ..., "of": "log" | "run", "checkpoint": NOTE}`; a bundle
of a log then has each entry in order, a bundle of a run its entries with their proofs and what they commit to. A log is
signed before it is exported, so that a bundle has all of it; one that was made without a signature ends with the last
checkpoint before, and its head says of how many entries it has how many: `"partial": {"entries": N, "of": M}`.

    {"entry": TEXT}
    {"index": N, "proof": [BASE64, ...], "entry": TEXT}
    {"content": {"record", "salt", "asked", "report", "evidence": [TEXT, ...], "policy"}}

The content of a run in which chat models took part has what they said besides, as `tape`.

TEXT is the JSON that was hashed, as a text, so that nobody has to write JSON like we do to verify it.
"""

import base64
import json
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Connection, select

from assay.errors import AuditError
from assay.receipt import canonical
from assay.store.audit.entries import exact
from assay.store.audit.log import entries_of, last_checkpoint, read_entries, read_head
from assay.store.audit.merkle.checkpoint import read_checkpoint
from assay.store.audit.merkle.proofs import prove_entry
from assay.store.db import tables

BUNDLE: Final = "assay.audit/1"
"""The name and version of the form."""


def export_log(
    connection: Connection, tenant: str, signed: str | None = None, *, partial: bool = False
) -> Iterator[str]:
    """The lines of a bundle of a whole log.

    Args:
        connection: one that sees one state of the database.
        tenant: whose log.
        signed: the checkpoint that was made for it (`make_checkpoint`); the last one, which has to cover all of the
            log, by default.
        partial: take the last checkpoint, whatever it covers, and say in the head what is left out.

    Raises:
        AuditError: the log has no checkpoint, or one of fewer entries and `partial` was not asked for; or it lacks an
            entry.
    """
    note, left_out = _covering_all(connection, tenant, signed, partial=partial)
    size = read_checkpoint(note).size
    yield _line({"bundle": BUNDLE, "of": "log", "checkpoint": note, **left_out})
    expected = 0
    for index, data in read_entries(connection, tenant, 0, size):
        if index != expected:
            break
        expected += 1
        yield _line({"entry": data.decode()})
    if expected != size:
        raise AuditError(f"expected entry {expected} of the log, and it is not there; verify the log")


def export_run(
    connection: Connection, tenant: str, record: str, signed: str | None = None, *, partial: bool = False
) -> Iterator[str]:
    """The lines of a bundle of one run: every entry about it with its proof, and all that it was decided on.

    Args:
        connection: one that sees one state of the database.
        tenant: whose log.
        record: the id of the run.
        signed: as for `export_log`.
        partial: as for `export_log`.

    Raises:
        AuditError: there is no such run, or no checkpoint has all of the log and `partial` was not asked for.
    """
    entries = entries_of(connection, tenant, record)
    if not entries:
        raise AuditError(f"expected a run with the id {ascii(record)[:80]} in the log of {tenant}, and there is none")
    note, left_out = _covering_all(connection, tenant, signed, partial=partial)
    size = read_checkpoint(note).size
    # What is left out came after the log was signed, or the head says that the bundle ends before.
    covered = [index for index, _ in entries if index < size]
    if not covered:
        raise AuditError(f"no checkpoint has entry {entries[0][0]} yet; make one with `assay audit checkpoint`")
    yield _line({"bundle": BUNDLE, "of": "run", "checkpoint": note, **left_out})
    for index in covered:
        proof = prove_entry(connection, tenant, index, note)
        hashes = [base64.b64encode(one).decode() for one in proof.hashes]
        yield _line({"index": index, "proof": hashes, "entry": proof.data.decode()})
    content = run_content(connection, tenant, record)
    if content is not None:
        yield _line({"content": content})


def _covering_all(
    connection: Connection, tenant: str, signed: str | None, *, partial: bool
) -> tuple[str, dict[str, Any]]:
    """The checkpoint that a bundle leads to, and what its head says of what is left out."""
    if signed is not None:
        return signed, {}
    note = last_checkpoint(connection, tenant)
    if note is None:
        raise AuditError("the log has no checkpoint yet; make one with `assay audit checkpoint`")
    covered, size = read_checkpoint(note).size, read_head(connection, tenant).size
    if covered >= size:
        return note, {}
    if not partial:
        raise AuditError(
            f"the last checkpoint has {covered:,} of {size:,} entries: sign the log first with `assay audit "
            "checkpoint`, or ask for a partial export"
        )
    return note, {"partial": {"entries": covered, "of": size}}


def run_content(connection: Connection, tenant: str, record: str) -> dict[str, Any] | None:
    """What a run saw and what was found, as a bundle has it; none where it, or its evidence, was erased.

    Raises:
        AuditError: some of its evidence is not there.
    """
    runs, reports = tables.runs.c, tables.reports.c
    run = connection.execute(
        select(runs.salt, runs.asked, runs.bare, runs.tape).where(runs.tenant == tenant, runs.id == record)
    ).one_or_none()
    report = connection.execute(
        select(reports.body, reports.policy).where(reports.tenant == tenant, reports.id == record)
    ).one_or_none()
    if run is None or report is None or run.bare or run.salt is None or run.asked is None or report.body is None:
        return None
    return {
        "record": record,
        "salt": bytes(run.salt).hex(),
        "asked": exact(run.asked).decode(),
        "report": canonical(report.body).decode(),
        "evidence": _evidence(connection, tenant, [digest for _, digest in run.asked.get("evidence", ())]),
        "policy": _policy(connection, tenant, report.policy),
        **({} if run.tape is None else {"tape": exact(run.tape).decode()}),
    }


def _evidence(connection: Connection, tenant: str, digests: list[str]) -> list[str]:
    table = tables.evidence.c
    texts = []
    for digest in dict.fromkeys(digests):
        body = connection.execute(
            select(table.body).where(table.tenant == tenant, table.digest == digest)
        ).scalar_one_or_none()
        if body is None:
            raise AuditError(f"expected the evidence {digest}, and it is not there; verify the log")
        texts.append(exact(body).decode())
    return texts


def _policy(connection: Connection, tenant: str, digest: str) -> str | None:
    table = tables.policies.c
    body = connection.execute(
        select(table.body).where(table.tenant == tenant, table.digest == digest)
    ).scalar_one_or_none()
    if body is None:
        return None
    # As `Policy.digest` writes it.
    return exact(body).decode()


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
