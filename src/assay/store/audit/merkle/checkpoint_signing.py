"""Making checkpoints: a log signs what it is, and never two histories."""

from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from assay.errors import AuditError
from assay.receipt import Keys, SigningKey
from assay.store.audit.log import Entry, last_checkpoint, read_head, read_root
from assay.store.audit.merkle.checkpoint import Checkpoint, open_checkpoint
from assay.store.audit.merkle.signed_notes import note_key_id, read_note
from assay.store.db.store import Store
from assay.store.db.tables import audit_checkpoints
from assay.store.db.writer import Change
from assay.store.records.recording import checked_tenant, micros


def make_checkpoint(store: Store, keys: Keys, tenant: str) -> str:
    """Sign a log as it is now, and store the checkpoint.

    Before it signs, it looks whether the log still begins with what the last checkpoint stated: a log that was altered
    gets no new signature. Where the log has not grown and the same key signed it, the stored checkpoint is returned.

    Returns:
        The checkpoint as a note.

    Raises:
        AuditError: the tenant has no log, the last checkpoint does not hold, or the log no longer fits it.
        ReceiptError: there is no key to sign with.
        StoreError: it cannot be stored.
    """
    checked_tenant(tenant)
    ring, signer, made = keys.ring(), keys.signer(), list[str]()

    def act(connection: Connection) -> tuple[Entry, ...]:
        head = read_head(connection, tenant)
        last = last_checkpoint(connection, tenant)
        node_root = read_root(connection, tenant, head.size)
        if last is not None:
            old = open_checkpoint(last, ring)
            _fits(connection, tenant, old, head.origin, head.size)
            if old.size == head.size and _signed_by(last, signer, head.origin):
                made[:] = [last]
                return ()
        if not head.size:
            raise AuditError(f"expected entries in the log of the tenant {tenant}, and there are none: not signed")
        note = Checkpoint(head.origin, head.size, node_root).sign([signer])
        _keep(connection, tenant, head.size, note, store.now())
        made[:] = [note]
        return ()

    store.apply(Change(tenant, act=act))
    return made[0]


def _fits(connection: Connection, tenant: str, old: Checkpoint, origin: str, size: int) -> None:
    if old.origin != origin:
        raise AuditError(f"the last checkpoint is of the log {old.origin!r}, and this one is {origin!r}: not signed")
    if old.size > size:
        raise AuditError(f"the last checkpoint states {old.size:,} entries, and the log has {size:,}: not signed")
    if read_root(connection, tenant, old.size) != old.root:
        raise AuditError(f"the first {old.size:,} entries are not those of the last checkpoint: not signed; verify it")


def _signed_by(note: str, signer: SigningKey, origin: str) -> bool:
    wanted = note_key_id(origin, signer.public)
    return any(one.name == origin and one.key_id == wanted for one in read_note(note).signatures)


def _keep(connection: Connection, tenant: str, size: int, note: str, now: datetime) -> None:
    table = audit_checkpoints
    here = (table.c.tenant == tenant) & (table.c.size == size)
    if connection.execute(select(table.c.size).where(here)).first() is None:
        connection.execute(insert(table), {"tenant": tenant, "size": size, "created": micros(now), "note": note})
    else:
        # The same statement under another key, after a rotation.
        connection.execute(update(table).where(here).values(note=note, created=micros(now)))
