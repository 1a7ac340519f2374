"""`POST /v1/consensus`: the consensus of several answers to one request."""

from typing import Annotated, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from assay.schema import Permission
from assay.server.http.problems import documented
from assay.server.patterns import SAYS_SOMETHING
from assay.server.services import Services, allowed

MOST_ANSWERS: Final = 20
"""Answers that one request may compare."""


class ConsensusBody(BaseModel):
    """Several answers to one request."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    answers: list[Annotated[str, Field(pattern=SAYS_SOMETHING)]] = Field(min_length=1, max_length=MOST_ANSWERS)
    """The answers, of one model or of several."""


class ConsensusAnswer(BaseModel):
    """What they come to. Nothing of it was checked against evidence: check it before it is used."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    text: str
    """The claims that more than half of the answers make, as sentences; empty where there are none."""
    uncertain: list[str]
    """Claims that some answers make: to be flagged."""
    dropped: list[str]
    """Claims that few make."""
    agreement: float | None
    """How far the answers agree, in [0, 1]; none for a single one."""
    answers: int
    """The answers that counted."""


def make_consensus_router(services: Services) -> APIRouter:
    """The route, whose work runs on the server's pool of checks."""
    router = APIRouter()

    async def consensus(body: ConsensusBody, request: Request) -> ConsensusAnswer:
        """Put the claims of several answers together, and keep what most of them say."""
        allowed(request.scope, Permission.CHECK)
        guard = services.guard_of(None)
        found = await services.checker.run(lambda: guard.consensus(body.answers))
        return ConsensusAnswer(
            text=found.text,
            uncertain=list(found.uncertain),
            dropped=list(found.dropped),
            agreement=found.agreement.score,
            answers=len(found.answers),
        )

    router.post("/v1/consensus", tags=["check"], responses=documented(401, 403, 413, 422, 429, 503))(consensus)
    return router
