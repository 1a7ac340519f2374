"""What a server does for its logs by itself: it signs them, takes the checkpoints out of the host, applies retention.

Of several worker processes over one database one does each of it (`assay.store.db.leases`). What fails is told to the
operator and tried again at the next turn: a witness that is away for an hour stops nothing.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sqlalchemy import select

from assay.errors import AssayError
from assay.receipt import Keys
from assay.server.audit.settings import AuditSettings
from assay.server.services import Services
from assay.store.audit import anchor_at_witness, anchor_in_file, make_checkpoint, read_checkpoint, read_witness_key
from assay.store.db import Store, audit_anchors, audit_logs, take_lease
from assay.store.records import DEFAULT_TENANT, apply_rules, tenants_with_rules
from assay.store.redteam import apply_rules_to_conversations

SHARE: Final = 0.9
"""The share of the time between two turns for which a turn is held: a process that vanished is not missed for long."""
SIGNING: Final = "checkpoint"
KEEPING: Final = "retention"

_log = logging.getLogger("assay.server")


async def sign_logs(services: Services) -> None:
    """Signs the logs of all tenants now and then, and once more when the server stops."""
    keys, settings = services.keys, services.settings.audit
    if keys is None:
        _log.warning("the audit log is not signed: there are no keys; name their folder in ASSAY_RECEIPT_KEYS")
        await asyncio.Event().wait()
        return
    holder, every = secrets.token_hex(8), settings.checkpoint_minutes * 60

    def work() -> None:
        sign_all(services.store, keys, settings, holder, every)

    await _repeated(work, every, last=True)


async def keep_rules(services: Services) -> None:
    """Applies the rules of retention of all tenants now and then."""
    holder, every = secrets.token_hex(8), services.settings.audit.retention_minutes * 60
    await _repeated(lambda: erase_all(services.store, holder, every), every, last=False)


async def _repeated(work: Callable[[], None], every: float, *, last: bool) -> None:
    try:
        while True:
            await asyncio.to_thread(_logging_errors, work)
            await asyncio.sleep(every)
    finally:
        if last:
            await asyncio.to_thread(_logging_errors, work)


def _logging_errors(work: Callable[[], None]) -> None:
    try:
        work()
    except AssayError:
        _log.exception("a timer of the audit log failed; it is tried again at its next turn")


def sign_all(store: Store, keys: Keys, settings: AuditSettings, holder: str, every: float) -> None:
    """Sign the log of each tenant, if it is this holder's turn, and take the checkpoints out of the host.

    Args:
        store: the store.
        keys: what signs.
        settings: where checkpoints are taken to.
        holder: whose turn it has to be.
        every: seconds between two turns.
    """
    with store.reading_across() as connection:
        grown = connection.execute(select(audit_logs.c.tenant).where(audit_logs.c.size > 0)).scalars().all()
    for tenant in sorted(grown):
        try:
            if take_lease(store, tenant, SIGNING, holder, every * SHARE):
                take_out(store, tenant, make_checkpoint(store, keys, tenant), settings)
        except AssayError:
            _log.exception("the log of the tenant %s could not be signed; verify it with `assay audit verify`", tenant)


def take_out(store: Store, tenant: str, note: str, settings: AuditSettings) -> None:
    """Take a checkpoint to every place that does not have it yet; a place that fails keeps it from no other."""
    size = read_checkpoint(note).size
    for path in settings.anchors:
        own = anchor_of(path, tenant)
        if not _is_at(store, tenant, size, str(own)):
            _tried(lambda own=own: anchor_in_file(store, tenant, note, own), str(own))  # type: ignore[misc]
    for witness in settings.witnesses:
        if not _is_at(store, tenant, size, witness.url):
            key = None if witness.key is None else read_witness_key(witness.key)
            _tried(lambda one=witness.url, key=key: anchor_at_witness(store, tenant, note, one, key), witness.url)  # type: ignore[misc]


def _is_at(store: Store, tenant: str, size: int, target: str) -> bool:
    table = audit_anchors.c
    with store.reading(tenant) as connection:
        found = connection.execute(
            select(table.size).where(table.tenant == tenant, table.size == size, table.target == target)
        ).first()
    return found is not None


def _tried(work: Callable[[], object], where: str) -> None:
    try:
        work()
    except AssayError:
        _log.exception("a checkpoint could not be taken to %s; it is tried again", where)


def anchor_of(path: Path, tenant: str) -> Path:
    """The file to which the checkpoints of a tenant are added.

    >>> str(anchor_of(Path("a/log.txt"), "default")), str(anchor_of(Path("a/log.txt"), "acme"))
    ('a/log.txt', 'a/log.acme.txt')
    """
    if "{tenant}" in path.name:
        return path.with_name(path.name.replace("{tenant}", tenant))
    return path if tenant == DEFAULT_TENANT else path.with_name(f"{path.stem}.{tenant}{path.suffix}")


def erase_all(store: Store, holder: str, every: float) -> None:
    """Apply the rules of each tenant, if it is this holder's turn."""
    with store.reading_across() as connection:
        tenants = tenants_with_rules(connection)
    for tenant in tenants:
        try:
            if not take_lease(store, tenant, KEEPING, holder, every * SHARE):
                continue
            applied = apply_rules(store, tenant)
            if applied.content or applied.evidence:
                _log.info(
                    "retention in the tenant %s: %d runs erased, the evidence of %d",
                    tenant,
                    applied.content,
                    applied.evidence,
                )
            conversations = apply_rules_to_conversations(store, tenant)
            if conversations:
                _log.info(
                    "retention in the tenant %s: conversations of %d runs of the red team erased", tenant, conversations
                )
        except AssayError:
            _log.exception("the rules of retention of the tenant %s could not be applied", tenant)
