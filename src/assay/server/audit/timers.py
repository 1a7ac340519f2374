"""Timed work on the audit logs: signing them, publishing checkpoints outside the host, applying retention.

Of several processes over one database one does each job, under a lease (`assay.store.db.leases`). What fails is logged
and tried again at the next turn: a witness that is away for an hour stops nothing.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from functools import partial
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

LEASE_SHARE: Final = 0.9
"""The duration of a lease as a share of the time between two turns, so that a dead process is replaced soon."""
SIGNING_LEASE: Final = "checkpoint"
RETENTION_LEASE: Final = "retention"

_log = logging.getLogger("assay.server")


async def sign_logs(services: Services) -> None:
    """Sign the logs of all tenants every `audit.checkpoint_minutes`, and once more when the server stops."""
    keys, settings = services.keys, services.settings.audit
    if keys is None:
        _log.warning("the audit log is not signed: there are no keys; name their folder in ASSAY_RECEIPT_KEYS")
        await asyncio.Event().wait()
        return
    holder, every = secrets.token_hex(8), settings.checkpoint_minutes * 60

    def work() -> None:
        sign_all(services.store, keys, settings, holder, every)

    await _repeat(work, every, last=True)


async def apply_retention(services: Services) -> None:
    """Apply the retention rules of all tenants every `audit.retention_minutes`."""
    holder, every = secrets.token_hex(8), services.settings.audit.retention_minutes * 60
    await _repeat(lambda: apply_all_rules(services.store, holder, every), every, last=False)


async def _repeat(work: Callable[[], None], every: float, *, last: bool) -> None:
    try:
        while True:
            await asyncio.to_thread(_run_or_log, work)
            await asyncio.sleep(every)
    finally:
        if last:
            await asyncio.to_thread(_run_or_log, work)


def _run_or_log(work: Callable[[], None]) -> None:
    try:
        work()
    except AssayError:
        _log.exception("a timer of the audit log failed; it is tried again at its next turn")


def sign_all(store: Store, keys: Keys, settings: AuditSettings, holder: str, every: float) -> None:
    """Sign the log of each tenant whose lease this holder gets, and publish the checkpoints.

    Args:
        store: the store.
        keys: the signing keys.
        settings: where checkpoints are published.
        holder: the name of this process in leases.
        every: seconds between two turns.
    """
    with store.reading_across() as connection:
        grown = connection.execute(select(audit_logs.c.tenant).where(audit_logs.c.size > 0)).scalars().all()
    for tenant in sorted(grown):
        try:
            if take_lease(store, tenant, SIGNING_LEASE, holder, every * LEASE_SHARE):
                publish_checkpoint(store, tenant, make_checkpoint(store, keys, tenant), settings)
        except AssayError:
            _log.exception("the log of the tenant %s could not be signed; verify it with `assay audit verify`", tenant)


def publish_checkpoint(store: Store, tenant: str, note: str, settings: AuditSettings) -> None:
    """Publish a checkpoint at every anchor and witness that does not have it yet; a failure is logged and skipped."""
    size = read_checkpoint(note).size
    for path in settings.anchors:
        own = anchor_of(path, tenant)
        if not _is_published_at(store, tenant, size, str(own)):
            _publish_or_log(partial(anchor_in_file, store, tenant, note, own), str(own))
    for witness in settings.witnesses:
        if not _is_published_at(store, tenant, size, witness.url):
            key = None if witness.key is None else read_witness_key(witness.key)
            _publish_or_log(partial(anchor_at_witness, store, tenant, note, witness.url, key), witness.url)


def _is_published_at(store: Store, tenant: str, size: int, target: str) -> bool:
    table = audit_anchors.c
    with store.reading(tenant) as connection:
        found = connection.execute(
            select(table.size).where(table.tenant == tenant, table.size == size, table.target == target)
        ).first()
    return found is not None


def _publish_or_log(work: Callable[[], object], where: str) -> None:
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


def apply_all_rules(store: Store, holder: str, every: float) -> None:
    """Apply the retention rules of each tenant whose lease this holder gets."""
    with store.reading_across() as connection:
        tenants = tenants_with_rules(connection)
    for tenant in tenants:
        try:
            if not take_lease(store, tenant, RETENTION_LEASE, holder, every * LEASE_SHARE):
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
