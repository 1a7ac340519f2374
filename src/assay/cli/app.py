"""The verbs and their options. What a verb needs is imported when it runs, so that `assay --help` is quick."""

import os
import sys
import traceback
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._version import __version__
from assay.cli import corpus as corpus_verbs
from assay.cli.calibrate import calibrate
from assay.cli.exit_status import CLEAN, DEFECT, FINDINGS, MISUSE, missing_extra, reporting_errors
from assay.cli.generate import generate
from assay.cli.monitoring import budget as budget_verbs
from assay.cli.monitoring import changes as changes_verbs
from assay.cli.monitoring import monitor as monitor_verbs
from assay.cli.monitoring.bisect_verb import bisect
from assay.cli.operations import audit as audit_verbs
from assay.cli.operations import backup as backup_verbs
from assay.cli.operations import keys as keys_verbs
from assay.cli.operations import receipt as receipt_verbs
from assay.cli.operations import review as review_verbs
from assay.cli.operations import skill as skill_verbs
from assay.cli.operations import users as users_verbs
from assay.cli.operations.batch import batch
from assay.cli.operations.engines import AddressOption, Crew, EngineOption, WorkersOption, read_workers
from assay.cli.redteam import app as redteam_verbs
from assay.cli.reports.judge_words import JudgeOption, OmissionsOption
from assay.cli.reports.repair_words import BaseUrlOption, LlmOption, RemoveOption, RepairOption
from assay.cli.screen import screen
from assay.cli.setup.completion import VARIABLE, completion
from assay.cli.setup.explain import explain
from assay.cli.setup.init import init

if TYPE_CHECKING:
    from assay.schema import Action

