"""`/v1/audit`: the log of a tenant, its checkpoints, proofs, and bundles to verify elsewhere."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import Field, StrictBool, StringConstraints
from sqlalchemy import Connection

from assay.errors import AuditError, ReceiptError
from assay.receipt import KeyState
from assay.schema import Permission
from assay.server.http.downloads import download
from assay.server.http.problems import ProblemError, documented, unknown
from assay.server.reports.bodies import Body, EntriesOut, EntryOut, Limit, Out
from assay.server.reports.router import report_id_or_404
from assay.server.services import Services, allowed
from assay.store.audit import (
    FindingCode,
    VerificationState,
    entries_of,
    export_log,
    export_run,
    last_checkpoint,
    make_checkpoint,
    prove_entry,
    prove_growth,
    read_checkpoint,
    read_entry_data,
    read_head,
    verifier_key,
    verify_contents_since,
    verify_log,
)
from assay.store.records import StoredCheckpoint, list_checkpoints, read_log

LARGEST: Final = 2**53 - 1
"""The largest index that every reader of JSON takes exactly."""
MOST_NOTES: Final = 100
"""Checkpoints that a log is checked against in one request."""
LONGEST_NOTE: Final = 100_000
"""Characters of one of them."""
MOST_REMEMBERED: Final = 16
"""Tenants for which a process remembers the last clean verification: some bytes for each of their runs."""

Index = Annotated[int, Query(ge=0, le=LARGEST)]


class LogOut(Out):
    """A tenant's log as it is."""

    origin: str | None
    """Its name; none where nothing was recorded yet."""
    size: int
    signed: int
    """The entries of the last checkpoint."""
    keys: list[str]
    """The keys that sign it, as C2SP vkeys."""


class CheckpointOut(Out):
    """A signed checkpoint (C2SP tlog-checkpoint)."""

    origin: str
    size: int
    root: str
    """In hexadecimal."""
    created: datetime | None
    note: str
    """What is signed, with its signatures."""
    anchors: list[str]
    """Where it was taken to, outside the database."""


class CheckpointsOut(Out):
    """Checkpoints, newest first."""

    items: list[CheckpointOut]
    next: int | None
    """Where the next page begins, for `before`; none at the end."""


class ProofOut(Out):
    """That an entry is in the log."""

    index: int
    kind: str
    entry: str
    """The text that is hashed."""
    proof: str
    """As C2SP tlog-proof with the entry as its extra data: all that is needed to verify it."""
    checkpoint: str
    """The note that it leads to."""


class GrowthOut(Out):
    """That a log begins with what an older checkpoint stated."""

    old: int
    size: int
    hashes: list[str]
    """In base64."""
    proof: str
    """As a C2SP witness takes it."""
    checkpoint: str


class VerifyBody(Body):
    """What a log is checked against."""

    checkpoints: list[Annotated[str, StringConstraints(max_length=LONGEST_NOTE)]] = Field(
        default_factory=list, max_length=MOST_NOTES
    )
    """Checkpoints as notes, from wherever the owner of the log cannot change them."""
    contents: StrictBool = True
    """Whether what is stored of each run is checked against the log too."""
    since_last: StrictBool = False
    """Whether to begin with what this process verified last, and found nothing: what is unchanged since is not compared
    again. Any change of it is found all the same."""


class FindingOut(Out):
    """One thing that does not hold."""

    code: FindingCode
    message: str


class VerificationOut(Out):
    """What was found of a log."""

    caution: str | None
    """What this verification cannot know, to be told before its result: that no checkpoint from outside was held
    against the log, or against how much of it. None where one covers all of it."""
    outside: int
    """How many of its first entries one of the given checkpoints covers."""
    holds: bool
    """Whether nothing was found against it, as far as `caution` says."""
    origin: str
    size: int
    root: str
    """The root that its entries lead to, in hexadecimal."""
    checkpoints: int
    """How many stored checkpoints hold."""
    anchors: int
    """How many of the given checkpoints hold. Without one, whoever has the key could have written all of it again."""
    runs: int
    """Of how many runs the content was compared."""
    since: int
    """With how many entries the verification ended from which this one began; 0 where it began at none."""
    findings: list[FindingOut]


def make_audit_router(services: Services) -> APIRouter:
    """The routes over the store of a server."""
    router, routes = APIRouter(tags=["audit"]), _AuditRoutes(services)
    list_errors, read_errors = documented(401, 403, 422, 429, 503), documented(401, 403, 404, 409, 422, 429, 503)
    router.get("/v1/audit", responses=list_errors)(routes.log)
    router.get("/v1/audit/entries", responses=list_errors)(routes.entries)
    router.get("/v1/audit/checkpoint", responses=read_errors)(routes.checkpoint)
    router.get("/v1/audit/checkpoints", responses=list_errors)(routes.checkpoints)
    router.post("/v1/audit/checkpoints", status_code=201, responses=documented(401, 403, 409, 422, 429, 503))(
        routes.sign
    )
    router.post("/v1/audit/verify", responses=documented(401, 403, 409, 422, 429, 503))(routes.verify)
    router.get("/v1/audit/proof", responses=read_errors)(routes.proof)
    router.get("/v1/audit/consistency", responses=read_errors)(routes.growth)
    bundle: dict[int | str, dict[str, Any]] = {
        200: {"description": "JSON Lines.", "content": {"application/jsonl": {"schema": {"type": "string"}}}}
    }
    router.get("/v1/audit/export", responses={**bundle, **read_errors}, response_class=StreamingResponse)(routes.export)
    return router


