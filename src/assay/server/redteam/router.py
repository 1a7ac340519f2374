"""`/v1/redteam`: runs of suites of attacks, proposals for the approved suite, and that suite.

The permission to check outputs allows recording a run, as CI does; the permission to read shows runs and proposals.
Only a person with the permission to review decides on a proposal: an API key never does.
"""

import re
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Path, Query, Request, Response

from assay.errors import InputError, ProposalError
from assay.redteam.cases import Case, digest_of_ids, first_fault, suite_digest, suite_text
from assay.redteam.judging import PASS_THRESHOLD, Judgement
from assay.redteam.scores import score
from assay.schema import Permission
from assay.server.caller import Caller
from assay.server.http.problems import ProblemError, documented, unknown
from assay.server.patterns import SAYS_SOMETHING
from assay.server.redteam.bodies import (
    CASE_ID,
    MOST,
    RUN_ID,
    AttackCaseOut,
    AttackCasesOut,
    AttackRunBody,
    AttackRunLine,
    AttackRunOut,
    AttackRunsOut,
    AttackSchedulesOut,
    ErasedConversations,
    OutcomeName,
    ProposalDecision,
    ProposalLine,
    ProposalOut,
    ProposalsOut,
    RecordedAttackRun,
    StateName,
)
from assay.server.redteam.planned import planned_of
from assay.server.redteam.proposals import approved_suite, decide_on, edited_case, propose_failures
from assay.server.redteam.rows import About, record_campaign
from assay.server.services import Services, allowed
from assay.store.records import micros
from assay.store.redteam import (
    AttackRun,
    ProposedCase,
    approved_ids,
    count_proposals,
    erase_conversations,
    list_proposals,
    list_runs,
    read_cases,
    read_proposal,
    read_run,
)

_ETAG: Final = re.compile(r'(?:W/)?"([0-9]{1,9})"')
_STATUS: Final = {"missing": 404, "stale": 412, "decided": 409, "refused": 422}
_ADVICE: Final = {
    "stale": "Read the proposal again, and decide on it as it is now.",
    "decided": "Read the proposal to see who decided what.",
    "refused": "Correct the request.",
}
RunId = Annotated[str, Path(alias="id", description="The id of the run.", pattern=RUN_ID)]
ProposalId = Annotated[str, Path(alias="case", description="The id of the case as it was proposed.", pattern=CASE_ID)]
Limit = Annotated[int, Query(ge=1, le=MOST)]
Words = Annotated[str | None, Query(max_length=500)]
IfMatch = Annotated[str | None, Header(description="The ETag of the proposal that is decided on.")]
_LINES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "JSON Lines.", "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
}


def make_redteam_router(services: Services) -> APIRouter:
    """The routes over the store of a server."""
    router, routes = APIRouter(prefix="/v1/redteam", tags=["redteam"]), _Routes(services)
    list_errors, one_errors = documented(401, 403, 422, 429, 503), documented(401, 403, 404, 422, 429, 503)
    router.get("/runs", responses=list_errors)(routes.runs)
    router.post("/runs", status_code=201, responses=documented(401, 403, 413, 422, 429, 503))(routes.submit)
    router.get("/runs/{id}", responses=one_errors)(routes.run)
    router.get("/runs/{id}/cases", responses=one_errors)(routes.cases)
    router.delete("/runs/{id}/conversations", responses=one_errors)(routes.erase)
    router.get("/schedules", responses=documented(401, 403, 429, 503))(routes.schedules)
    router.get("/proposals", responses=list_errors)(routes.proposals)
    router.get("/proposals/{case}", responses=one_errors)(routes.proposal)
    decision_errors = documented(401, 403, 404, 409, 412, 413, 422, 428, 429, 503)
    router.post("/proposals/{case}/decision", responses=decision_errors)(routes.decide)
    router.get("/suite", responses={**_LINES, **documented(401, 403, 429, 503)})(routes.suite)
    return router


