"""The entries of the audit log about a run, and the proof that the log contains them."""

from typing import Final

from sqlalchemy import Connection

from assay.errors import AssayError, AuditError
from assay.reporting import Child, Markup, foreign, tag
from assay.server.console.parts import Column, badge, facts, note, panel, table
from assay.server.services import Services
from assay.store.audit import EntryProof, last_checkpoint, prove_entry, read_checkpoint
from assay.store.db import StoredCheck
from assay.store.insights import History, LogEntry

_COLUMNS: Final = (Column("Entry"), Column("What", "wide"), Column("When"), Column("Proof", "num"))


def proof_view(services: Services, check: StoredCheck, history: History) -> Markup:
    """The entries of the log about a run, and the proof that the log contains the first of them."""
    if not history.entries:
        return panel("Receipt and audit proof", note("bad", "The audit log has no entry of this run: verify the log."))
    with services.store.reading(check.tenant) as connection:
        try:
            signed_size = _signed_size(connection, check.tenant)
            state = _state(services, connection, check.tenant, history.entries[0].index, signed_size)
        except AuditError as error:
            signed_size, state = 0, note("bad", str(error))
    rows = (
        [
            str(entry.index),
            _what(entry),
            entry.at.replace("T", " ").replace("Z", ""),
            _link(check.id, entry.index, signed_size),
        ]
        for entry in history.entries
    )
    return panel("Receipt and audit proof", state, table("Entries of the audit log", _COLUMNS, rows))


def _signed_size(connection: Connection, tenant: str) -> int:
    """How many entries, from the first one on, the newest checkpoint covers.

    Raises:
        AuditError: the stored checkpoint cannot be read.
    """
    newest = last_checkpoint(connection, tenant)
    return 0 if newest is None else read_checkpoint(newest).size


def _state(services: Services, connection: Connection, tenant: str, index: int, signed_size: int) -> Child:
    """Whether an entry is proved. It is only if this server has verified the signature of the checkpoint.

    Raises:
        AuditError: the log no longer leads to its checkpoint.
    """
    if index >= signed_size:
        return note("quiet", "Recorded; the next checkpoint will prove it.")
    proof = prove_entry(connection, tenant, index)
    label, signature = _verified(services, proof)
    return [
        tag("p", label, " ", "in the log that the checkpoint states", "; ", foreign(signature), class_="proved"),
        facts(
            (
                ("Place in the log", f"entry {proof.index}"),
                ("Checkpoint", f"{read_checkpoint(proof.checkpoint).size} entries"),
                ("Hashes to the root", str(len(proof.hashes))),
            )
        ),
    ]


def _verified(services: Services, proof: EntryProof) -> tuple[Markup, str]:
    """Whether the server's keys have verified a proof, and what is known of its signature."""
    if services.keys is None:
        return badge("not proved", "doubt", "!"), "the server has no keys to verify the signature with"
    try:
        proof.verify(services.keys.ring())
    except AssayError as error:
        return badge("not proved", "bad", "✗"), str(error)
    return badge("proved", "good", "✓"), "signature verified"


def _what(entry: LogEntry) -> Child:
    fields = entry.fields
    if entry.kind == "receipt":
        return [
            "receipt ",
            tag("code", foreign(str(fields.get("receipt", ""))[:40])),
            " by key ",
            tag("code", foreign(str(fields.get("key", ""))[:16])),
        ]
    if entry.kind == "decision":
        return ["decision: ", foreign(str(fields.get("action", ""))[:40])]
    if entry.kind == "feedback":
        return ["feedback: ", foreign(str(fields.get("verdict", ""))[:40])]
    act = str(fields.get("act", ""))[:40]
    return foreign(f"{entry.kind[:60]}: {act.replace('_', ' ')}" if act else entry.kind[:60])


def _link(id_: str, index: int, signed_size: int) -> Child:
    if index >= signed_size:
        return "–"
    return tag("a", "tlog-proof", href=f"/console/runs/{id_}/proofs/{index}", download=True)
