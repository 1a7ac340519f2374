"""Requests that are repeated under the same `Idempotency-Key` get the answer that was recorded.

As in the IETF draft (draft-ietf-httpapi-idempotency-key-header), a key belongs to its caller, for `KEPT_S` seconds from
its first use. The same request gets the recorded answer; another request under the key is refused (422), and so is a
repetition while the first is still being answered (409). A check that failed, and so was not recorded, is made when the
request is repeated.
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

from assay.errors import BusyError, StoreError
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
"""Checks that one caller may have under keys at once."""
CHECKS_BETWEEN_COUNTS: Final = 64
"""Checks of a caller between two counts of its keys: by so many may each process exceed `MOST_KEYS`."""
FULL_REMEMBERED_S: Final = 60.0
"""Seconds for which a caller at the bound is refused new keys before its keys are counted again."""
_PATTERN: Final = r"""^("[!#-\[\]-~]{1,255}"|[!#-+\--\[\]-~]{1,255})$"""
"""A string of structured fields (RFC 8941), with or without its quotes; it has no blanks, quotes or backslashes."""
_MOST_CALLERS: Final = 10_000
"""Callers whose number of checks a process remembers."""
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

ContentOf = Callable[[], Mapping[str, Any]]
"""Returns everything that the answer to a request depends on."""


@dataclass(slots=True)
class KeyedCheck:
    """One check of a request: to be made, or on record under the request's key."""

    store: "Store | None" = None
    """The store of the record; none where the request has no key."""
    asked: "RequestKey | None" = None
    position: int = 0
    holder: str = ""
    known: "ClaimedCheck | None" = None
    settled: bool = False
    """Whether nothing remains to be noted under the key: its record and its receipt are stored."""

    def settle(self) -> None:
        """Remember that its record and its receipt are stored."""
        self.settled = self.asked is not None  # `ALONE` is shared, and stays as it is

    @property
    def run(self) -> str | None:
        """The id of the record that an earlier request made; none where the check is to be made."""
        return None if self.known is None else self.known.run

    async def report(
        self, asked: Mapping[str, Any], evidence: object, set_by_server: Sequence[str] = ()
    ) -> HallucinationReport:
        """The report of that record.

        Args:
            asked: the options of the check now, as they would be recorded.
            evidence: its evidence.
            set_by_server: the names in `asked` whose values the server sets itself.

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
            return recorded_report(store, mine.tenant, run, asked, passages, set_by_server)

        found = await asyncio.to_thread(read)
        if found is None:
            _log.warning("the record %s, to which an idempotency key leads, is not of the request under it", run)
            raise _key_of_another_request()
        return found

    def recorded(self, run: str, *, settled: bool, receipt: str | None = None) -> "Act | None":
        """The note under the key that goes into the transaction of the record, and of its receipt where it has one;
        `settled` where no receipt follows later."""
        if self.asked is None:
            return None
        from assay.store.records import note_record

        return note_record(self.asked, self.position, self.holder, run, settled=settled, receipt=receipt)

    def issued(self, run: str, receipt: str) -> "Act | None":
        """The note under the key that goes into the transaction of the receipt."""
        if self.asked is None:
            return None
        from assay.store.records import note_issued

        return note_issued(self.asked, self.position, self.holder, run, receipt)


ALONE: Final = KeyedCheck()
"""A check of a request without a key."""


class KeyedRequests:
    """The requests of a server that have idempotency keys."""

    def __init__(self, services: Services) -> None:
        """Over the store of a server, where it has one."""
        self._store = services.kept
        self._seconds = 3 * services.settings.limits.check_s + 10
        """The lease on a request: longer than a check and its record take, so that none is made twice."""
        self._left_until_count: dict[tuple[str, str], int] = {}
        """Checks that a caller may add before its keys are counted again."""
        self._full_until: dict[tuple[str, str], float] = {}

    @asynccontextmanager
    async def claimed(
        self, key: str | None, scope: Scope, caller: Caller, content: ContentOf, checks: int = 1
    ) -> AsyncIterator[Sequence[KeyedCheck]]:
        """The checks of a request, each to be made or on record, claimed until the block ends.

        Args:
            key: the value of the header; none where the request has none.
            scope: the ASGI scope of the request.
            caller: the caller.
            content: returns everything that the answer depends on; called only where there is a key.
            checks: the number of checks that the request asks for.

        Raises:
            ProblemError: the key belongs to another request or to one that is being answered, or cannot be stored.
            StoreError: the database cannot be read.
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

        # A body may be large: it is dumped on a thread, off the event loop.
        digest = await asyncio.to_thread(_digest, content)
        asked = RequestKey(
            caller.tenant,
            f"{caller.kind} {caller.id or caller.name}",
            hashlib.sha256(key.strip('"').encode()).hexdigest(),
            digest,
            checks,
        )
        steps, answered = await self._claim(store, asked, holder), False
        try:
            yield steps
            answered = True
        finally:
            # What was recorded is settled, or has no receipt yet: then the next request signs it.
            if not (answered and all(step.settled for step in steps)):
                try:
                    await asyncio.shield(release_request(store, asked, holder))
                except (BusyError, StoreError):
                    _log.warning(
                        "a request cannot be let go of; it can be sent again when its time is up", exc_info=True
                    )

    async def _claim(self, store: "Store", asked: "RequestKey", holder: str) -> Sequence[KeyedCheck]:
        from assay.store.records import ClaimOutcome, claim_request

        adds = await self._has_room(store, asked)
        found = await claim_request(store, asked, holder, self._seconds, KEPT_S, adds=adds)
        match found.outcome:
            case ClaimOutcome.OTHER:
                raise _key_of_another_request()
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
                    headers={"retry-after": f"{FULL_REMEMBERED_S:.0f}"},
                )
        return [
            KeyedCheck(store, asked, number, holder, known, known.settled) for number, known in enumerate(found.checks)
        ]

    async def _has_room(self, store: "Store", asked: "RequestKey") -> bool:
        """Whether a caller may have one more key; old keys are dropped on the way."""
        from assay.store.records import drop_old_keys

        caller = asked.tenant, asked.caller
        if self._full_until.get(caller, 0.0) > time.monotonic():
            return False
        if len(self._left_until_count) > _MOST_CALLERS:
            self._left_until_count.clear()
        due = self._left_until_count.get(caller, 0) - asked.checks
        if caller in self._full_until or due < 0:
            kept = await drop_old_keys(store, *caller, KEPT_S)
            if kept >= MOST_KEYS:
                self._full_until[caller] = time.monotonic() + FULL_REMEMBERED_S
                return False
            self._full_until.pop(caller, None)
            due = CHECKS_BETWEEN_COUNTS
        self._left_until_count[caller] = due
        return True


def _digest(content: ContentOf) -> str:
    return hashlib.sha256(json.dumps(content(), sort_keys=True, default=str).encode()).hexdigest()


def _key_of_another_request() -> ProblemError:
    return ProblemError(
        422,
        "this Idempotency-Key was given to another request",
        code="idempotency.other",
        todo="Give each request a key of its own.",
    )