app = typer.Typer(
    name="assay",
    help="Checks every claim in a model's output against your evidence.",
    epilog="Exit status: 0 clean, 1 findings, 2 misuse or unreadable input, 3 a defect in assay.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(receipt_verbs.app)
app.add_typer(audit_verbs.app)
app.add_typer(keys_verbs.app)
app.add_typer(monitor_verbs.app)
app.add_typer(changes_verbs.app)
app.add_typer(budget_verbs.app)
app.command("bisect")(bisect)
app.add_typer(review_verbs.app)
app.add_typer(skill_verbs.app)
app.add_typer(users_verbs.app)
app.add_typer(users_verbs.tenants_app)
app.add_typer(redteam_verbs.app)
app.command("batch")(batch)
app.add_typer(corpus_verbs.app)
app.command("backup")(backup_verbs.backup)
app.command("restore")(backup_verbs.restore)
app.command("migrate")(backup_verbs.migrate)
app.command("calibrate")(calibrate)
app.command("generate")(generate)
app.command("screen")(screen)
app.command("init")(init)
app.command("explain")(explain)
app.command("completion")(completion)


class Format(StrEnum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"
    MARKDOWN = "markdown"


class Stakes(StrEnum):
    """How much hangs on the answer."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class FailOn(StrEnum):
    """Which decisions end with status 1."""

    REVISE = "revise"
    BLOCK = "block"
    NEVER = "never"


class AnswerReading(StrEnum):
    """How an answer that looks like a request object is read."""

    AUTO = "auto"
    TEXT = "text"
    REQUEST = "request"


PolicyOption = Annotated[
    str | None,
    typer.Option("--policy", metavar="NAME|FILE", help="A preset or an assay.yaml. [default: ASSAY_CONFIG or general]"),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="The assay.yaml with policy and sources. [default: ASSAY_CONFIG]"),
]
ModelOption = Annotated[
    Path | None,
    typer.Option("--model", metavar="NAME|DIR", help="A shipped network by name, or a cross-encoder's folder."),
]

QuestionOption = Annotated[str | None, typer.Option("--question", "-q", metavar="TEXT|@FILE", help="What was asked.")]
SchemaOption = Annotated[
    Path | None, typer.Option("--schema", metavar="FILE", help="The JSON Schema of an answer that is one JSON text.")
]
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", metavar="DATE", help="The day that the answer is to hold on, such as 2025-06-01; today."),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="PATH", help="Write here instead of to standard output.")
]


FailUnderOption = Annotated[
    list[str] | None,
    typer.Option("--fail-under", metavar="METRIC=VALUE", help="End with status 1 below it; may be repeated."),
]
FailOverOption = Annotated[
    list[str] | None,
    typer.Option("--fail-over", metavar="METRIC=VALUE", help="End with status 1 above it; may be repeated."),
]
WriteOption = Annotated[
    list[str] | None,
    typer.Option(
        "--write", metavar="FORMAT=FILE", help="Write junit, sarif, github or markdown there too; may be repeated."
    ),
]


def run() -> None:
    """Runs the command and exits."""
    try:
        if VARIABLE in os.environ:  # a shell asks what could come next
            from typer._completion_classes import completion_init

            completion_init()
        app(prog_name="assay")
    except BrokenPipeError:
        # The reader has gone (`| head`). Python would complain once more while it flushes on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(MISUSE)
    except Exception as error:  # noqa: BLE001 the outermost boundary: a defect of ours must not end with the status of findings
        lacks = missing_extra(error) if isinstance(error, ModuleNotFoundError) else None
        if lacks is not None:
            sys.stderr.write(f"assay: error: {lacks}\n")
            sys.exit(MISUSE)
        traceback.print_exc()
        sys.stderr.write("assay: this is a defect in assay, and nothing was decided; please report it\n")
        sys.exit(DEFECT)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assay {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Checks every claim in a model's output against your evidence."""


@app.command()
def check(
    answer: Annotated[
        list[str],
        typer.Argument(metavar="ANSWER...", help="Files, folders (every text file in them), or - for standard input."),
    ],
    evidence: Annotated[
        list[str] | None, typer.Option("--evidence", "-e", metavar="PATH", help="A file or folder; may be repeated.")
    ] = None,
    question: QuestionOption = None,
    policy: PolicyOption = None,
    config: ConfigOption = None,
    stakes: Annotated[Stakes | None, typer.Option(help="How much hangs on it. [default: medium]")] = None,
    schema: SchemaOption = None,
    as_of: AsOfOption = None,
    model: ModelOption = None,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to write the report.")] = Format.TEXT,
    out: OutOption = None,
    fail_on: Annotated[FailOn, typer.Option(help="The mildest decision that ends with status 1.")] = FailOn.REVISE,
    fail_under: FailUnderOption = None,
    fail_over: FailOverOption = None,
    write: WriteOption = None,
    reading: Annotated[
        AnswerReading, typer.Option("--as", help="Read ANSWER as text, as request objects, or decide by its form.")
    ] = AnswerReading.AUTO,
    receipt: Annotated[
        Path | None,
        typer.Option("--receipt", metavar="FILE", help="Write a signed receipt here if the answer is emitted."),
    ] = None,
    keys: receipt_verbs.KeysOption = None,
    llm: LlmOption = None,
    base_url: BaseUrlOption = None,
    judge: JudgeOption = None,
    omissions: OmissionsOption = None,
    repair: RepairOption = False,
    remove: RemoveOption = False,
) -> None:
    """Check answers against evidence, claim by claim."""
    from assay.cli.check import CheckOptions, run_check

    with reporting_errors():
        options = CheckOptions(
            answers=tuple(answer),
            evidence=tuple(evidence or ()),
            question=question,
            policy=policy,
            config=config,
            stakes=None if stakes is None else stakes.value,
            schema=schema,
            as_of=as_of,
            model=model,
            format=format_.value,
            out=out,
            reading=reading.value,
            harmless=_HARMLESS[fail_on](),
            fail_under=tuple(fail_under or ()),
            fail_over=tuple(fail_over or ()),
            write=tuple(write or ()),
            receipt=receipt,
            keys=keys,
            llm=llm,
            base_url=base_url,
            judge=None if judge is None else judge.value,
            omissions=None if omissions is None else omissions.value,
            repair=repair,
            remove=remove,
        )
        found = run_check(options)
        raise typer.Exit(FINDINGS if found else CLEAN)


def _harmless(*names: str) -> "Callable[[], frozenset[Action]]":
    def named() -> "frozenset[Action]":
        from assay.schema import Action

        return frozenset(Action(name) for name in names)

    return named


_HARMLESS = {
    FailOn.REVISE: _harmless("emit"),
    FailOn.BLOCK: _harmless("emit", "revise"),
    FailOn.NEVER: _harmless("emit", "revise", "block", "escalate"),
}
"""The decisions that are no findings."""


@app.command("eval")
def evaluate(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="Rows: .jsonl, .jsonl.gz, .json, .csv, .csv.gz or .parquet."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Keep results here; a run that was stopped goes on from them."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the page with the curves here, such as eval.html."),
    ] = None,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to write the summary.")] = Format.TEXT,
    policy: PolicyOption = None,
    model: ModelOption = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first rows of each file.")] = None,
    threshold: Annotated[
        float | None, typer.Option(metavar="T", help="Flag below this score. [default: the verdict decides]")
    ] = None,
    slices: Annotated[
        list[str] | None, typer.Option("--slice", metavar="KEY", help="A name in meta to slice by; may be repeated.")
    ] = None,
    baselines: Annotated[bool, typer.Option("--baselines", help="Show the simple judges beside the guard.")] = False,
    fit: Annotated[
        list[Path] | None,
        typer.Option("--fit", metavar="FILE", help="Rows to choose the thresholds of the baselines on."),
    ] = None,
    embedding_model: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A sentence-transformers folder for the cosine baseline.")
    ] = None,
    worst: Annotated[
        int, typer.Option(min=0, metavar="N", help="Write the N worst errors into worst.jsonl in --out, to be read.")
    ] = 0,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Compare two finished runs (folders of --out) in place of judging."),
    ] = None,
    fail_under: FailUnderOption = None,
    fail_over: FailOverOption = None,
    write: WriteOption = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TOOL",
            help="Who wrote the files: ragas, deepeval, trulens, langfuse, phoenix, promptfoo, langsmith, ragtruth.",
        ),
    ] = None,
    mapped: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="OURS=THEIRS,...",
            help="Which field is what, such as answer=response,evidence=contexts; may be repeated.",
        ),
    ] = None,
    engine: EngineOption = None,
    workers: WorkersOption = None,
    address: AddressOption = None,
) -> None:
    """Measure the verifier on labelled rows: by set and slice, with intervals and curves."""
    from assay.cli.evaluate import EvalOptions, run_eval

    with reporting_errors():
        missed = run_eval(
            EvalOptions(
                files=tuple(files or ()),
                out=out,
                report=report,
                format=format_.value,
                policy=policy,
                model=model,
                limit=limit,
                threshold=threshold,
                slices=tuple(slices or ()),
                baselines=baselines,
                fit=tuple(fit or ()),
                embedding_model=embedding_model,
                worst=worst,
                compare=compare,
                fail_under=tuple(fail_under or ()),
                fail_over=tuple(fail_over or ()),
                write=tuple(write or ()),
                preset=preset,
                mapped=tuple(mapped or ()),
                crew=Crew(engine, workers, address),
            )
        )
        raise typer.Exit(FINDINGS if missed else CLEAN)