class _Routes:
    def __init__(self, services: Services) -> None:
        self._services, self._store = services, services.store

    def runs(
        self,
        request: Request,
        suite_name: Words = None,
        target: Words = None,
        schedule: Words = None,
        cursor: Annotated[str | None, Query(pattern=RUN_ID)] = None,
        limit: Limit = 50,
    ) -> AttackRunsOut:
        """Runs, the newest first."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            rows = list_runs(
                connection,
                caller.tenant,
                suite_name=suite_name,
                target=target,
                schedule=schedule,
                before=cursor,
                limit=limit + 1,
            )
        more = len(rows) > limit
        return AttackRunsOut(
            items=[AttackRunLine.of(row) for row in rows[:limit]], next=rows[limit - 1].id if more else None
        )

    def run(self, request: Request, id_: RunId) -> AttackRunOut:
        """One run, with its scores by category and how it stands to earlier runs."""
        caller = allowed(request.scope, Permission.READ)
        return AttackRunOut.of(self._found(caller.tenant, id_))

    def cases(
        self,
        request: Request,
        id_: RunId,
        outcome: Annotated[list[OutcomeName] | None, Query(description="With these outcomes; all.")] = None,
        cursor: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
        limit: Limit = 50,
    ) -> AttackCasesOut:
        """The cases of a run, in order of its suite; those that did not pass with their conversations."""
        caller = allowed(request.scope, Permission.READ)
        run = self._found(caller.tenant, id_)
        with self._store.reading(caller.tenant) as connection:
            rows = read_cases(
                connection,
                caller.tenant,
                run.id,
                outcomes=outcome,
                after=-1 if cursor is None else cursor,
                limit=limit + 1,
            )
        more = len(rows) > limit
        return AttackCasesOut(
            items=[AttackCaseOut.of(row) for row in rows[:limit]], next=rows[limit - 1].position if more else None
        )

    def submit(self, request: Request, body: AttackRunBody) -> RecordedAttackRun:
        """Record a run that was made elsewhere, as `assay redteam run` leaves one; its scores are worked out here."""
        caller = allowed(request.scope, Permission.CHECK)
        cases = _cases_of(body)
        judgements = _judgements_of(body, cases)
        card = score(cases, judgements, suite=suite_digest(cases), target=body.target, verifier=body.verifier)
        at = micros(body.at if body.at is not None else self._store.now())
        about = About("api", at, body.suite_name, body.target_version, caller.actor)
        run = record_campaign(self._store, caller.tenant, cases, judgements, card, about)
        proposed = []
        if body.propose:
            proposed = propose_failures(
                self._store, caller.tenant, cases, judgements, body.target, caller.actor, run=run.id
            )
        return RecordedAttackRun(run=AttackRunOut.of(self._found(caller.tenant, run.id)), proposed=proposed)

    def erase(
        self,
        request: Request,
        id_: RunId,
        reason: Annotated[
            str,
            Query(
                min_length=1,
                max_length=400,
                pattern=SAYS_SOMETHING,
                description="Why; it stands in the log, so it must name nobody.",
            ),
        ] = "request",
    ) -> ErasedConversations:
        """Erase the conversations of a run, and the answers of its proposals. Its results stay, and the log stays
        provable and says that they were erased."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        run = self._found(caller.tenant, id_)
        return ErasedConversations(runs=erase_conversations(self._store, [run.id], reason, caller.tenant))

    def schedules(self, request: Request) -> AttackSchedulesOut:
        """The schedules of the tenant: what is planned, what was due last, and the latest run of each."""
        caller = allowed(request.scope, Permission.READ)
        return AttackSchedulesOut(items=planned_of(self._services, caller.tenant))

    def proposals(
        self,
        request: Request,
        state: Annotated[list[StateName] | None, Query(description="That stand there; all.")] = None,
        cursor: Annotated[str | None, Query(pattern=CASE_ID)] = None,
        limit: Limit = 50,
    ) -> ProposalsOut:
        """Cases that were proposed for the approved suite, the newest first."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            rows = list_proposals(connection, caller.tenant, state, before=cursor, limit=limit + 1)
            counts, ids = count_proposals(connection, caller.tenant), approved_ids(connection, caller.tenant)
        more = len(rows) > limit
        return ProposalsOut(
            items=[ProposalLine.of(row) for row in rows[:limit]],
            next=rows[limit - 1].id if more else None,
            counts=counts,
            suite=digest_of_ids(ids),
        )

    def proposal(self, request: Request, response: Response, case: ProposalId) -> ProposalOut:
        """One proposal, with the case and what the target said."""
        caller = allowed(request.scope, Permission.READ)
        row = self._proposed(caller.tenant, case)
        response.headers["etag"] = f'"{row.version}"'
        return ProposalOut.of(row)

    def decide(
        self, request: Request, response: Response, case: ProposalId, body: ProposalDecision, if_match: IfMatch = None
    ) -> ProposalOut:
        """Approve, edit or reject a proposal, once and for all. Only a person does."""
        caller = person(request)
        version = _version(if_match)
        row = self._proposed(caller.tenant, case)
        try:
            edited = edited_case(row.body["case"], body.case) if body.case is not None else None
            decided = decide_on(
                self._store,
                caller.tenant,
                case,
                body.act,
                caller.name,
                caller.actor,
                body.reason,
                edited=edited,
                version=version,
            )
        except ProposalError as error:
            raise proposal_problem(error) from error
        response.headers["etag"] = f'"{decided.version}"'
        return ProposalOut.of(decided)

    def suite(self, request: Request) -> Response:
        """The approved suite as JSON Lines; its version is the ETag."""
        caller = allowed(request.scope, Permission.READ)
        cases = approved_suite(self._store, caller.tenant)
        headers = {"etag": f'"{suite_digest(cases)}"'}
        return Response(suite_text(cases).encode("utf-8", "backslashreplace"), 200, headers, "application/x-ndjson")

    def _found(self, tenant: str, id_: str) -> AttackRun:
        with self._store.reading(tenant) as connection:
            found = read_run(connection, tenant, id_)
        if found is None:
            raise unknown("run of the red team")
        return found

    def _proposed(self, tenant: str, id_: str) -> ProposedCase:
        with self._store.reading(tenant) as connection:
            found = read_proposal(connection, tenant, id_)
        if found is None:
            raise unknown("proposal")
        return found


def person(request: Request) -> Caller:
    """The caller of a request, who must be a person with the permission to review.

    Raises:
        ProblemError: the caller lacks the permission, or is a key.
    """
    caller = allowed(request.scope, Permission.REVIEW)
    if caller.kind == "key":
        raise ProblemError(
            403,
            "expected a person who decides on a proposal, got a key",
            code="proposal.person",
            todo="Sign in to the console, or decide with `assay redteam review --database`.",
        )
    return caller


def proposal_problem(error: ProposalError) -> ProblemError:
    """A refusal as a problem document."""
    if error.code == "missing":
        return unknown("proposal")
    return ProblemError(
        _STATUS.get(error.code, 422), str(error), code=f"proposal.{error.code}", todo=_ADVICE.get(error.code)
    )


def _version(if_match: str | None) -> int:
    """The version in an ETag; -1, which is no version, for an ETag that this server did not issue."""
    if if_match is None:
        raise ProblemError(
            428,
            "expected If-Match with the ETag of the proposal that was decided on, got none",
            code="version.needed",
            todo="Send the ETag that GET gave.",
        )
    found = _ETAG.fullmatch(if_match.strip())
    return int(found[1]) if found is not None else -1


def _cases_of(body: AttackRunBody) -> list[Case]:
    from pydantic import ValidationError

    cases: dict[str, Case] = {}
    for index, value in enumerate(body.cases):
        try:
            case = Case.model_validate(value)
        except ValidationError as error:
            raise _refused(f"cases[{index}]: {first_fault(error)}") from error
        if case.id in cases:
            raise _refused(f"cases[{index}]: the case {case.id} is there already; each may stand once")
        cases[case.id] = case
    return list(cases.values())


def _judgements_of(body: AttackRunBody, cases: list[Case]) -> list[Judgement]:
    if [judged.case for judged in body.judgements] != [case.id for case in cases]:
        raise _refused("expected a judgement of each case, in the order of the cases")
    for index, judged in enumerate(body.judgements):
        match judged.outcome, judged.behavior_match:
            case "unjudged", None:
                continue
            case (("passed" | "failed"), float() as value) if (value >= PASS_THRESHOLD) == (judged.outcome == "passed"):
                continue
        raise _refused(
            f"judgements[{index}]: expected a behavior_match from {PASS_THRESHOLD} on where it passed, below where it "
            "failed, and none where it is unjudged"
        )
    try:
        return [Judgement.model_validate(judged.model_dump()) for judged in body.judgements]
    except (InputError, ValueError) as error:
        raise _refused(f"judgements: {error}") from error


def _refused(detail: str) -> ProblemError:
    return ProblemError(422, detail, code="input.invalid", todo="docs/redteam.md describes suites and judgements.")
