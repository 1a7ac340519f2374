"""What the audit log holds of a run, and whether it is proved now."""

from typing import Final

from sqlalchemy import Connection

from assay.errors import AssayError, AuditError
from assay.reporting import Child, Markup, foreign, tag
from assay.server.console.parts import Column, badge, facts, note, panel, table
from assay.server.services import Services
from assay.store.audit import EntryProof, prove_entry
from assay.store.db import StoredCheck
from assay.store.insights import History, LogEntry

_COLUMNS: Final = (Column("Entry"), Column("What", "wide"), Column("When"), Column("Proof", "num"))


def proof_view(services: Services, check: StoredCheck, history: History) -> Markup:
    """The entries of the log about a run, and the proof of the first of them."""
    if not history.entries:
        return panel("Receipt and audit proof", note("bad", "The audit log has no entry of this run: verify the log."))
    with services.store.reading(check.tenant) as connection:
        proof, why = _proved(connection, check.tenant, history.entries[0].index)
    rows = (
        [str(one.index), _what(one), one.at.replace("T", " ").replace("Z", ""), _link(check.id, one, proof)]
        for one in history.entries
    )
    return panel(
        "Receipt and audit proof", _state(services, proof, why), table("Entries of the audit log", _COLUMNS, rows)
    )


def _proved(connection: Connection, tenant: str, index: int) -> tuple[EntryProof | None, str]:
    try:
        return prove_entry(connection, tenant, index), ""
    except AuditError as error:
        return None, str(error)


def _state(services: Services, proof: EntryProof | None, why: str) -> Child:
    if proof is None:
        waiting = "no checkpoint has entry" in why
        return note("quiet" if waiting else "bad", "Recorded; the next checkpoint will prove it." if waiting else why)
    words, tone = "in the log that the checkpoint states", "good"
    signed = "the server has no keys to verify the signature with"
    if services.keys is not None:
        try:
            proof.verify(services.keys.ring())
            signed = "signature verified"
        except AssayError as error:
            signed, tone = str(error), "bad"
    size = proof.checkpoint.split("\n")[1]
    return [
        tag(
            "p",
            badge("proved" if tone == "good" else "not proved", tone, "✓" if tone == "good" else "✗"),
            " ",
            words,
            "; ",
            foreign(signed),
            class_="proved",
        ),
        facts(
            (
                ("Place in the log", f"entry {proof.index}"),
                ("Checkpoint", f"{size} entries"),
                ("Hashes to the root", str(len(proof.hashes))),
            )
        ),
    ]


def _what(one: LogEntry) -> Child:
    fields = one.fields
    if one.kind == "receipt":
        return [
            "receipt ",
            tag("code", foreign(str(fields.get("receipt", ""))[:40])),
            " by key ",
            tag("code", foreign(str(fields.get("key", ""))[:16])),
        ]
    if one.kind == "decision":
        return ["decision: ", foreign(str(fields.get("action", ""))[:40])]
    if one.kind == "feedback":
        return ["feedback: ", foreign(str(fields.get("verdict", ""))[:40])]
    act = str(fields.get("act", ""))[:40]
    return foreign(f"{one.kind[:60]}: {act.replace('_', ' ')}" if act else one.kind[:60])


def _link(id_: str, one: LogEntry, proof: EntryProof | None) -> Child:
    if proof is None:
        return "–"
    return tag("a", "tlog-proof", href=f"/console/runs/{id_}/proofs/{one.index}", download=True)
