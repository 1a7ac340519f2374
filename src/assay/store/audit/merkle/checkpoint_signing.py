"""Making checkpoints: a log is signed as it is, and two histories are never signed."""

from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from assay.errors import AuditError
from assay.receipt import Keys, SigningKey
from assay.store.audit.log import Entry, last_checkpoint, read_head, read_root
from assay.store.audit.merkle.checkpoint import Checkpoint, open_checkpoint
from assay.store.audit.merkle.signed_notes import note_key_id, read_note
from assay.store.db.column_values import checked_tenant, micros
from assay.store.db.store import Store
from assay.store.db.tables import audit_checkpoints
from assay.store.db.writer import Change


def make_checkpoint(store: Store, keys: Keys, tenant: str) -> str:
    """Sign a log as it is now, and store the checkpoint.

    Before signing, the log is compared with the last checkpoint: a log that was altered gets no new signature. If the
    log has not grown and the same key signed it, the stored checkpoint is returned.

    Returns:
        The checkpoint as a note.

    Raises:
        AuditError: the tenant has no log, the last checkpoint is not valid, or the log is not consistent with it.
        ReceiptError: there is no key to sign with.
        StoreError: it cannot be stored.
    """
    checked_tenant(tenant)
    ring, signer, result = keys.ring(), keys.signer(), list[str]()

    def act(connection: Connection) -> tuple[Entry, ...]:
        head = read_head(connection, tenant)
        last = last_checkpoint(connection, tenant)
        root = read_root(connection, tenant, head.size)
        if last is not None:
            old = open_checkpoint(last, ring)
            _require_consistent(connection, tenant, old, head.origin, head.size)
            if old.size == head.size and _signed_by(last, signer, head.origin):
                result[:] = [last]
                return ()
        if not head.size:
            raise AuditError(f"expected entries in the log of the tenant {tenant}, and there are none: not signed")
        note = Checkpoint(head.origin, head.size, root).sign([signer])
        _store_checkpoint(connection, tenant, head.size, note, store.now())
        result[:] = [note]
        return ()

    store.apply(Change(tenant, act=act))
    return result[0]


def _require_consistent(connection: Connection, tenant: str, old: Checkpoint, origin: str, size: int) -> None:
    if old.origin != origin:
        raise AuditError(f"the last checkpoint is of the log {old.origin!r}, and this one is {origin!r}: not signed")
    if old.size > size:
        raise AuditError(f"the last checkpoint states {old.size:,} entries, and the log has {size:,}: not signed")
    if read_root(connection, tenant, old.size) != old.root:
        raise AuditError(f"the first {old.size:,} entries are not those of the last checkpoint: not signed; verify it")


def _signed_by(note: str, signer: SigningKey, origin: str) -> bool:
    key_id = note_key_id(origin, signer.public)
    return any(line.name == origin and line.key_id == key_id for line in read_note(note).signatures)


def _store_checkpoint(connection: Connection, tenant: str, size: int, note: str, now: datetime) -> None:
    table = audit_checkpoints
    this_checkpoint = (table.c.tenant == tenant) & (table.c.size == size)
    if connection.execute(select(table.c.size).where(this_checkpoint)).first() is None:
        connection.execute(insert(table), {"tenant": tenant, "size": size, "created": micros(now), "note": note})
    else:
        # The same statement signed with another key, after a rotation.
        connection.execute(update(table).where(this_checkpoint).values(note=note, created=micros(now)))
