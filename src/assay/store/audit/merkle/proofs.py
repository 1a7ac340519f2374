"""Proofs as texts that others read too: inclusion as C2SP tlog-proof, consistency as C2SP tlog-witness asks for it."""

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
    """That an entry is in a log: the entry, its place, the hashes, and the checkpoint that they lead to."""

    index: int
    data: bytes
    """The entry itself."""
    hashes: tuple[bytes, ...]
    checkpoint: str
    """As a note."""

    def to_text(self) -> str:
        """The proof as tlog-proof, with the entry as its extra data: all that is needed to verify it."""
        lines = [
            FIRST_LINE,
            f"extra {base64.b64encode(self.data).decode()}",
            f"index {self.index}",
            *(base64.b64encode(one).decode() for one in self.hashes),
        ]
        return "\n".join(lines) + f"\n\n{self.checkpoint}"

    def verify(self, ring: KeyRing) -> Checkpoint:
        """The checkpoint, if it is signed by a key of the ring and the entry is in its log.

        Raises:
            AuditError: it is not.
            ReceiptError: `cryptography` is not installed.
        """
        found = open_checkpoint(self.checkpoint, ring)
        if not is_included(leaf_hash(self.data), self.index, found.size, self.hashes, found.root):
            raise AuditError(f"the proof does not lead from entry {self.index} to the root of its checkpoint")
        return found


def read_proof(text: str) -> EntryProof:
    """A proof out of a tlog-proof that holds its entry as extra data.

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
        connection: one that sees one state of the database.
        tenant: whose log.
        index: the entry's index.
        checkpoint: the checkpoint to lead to; the first stored one that has the entry by default.

    Raises:
        AuditError: there is no such entry, no checkpoint has it yet, or the log no longer leads to the checkpoint.
    """
    if checkpoint is None:
        checkpoint = covering(connection, tenant, index)
    stated = read_checkpoint(checkpoint)
    data = read_entry(connection, tenant, index)
    known = tiles_of_proof(connection, tenant, index, stated.size)
    hashes = tuple(inclusion_proof(index, stated.size, nodes_of(connection, tenant, known)))
    if not is_included(leaf_hash(data), index, stated.size, hashes, stated.root):
        raise AuditError(f"entry {index} is not what the checkpoint states: the log was altered; verify it")
    return EntryProof(index, data, hashes, checkpoint)


def covering(connection: Connection, tenant: str, index: int) -> str:
    """The first stored checkpoint that has an entry.

    Raises:
        AuditError: none has it yet.
    """
    found: str | None = execute_prepared(connection, _COVERING, {"of": tenant, "at": index}).scalar_one_or_none()
    if found is None:
        raise AuditError(f"no checkpoint has entry {index} yet; make one with `assay audit checkpoint`")
    return found


_COVERING: Final = text("SELECT note FROM audit_checkpoints WHERE tenant = :of AND size > :at ORDER BY size LIMIT 1")


def prove_growth(connection: Connection, tenant: str, old: int, checkpoint: str) -> str:
    """The proof that a checkpoint's log begins with its first `old` entries, as a witness takes it.

    Raises:
        AuditError: the old size is larger, or the log no longer leads to the checkpoint.
    """
    stated = read_checkpoint(checkpoint)
    head = read_head(connection, tenant)
    if stated.origin != head.origin or stated.size > head.size:
        raise AuditError("expected a checkpoint of this log as it is, got another")
    if read_root(connection, tenant, stated.size) != stated.root:
        raise AuditError("the log no longer leads to the checkpoint: it was altered; verify it")
    hashes = consistency_proof(old, stated.size, nodes_of(connection, tenant))
    lines = [f"old {old}", *(base64.b64encode(one).decode() for one in hashes)]
    return "\n".join(lines) + f"\n\n{checkpoint}"
