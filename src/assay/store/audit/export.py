"""Bundles: exports of a log or a run that can be verified elsewhere, with nothing but `standalone.py`.

A bundle is JSON Lines. The first line is the head, `{"bundle": ..., "of": "log" | "run", "checkpoint": NOTE}`. A bundle
of a log continues with each entry in order; a bundle of a run with its entries, their proofs, and the content that they
commit to. A log is signed before it is exported, so that the bundle has all of it. A bundle made without signing ends
at the last checkpoint, and its head states how many entries it has of how many: `"partial": {"entries": N, "of": M}`.

    {"entry": TEXT}
    {"index": N, "proof": [BASE64, ...], "entry": TEXT}
    {"content": {"record", "salt", "asked", "report", "evidence": [TEXT, ...], "policy"}}

The content of a run with chat models also has their answers, as `tape`.

TEXT is the JSON that was hashed, as a string, so that no verifier has to encode JSON the way that we do.
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
"""The name and version of the format."""


def export_log(
    connection: Connection, tenant: str, signed: str | None = None, *, partial: bool = False
) -> Iterator[str]:
    """The lines of a bundle of a whole log.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose log.
        signed: a checkpoint made for this export (`make_checkpoint`); by default the last stored one, which must
            cover the whole log.
        partial: use the last checkpoint, whatever it covers, and state in the head what is left out.

    Raises:
        AuditError: the log has no checkpoint, or only one of fewer entries and `partial` is false; or an entry is
            missing.
    """
    note, left_out = _covering_all(connection, tenant, signed, partial=partial)
    size = read_checkpoint(note).size
    yield _line({"bundle": BUNDLE, "of": "log", "checkpoint": note, **left_out})
    yield from _entry_lines(connection, tenant, size)


def _entry_lines(connection: Connection, tenant: str, size: int) -> Iterator[str]:
    """The lines of the first `size` entries of a log.

    Raises:
        AuditError: an entry is missing.
    """
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
    """The lines of a bundle of one run: every entry about it with its proof, and the content that was decided on.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose log.
        record: the id of the run.
        signed: as for `export_log`.
        partial: as for `export_log`.

    Raises:
        AuditError: there is no such run, or no checkpoint covers the whole log and `partial` is false.
    """
    entries = entries_of(connection, tenant, record)
    if not entries:
        raise AuditError(f"expected a run with the id {ascii(record)[:80]} in the log of {tenant}, and there is none")
    note, left_out = _covering_all(connection, tenant, signed, partial=partial)
    size = read_checkpoint(note).size
    # Later entries came after the log was signed, or the head says that the bundle is partial.
    covered = [index for index, _ in entries if index < size]
    if not covered:
        raise AuditError(f"no checkpoint has entry {entries[0][0]} yet; make one with `assay audit checkpoint`")
    yield _line({"bundle": BUNDLE, "of": "run", "checkpoint": note, **left_out})
    for index in covered:
        proof = prove_entry(connection, tenant, index, note)
        hashes = [base64.b64encode(digest).decode() for digest in proof.hashes]
        yield _line({"index": index, "proof": hashes, "entry": proof.data.decode()})
    content = run_content(connection, tenant, record)
    if content is not None:
        yield _line({"content": content})


def _covering_all(
    connection: Connection, tenant: str, signed: str | None, *, partial: bool
) -> tuple[str, dict[str, Any]]:
    """The checkpoint of a bundle, and the field of its head that states what is left out."""
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
    """The input and the report of a run as a bundle has them; None if the run or its evidence was erased.

    Raises:
        AuditError: some of its evidence is missing.
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
    # Encoded as for `Policy.digest`.
    return exact(body).decode()


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
