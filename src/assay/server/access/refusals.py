"""Requests that were refused, counted until the log of the audit is told of them.

Who floods a server with wrong passwords or keys must not fill the log that nothing is ever taken out of. So refusals
are counted by who and from where for a minute, one entry each, and beyond a bound the rest of a tenant is one entry for
each kind of refusal.

The log outlasts the people and names no address: a source is an HMAC of the address under a random key of the day,
which is never stored. The server's own log lines, which their operator rotates away, name the address beside it.
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
"""Refusals of one tenant that are told apart between two entries."""
MOST_KEPT: Final = 2_000
"""Refusals of all tenants that are told apart at once; tenants are names that strangers may make up."""
MANY: Final = "many"
"""The actor and the source where several are counted as one."""
NOBODY: Final = "nobody"
"""The actor where nobody knows who it was."""

_log = logging.getLogger("assay.server")


class _Name(NamedTuple):
    tenant: str
    code: str
    actor: str
    subject: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Refusals of one kind by one actor from one source."""

    tenant: str
    """As it was named; of who is not signed in, perhaps one that is not there."""
    code: str
    """Why, such as `sign_in.refused`, `sign_in.locked`, `key.unknown`, `permission.missing`, `rate.exceeded`."""
    actor: str
    """The id of the user or key that was refused; `NOBODY` or `MANY` where none is known."""
    subject: str | None
    """What was tried: the id of the user whose password was wrong, or the route."""
    source: str
    """The pseudonym of the address, or `MANY`."""
    count: int
    first: datetime
    last: datetime


class Refusals:
    """Counts refusals in bounded memory; may be used from several threads."""

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Nothing was refused yet."""
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[_Name, Counted] = {}
        self._named: dict[str, int] = {}
        self._day: tuple[date, bytes] | None = None

    def note(self, code: str, *, address: str, tenant: str, actor: str = "", subject: str | None = None) -> None:
        """Count one refusal.

        Args:
            code: why it was refused.
            address: where it came from.
            tenant: whose log is to tell of it.
            actor: the id of who was refused.
            subject: what was tried; never a secret, a name or a text of a stranger.
        """
        now = self._clock()
        with self._lock:
            name = _Name(tenant, code, actor or NOBODY, subject, self._source(address, now))
            if name not in self._kept and not self._has_room(tenant):
                name = _Name(tenant if tenant in self._named else "", code, MANY, None, MANY)
            found = self._kept.get(name)
            if found is not None:
                self._kept[name] = replace(found, count=found.count + 1, last=max(found.last, now))
                return
            self._kept[name] = Counted(*name, 1, now, now)
            self._named[tenant] = self._named.get(tenant, 0) + 1
        if name.source != MANY:
            # Once for each entry, so that a flood does not fill this log either.
            line = {
                "event": "refused",
                "code": code,
                "address": address,
                "source": name.source,
                "actor": name.actor,
            }
            _log.warning("refused: %s from %s", code, address, extra={"line": line})

    def note_request(
        self, refusal: Refusal | None, status: int, caller: Caller | None, address: str, tried: str
    ) -> None:
        """Count a request that was answered with 401, 403 or 429.

        Args:
            refusal: why it was not let in; none where a route refused it.
            status: the status of the answer.
            caller: who asked, where that is known.
            address: where it came from.
            tried: the method and the route.
        """
        known = caller is not None and bool(caller.id)
        code = refusal.code if refusal is not None else None
        if status == 401:
            # Whoever asks is told neither of the two apart.
            code = "key.ended" if known else "key.unknown"
        code = code or {403: "permission.missing", 429: "rate.exceeded"}.get(status, "refused")
        self.note(
            code,
            address=address,
            tenant=caller.tenant if caller is not None else "",
            actor=caller.id if caller is not None else "",
            subject=tried if known else None,
        )

    def _has_room(self, tenant: str) -> bool:
        return len(self._kept) < MOST_KEPT and self._named.get(tenant, 0) < MOST_NAMED

    def _source(self, address: str, now: datetime) -> str:
        if self._day is None or self._day[0] != now.date():
            self._day = now.date(), secrets.token_bytes(32)
        return hmac.digest(self._day[1], address.encode("utf-8", "surrogatepass"), "sha256").hex()[:16]

    def take(self) -> list[Counted]:
        """What was counted since the last time, in the order in which it began."""
        with self._lock:
            taken, self._kept, self._named = list(self._kept.values()), {}, {}
        return taken
