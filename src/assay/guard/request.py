"""The request of a check: an answer, its evidence and the circumstances of the task."""

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
    """The request of one check."""

    answer: str | bytes
    """The output to check."""
    evidence: EvidenceLike = None
    question: str | None = None
    """The question that the output answers; a short answer is read together with it."""
    stakes: Stakes | str = Stakes.MEDIUM
    task: str = "qa"
    """The kind of task; the policy may exempt some tasks from evidence."""
    schema: Mapping[str, Any] | bool | None = None
    """A JSON Schema that the output has to satisfy."""
    citations: Iterable[Mapping[str, Any]] | None = None
    """Citation objects as Anthropic, Cohere, OpenAI or Google return them, in addition to those written in the text."""
    claim_free: bool = False
    """Whether the caller declares that the output contains no claims."""
    revisions_failed: int = 0
    """How many revisions of this output have already failed."""
    run_id: str | None = None
    """A name for the run; derived from the content where none is given."""
    asks: bool = True
    """Whether a chat model may be asked where the policy says so. Clients cannot set it: `from_mapping` ignores it."""

    structure: Structure | Mapping[str, Any] | None = None
    """How a structured output is checked in addition to its schema; with a schema every value is a claim by default."""
    as_of: date | str | None = None
    """The day on which the answer has to hold, such as `2025-06-01`; evidence that has expired by then is reported.
    Without it no clock is read, and evidence is only compared with other evidence."""
    entropy: float | None = None
    """The normalised entropy of the output's tokens, from 0 to 1, where its log-probabilities are known; see
    `assay.rewrite.answers.confidence_signals.entropy_of`. It matters where the policy decides whether to answer."""
    screening: Screening | None = None
    """The result of the retrieval gate, where it was applied before; the evidence is then what it kept. Clients cannot
    set it."""
    given: tuple[Evidence, ...] | None = None
    """All evidence that was given, where the retrieval gate kept only a part of it. Clients cannot set it."""
    later: bool = False
    """Whether a further check of this output or of a version of it follows, in which a chat model is asked what the
    policy requires. Where none follows, what was not asked counts as unchecked. Clients cannot set it."""

    looks_up: bool = True
    """Whether sources of knowledge may be asked. Clients cannot set it."""

    def __post_init__(self) -> None:
        """Refuses settings of another type: a text such as "false" would count as true.

        Raises:
            InputError: a setting has the wrong type or is out of range.
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
        """Reads a request from a mapping.

        Raises:
            InputError: `answer` is missing, or a field is unknown.
        """
        known = set(cls.__dataclass_fields__) - {"asks", "later", "looks_up", "screening", "given"}
        unknown = sorted(set(row) - known - {"id", "label", "meta"})
        if unknown or "answer" not in row:
            expected = ", ".join(sorted(known))
            problem = f"got the unknown fields {unknown}" if unknown else "got none named `answer`"
            raise InputError(f"A check request has the fields {expected}; {problem}.")
        return cls(**{name: value for name, value in row.items() if name in known})


def stakes_of(value: Stakes | str) -> Stakes:
    """The stakes with a name.

    Raises:
        InputError: there are no such stakes.
    """
    try:
        return Stakes(value)
    except ValueError as error:
        raise InputError(f"Stakes are low, medium or high; got {value!r}.") from error


def structure_of(request: CheckRequest) -> Structure | None:
    """The structure that a structured output is held to in addition to its schema; none for other outputs.

    A schema may contain it under the keyword `x-assay`.

    Raises:
        InputError: it cannot be read.
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
    """The day on which the answer has to hold, where the caller names one.

    Raises:
        InputError: it is not a date.
    """
    return read_day(request.as_of)


def read_question(question: str) -> str:
    """The text of a question that must not be blank.

    Raises:
        InputError: it is not a text, or blank.
    """
    text = coerce_text(question, "question")
    if not text.strip():
        raise InputError("a question must ask something; got a blank text")
    return text


def read_day(value: date | str | None) -> date | None:
    """A day that a caller gives as a date or as text.

    Raises:
        InputError: it is not a date.
    """
    if isinstance(value, datetime):
        return value.date()
    if value is None or isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"as_of is a date such as 2025-06-01, got {value!r}.") from error
