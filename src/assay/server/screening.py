"""`POST /v1/screen`: which passages may be evidence for a question."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from assay.schema import Permission, Screening
from assay.server.gateway.asgi import header
from assay.server.http.days import OptionalDay
from assay.server.http.permitted_options import named_policy, require_permitted
from assay.server.http.problems import documented
from assay.server.patterns import SAYS_SOMETHING
from assay.server.services import Services, allowed

MOST_PASSAGES: Final = 1_000
"""Passages that one request may have screened."""


class ScreenBody(BaseModel):
    """A question and what was retrieved for it."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    question: Annotated[str, Field(pattern=SAYS_SOMETHING)]
    """What is asked."""
    passages: list[str | dict[str, Any]] = Field(max_length=MOST_PASSAGES)
    """Texts, or objects as retrievers give them: `text`, `content` or `page_content`, an `id`, and `metadata` (`meta`)
    with versions and dates in their common spellings. None at all is a null retrieval, and gets `refuse`."""
    policy: str | None = None
    """A preset; the server's own policy by default."""
    historical: StrictBool | None = None
    """Whether versions that are no longer in force are kept, marked so; by default where the question asks about the
    past."""
    as_of: OptionalDay = None
    """The day that passages are to be in force on; today, in UTC, by default."""


def make_screening_router(services: Services) -> APIRouter:
    """The route, whose work runs on the server's pool of checks."""
    router = APIRouter()

    async def screen(body: ScreenBody, request: Request) -> Screening:
        """Decide which passages may be evidence: what is kept, what is dropped and why, conflicts, and the signal."""
        allowed(request.scope, Permission.CHECK)
        own, name = services.guard_of(None), named_policy(header(request.scope, b"x-assay-policy"), body.policy)
        guard = own if name is None else services.guard_of(name)
        if name is not None:
            require_permitted(guard.policy, own.policy, services.settings.policies)
        found: Screening = await services.checker.run(
            lambda: guard.screen(body.question, body.passages, historical=body.historical, as_of=body.as_of)
        )
        return found

    router.post("/v1/screen", tags=["check"], responses=documented(401, 403, 413, 422, 429, 503))(screen)
    return router
