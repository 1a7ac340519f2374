"""Repeated requests: what comes again under the same `Idempotency-Key` is answered with what was recorded.

As in the draft of the IETF (draft-ietf-httpapi-idempotency-key-header): the key belongs to its caller, for `KEPT_S`
seconds from its first use on. The same request gives the answer that was recorded, another one under the same key is
refused (422), and so is one whose first is still being answered (409). What was not recorded, because the check failed,
is made when the request comes again.
"""

import asyncio
import hashlib
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import Header

from assay.errors import StoreError
from assay.schema import Evidence, HallucinationReport, coerce_evidence
from assay.server.caller import Caller
from assay.server.gateway.asgi import Scope
from assay.server.http.problems import ProblemError
from assay.server.services import Services

if TYPE_CHECKING:  # SQLAlchemy is loaded only where there is a database
    from assay.store.db import Act, Store
    from assay.store.records import ClaimedCheck, RequestKey

KEPT_S: Final = 24 * 3_600.0
"""Seconds for which a key is kept."""
MOST_KEYS: Final = 100_000
"""Checks that one caller may have kept under keys at once."""
LOOKED_EVERY: Final = 64
"""Checks of a caller between two looks at that bound: so far may each process overstep it."""
FULL_S: Final = 60.0
"""Seconds for which a caller that has no room is refused new keys, before it is looked again."""
_PATTERN: Final = r"""^("[!#-\[\]-~]{1,255}"|[!#-+\--\[\]-~]{1,255})$"""
"""A string of structured fields (RFC 8941), or what stands in it; without blanks, quotes and backslashes."""
_CALLERS: Final = 10_000
"""Callers of whom a process remembers how often they came."""
_log = logging.getLogger("assay.server")

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=_PATTERN,
        description="A name that the caller gives this request alone. For 24 hours, the same request under it is "
        "answered with what was recorded first.",
    ),
]

About = Callable[[], Mapping[str, Any]]
"""Gives everything that the answer to a request depends on."""


@dataclass(frozen=True, slots=True)
class Step:
    """One check of a request: to be made, or recorded already."""

    store: "Store | None" = None
    """None where the request came without a key."""
    asked: "RequestKey | None" = None
    position: int = 0
    holder: str = ""
    known: "ClaimedCheck | None" = None

    @property
    def run(self) -> str | None:
        """The record of an earlier request; none where the check is to be made."""
        return None if self.known is None else self.known.run

    async def report(
        self, asked: Mapping[str, Any], evidence: object, beside: Sequence[str] = ()
    ) -> HallucinationReport:
        """The report of that record.

        Args:
            asked: what the check would be given now, as it would be recorded.
            evidence: its evidence.
            beside: what of `asked` the server sets itself.

        Raises:
            ProblemError: the record is not of this request, or was erased.
            StoreError: it cannot be read.
        """
        from assay.store.records import recorded_report

        store, mine, run = self.store, self.asked, self.run
        assert store is not None  # noqa: S101 there is a record
        assert mine is not None  # noqa: S101
        assert run is not None  # noqa: S101

        def read() -> HallucinationReport | None:
            passages: tuple[Evidence, ...] = coerce_evidence(evidence)  # type: ignore[arg-type]
            return recorded_report(store, mine.tenant, run, asked, passages, beside)

        found = await asyncio.to_thread(read)
        if found is None:
            _log.warning("the record %s, to which an idempotency key leads, is not of the request under it", run)
            raise _other()
        return found

    def recorded(self, run: str, *, settled: bool) -> "Act | None":
        """What is stored with the record of the check; `settled` where no receipt is going to be issued."""
        if self.asked is None:
            return None
        from assay.store.records import note_record

        return note_record(self.asked, self.position, self.holder, run, settled=settled)

    def issued(self, run: str, receipt: str) -> "Act | None":
        """What is stored with the word of a receipt."""
        if self.asked is None:
            return None
        from assay.store.records import note_issued

        return note_issued(self.asked, self.position, self.holder, run, receipt)


ALONE: Final = Step()
"""A check of a request that came without a key."""


