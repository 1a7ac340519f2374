"""The verbs and their options. What a verb needs is imported when it runs, so that `assay --help` is quick."""

import os
import sys
import traceback
from typing import Annotated

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
from assay.cli.operations import review as review_verbs
from assay.cli.operations import skill as skill_verbs
from assay.cli.operations import users as users_verbs
from assay.cli.operations.batch import batch
from assay.cli.options.check import CheckOptions
from assay.cli.options.command import ChatCommand, VerifierCommand, takes
from assay.cli.options.evaluate import EvalOptions
from assay.cli.options.serve import DoctorOptions, McpOptions, ServerOptions
from assay.cli.receipts import receipt as receipt_verbs
from assay.cli.redteam import app as redteam_verbs
from assay.cli.screen import screen
from assay.cli.setup.completion import VARIABLE, completion
from assay.cli.setup.explain import explain
from assay.cli.setup.init import init

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
app.command("batch", cls=VerifierCommand)(batch)
app.add_typer(corpus_verbs.app)
app.command("backup")(backup_verbs.backup)
app.command("restore")(backup_verbs.restore)
app.command("migrate")(backup_verbs.migrate)
app.command("calibrate", cls=VerifierCommand)(calibrate)
app.command("generate", cls=ChatCommand)(generate)
app.command("screen")(screen)
app.command("init")(init)
app.command("explain")(explain)
app.command("completion")(completion)


def run() -> None:
    """Runs the command and exits."""
    try:
        if VARIABLE in os.environ:  # a shell asks for completions
            from typer._completion_classes import completion_init

            completion_init()
        app(prog_name="assay")
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`). Python would report that again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(MISUSE)
    except Exception as error:  # noqa: BLE001 the outermost boundary: any defect ends with a traceback and status 3, never with that of findings
        missing = missing_extra(error) if isinstance(error, ModuleNotFoundError) else None
        if missing is not None:
            sys.stderr.write(f"assay: error: {missing}\n")
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


@app.command(cls=VerifierCommand)
@takes(CheckOptions)
def check(options: CheckOptions) -> None:
    """Check answers against evidence, claim by claim."""
    from assay.cli.check import run_check

    with reporting_errors():
        raise typer.Exit(FINDINGS if run_check(options) else CLEAN)


@app.command("eval", cls=VerifierCommand)
@takes(EvalOptions)
def evaluate(options: EvalOptions) -> None:
    """Measure the verifier on labelled rows: by set and slice, with intervals and curves."""
    from assay.cli.evaluate import run_eval

    with reporting_errors():
        raise typer.Exit(FINDINGS if run_eval(options) else CLEAN)


@app.command()
def bench(
    runs: Annotated[int, typer.Option(min=1, help="Runs behind each median.")] = 15,
    as_json: Annotated[bool, typer.Option("--json", help="Write the figures as JSON.")] = False,
) -> None:
    """Measure the speed of assay on this machine."""
    from assay.cli.bench import json_list, run_bench, table

    with reporting_errors():
        measures = run_bench(runs)
        typer.echo(json_list(measures) if as_json else "\n".join(table(measures)))


@app.command(cls=VerifierCommand)
@takes(ServerOptions)
def serve(options: ServerOptions) -> None:
    """Serve checks over REST, and a gateway in front of chat models."""
    from assay.cli.operations.serve import run_serve

    with reporting_errors():
        run_serve(options)


@app.command(cls=VerifierCommand)
@takes(DoctorOptions)
def doctor(options: DoctorOptions) -> None:
    """Show what is configured, what each policy requires, and what is missing; takes the options of `serve`."""
    from assay.cli.operations.doctor import run_doctor

    with reporting_errors():
        has_open_notes = run_doctor(options, as_json=options.as_json, ask_online=options.online)
        raise typer.Exit(FINDINGS if has_open_notes else CLEAN)


@app.command("mcp", cls=VerifierCommand)
@takes(McpOptions)
def serve_mcp(options: McpOptions) -> None:
    """Serve checks as tools of an MCP server, on standard input and output or over HTTP."""
    from assay.cli.mcp import run_mcp

    with reporting_errors():
        run_mcp(options)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"assay {__version__}")
