"""Options that several verbs of `assay redteam` take."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.database import DEFAULT_TENANT, TenantOption
from assay.cli.options.completion import complete_policy
from assay.cli.options.shared import BaseUrlOption, TextOrJson, WorkerOptions

if TYPE_CHECKING:
    from assay.redteam.runs import RunOptions

SuiteArgument = Annotated[Path, typer.Argument(metavar="SUITE", help="The cases, JSON Lines.")]
EvidenceOption = Annotated[
    list[str], typer.Option("--evidence", "-e", metavar="PATH", help="A file or folder; may be repeated.")
]
SeedOption = Annotated[int, typer.Option(help="The seed of all random choices.")]
TargetOption = Annotated[
    str,
    typer.Option(
        "--target",
        "-t",
        metavar="TARGET",
        help="An OpenAI-compatible URL, python:MODULE:FUNCTION, command:PROGRAM with its arguments, "
        "langchain:MODULE:NAME, or file:TARGET.yaml, which declares an HTTP service or a tool of an MCP server.",
    ),
]
ModelOption = Annotated[
    str | None, typer.Option("--target-model", metavar="NAME", help="The model at a URL. [default: OPENAI_MODEL]")
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Seconds that one answer may take.")]
PolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy", metavar="NAME|FILE", autocompletion=complete_policy, help="The policy of the verifier that judges."
    ),
]
VerifierOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A cross-encoder's folder in place of the shipped network.")
]
VersionOption = Annotated[
    str,
    typer.Option(
        "--target-version", metavar="VERSION", help="The version of the system; kept in records and evidence."
    ),
]
ConcurrencyOption = Annotated[int, typer.Option(min=1, max=256, help="Calls at once.")]
RateOption = Annotated[
    float | None, typer.Option("--rate", min=0.001, metavar="N", help="Calls that begin in a second.")
]
MostCallsOption = Annotated[int | None, typer.Option(min=1, metavar="N", help="The most calls in this run.")]
MostSecondsOption = Annotated[
    float | None, typer.Option("--most-seconds", min=0, metavar="S", help="No call begins after this many seconds.")
]
MostTokensOption = Annotated[
    int | None,
    typer.Option("--most-tokens", min=1, metavar="N", help="The most tokens, over all runs into one folder."),
]
MostCostOption = Annotated[
    float | None,
    typer.Option("--most-cost", min=0, metavar="AMOUNT", help="The most money, over all runs into one folder."),
]
PriceInOption = Annotated[
    float | None, typer.Option("--price-in", min=0, metavar="AMOUNT", help="What a million tokens of requests cost.")
]
PriceOutOption = Annotated[
    float | None, typer.Option("--price-out", min=0, metavar="AMOUNT", help="What a million tokens of answers cost.")
]

RecordOption = Annotated[
    str | None,
    typer.Option(
        "--database", metavar="URL|FILE", envvar="ASSAY_DATABASE_URL", help="Keep it in the database of a server too."
    ),
]


class RunFormat(StrEnum):
    """How a run is written to standard output."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    HTML = "html"


