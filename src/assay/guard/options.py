"""The keyword options of a guard's methods as types, for code that passes them on, such as the asynchronous twins.

Each option is documented at the method that takes it. Options are optional unless stated otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, Required, TypedDict

from assay.guard.request import EvidenceLike
from assay.schema import HallucinationReport, Stakes, Structure

if TYPE_CHECKING:  # what runs, models and authors are is loaded with the first of them
    from assay.guard.runs.tool_calls import ToolLike
    from assay.models.chat import Budget, ChatModel
    from assay.rewrite.answers import ChainOptions, Treatment
    from assay.rewrite.revise import Author
    from assay.verify.consistency import Prober
    from assay.verify.tools import AttemptLog, Rules

StreamMode = Literal["enforce", "annotate"]
"""Whether a sentence is held back until it has passed, or shown first and corrected later."""
OnStopped = Literal["answer", "end", "raise"]
"""How a stream that is stopped ends."""
OnWithheld = Literal["raise", "answer"]
"""What a caller gets for an output that does not pass: a `WithheldError`, or the fallback response."""


class TaskOptions(TypedDict, total=False):
    """The options that checks of answers and of runs have in common."""

    stakes: Stakes | str
    task: str
    claim_free: bool
    revisions_failed: int
    run_id: str | None


class DocumentCheckOptions(TaskOptions, total=False):
    """Options of `check` for methods that set the question and the schema themselves, such as `generate_document`."""

    citations: Iterable[Mapping[str, Any]] | None
    asks: bool
    structure: Structure | Mapping[str, Any] | None
    as_of: date | str | None


class GenerationCheckOptions(DocumentCheckOptions, total=False):
    """Options of `check` for methods that set the question and the entropy themselves, such as `generate`."""

    schema: Mapping[str, Any] | bool | None


class AskedCheckOptions(GenerationCheckOptions, total=False):
    """Options of `check` for methods that set the question themselves, such as `repair`."""

    entropy: float | None


class CheckOptions(AskedCheckOptions, total=False):
    """Options of `Guard.check`."""

    question: str | None


class RunOptions(TaskOptions, total=False):
    """Options of `Guard.check_run`."""

    format: str | None
    tools: Iterable[ToolLike]
    rules: Rules | None
    now: datetime | None
    sources: Collection[str]
    evidence: EvidenceLike
    prober: Prober | None
    question: str | None


class RunReportOptions(TypedDict, total=False):
    """Options of `RunWatch.report`."""

    evidence: EvidenceLike
    question: str | None
    stakes: Stakes | str
    task: str
    claim_free: bool
    revisions_failed: int


class ToolCallOptions(TypedDict, total=False):
    """Options of `Guard.check_tool_call`."""

    tools: Iterable[ToolLike]
    rules: Rules | None
    now: datetime | None
    attempts: AttemptLog | None


class ScreenOptions(TypedDict, total=False):
    """Options of `Guard.screen`."""

    historical: bool | None
    as_of: date | str | None


class FurtherOptions(TypedDict, total=False):
    """Options of `check` or `check_run` that `stream` passes on; it sets the others itself."""

    revisions_failed: int
    run_id: str | None
    schema: Mapping[str, Any] | bool | None
    citations: Iterable[Mapping[str, Any]] | None
    asks: bool
    structure: Structure | Mapping[str, Any] | None
    as_of: date | str | None
    entropy: float | None
    format: str | None
    tools: Iterable[ToolLike]
    rules: Rules | None
    now: datetime | None
    sources: Collection[str]
    prober: Prober | None


class StreamOptions(FurtherOptions, total=False):
    """Options of `Guard.stream`."""

    run: object | None
    mode: StreamMode
    on_withheld: OnStopped
    read: Callable[[Any], str | None] | None
    question: str | None
    stakes: Stakes | str
    task: str
    claim_free: bool
    fail_on: Literal["revise", "block"]


class ProtectedCheckOptions(FurtherOptions, total=False):
    """Options of `check` or `check_run` that `protect` passes on; it sets the evidence and the question itself."""

    stakes: Stakes | str
    task: str
    claim_free: bool


class ProtectAnswerOptions(ProtectedCheckOptions, total=False):
    """Options of `Guard.protect` for functions whose answers include their evidence and their question."""

    on_withheld: OnWithheld
    author: Author | None
    attempts: int | None
    read: Callable[[Any], Any] | None
    on_report: Callable[[HallucinationReport], object] | None


class ProtectOptions(ProtectAnswerOptions, total=False):
    """Options of `Guard.protect`."""

    evidence: EvidenceLike | Callable[..., Any]
    question: str | Callable[..., str] | None


class GenerateOptions(GenerationCheckOptions, total=False):
    """Options of `Guard.generate`."""

    llm: ChatModel | None
    ungrounded: Treatment
    attempts: int
    samples: int | Literal["adaptive"]
    chain: ChainOptions | bool
    evidence_tokens: int
    max_tokens: int
    temperature: float
    budget: Budget | None


class GenerateDocumentOptions(DocumentCheckOptions, total=False):
    """Options of `Guard.generate_document`; a schema is required."""

    schema: Required[Mapping[str, Any]]
    document: str | None
    llm: ChatModel | None
    attempts: int
    evidence_tokens: int
    max_tokens: int
    temperature: float
    budget: Budget | None


class RepairOptions(AskedCheckOptions, total=False):
    """Options of `Guard.repair`."""

    question: str | None
    llm: ChatModel | None
    attempts: int | None
    remove: bool
    evidence_tokens: int
    max_tokens: int
    temperature: float
    budget: Budget | None


def require_options(options: Mapping[str, object], kind: type) -> None:
    """Refuses unknown options, for callers that only store options until a check is made.

    Args:
        options: options by name.
        kind: the type of this module that lists the known ones.

    Raises:
        TypeError: an option is unknown; the message names the closest known one.
    """
    known: set[str] = {*getattr(kind, "__required_keys__", ()), *getattr(kind, "__optional_keys__", ())}
    for name in options:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"unexpected option {name!r}{hint}")
