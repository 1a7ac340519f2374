"""Proofs in standard text formats: inclusion as C2SP tlog-proof, consistency as C2SP tlog-witness."""

import base64
import re
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, text

from assay.errors import AuditError
from assay.receipt import KeyRing
from assay.store.audit.log import nodes_of, read_entry, read_head, read_root, tiles_of_proof
from assay.store.audit.merkle.checkpoint import Checkpoint, open_checkpoint, read_checkpoint
from assay.store.audit.merkle.signed_notes import decode_base64
from assay.store.audit.merkle.tree import LONGEST_PROOF, consistency_proof, inclusion_proof, is_included, leaf_hash
from assay.store.db.raw_statements import execute_prepared

FIRST_LINE: Final = "c2sp.org/tlog-proof@v1"
_INDEX: Final = re.compile(r"index (0|[1-9][0-9]{0,18})")


@dataclass(frozen=True, slots=True)
class EntryProof:
    """A proof that an entry is in a log: the entry, its index, the hashes, and the checkpoint that they lead to."""

    index: int
    data: bytes
    """The bytes of the entry."""
    hashes: tuple[bytes, ...]
    checkpoint: str
    """The checkpoint as a note."""

    def to_text(self) -> str:
        """The proof as a tlog-proof, with the entry as its extra data, so that nothing else is needed to verify it."""
        lines = [
            FIRST_LINE,
            f"extra {base64.b64encode(self.data).decode()}",
            f"index {self.index}",
            *(base64.b64encode(digest).decode() for digest in self.hashes),
        ]
        return "\n".join(lines) + f"\n\n{self.checkpoint}"

    def verify(self, ring: KeyRing) -> Checkpoint:
        """Verify the proof; returns its checkpoint.

        Raises:
            AuditError: no key of the ring signed the checkpoint, or the entry is not in its log.
            ReceiptError: `cryptography` is not installed.
        """
        checkpoint = open_checkpoint(self.checkpoint, ring)
        if not is_included(leaf_hash(self.data), self.index, checkpoint.size, self.hashes, checkpoint.root):
            raise AuditError(f"the proof does not lead from entry {self.index} to the root of its checkpoint")
        return checkpoint


def read_proof(text: str) -> EntryProof:
    """Parse a tlog-proof with its entry as extra data.

    Raises:
        AuditError: it is malformed.
    """
    head, blank, checkpoint = text.partition("\n\n")
    lines = head.split("\n")
    if not blank or len(lines) < 3 or lines[0] != FIRST_LINE:
        raise AuditError(f"expected a proof that begins with {FIRST_LINE}, got another text")
    index = _INDEX.fullmatch(lines[2])
    if not lines[1].startswith("extra ") or index is None:
        raise AuditError("expected the lines `extra` and `index` in a proof, got others")
    if len(lines) - 3 > LONGEST_PROOF:
        raise AuditError(f"expected at most {LONGEST_PROOF} hashes in a proof, got {len(lines) - 3}")
    read_checkpoint(checkpoint)
    data = decode_base64(lines[1].removeprefix("extra "))
    return EntryProof(int(index[1]), data, tuple(decode_base64(line) for line in lines[3:]), checkpoint)


def prove_entry(connection: Connection, tenant: str, index: int, checkpoint: str | None = None) -> EntryProof:
    """The proof that an entry is in a tenant's log.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose log.
        index: the entry's index.
        checkpoint: the checkpoint to lead to; by default the first stored one that covers the entry.

    Raises:
        AuditError: there is no such entry, no checkpoint covers it yet, or the log no longer leads to the checkpoint.
    """
    if checkpoint is None:
        checkpoint = first_covering(connection, tenant, index)
    stated = read_checkpoint(checkpoint)
    data = read_entry(connection, tenant, index)
    known = tiles_of_proof(connection, tenant, index, stated.size)
    hashes = tuple(inclusion_proof(index, stated.size, nodes_of(connection, tenant, known)))
    if not is_included(leaf_hash(data), index, stated.size, hashes, stated.root):
        raise AuditError(f"entry {index} is not what the checkpoint states: the log was altered; verify it")
    return EntryProof(index, data, hashes, checkpoint)


def first_covering(connection: Connection, tenant: str, index: int) -> str:
    """The first stored checkpoint that covers an entry, as a note.

    Raises:
        AuditError: none covers it yet.
    """
    note: str | None = execute_prepared(connection, _COVERING, {"tenant": tenant, "at": index}).scalar_one_or_none()
    if note is None:
        raise AuditError(f"no checkpoint has entry {index} yet; make one with `assay audit checkpoint`")
    return note


_COVERING: Final = text(
    "SELECT note FROM audit_checkpoints WHERE tenant = :tenant AND size > :at ORDER BY size LIMIT 1"
)


def prove_growth(connection: Connection, tenant: str, old: int, checkpoint: str) -> str:
    """The proof that the log of a checkpoint begins with its first `old` entries, as a request to a witness.

    Raises:
        AuditError: `old` exceeds the size of the checkpoint, or the log no longer leads to the checkpoint.
    """
    stated = read_checkpoint(checkpoint)
    head = read_head(connection, tenant)
    if stated.origin != head.origin or stated.size > head.size:
        raise AuditError("expected a checkpoint of this log as it is, got another")
    if read_root(connection, tenant, stated.size) != stated.root:
        raise AuditError("the log no longer leads to the checkpoint: it was altered; verify it")
    hashes = consistency_proof(old, stated.size, nodes_of(connection, tenant))
    lines = [f"old {old}", *(base64.b64encode(digest).decode() for digest in hashes)]
    return "\n".join(lines) + f"\n\n{checkpoint}"