class _AuditRoutes:
    def __init__(self, services: Services) -> None:
        self._store, self._keys = services.store, services.keys
        self._verifying = threading.Lock()
        self._last_verified: OrderedDict[str, VerificationState] = OrderedDict()

    def _remember_verified(self, tenant: str, verified: VerificationState | None) -> None:
        """Remember a clean verification, in memory, where nobody who can write to the database can change it.

        The caller holds the lock `_verifying`.
        """
        if verified is not None:
            self._last_verified[tenant] = verified
            self._last_verified.move_to_end(tenant)
            while len(self._last_verified) > MOST_REMEMBERED:
                self._last_verified.popitem(last=False)

    def log(self, request: Request) -> LogOut:
        """How far the log has come, how much of it is signed, and with which keys."""
        caller = allowed(request.scope, Permission.AUDIT)
        with self._store.reading(caller.tenant) as connection:
            try:
                head = read_head(connection, caller.tenant)
            except AuditError:
                return LogOut(origin=None, size=0, signed=0, keys=[])
            last = last_checkpoint(connection, caller.tenant)
        held = self._keys.ring().keys if self._keys is not None else ()
        keys = [
            verifier_key(head.origin, bytes.fromhex(one.public)) for one in held if one.state is not KeyState.REVOKED
        ]
        signed = read_checkpoint(last).size if last is not None else 0
        return LogOut(origin=head.origin, size=head.size, signed=signed, keys=keys)

    def entries(self, request: Request, begin: Index = 0, limit: Limit = 50) -> EntriesOut:
        """Entries of the log, in order."""
        caller = allowed(request.scope, Permission.AUDIT)
        with self._store.reading(caller.tenant) as connection:
            rows = read_log(connection, caller.tenant, begin, limit + 1)
        items = [EntryOut(index=row.idx, kind=row.kind, entry=bytes(row.data).decode()) for row in rows[:limit]]
        return EntriesOut(items=items, next=rows[limit].idx if len(rows) > limit else None)

    def checkpoint(self, request: Request) -> CheckpointOut:
        """The last checkpoint: keep it outside this host, and hold the log against it later."""
        caller = allowed(request.scope, Permission.AUDIT)
        with self._store.reading(caller.tenant) as connection:
            found = list_checkpoints(connection, caller.tenant, None, 1)
        if not found:
            raise unknown("checkpoint: none was made yet")
        return _checkpoint_out(found[0])

    def checkpoints(
        self, request: Request, before: Annotated[int | None, Query(ge=0, le=LARGEST)] = None, limit: Limit = 50
    ) -> CheckpointsOut:
        """The checkpoints of the log, newest first."""
        caller = allowed(request.scope, Permission.AUDIT)
        with self._store.reading(caller.tenant) as connection:
            found = list_checkpoints(connection, caller.tenant, before, limit + 1)
        following = found[limit - 1].size if len(found) > limit else None
        return CheckpointsOut(items=[_checkpoint_out(one) for one in found[:limit]], next=following)

    def sign(self, request: Request) -> CheckpointOut:
        """Sign the log as it is now; where it has not grown, its last checkpoint is the answer."""
        caller = allowed(request.scope, Permission.AUDIT)
        if self._keys is None:
            raise _without_keys("this server has no key to sign with")
        with _errors_as_problems():
            note = make_checkpoint(self._store, self._keys, caller.tenant)
        size = read_checkpoint(note).size
        with self._store.reading(caller.tenant) as connection:
            return _checkpoint_out(list_checkpoints(connection, caller.tenant, size + 1, 1)[0])

    def verify(self, request: Request, body: VerifyBody | None = None) -> VerificationOut:
        """Verify the log: every entry, the tree, its checkpoints and those given, and the content of the runs.

        All of it is read, which takes seconds for a million entries: one verification at a time in each process.
        """
        caller, options = allowed(request.scope, Permission.AUDIT), body or VerifyBody()
        if self._keys is None:
            raise _without_keys("there is no key that could be trusted")
        if not self._verifying.acquire(blocking=False):
            raise ProblemError(
                503,
                "another verification is running; try again later",
                code="audit.verifying",
                headers={"retry-after": "10"},
            )
        try:
            with self._store.reading(caller.tenant) as connection, _errors_as_problems():
                found = verify_log(connection, caller.tenant, self._keys.ring(), options.checkpoints)
                if options.contents:
                    since = self._last_verified.get(caller.tenant) if options.since_last else None
                    found, verified = verify_contents_since(
                        connection, caller.tenant, found, since, leaves=options.since_last
                    )
                    self._remember_verified(caller.tenant, verified)
        finally:
            self._verifying.release()
        return VerificationOut(
            caution=found.caution,
            outside=found.outside,
            holds=found.holds,
            origin=found.origin,
            size=found.size,
            root=found.root.hex(),
            checkpoints=found.checkpoints,
            anchors=found.anchors,
            runs=found.runs,
            since=found.since,
            findings=[FindingOut(code=one.code, message=one.message) for one in found.findings],
        )

    def proof(
        self,
        request: Request,
        entry: Annotated[int | None, Query(ge=0, le=LARGEST, description="The index of an entry.")] = None,
        report: Annotated[str | None, Query(max_length=80, description="Or the id of a report.")] = None,
    ) -> ProofOut:
        """Prove that an entry is in the log."""
        caller = allowed(request.scope, Permission.READ if report is not None else Permission.AUDIT)
        if (entry is None) == (report is None):
            raise ProblemError(
                422, "expected either an entry or a report", code="input.invalid", todo="Name one of them."
            )
        with self._store.reading(caller.tenant) as connection:
            index = _index_of_decision(connection, caller.tenant, report) if report is not None else entry or 0
            if entry is not None and not read_log(connection, caller.tenant, entry, 1):
                raise unknown("entry")
            with _errors_as_problems():
                proof = prove_entry(connection, caller.tenant, index)
        data = read_entry_data(proof.data)
        return ProofOut(
            index=proof.index,
            kind=str(data["kind"]),
            entry=proof.data.decode(),
            proof=proof.to_text(),
            checkpoint=proof.checkpoint,
        )

    def growth(
        self, request: Request, old: Index, size: Annotated[int | None, Query(ge=0, le=LARGEST)] = None
    ) -> GrowthOut:
        """Prove that the log of a checkpoint, the last one by default, begins with its first `old` entries."""
        caller = allowed(request.scope, Permission.AUDIT)
        with self._store.reading(caller.tenant) as connection:
            found = list_checkpoints(connection, caller.tenant, None if size is None else size + 1, 1)
            if not found or (size is not None and found[0].size != size):
                raise unknown("checkpoint")
            if old > found[0].size:
                raise ProblemError(
                    422,
                    f"expected an older size of at most {found[0].size}, got {old}",
                    code="input.invalid",
                    todo="Name the size of an older checkpoint.",
                )
            with _errors_as_problems():
                proof = prove_growth(connection, caller.tenant, old, found[0].note)
        hashes = proof.partition("\n\n")[0].split("\n")[1:]
        return GrowthOut(old=old, size=found[0].size, hashes=hashes, proof=proof, checkpoint=found[0].note)

    def export(
        self,
        request: Request,
        report: Annotated[str | None, Query(max_length=80, description="One report, with all that it saw.")] = None,
        partial: Annotated[
            bool, Query(description="Sign nothing: up to the last checkpoint, and the bundle says so.")
        ] = False,
    ) -> Response:
        """A bundle of the log, or of one report, which `assay_verify.py` verifies with the standard library alone.

        All of the log is signed first, so that the bundle has all of it.
        """
        caller = allowed(request.scope, Permission.AUDIT)
        if report is not None:
            with self._store.reading(caller.tenant) as connection:
                _index_of_decision(connection, caller.tenant, report)
        signed = None if partial else self._sign_all(caller.tenant)
        name = f"assay-{report or 'log'}.jsonl"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        with _errors_as_problems(), self._store.reading(caller.tenant) as connection:
            if report is not None:
                lines = export_run(connection, caller.tenant, report, signed, partial=partial)
            else:
                lines = export_log(connection, caller.tenant, signed, partial=partial)
            return download(lines, "application/jsonl", headers)

    def _sign_all(self, tenant: str) -> str:
        """A checkpoint of all of a log."""
        if self._keys is None:
            raise _without_keys(
                "an export begins with a signature over all of the log, and this server has no key to sign with",
                " Or ask for what was signed before with ?partial=true.",
            )
        with _errors_as_problems():
            return make_checkpoint(self._store, self._keys, tenant)


def _index_of_decision(connection: Connection, tenant: str, report: str) -> int:
    """The index of the log entry with a report's decision.

    Raises:
        ProblemError: there is no such report: 404.
    """
    found = entries_of(connection, tenant, report_id_or_404(report))
    if not found:
        raise unknown("report")
    return found[0][0]


def _without_keys(why: str, more: str = "") -> ProblemError:
    todo = f"Make one with `assay receipt create-key`, and name its folder in ASSAY_RECEIPT_KEYS.{more}"
    return ProblemError(409, why, code="audit.no_keys", todo=todo)


@contextmanager
def _errors_as_problems() -> Iterator[None]:
    """Errors of the log and of its keys become problem documents (409)."""
    try:
        yield
    except (AuditError, ReceiptError) as error:
        raise ProblemError(
            409, str(error), code="audit.refused", todo="Make a checkpoint; verify the log with `assay audit verify`."
        ) from error


def _checkpoint_out(signed: StoredCheckpoint) -> CheckpointOut:
    stated = read_checkpoint(signed.note)
    return CheckpointOut(
        origin=stated.origin,
        size=stated.size,
        root=stated.root.hex(),
        created=signed.created,
        note=signed.note,
        anchors=list(signed.anchors),
    )
