"""The options of `assay check`."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options.shared import (
    AsOfOption,
    BaseUrlOption,
    EvidenceOption,
    GuardOptions,
    LimitOptions,
    OutOption,
    ReportFormat,
    Stakes,
)
from assay.cli.receipts.receipt import KeysOption
from assay.cli.reports.judge_words import JudgeOption, OmissionsOption
from assay.cli.reports.repair_words import LlmOption, RemoveOption, RepairOption

if TYPE_CHECKING:
    from assay.schema import Action


class FailOn(StrEnum):
    """The mildest decision that ends with status 1."""

    REVISE = "revise"
    BLOCK = "block"
    NEVER = "never"


class AnswerReading(StrEnum):
    """How the ANSWER argument is read."""

    AUTO = "auto"
    TEXT = "text"
    REQUEST = "request"
    RUN = "run"


_HARMLESS = {
    FailOn.REVISE: ("emit",),
    FailOn.BLOCK: ("emit", "revise"),
    FailOn.NEVER: ("emit", "revise", "block", "escalate"),
}


@dataclass(frozen=True, kw_only=True)
class CheckOptions(GuardOptions, LimitOptions):
    """The options of `assay check`, as values."""

    answer: Annotated[
        tuple[str, ...],
        typer.Argument(metavar="ANSWER...", help="Files, folders (every text file in them), or - for standard input."),
    ]
    evidence: EvidenceOption = ()
    question: Annotated[str | None, typer.Option("--question", "-q", metavar="TEXT|@FILE", help="What was asked.")] = (
        None
    )
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="The assay.yaml with policy and sources. [default: ASSAY_CONFIG]"
        ),
    ] = None
    stakes: Annotated[Stakes | None, typer.Option(help="How much depends on the answer. [default: medium]")] = None
    schema: Annotated[
        Path | None,
        typer.Option("--schema", metavar="FILE", help="The JSON Schema of an answer that is one JSON text."),
    ] = None
    as_of: AsOfOption = None
    format: Annotated[ReportFormat, typer.Option("--format", "-f", help="How to write the report.")] = ReportFormat.TEXT
    out: OutOption = None
    fail_on: Annotated[FailOn, typer.Option(help="The mildest action that ends with status 1.")] = FailOn.REVISE
    reading: Annotated[
        AnswerReading,
        typer.Option(
            "--as", help="Read ANSWER as text, request objects or agents' transcripts, or decide by its form."
        ),
    ] = AnswerReading.AUTO
    receipt: Annotated[
        Path | None,
        typer.Option("--receipt", metavar="FILE", help="Write a signed receipt here if the answer is emitted."),
    ] = None
    keys: KeysOption = None
    llm: LlmOption = None
    base_url: BaseUrlOption = None
    judge: JudgeOption = None
    omissions: OmissionsOption = None
    repair: RepairOption = False
    remove: RemoveOption = False

    @property
    def harmless(self) -> "frozenset[Action]":
        """The decisions that do not count as findings."""
        from assay.schema import Action

        return frozenset(Action(name) for name in _HARMLESS[self.fail_on])