class TableFormat(StrEnum):
    """How a comparison is written to standard output."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


@dataclass(frozen=True, kw_only=True)
class AskingOptions:
    """How the target system is called, within which limits, and what judges its answers."""

    target_model: ModelOption = None
    target_version: VersionOption = ""
    timeout: TimeoutOption = 60.0
    concurrency: ConcurrencyOption = 4
    rate: RateOption = None
    most_calls: MostCallsOption = None
    most_seconds: MostSecondsOption = None
    most_tokens: MostTokensOption = None
    most_cost: MostCostOption = None
    price_in: PriceInOption = None
    price_out: PriceOutOption = None
    policy: PolicyOption = None
    verifier: VerifierOption = None

    def run_options(self, *, retry_failed: bool = False, at_most_once: bool = False) -> "RunOptions":
        """The limits and prices as options of a run."""
        from assay.redteam.runs import RunOptions

        return RunOptions(
            concurrency=self.concurrency,
            per_second=self.rate,
            most_calls=self.most_calls,
            most_seconds=self.most_seconds,
            most_tokens=self.most_tokens,
            most_cost=self.most_cost,
            price_in=self.price_in,
            price_out=self.price_out,
            retry_failed=retry_failed,
            at_most_once=at_most_once,
        )


@dataclass(frozen=True, kw_only=True)
class RunSettings(WorkerOptions, AskingOptions):
    """The options of `assay redteam run`. Workers judge the answers; this process alone calls the target."""

    suite: SuiteArgument
    target: TargetOption
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", "-b", metavar="FILE", help="summary.json of an earlier run, or its folder."),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Keep everything here; a stopped run resumes from it."),
    ] = None
    format: Annotated[RunFormat, typer.Option("--format", "-f", help="What goes to standard output.")] = RunFormat.TEXT
    delta: Annotated[float, typer.Option(min=0, max=1, help="The drop of a score that is tolerated.")] = 0.01
    alpha: Annotated[float, typer.Option(help="The probability of a false alarm that is allowed.")] = 0.05
    fail_under: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="ARS", help="End with status 1 below it; what is unjudged counts as 0."),
    ] = None
    reruns: Annotated[
        int, typer.Option(min=0, max=20, metavar="N", help="Repeat failed cases this many times, to find flaky ones.")
    ] = 0
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Ask again where the target failed before.")] = (
        False
    )
    at_most_once: Annotated[
        bool, typer.Option("--at-most-once", help="Never repeat a call that was under way when a run was killed.")
    ] = False
    llm: Annotated[
        str | None,
        typer.Option("--llm", "-m", metavar="NAME", help="A chat model that is asked where the rules are not sure."),
    ] = None
    base_url: BaseUrlOption = None
    database: RecordOption = None
    tenant: TenantOption = DEFAULT_TENANT
    propose: Annotated[
        bool, typer.Option("--propose", help="Propose what failed for the approved suite of the database.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class CompareSettings(AskingOptions):
    """The options of `assay redteam compare`."""

    suite: SuiteArgument
    target: TargetOption
    guardrails: Annotated[
        tuple[str, ...],
        typer.Option(
            "--guardrail",
            "-g",
            metavar="GUARDRAIL",
            help="A URL or file:TARGET.yaml of the system behind its guardrail (assay's gateway, say), or what decides "
            "answers: assay[:POLICY], python:MODULE:FUNCTION, command:PROGRAM; may be repeated.",
        ),
    ]
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Keep all runs here; a stopped comparison resumes."),
    ] = None
    format: Annotated[TableFormat, typer.Option("--format", "-f", help="How to write the table.")] = TableFormat.TEXT


@dataclass(frozen=True, kw_only=True)
class SearchSettings(AskingOptions):
    """The options of `assay redteam search`."""

    evidence: EvidenceOption
    target: TargetOption
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Keep all here; a search that was stopped goes on.")
    ]
    most_calls: Annotated[int, typer.Option(min=1, metavar="N", help="Calls at most, over all.")] = 200
    seed: SeedOption = 0
    changes: Annotated[
        tuple[str, ...],
        typer.Option(
            "--change",
            metavar="KIND=TEXT",
            help="Aim at this change, such as index='annual-leave.md replaced'; may be repeated. Kinds: those of "
            "`assay changes`.",
        ),
    ] = ()
    changed_since: Annotated[
        str | None,
        typer.Option(
            "--changed-since", metavar="TIME", help="Aim at what the change log of --database has since then."
        ),
    ] = None
    database: Annotated[
        str | None,
        typer.Option(
            "--database", metavar="URL|FILE", envvar="ASSAY_DATABASE_URL", help="The database with the change log."
        ),
    ] = None
    tenant: TenantOption = DEFAULT_TENANT
    format: Annotated[TextOrJson, typer.Option("--format", "-f", help="How to say what was found.")] = TextOrJson.TEXT
