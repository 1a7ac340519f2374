"""What a retrieval gate says of passages before a model sees them: kept, dropped and why, conflicts, and a signal."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from pydantic import Field

from assay.schema.base import Value
from assay.schema.evidence import Evidence


class Signal(StrEnum):
    """Whether to answer from what was retrieved."""

    RETRIEVE = "retrieve"
    """The kept passages bear on the question and nothing contradicts them."""
    LOW_CONFIDENCE = "low_confidence"
    """There are passages, with a reservation that `reasons` name: answer with it, or ask for more."""
    REFUSE = "refuse"
    """No passage may be used: there is nothing to answer from."""


class DropReason(StrEnum):
    """Why a passage may not be evidence."""

    BLANK = "blank"
    """It says nothing."""
    INJECTED = "injected_instructions"
    """It tells the reading model what to do."""
    LANGUAGE = "other_language"
    """It is in another language than the question."""
    EXPIRED = "expired"
    """It has ceased to hold by the day that is asked about, or says of itself that it is out of use."""
    NOT_YET = "not_yet_in_force"
    """It does not hold yet on that day."""
    SUPERSEDED = "superseded"
    """A newer version of the same document is among the passages."""
    DUPLICATE = "duplicate"
    """Another passage says the same, to the letter or nearly so."""
    IRRELEVANT = "low_relevance"
    """It does not bear on the question: its relevance is below the policy's minimum."""


class ScreenReason(StrEnum):
    """Why the signal is not `retrieve`."""

    NOTHING_RETRIEVED = "nothing_retrieved"
    """No passage was given."""
    NOTHING_RELEVANT = "nothing_relevant"
    """Every passage that might have been used is below the minimum of relevance."""
    NOTHING_USABLE = "nothing_usable"
    """Every passage was dropped, not all of them for their relevance."""
    WEAK = "weak_relevance"
    """The most relevant passage is below the relevance that the policy calls confident."""
    CONFLICT = "conflict"
    """Kept passages contradict each other."""
    HISTORICAL = "historical_only"
    """All that was kept is out of force, kept because the question asks about the past."""
    UNREADABLE_DATE = "unreadable_date"
    """A date in the metadata of a kept passage cannot be read, so that nobody knows whether it is in force."""


class Standing(StrEnum):
    """How a passage stands to the day that is asked about."""

    IN_FORCE = "in_force"
    """Nothing says otherwise."""
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    NOT_YET = "not_yet_in_force"


class PassageReport(Value):
    """What was found of one passage."""

    id: str
    relevance: float | None = Field(default=None, ge=0, le=1)
    """The calibrated probability that it bears on the question; none where it was dropped before that was asked, or
    where there is no question to measure it by."""
    document: str | None = None
    """The document that it belongs to, as it was named or inferred."""
    identified_by: str | None = Field(default=None, pattern="^(metadata|title|content)$")
    """What tells the document: a field of the metadata, the title, or content that another passage nearly repeats."""
    version: str | None = None
    effective_date: date | None = None
    expiry_date: date | None = None
    standing: Standing = Standing.IN_FORCE
    """A passage that is not in force is kept only where the question asks about the past."""


class DroppedPassage(Value):
    """A passage that may not be evidence, and why."""

    id: str
    reason: DropReason
    detail: str
    """A sentence for people."""
    other: str | None = None
    """The id of the passage that takes its place, where one does."""


class PassageConflict(Value):
    """Two kept passages of which at most one can be right."""

    first: str
    """The id of a passage."""
    second: str
    """The id of the other one."""
    first_text: str
    """The sentence of the first that the second contradicts."""
    first_start: int = Field(ge=0)
    """Where it begins in the passage, in Unicode code points."""
    second_text: str
    """The sentence of the second that says otherwise."""
    second_start: int = Field(ge=0)
    score: float = Field(ge=0, le=1)
    """How sure it is, as a probability."""
    found_by: str = Field(pattern="^(exact|network)$")
    """What told: a comparison of values, or the network."""


class Screening(Value):
    """What may be evidence for one question. A refusal is never an empty list of findings: `reasons` say why."""

    question: str | None = None
    signal: Signal
    reasons: tuple[ScreenReason, ...] = ()
    """Why the signal is not `retrieve`; empty where it is."""
    kept: tuple[str, ...] = ()
    """The ids of the passages that may be used, the most relevant first."""
    dropped: tuple[DroppedPassage, ...] = ()
    """The others, in the order in which they were given."""
    conflicts: tuple[PassageConflict, ...] = ()
    note: str | None = None
    """What a model has to be told of the kept passages: that some of them contradict each other or are out of force."""
    passages: tuple[PassageReport, ...] = ()
    """All of them, in the order in which they were given."""
    inferred: tuple[str, ...] = ()
    """What no metadata said and was inferred, or could not be read, a sentence each."""
    minimum_relevance: float = Field(ge=0, le=1)
    """The relevance below which passages were dropped."""
    historical: bool = False
    """Whether versions that are out of force were kept."""
    as_of: date
    """The day by which passages were judged to be in force."""
    evidence: tuple[Evidence, ...] = Field(default=(), exclude=True, repr=False)
    """The kept passages themselves, in the order of `kept`; not written out with the value."""

    @property
    def answerable(self) -> bool:
        """Whether there is anything to answer from."""
        return self.signal is not Signal.REFUSE
