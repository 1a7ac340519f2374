"""The verbs of `assay redteam` and their options."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.operations.engines import AddressOption, Crew, EngineOption, WorkersOption

app = typer.Typer(
    name="redteam",
    help="Attack a system from its own documents, score it by category, and keep what breaks it.",
    epilog="Exit status: 0 done; 1 a regression, a score below --fail-under, or a suite with problems; 2 misuse.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

SuiteArgument = Annotated[Path, typer.Argument(metavar="SUITE", help="The cases, JSON Lines.")]
EvidenceOption = Annotated[
    list[str], typer.Option("--evidence", "-e", metavar="PATH", help="A file or folder; may be repeated.")
]
SeedOption = Annotated[int, typer.Option(help="What all choices follow from.")]
TargetOption = Annotated[
    str,
    typer.Option(
        "--target", "-t", metavar="TARGET",
        help="An OpenAI-compatible URL, python:MODULE:FUNCTION, or command:PROGRAM with its arguments.",
    ),
]  # fmt: skip
ModelOption = Annotated[
    str | None, typer.Option("--target-model", metavar="NAME", help="The model at a URL. [default: OPENAI_MODEL]")
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Seconds that one answer may take.")]
PolicyOption = Annotated[
    str | None, typer.Option("--policy", metavar="NAME|FILE", help="The policy of the verifier that judges.")
]
VerifierOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A cross-encoder's folder in place of the shipped network.")
]


class Format(StrEnum):
    """How a result is written."""

    TEXT = "text"
    JSON = "json"


class RunFormat(StrEnum):
    """How a run is written to standard output."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    JUNIT = "junit"
    HTML = "html"


class CategoryName(StrEnum):
    """The categories of attacks."""

    KNOWLEDGE_BOUNDARY = "knowledge_boundary"
    ENTITY_SUBSTITUTION = "entity_substitution"
    TEMPORAL_CONFUSION = "temporal_confusion"
    CONTEXT_POISONING = "context_poisoning"
    CITATION_MANIPULATION = "citation_manipulation"
    FORMAT_COERCION = "format_coercion"
    CONSTRAINT_CONTRADICTION = "constraint_contradiction"
    AUTHORITY_IMPERSONATION = "authority_impersonation"
    SCALE_STRESS = "scale_stress"
    COMPOSITIONAL = "compositional"


@app.command("generate")
def generate(
    evidence: EvidenceOption,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Write the suite here.")],
    per_category: Annotated[int, typer.Option(min=1, metavar="N", help="Cases of each category at most.")] = 20,
    seed: SeedOption = 0,
    categories: Annotated[
        list[CategoryName] | None, typer.Option("--category", help="Only this one; may be repeated.")
    ] = None,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to say what was written.")] = Format.TEXT,
) -> None:
    """Write attacks from documents, offline: the same documents and seed give the same suite."""
    from assay.cli.redteam.generating import run_generate

    with reporting_errors():
        run_generate(
            tuple(evidence), out, per_category, seed, tuple(one.value for one in categories or ()), format_.value
        )


@app.command("lint")
def lint(
    suite: SuiteArgument,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to write what was found.")] = Format.TEXT,
) -> None:
    """Say what is wrong with a suite: cases without a truth to be judged by, duplicates, implausible ones."""
    from assay.cli.redteam.generating import run_lint

    with reporting_errors():
        raise typer.Exit(FINDINGS if run_lint(suite, format_.value) else CLEAN)


