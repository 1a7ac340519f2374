"""What the review routes take and give."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints

from assay.schema import EscalationPackage, HallucinationReport, ReviewEvent, ReviewItem, Verdict
from assay.store.reviews import LONGEST_REASON

Reason = Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
MOST_LABELS = 1_000
"""Claims that one decision labels."""
_PLACE = "^(0|[1-9][0-9]{0,5})$"
"""The position of a claim, as a member of JSON names it."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ReviewsOut(_Body):
    """A page of the queue."""

    items: list[ReviewItem]
    next: str | None = None
    """The cursor of the page after; none on the last one."""
    waiting: dict[str, int]
    """How many items of the tenant wait, by tier."""


class ReviewOut(_Body):
    """An item with all that a reviewer needs."""

    item: ReviewItem
    package: EscalationPackage | None = None
    """None where its content was erased, or where the caller may not read it."""
    events: list[ReviewEvent] = Field(default_factory=list)
    report: HallucinationReport | None = None
    """What the decision comes to, as the caller of the check gets it; none while there is none."""


class ReasonBody(_Body):
    """Why, where that is worth saying."""

    reason: Annotated[str, Field(max_length=LONGEST_REASON)] | None = None


class AssignBody(_Body):
    """Whom an item is given to."""

    to: str | None = Field(default=None, min_length=1, max_length=200)
    """The name of a reviewer; nobody in particular where it is left out."""
    expertise: str | None = Field(default=None, min_length=1, max_length=100)
    """What a reviewer has to know."""
    reason: Annotated[str, Field(max_length=LONGEST_REASON)] | None = None


class DecisionBody(_Body):
    """What a reviewer decides."""

    act: str = Field(pattern="^(approve|edit|reject|ask_evidence)$")
    """Let it out as it is; let other words out in its place; keep it withheld; ask the caller for evidence."""
    reason: Reason
    """Why; kept in the record."""
    text: str | None = None
    """The words that are to go out, for `edit`."""
    accept: StrictBool = False
    """For `edit`: let the words out although the gate does not emit them. What it blocks cannot be released."""
    response: str | None = Field(default=None, max_length=LONGEST_REASON)
    """For `reject`: what the caller gets in its place."""
    claims: dict[Annotated[str, StringConstraints(pattern=_PLACE)], Verdict] = Field(
        default_factory=dict, max_length=MOST_LABELS, json_schema_extra={"additionalProperties": False}
    )
    """What they say of single claims, by their places: labels to learn from."""


class EvidenceBody(_Body):
    """Evidence that a reviewer asked for."""

    evidence: list[str | dict[str, Any]] = Field(min_length=1, max_length=1_000)
    """Texts, or objects as `POST /v1/check` takes them, with ids that the run does not have yet."""


class EditBody(_Body):
    """Words to be checked in the place of the output; nothing is decided."""

    text: str