@app.command()
def bench(
    runs: Annotated[int, typer.Option(min=1, help="Runs behind each median.")] = 15,
    as_json: Annotated[bool, typer.Option("--json", help="Write the figures as JSON.")] = False,
) -> None:
    """Measure the speed of the core on this machine."""
    from assay.cli.bench import json_list, run_bench, table

    with reporting_errors():
        found = run_bench(runs)
        typer.echo(json_list(found) if as_json else "\n".join(table(found)))


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = 8080,
    upstream: Annotated[
        list[str] | None,
        typer.Option("--upstream", metavar="[NAME=]URL", envvar="ASSAY_UPSTREAM_URL", help="May be repeated."),
    ] = None,
    gateway: Annotated[
        Path | None, typer.Option("--gateway", metavar="FILE", help="Upstreams, routes and limits in YAML.")
    ] = None,
    mode: Annotated[
        str | None, typer.Option(metavar="MODE", help="enforce, annotate, shadow or off. [default: enforce]")
    ] = None,
    policy: PolicyOption = None,
    model: ModelOption = None,
    keys: Annotated[
        Path | None, typer.Option(metavar="FILE", envvar="ASSAY_KEYS", help="API keys; see `assay keys`.")
    ] = None,
    workers: Annotated[
        int, typer.Option(metavar="N|auto", parser=read_workers, help="Processes; auto is one for each processor.")
    ] = 1,
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="URL|FILE", envvar="ASSAY_DATABASE_URL", help="Where checks are recorded."),
    ] = None,
    llm: Annotated[
        str | None, typer.Option("--llm", metavar="NAME", help="A chat model that checks ask as a judge.")
    ] = None,
    base_url: BaseUrlOption = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="WHICH", help="Whom it hears on: policy, uncertain (the default) or all."),
    ] = None,
) -> None:
    """Serve checks over REST, and a gateway in front of chat models."""
    from assay.cli.operations.serve import ServeOptions, run_serve

    with reporting_errors():
        named = tuple(upstream or ())
        options = ServeOptions(
            host, port, named, gateway, mode, policy, model, keys, workers, database, llm, base_url, judge
        )
        run_serve(options)


