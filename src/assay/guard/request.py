"""What a check is asked: an answer, its evidence and what is known of the task."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from pydantic import ValidationError

from assay.errors import InputError
from assay.schema import KEYWORD, Evidence, Screening, Stakes, Structure, coerce_text

EvidenceLike = Iterable[str | Mapping[str, Any] | Evidence] | str | None
"""Texts, mappings or `Evidence`; one text alone is one piece of evidence."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """One check, as its caller asks for it."""

    answer: str | bytes
    """The output to be checked."""
    evidence: EvidenceLike = None
    question: str | None = None
    """What the output answers; a short answer is read together with it."""
    stakes: Stakes | str = Stakes.MEDIUM
    task: str = "qa"
    """The kind of task; the policy may hold some of them to no evidence."""
    schema: Mapping[str, Any] | bool | None = None
    """A JSON Schema that the output has to satisfy."""
    citations: Iterable[Mapping[str, Any]] | None = None
    """Citation objects as Anthropic, Cohere, OpenAI or Google give them, beside those written in the text."""
    claim_free: bool = False
    """Whether the caller declares that the output is to contain no claims."""
    revisions_failed: int = 0
    """How many revisions of this output have failed already."""
    run_id: str | None = None
    """A name for the run; derived from the content where none is given."""
    asks: bool = True
    """Whether a chat model may be asked where the policy says so. Not for whoever sends the request: it is left out of
    `from_mapping`."""

    structure: Structure | Mapping[str, Any] | None = None
    """How a structured output is checked beside its schema; with a schema each of its values is a claim by default."""
    as_of: date | str | None = None
    """The day that the answer is to hold on, as in `2025-06-01`: evidence that has expired by then is said to have.
    Without one no clock is read, and evidence is compared with evidence only."""
    entropy: float | None = None
    """The normalised entropy of the output's tokens, from 0 to 1, where its log-probabilities are known; see
    `assay.rewrite.answers.confidence_signals.entropy_of`. It counts where the policy decides whether to answer."""
    screening: Screening | None = None
    """What the retrieval gate said of the evidence, where it was asked before: the evidence is what it kept. As `asks`,
    not for whoever sends the request."""
    given: tuple[Evidence, ...] | None = None
    """All that was given, where the retrieval gate kept a part of it."""
    later: bool = False
    """Whether a further check of what comes of this output follows, which asks a chat model what the policy requires.
    Where none follows, what was not asked was not checked. As `asks`, not for whoever sends the request."""

    looks_up: bool = True
    """Whether sources of knowledge may be asked. As `asks`, not for whoever sends the request."""

    def __post_init__(self) -> None:
        """Refuse settings of another type: a text such as "false" would count as true.

        Raises:
            InputError: a setting is not what it should be.
        """
        for name in ("claim_free", "asks", "later", "looks_up"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be true or false, got {getattr(self, name)!r}.")
        failed = self.revisions_failed
        if not isinstance(failed, int) or isinstance(failed, bool) or failed < 0:
            raise InputError(f"revisions_failed must be a whole number from 0 up, got {failed!r}.")
        entropy = self.entropy
        if entropy is not None and (
            isinstance(entropy, bool) or not isinstance(entropy, int | float) or not 0 <= entropy <= 1
        ):
            raise InputError(f"entropy must be a number from 0 to 1, got {entropy!r}.")
        for name in ("task", "run_id"):
            value = getattr(self, name)
            if value is None and name == "run_id":
                continue
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"{name} must be a text that is not blank, got {value!r}.")
            coerce_text(value, name)

    @classmethod
    def from_mapping(cls, row: Mapping[str, Any]) -> "CheckRequest":
        """Read a request from a mapping; fields that are no field of a request raise.

        Raises:
            InputError: there is no `answer`, or a field is unknown.
        """
        known = set(cls.__dataclass_fields__) - {"asks", "later", "looks_up", "screening", "given"}
        unknown = sorted(set(row) - known - {"id", "label", "meta"})
        if unknown or "answer" not in row:
            expected = ", ".join(sorted(known))
            problem = f"got the unknown fields {unknown}" if unknown else "got none named `answer`"
            raise InputError(f"A check request has the fields {expected}; {problem}.")
        return cls(**{name: value for name, value in row.items() if name in known})


def stakes_of(value: Stakes | str) -> Stakes:
    """Stakes by name.

    Raises:
        InputError: there are no such stakes.
    """
    try:
        return Stakes(value)
    except ValueError as error:
        raise InputError(f"Stakes are low, medium or high; got {value!r}.") from error


def structure_of(request: CheckRequest) -> Structure | None:
    """What a structured output is held to beside its schema; none where the output is not one.

    A schema may carry it itself, under the keyword `x-assay`.

    Raises:
        InputError: it is no such value.
    """
    given = request.structure
    if given is None and isinstance(request.schema, Mapping):
        given = request.schema.get(KEYWORD)
    if given is None:
        return Structure() if request.schema is not None else None
    if isinstance(given, Structure):
        return given
    try:
        return Structure.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise InputError(f"structure cannot be read: {where}: {first['msg']}") from error


def day_of(request: CheckRequest) -> date | None:
    """The day that the answer is to hold on, where the caller says it.

    Raises:
        InputError: it is no date.
    """
    return read_day(request.as_of)


def read_day(given: date | str | None) -> date | None:
    """A day as a caller gives it.

    Raises:
        InputError: it is no date.
    """
    if isinstance(given, datetime):
        return given.date()
    if given is None or isinstance(given, date):
        return given
    try:
        return date.fromisoformat(given)
    except (TypeError, ValueError) as error:
        raise InputError(f"as_of is a date such as 2025-06-01, got {given!r}.") from error
