"""The request and response bodies of the routes for reviews."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints

from assay.schema import EscalationPackage, HallucinationReport, ReviewEvent, ReviewItem, Verdict
from assay.store.reviews import LONGEST_REASON

Reason = Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
MOST_LABELS = 1_000
"""Claims that one decision may label."""
_POSITION = "^(0|[1-9][0-9]{0,5})$"
"""The position of a claim, as the name of a member of a JSON object."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ReviewsOut(_Body):
    """A page of the queue."""

    items: list[ReviewItem]
    next: str | None = None
    """The cursor of the next page; null on the last one."""
    waiting: dict[str, int]
    """The number of waiting items of the tenant, by tier."""


class ReviewOut(_Body):
    """An item with everything that a reviewer needs."""

    item: ReviewItem
    package: EscalationPackage | None = None
    """Null where the content was erased, or where the caller may not read it."""
    events: list[ReviewEvent] = Field(default_factory=list)
    report: HallucinationReport | None = None
    """The report that the caller of the check gets after the decision; null while there is no decision."""


class ReasonBody(_Body):
    """An optional reason."""

    reason: Annotated[str, Field(max_length=LONGEST_REASON)] | None = None


class AssignBody(_Body):
    """To whom an item is assigned."""

    to: str | None = Field(default=None, min_length=1, max_length=200)
    """The name of a reviewer; no particular one if it is left out."""
    expertise: str | None = Field(default=None, min_length=1, max_length=100)
    """The expertise that a reviewer needs."""
    reason: Annotated[str, Field(max_length=LONGEST_REASON)] | None = None


class DecisionBody(_Body):
    """The decision of a reviewer."""

    act: str = Field(pattern="^(approve|edit|reject|ask_evidence)$")
    """Release the output as it is; release an edited text instead; keep it withheld; ask the caller for evidence."""
    reason: Reason
    """Why; stored with the decision."""
    text: str | None = None
    """For `edit`: the text to release."""
    accept: StrictBool = False
    """For `edit`: release the text even if the gate would not emit it. A text that it blocks cannot be released."""
    response: str | None = Field(default=None, max_length=LONGEST_REASON)
    """For `reject`: the text that the caller gets instead."""
    claims: dict[Annotated[str, StringConstraints(pattern=_POSITION)], Verdict] = Field(
        default_factory=dict, max_length=MOST_LABELS, json_schema_extra={"additionalProperties": False}
    )
    """Verdicts on single claims, by the positions of the claims; used as labels for training and calibration."""


class EvidenceBody(_Body):
    """Evidence that a reviewer asked for."""

    evidence: list[str | dict[str, Any]] = Field(min_length=1, max_length=1_000)
    """Texts, or objects as in `POST /v1/check`; their ids must be new to the run."""


class EditBody(_Body):
    """A text to be checked in place of the output; nothing is decided."""

    text: str