@app.command("run")
def run(
    suite: SuiteArgument,
    target: TargetOption,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", "-b", metavar="FILE", help="summary.json of an earlier run, or its folder."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Keep all here; a run that was stopped goes on from it."),
    ] = None,
    format_: Annotated[RunFormat, typer.Option("--format", "-f", help="What goes to standard output.")] = (
        RunFormat.TEXT
    ),
    delta: Annotated[float, typer.Option(min=0, max=1, help="The drop of a score that is let pass.")] = 0.01,
    alpha: Annotated[float, typer.Option(help="The probability of a false alarm that is allowed.")] = 0.05,
    fail_under: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="ARS", help="End with status 1 below it; what is unjudged counts as 0."),
    ] = None,
    target_model: ModelOption = None,
    timeout: TimeoutOption = 60.0,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Calls at once.")] = 4,
    rate: Annotated[float | None, typer.Option(min=0.001, metavar="N", help="Calls that begin in a second.")] = None,
    most_calls: Annotated[int | None, typer.Option(min=1, metavar="N", help="Calls at most, now.")] = None,
    most_seconds: Annotated[
        float | None, typer.Option(min=0, metavar="S", help="No call begins after so many seconds.")
    ] = None,
    reruns: Annotated[
        int, typer.Option(min=0, max=20, metavar="N", help="Ask failures so often again, to find flaky ones.")
    ] = 0,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again where the target failed before.")
    ] = False,
    at_most_once: Annotated[
        bool, typer.Option("--at-most-once", help="Never repeat a call that was under way when a run was killed.")
    ] = False,
    policy: PolicyOption = None,
    verifier: VerifierOption = None,
    engine: EngineOption = None,
    workers: WorkersOption = None,
    address: AddressOption = None,
) -> None:
    """Run a suite against a system and score it; with a baseline, status 1 says that it has got worse."""
    from assay.cli.redteam.running import RunSettings, run_run

    with reporting_errors():
        settings = RunSettings(
            suite=suite, target=target, baseline=baseline, out=out, format=format_.value, delta=delta, alpha=alpha,
            fail_under=fail_under, target_model=target_model, timeout=timeout, concurrency=concurrency, rate=rate,
            most_calls=most_calls, most_seconds=most_seconds, reruns=reruns, retry_failed=retry_failed,
            at_most_once=at_most_once, policy=policy, verifier=verifier, crew=Crew(engine, workers, address),
        )  # fmt: skip
        raise typer.Exit(FINDINGS if run_run(settings) else CLEAN)


@app.command("search")
def search(
    evidence: EvidenceOption,
    target: TargetOption,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Keep all here; a search that was stopped goes on.")
    ],
    most_calls: Annotated[int, typer.Option(min=1, metavar="N", help="Calls at most, over all.")] = 200,
    seed: SeedOption = 0,
    target_model: ModelOption = None,
    timeout: TimeoutOption = 60.0,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Calls at once.")] = 4,
    policy: PolicyOption = None,
    verifier: VerifierOption = None,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to say what was found.")] = Format.TEXT,
) -> None:
    """Look for what breaks a system: calls go to the kinds of attack that break it, and to harder forms of them."""
    from assay.cli.redteam.searching import SearchSettings, run_search

    with reporting_errors():
        run_search(
            SearchSettings(
                tuple(evidence), target, out, most_calls, seed, target_model, timeout, concurrency, policy, verifier,
                format_.value,
            )
        )  # fmt: skip


@app.command("promote")
def promote(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run (--out of `run`).")],
    ledger: Annotated[Path, typer.Option("--ledger", metavar="FILE", help="Where proposals and decisions stand.")],
    suite: Annotated[
        Path | None, typer.Option("--suite", metavar="FILE", help="The static suite; what it has is not proposed.")
    ] = None,
    flaky: Annotated[bool, typer.Option("--flaky", help="Propose flaky cases too.")] = False,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to say what was proposed.")] = Format.TEXT,
) -> None:
    """Propose what broke the system for the static suite; nothing goes in before a person decides (`review`)."""
    from assay.cli.redteam.promoting import run_promote

    with reporting_errors():
        run_promote(folder, ledger, suite, format_.value, flaky=flaky)


@app.command("review")
def review(
    ledger: Annotated[Path, typer.Argument(metavar="LEDGER", help="The file of --ledger of `promote`.")],
    approve: Annotated[
        list[str] | None, typer.Option("--approve", metavar="ID", help="Let this one in; may be repeated.")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option("--reject", metavar="ID", help="Keep this one out; may be repeated.")
    ] = None,
    edit: Annotated[
        str | None, typer.Option("--edit", metavar="ID", help="Let this one in as the case in --case has it.")
    ] = None,
    case: Annotated[Path | None, typer.Option("--case", metavar="FILE", help="The edited case, JSON.")] = None,
    by: Annotated[str, typer.Option("--by", metavar="NAME", envvar="ASSAY_REVIEWER", help="Who decides.")] = "",
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    suite: Annotated[
        Path | None, typer.Option("--suite", metavar="FILE", help="The static suite that cases go into.")
    ] = None,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to write the proposals.")] = Format.TEXT,
) -> None:
    """List proposals, and decide on them by name; every decision is an entry of a chained ledger."""
    from assay.cli.redteam.promoting import ReviewSettings, run_review

    with reporting_errors():
        run_review(
            ReviewSettings(
                ledger, tuple(approve or ()), tuple(reject or ()), edit, case, by, reason, suite, format_.value
            )
        )
