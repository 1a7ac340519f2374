"""Telling the audit log of what was refused, once a minute."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

from assay.errors import AssayError
from assay.receipt import instant
from assay.server.access.refusals import MANY, Counted
from assay.server.services import Services
from assay.store.access import access_entry, list_tenants
from assay.store.audit import Entry
from assay.store.db import Change, Store
from assay.store.records import DEFAULT_TENANT

EVERY_S: Final = 60.0
"""Seconds between two times: the longest for which a refusal is only in memory."""
REFUSED: Final = "refused"
"""The act of an entry that tells of refusals."""

_log = logging.getLogger("assay.server")


async def tell_refusals(services: Services) -> None:
    """Write down what was refused now and then, and once more when the server stops."""
    refusals = services.refusals
    if refusals is None:
        await asyncio.Event().wait()
        return
    try:
        while True:
            await asyncio.sleep(EVERY_S)
            await asyncio.to_thread(_written, services.store, refusals.take())
    finally:
        await asyncio.to_thread(_written, services.store, refusals.take())


def _written(store: Store, counted: list[Counted]) -> None:
    try:
        write_refusals(store, counted)
    except AssayError:
        # What cannot be written is told in full: these lines are all that is left of it.
        _log.exception("refusals could not be written to the audit log: %s", [(one.code, one.count) for one in counted])


def write_refusals(store: Store, counted: Iterable[Counted]) -> None:
    """Write down what was refused, each in the log of its tenant.

    Who is not signed in may name a tenant that is not there, or none: the log of the default tenant has those, with
    nothing that such a name says.

    Raises:
        StoreError: it cannot be stored.
    """
    found = list(counted)
    if not found:
        return
    known = {tenant.name for tenant in list_tenants(store)} | {DEFAULT_TENANT}
    entries: dict[str, list[Entry]] = {}
    for one in found:
        tenant = one.tenant if one.tenant in known else DEFAULT_TENANT
        entries.setdefault(tenant, []).append(entry_of(one))
    for tenant, own in sorted(entries.items()):
        store.apply(Change(tenant, entries=tuple(own)))


def entry_of(counted: Counted) -> Entry:
    """The entry of refusals that were counted as one."""
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
