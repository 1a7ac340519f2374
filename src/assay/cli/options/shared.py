"""Options of several verbs: policy and network, chat model, limits, and output formats."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.operations.engines import AddressOption, EngineOption, WorkerSettings, WorkersOption
from assay.cli.options.completion import complete_policy


class TextOrJson(StrEnum):
    """How a result is written."""

    TEXT = "text"
    JSON = "json"


class TextJsonOrHtml(StrEnum):
    """How a report without formats for other programs is written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


class ReportFormat(StrEnum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"
    MARKDOWN = "markdown"


class Stakes(StrEnum):
    """How much depends on the answer."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


PolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME|FILE",
        autocompletion=complete_policy,
        help="A preset or an assay.yaml. [default: ASSAY_CONFIG or general]",
    ),
]
VerifierOption = Annotated[
    Path | None,
    typer.Option("--verifier", metavar="NAME|DIR", help="A shipped network by name, or a cross-encoder's folder."),
]
"""The network that judges pairs of claim and evidence; `--llm` names a chat model."""
EvidenceOption = Annotated[
    tuple[str, ...], typer.Option("--evidence", "-e", metavar="PATH", help="A file or folder; may be repeated.")
]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of", metavar="DATE", help="The day that the answer is about, such as 2025-06-01. [default: today]"
    ),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="PATH", help="Write here instead of to standard output.")
]
LimitOption = Annotated[int | None, typer.Option(min=1, help="Only the first rows of each file.")]
BaseUrlOption = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Its endpoint. [default: OPENAI_BASE_URL or OpenAI]")
]


@dataclass(frozen=True, kw_only=True)
class GuardOptions:
    """The policy and the network that judge."""

    policy: PolicyOption = None
    verifier: VerifierOption = None


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """Which workers judge many rows: none, processes of this machine, or actors of Ray."""

    engine: EngineOption = None
    workers: WorkersOption = None
    address: AddressOption = None

    @property
    def worker_settings(self) -> WorkerSettings:
        """The options as one value."""
        return WorkerSettings(self.engine, self.workers, self.address)


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Limits that end with status 1, and files for other programs."""

    fail_under: Annotated[
        tuple[str, ...],
        typer.Option("--fail-under", metavar="METRIC=VALUE", help="End with status 1 below it; may be repeated."),
    ] = ()
    fail_over: Annotated[
        tuple[str, ...],
        typer.Option("--fail-over", metavar="METRIC=VALUE", help="End with status 1 above it; may be repeated."),
    ] = ()
    write: Annotated[
        tuple[str, ...],
        typer.Option(
            "--write", metavar="FORMAT=FILE", help="Write junit, sarif, github or markdown there too; may be repeated."
        ),
    ] = ()