class Repeats:
    """The requests of a server that came under keys."""

    def __init__(self, services: Services) -> None:
        """Over the store of a server, where it has one."""
        self._store = services.kept
        self._seconds = 3 * services.settings.limits.check_s + 10
        """Longer than a check and its record take: who takes over what is still made makes it for nothing."""
        self._due: dict[tuple[str, str], int] = {}
        """Checks that a caller may add before its bound is looked at again."""
        self._full: dict[tuple[str, str], float] = {}

    @asynccontextmanager
    async def claimed(
        self, key: str | None, scope: Scope, caller: Caller, about: About, checks: int = 1
    ) -> AsyncIterator[Sequence[Step]]:
        """The checks of a request, each to be made or recorded already, claimed until the block ends.

        Args:
            key: the header; none where the request has none.
            scope: the request's.
            caller: who asks.
            about: everything that the answer depends on; asked for only where there is a key.
            checks: how many checks it asks for.

        Raises:
            ProblemError: the key was given to another request, to one that is being answered, or cannot be kept.
            StoreError: the database cannot be asked.
        """
        if key is None:
            yield [ALONE] * checks
            return
        if self._store is None:
            raise ProblemError(
                422,
                "expected no Idempotency-Key: this server keeps no record that it could answer a repeated request with",
                code="idempotency.unavailable",
                todo="Leave the header out, or start the server with --database.",
            )
        if sum(name == b"idempotency-key" for name, _ in scope["headers"]) > 1:
            raise ProblemError(422, "expected one Idempotency-Key, got several", code="idempotency.several")
        store, holder = self._store, secrets.token_hex(16)
        from assay.store.records import RequestKey, release_request

        # A body may be large: it is written out beside the loop that answers everybody.
        digest = await asyncio.to_thread(_digest, about)
        asked = RequestKey(
            caller.tenant,
            f"{caller.kind} {caller.id or caller.name}",
            hashlib.sha256(key.strip('"').encode()).hexdigest(),
            digest,
            checks,
        )
        steps = await self._claim(store, asked, holder)
        try:
            yield steps
        finally:
            # Whatever was recorded is settled by now, or has its receipt still to come: then the next request signs.
            try:
                await asyncio.shield(asyncio.to_thread(release_request, store, asked, holder))
            except StoreError:
                _log.warning("a request cannot be let go of; it can be sent again when its time is up", exc_info=True)

    async def _claim(self, store: "Store", asked: "RequestKey", holder: str) -> Sequence[Step]:
        from assay.store.records import ClaimOutcome, claim_request

        adds = await self._has_room(store, asked)
        found = await asyncio.to_thread(claim_request, store, asked, holder, self._seconds, KEPT_S, adds=adds)
        match found.outcome:
            case ClaimOutcome.OTHER:
                raise _other()
            case ClaimOutcome.IN_FLIGHT:
                raise ProblemError(
                    409,
                    "a request under this Idempotency-Key is being answered",
                    code="idempotency.in_flight",
                    todo="Send it again in a moment.",
                    headers={"retry-after": "1"},
                )
            case ClaimOutcome.GONE:
                raise ProblemError(
                    409,
                    "what was recorded under this Idempotency-Key was erased",
                    code="idempotency.erased",
                    todo="Send the request under a new key to have it checked and recorded again.",
                )
            case ClaimOutcome.NO_ROOM:
                raise ProblemError(
                    429,
                    f"a caller may have {MOST_KEYS:,} checks under keys within {KEPT_S / 3600:g} hours",
                    code="idempotency.full",
                    todo="Leave the header out, or wait until older keys are dropped.",
                    headers={"retry-after": f"{FULL_S:.0f}"},
                )
        return [Step(store, asked, number, holder, known) for number, known in enumerate(found.checks)]

    async def _has_room(self, store: "Store", asked: "RequestKey") -> bool:
        """Whether a caller may have one more key; old keys are dropped on the way."""
        from assay.store.records import drop_old_keys

        who = asked.tenant, asked.caller
        if self._full.get(who, 0.0) > time.monotonic():
            return False
        if len(self._due) > _CALLERS:
            self._due.clear()
        due = self._due.get(who, 0) - asked.checks
        if who in self._full or due < 0:
            kept = await asyncio.to_thread(drop_old_keys, store, *who, KEPT_S)
            if kept >= MOST_KEYS:
                self._full[who] = time.monotonic() + FULL_S
                return False
            self._full.pop(who, None)
            due = LOOKED_EVERY
        self._due[who] = due
        return True


def _digest(about: About) -> str:
    return hashlib.sha256(json.dumps(about(), sort_keys=True, default=str).encode()).hexdigest()


def _other() -> ProblemError:
    return ProblemError(
        422,
        "this Idempotency-Key was given to another request",
        code="idempotency.other",
        todo="Give each request a key of its own.",
    )
