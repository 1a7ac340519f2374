"""Counts of refused requests, until they are written to the audit log.

Somebody who floods a server with wrong passwords or keys must not fill a log from which nothing is ever removed. So
refusals are counted by actor and source for a minute, one entry each, and beyond a bound the rest of a tenant's become
one entry for each kind of refusal.

The audit log outlasts people and names no address: a source is an HMAC of the address under a random key of the day,
which is never stored. The server's own log lines, which the operator rotates away, name the address beside the source.
"""

import hmac
import logging
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Final, NamedTuple

from assay.server.caller import Caller
from assay.server.http.admission import Refusal

MOST_NAMED: Final = 20
"""Refusals of one tenant that are counted apart between two writes to the audit log."""
MOST_KEPT: Final = 2_000
"""Refusals of all tenants that are counted apart; a tenant is a name that a stranger may make up."""
MANY: Final = "many"
"""The actor and the source of an entry that counts several."""
NOBODY: Final = "nobody"
"""The actor of an entry whose caller is unknown."""

_log = logging.getLogger("assay.server")


class _CountKey(NamedTuple):
    tenant: str
    code: str
    actor: str
    subject: str | None
    source: str


@dataclass(frozen=True, slots=True)
class RefusalCount:
    """Refusals of one kind by one actor from one source."""

    tenant: str
    """The tenant as the request named it, which need not exist where the caller was not signed in."""
    code: str
    """Why, such as `sign_in.refused`, `sign_in.locked`, `key.unknown`, `permission.missing`, `rate.exceeded`."""
    actor: str
    """The id of the user or key that was refused; `NOBODY` or `MANY` where there is none."""
    subject: str | None
    """What was attempted: the id of the user whose password was wrong, or the route."""
    source: str
    """The pseudonym of the address, or `MANY`."""
    count: int
    first: datetime
    last: datetime


class RefusalCounter:
    """Counts refusals in bounded memory; may be used from several threads."""

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Nothing was refused yet."""
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[_CountKey, RefusalCount] = {}
        self._entries_of_tenant: dict[str, int] = {}
        self._key_of_day: tuple[date, bytes] | None = None

    def note(self, code: str, *, address: str, tenant: str, actor: str = "", subject: str | None = None) -> None:
        """Count one refusal.

        Args:
            code: why it was refused.
            address: where it came from.
            tenant: the tenant whose log gets the entry.
            actor: the id of the caller that was refused.
            subject: what was attempted; never a secret, a name or a text of a stranger.
        """
        now = self._clock()
        with self._lock:
            key = _CountKey(tenant, code, actor or NOBODY, subject, self._source(address, now))
            if key not in self._counts and not self._has_room(tenant):
                key = _CountKey(tenant if tenant in self._entries_of_tenant else "", code, MANY, None, MANY)
            found = self._counts.get(key)
            if found is not None:
                self._counts[key] = replace(found, count=found.count + 1, last=max(found.last, now))
                return
            self._counts[key] = RefusalCount(*key, 1, now, now)
            self._entries_of_tenant[tenant] = self._entries_of_tenant.get(tenant, 0) + 1
        if key.source != MANY:
            # One line for each entry, so that a flood does not fill this log either.
            line = {
                "event": "refused",
                "code": code,
                "address": address,
                "source": key.source,
                "actor": key.actor,
            }
            _log.warning("refused: %s from %s", code, address, extra={"line": line})

    def note_request(
        self, refusal: Refusal | None, status: int, caller: Caller | None, address: str, operation: str
    ) -> None:
        """Count a request that was answered with 401, 403 or 429.

        Args:
            refusal: why it was not let in; none where a route refused it.
            status: the status of the answer.
            caller: the caller, where it is known.
            address: where it came from.
            operation: the method and the route.
        """
        known = caller is not None and bool(caller.id)
        code = refusal.code if refusal is not None else None
        if status == 401:
            # The caller gets the same answer for both.
            code = "key.ended" if known else "key.unknown"
        code = code or {403: "permission.missing", 429: "rate.exceeded"}.get(status, "refused")
        self.note(
            code,
            address=address,
            tenant=caller.tenant if caller is not None else "",
            actor=caller.id if caller is not None else "",
            subject=operation if known else None,
        )

    def _has_room(self, tenant: str) -> bool:
        return len(self._counts) < MOST_KEPT and self._entries_of_tenant.get(tenant, 0) < MOST_NAMED

    def _source(self, address: str, now: datetime) -> str:
        if self._key_of_day is None or self._key_of_day[0] != now.date():
            self._key_of_day = now.date(), secrets.token_bytes(32)
        return hmac.digest(self._key_of_day[1], address.encode("utf-8", "surrogatepass"), "sha256").hex()[:16]

    def take(self) -> list[RefusalCount]:
        """Take what was counted since the last call, in order of the first refusal of each."""
        with self._lock:
            taken, self._counts, self._entries_of_tenant = list(self._counts.values()), {}, {}
        return taken