@app.command()
def doctor(
    host: Annotated[str, typer.Option(help="The address that the server would listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Its port.")] = 8080,
    upstream: Annotated[
        list[str] | None,
        typer.Option("--upstream", metavar="[NAME=]URL", envvar="ASSAY_UPSTREAM_URL", help="May be repeated."),
    ] = None,
    gateway: Annotated[Path | None, typer.Option("--gateway", metavar="FILE", help="The gateway file.")] = None,
    policy: PolicyOption = None,
    model: ModelOption = None,
    keys: Annotated[
        Path | None, typer.Option(metavar="FILE", envvar="ASSAY_KEYS", help="The file of API keys.")
    ] = None,
    database: Annotated[
        str | None, typer.Option("--database", metavar="URL|FILE", envvar="ASSAY_DATABASE_URL", help="The record.")
    ] = None,
    llm: Annotated[str | None, typer.Option("--llm", metavar="NAME", help="The chat model that checks ask.")] = None,
    base_url: BaseUrlOption = None,
    online: Annotated[
        bool, typer.Option("--online", help="Ask the upstreams and the judge too, and compare their clocks.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write the notes as JSON.")] = False,
) -> None:
    """Say what is configured, what each policy requires, and what is open; takes the options of `serve`."""
    from assay.cli.operations.doctor import run_doctor
    from assay.cli.operations.serve import ServeOptions

    with reporting_errors():
        options = ServeOptions(
            host, port, tuple(upstream or ()), gateway, None, policy, model, keys, 1, database, llm, base_url
        )
        found = run_doctor(options, as_json=as_json, asks=online)
        raise typer.Exit(FINDINGS if found else CLEAN)


@app.command("mcp")
def serve_mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Streamable HTTP in place of standard input and output.")
    ] = False,
    host: Annotated[str, typer.Option(help="The loopback address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = 8000,
    policy: PolicyOption = None,
    model: ModelOption = None,
) -> None:
    """Serve checks as tools of an MCP server, on standard input and output or over HTTP."""
    from assay.cli.mcp import McpOptions, run_mcp

    with reporting_errors():
        run_mcp(McpOptions(http, host, port, policy, model))


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"assay {__version__}")
