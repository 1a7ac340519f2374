"""Writes the counts of refused requests to the audit log, once a minute."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

from assay.errors import AssayError
from assay.receipt import instant
from assay.server.access.refusals import MANY, RefusalCount
from assay.server.services import Services
from assay.store.access import access_entry, list_tenants
from assay.store.audit import Entry
from assay.store.db import Change, Store
from assay.store.records import DEFAULT_TENANT

WRITE_EVERY_S: Final = 60.0
"""Seconds between two writes: the longest for which a refusal is only in memory."""
REFUSED: Final = "refused"
"""The act of an entry that counts refusals."""

_log = logging.getLogger("assay.server")


async def write_refusal_counts(services: Services) -> None:
    """Write the counts every `WRITE_EVERY_S` seconds, and once more when the server stops."""
    refusals = services.refusals
    if refusals is None:
        await asyncio.Event().wait()
        return
    try:
        while True:
            await asyncio.sleep(WRITE_EVERY_S)
            await asyncio.to_thread(_write_or_log, services.store, refusals.take())
    finally:
        await asyncio.to_thread(_write_or_log, services.store, refusals.take())


def _write_or_log(store: Store, counted: list[RefusalCount]) -> None:
    try:
        write_refusals(store, counted)
    except AssayError:
        # The counts are in the line: they are no longer in memory.
        _log.exception("refusals could not be written to the audit log: %s", [(one.code, one.count) for one in counted])


def write_refusals(store: Store, counted: Iterable[RefusalCount]) -> None:
    """Write each count to the log of its tenant.

    A caller who is not signed in may name a tenant that does not exist, or none: the log of the default tenant gets
    those, without the made-up name.

    Raises:
        StoreError: it cannot be stored.
    """
    refusals = list(counted)
    if not refusals:
        return
    known = {tenant.name for tenant in list_tenants(store)} | {DEFAULT_TENANT}
    entries: dict[str, list[Entry]] = {}
    for one in refusals:
        tenant = one.tenant if one.tenant in known else DEFAULT_TENANT
        entries.setdefault(tenant, []).append(entry_of(one))
    for tenant, own in sorted(entries.items()):
        store.apply(Change(tenant, entries=tuple(own)))


def entry_of(counted: RefusalCount) -> Entry:
    """The log entry of one count of refusals."""
    return access_entry(
        REFUSED,
        counted.actor,
        counted.subject or (MANY if counted.source == MANY else "none"),
        counted.last,
        code=counted.code,
        source=counted.source,
        count=counted.count,
        first=instant(counted.first),
    )
