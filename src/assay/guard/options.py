"""The keyword options of a guard's methods, as types: for whoever hands them on, such as an asynchronous twin.

What each option means stands with the method that has it. None is required unless it is said.
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
"""Whether a sentence is held back until it has passed, or shown first and corrected."""
OnStopped = Literal["answer", "end", "raise"]
"""How a stream that is stopped ends."""
OnWithheld = Literal["raise", "answer"]
"""What a caller gets of an output that does not pass: a `WithheldError`, or what may be said in its place."""


class TaskOptions(TypedDict, total=False):
    """What checks of answers and of runs have in common."""

    stakes: Stakes | str
    task: str
    claim_free: bool
    revisions_failed: int
    run_id: str | None


class DocumentCheckOptions(TaskOptions, total=False):
    """Those of `check` for whoever says question and schema itself, such as `generate_document`."""

    citations: Iterable[Mapping[str, Any]] | None
    asks: bool
    structure: Structure | Mapping[str, Any] | None
    as_of: date | str | None


class GenerationCheckOptions(DocumentCheckOptions, total=False):
    """Those of `check` for whoever says question and entropy itself, such as `generate`."""

    schema: Mapping[str, Any] | bool | None


class AskedCheckOptions(GenerationCheckOptions, total=False):
    """Those of `check` for whoever says the question itself, such as `repair`."""

    entropy: float | None


class CheckOptions(AskedCheckOptions, total=False):
    """Those of `Guard.check`."""

    question: str | None


class RunOptions(TaskOptions, total=False):
    """Those of `Guard.check_run`."""

    format: str | None
    tools: Iterable[ToolLike]
    rules: Rules | None
    now: datetime | None
    sources: Collection[str]
    evidence: EvidenceLike
    prober: Prober | None
    question: str | None


class RunReportOptions(TypedDict, total=False):
    """Those of `RunWatch.report`."""

    evidence: EvidenceLike
    question: str | None
    stakes: Stakes | str
    task: str
    claim_free: bool
    revisions_failed: int


class ToolCallOptions(TypedDict, total=False):
    """Those of `Guard.check_tool_call`."""

    tools: Iterable[ToolLike]
    rules: Rules | None
    now: datetime | None
    attempts: AttemptLog | None


class ScreenOptions(TypedDict, total=False):
    """Those of `Guard.screen`."""

    historical: bool | None
    as_of: date | str | None


class FurtherOptions(TypedDict, total=False):
    """Those of `check` or of `check_run` for `stream`, which says the others itself."""

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
    """Those of `Guard.stream`."""

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
    """Those of `check` or of `check_run` for `protect`, which says evidence and question itself."""

    stakes: Stakes | str
    task: str
    claim_free: bool


class ProtectAnswerOptions(ProtectedCheckOptions, total=False):
    """Those of `Guard.protect` for functions whose answers bring their evidence and their question."""

    on_withheld: OnWithheld
    author: Author | None
    attempts: int | None
    read: Callable[[Any], Any] | None
    on_report: Callable[[HallucinationReport], object] | None


class ProtectOptions(ProtectAnswerOptions, total=False):
    """Those of `Guard.protect`."""

    evidence: EvidenceLike | Callable[..., Any]
    question: str | Callable[..., str] | None


class GenerateOptions(GenerationCheckOptions, total=False):
    """Those of `Guard.generate`."""

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
    """Those of `Guard.generate_document`; a schema is required."""

    schema: Required[Mapping[str, Any]]
    document: str | None
    llm: ChatModel | None
    attempts: int
    evidence_tokens: int
    max_tokens: int
    temperature: float
    budget: Budget | None


class RepairOptions(AskedCheckOptions, total=False):
    """Those of `Guard.repair`."""

    question: str | None
    llm: ChatModel | None
    attempts: int | None
    remove: bool
    evidence_tokens: int
    max_tokens: int
    temperature: float
    budget: Budget | None


def require_options(given: Mapping[str, object], kind: type) -> None:
    """Refuses an option that there is not, where options are only kept until a check is made.

    Args:
        given: options by their names.
        kind: the type of this module that lists them.

    Raises:
        TypeError: one of them is unknown; the message names the closest one that is known.
    """
    known: set[str] = {*getattr(kind, "__required_keys__", ()), *getattr(kind, "__optional_keys__", ())}
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"unexpected option {name!r}{hint}")
