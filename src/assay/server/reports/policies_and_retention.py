"""`/v1/policies` and `/v1/retention`: the policies that made decisions, and how long content is stored."""

import re
from typing import Annotated, Final

from fastapi import APIRouter, Header, Request, Response

from assay.schema import Permission
from assay.server.http.problems import ProblemError, documented, unknown
from assay.server.reports.bodies import Cursor, Limit, PoliciesOut, PolicyLine, PolicyOut, RulesBody, RulesOut
from assay.server.services import Services, allowed
from assay.store.records import ChangedError, Rules, read_policies, read_policy, read_rules, write_rules

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_ETAG: Final = re.compile(r'(?:W/)?"([0-9]{1,9})"')

IfMatch = Annotated[str | None, Header(description="The ETag of the rules that these replace.")]


def make_rules_router(services: Services) -> APIRouter:
    """The routes over the store of a server."""
    router, routes = APIRouter(), _Rules(services)
    router.get("/v1/policies", tags=["policies"], responses=documented(401, 403, 422, 429, 503))(routes.policies)
    router.get("/v1/policies/{digest}", tags=["policies"], responses=documented(401, 403, 404, 422, 429, 503))(
        routes.policy
    )
    router.get("/v1/retention", tags=["retention"], responses=documented(401, 403, 429, 503))(routes.rules)
    change_errors = documented(401, 403, 412, 413, 422, 428, 429, 503)
    router.put("/v1/retention", tags=["retention"], responses=change_errors)(routes.change)
    return router


class _Rules:
    def __init__(self, services: Services) -> None:
        self._store = services.store

    def policies(self, request: Request, after: Cursor = None, limit: Limit = 50) -> PoliciesOut:
        """The policies that made decisions, newest first."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            policies, cursor = read_policies(connection, caller.tenant, after, limit)
        lines = [PolicyLine(digest=policy.digest, name=policy.name, created=policy.created) for policy in policies]
        return PoliciesOut(items=lines, next=cursor)

    def policy(self, request: Request, response: Response, digest: str) -> PolicyOut:
        """A policy with all of its settings."""
        caller = allowed(request.scope, Permission.READ)
        if not _DIGEST.fullmatch(digest):
            raise unknown("policy")
        with self._store.reading(caller.tenant) as connection:
            found = read_policy(connection, caller.tenant, digest)
        if found is None:
            raise unknown("policy")
        response.headers["etag"] = f'"{found.digest}"'
        return PolicyOut(digest=found.digest, name=found.name, created=found.created, policy=found.body)

    def rules(self, request: Request, response: Response) -> RulesOut:
        """The rules by which the server erases content."""
        caller = allowed(request.scope, Permission.READ)
        with self._store.reading(caller.tenant) as connection:
            return _rules_response(response, read_rules(connection, caller.tenant))

    def change(self, request: Request, response: Response, body: RulesBody, if_match: IfMatch = None) -> RulesOut:
        """Replace the rules of retention."""
        caller = allowed(request.scope, Permission.ADMINISTER)
        version = _version(if_match)
        try:
            rules = [rule.rule() for rule in body.rules]
            return _rules_response(response, write_rules(self._store, caller.tenant, rules, version, caller.actor))
        except ChangedError as error:
            raise ProblemError(
                412,
                str(error),
                code="version.changed",
                todo="Read the rules again, and send your change with the new ETag.",
            ) from error


def _rules_response(response: Response, rules: Rules) -> RulesOut:
    response.headers["etag"] = f'"{rules.version}"'
    return RulesOut.from_rules(rules)


def _version(if_match: str | None) -> int:
    if if_match is None:
        raise ProblemError(
            428,
            "expected the header If-Match with the ETag of the rules, and there is none",
            code="version.needed",
            todo="Read the rules, and send their ETag.",
        )
    etag = _ETAG.fullmatch(if_match.strip())
    if etag is None:
        raise ProblemError(
            412,
            'expected an ETag such as "3" in If-Match, got another',
            code="version.changed",
            todo="Read the rules, and send their ETag.",
        )
    return int(etag[1])
