"""The verbs of `assay redteam` and their options."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.database import DEFAULT_TENANT, DatabaseOption, TenantOption, opened, opened_record
from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.options.command import takes
from assay.cli.options.shared import BaseUrlOption, TextOrJson
from assay.cli.redteam.judge import JudgeSettings
from assay.cli.redteam.options import (
    CompareSettings,
    EvidenceOption,
    PolicyOption,
    RunSettings,
    SearchSettings,
    SeedOption,
    SuiteArgument,
    VerifierOption,
)
from assay.errors import InputError

app = typer.Typer(
    name="redteam",
    help="Attack a system from its own documents, score it by category, and keep what breaks it.",
    epilog="Exit status: 0 done; 1 a regression, a score below --fail-under, a suite with problems, evidence that is "
    "not valid; 2 misuse.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ProposalDatabaseOption = Annotated[
    str | None,
    typer.Option("--database", metavar="URL|FILE", help="Propose and decide in a server's database, not in files."),
]


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
    twins: Annotated[
        bool, typer.Option("--twins", help="Add to each attack an honest request of its shape (see `compare`).")
    ] = False,
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm",
            "-m",
            metavar="NAME",
            help="Have this chat model word the attacks more naturally, where it keeps what they ask.",
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    format_: Annotated[
        TextOrJson, typer.Option("--format", "-f", help="How to say what was written.")
    ] = TextOrJson.TEXT,
) -> None:
    """Write attacks from documents: without --llm offline, and the same for the same documents and seed."""
    from assay.cli.redteam.generate import run_generate

    with reporting_errors():
        run_generate(
            tuple(evidence),
            out,
            per_category,
            seed,
            tuple(one.value for one in categories or ()),
            format_.value,
            twins=twins,
            llm=llm,
            base_url=base_url,
        )


@app.command("lint")
def lint(
    suite: SuiteArgument,
    good: Annotated[
        list[Path] | None,
        typer.Option(
            "--good",
            metavar="DIR",
            help="The folder of a run of a system known to be good: name the cases that it fails, and keep the suite's "
            "false positive rate beside it; may be repeated.",
        ),
    ] = None,
    format_: Annotated[
        TextOrJson, typer.Option("--format", "-f", help="How to write what was found.")
    ] = TextOrJson.TEXT,
) -> None:
    """Say what is wrong with a suite: cases without a truth to be judged by, duplicates, implausible ones."""
    from assay.cli.redteam.generate import run_lint

    with reporting_errors():
        raise typer.Exit(FINDINGS if run_lint(suite, tuple(good or ()), format_.value) else CLEAN)


@app.command("run")
@takes(RunSettings)
def run(settings: RunSettings) -> None:
    """Run a suite against a system and score it; with a baseline, status 1 means that it has become worse."""
    from assay.cli.redteam.run import run_run

    with reporting_errors():
        raise typer.Exit(FINDINGS if run_run(settings) else CLEAN)


@app.command("judge")
@takes(JudgeSettings)
def judge(settings: JudgeSettings) -> None:
    """List the answers of a run of which the rules are not sure, and decide on them by name; the run is scored anew."""
    from assay.cli.redteam.judge import run_judge

    with reporting_errors():
        run_judge(settings)


@app.command("compare")
@takes(CompareSettings)
def compare(settings: CompareSettings) -> None:
    """Compare guardrails: attack success and honest answers of a system without and with each of them."""
    from assay.cli.redteam.compare import run_compare

    with reporting_errors():
        raise typer.Exit(FINDINGS if run_compare(settings) else CLEAN)


@app.command("search")
@takes(SearchSettings)
def search(settings: SearchSettings) -> None:
    """Look for what breaks a system: calls go to the kinds of attack that break it, and to harder forms of them; first
    to what was changed lately, where that is said."""
    from assay.cli.redteam.search import run_search

    with reporting_errors():
        run_search(settings)


@app.command("watch")
def watch(
    database: DatabaseOption,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="The assay.yaml with the schedules. [default: ASSAY_CONFIG]"),
    ] = None,
    every: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="How often the schedules are checked.")] = 30.0,
    once: Annotated[bool, typer.Option("--once", help="Run what is due now, and exit.")] = False,
    policy: PolicyOption = None,
    verifier: VerifierOption = None,
    format_: Annotated[TextOrJson, typer.Option("--format", "-f", help="How to say what was run.")] = TextOrJson.TEXT,
) -> None:
    """Run suites by the schedules of assay.yaml; of several processes over one database one does. Can be stopped at
    any moment and started again."""
    from assay.cli.redteam.watch import WatchSettings, run_watch

    with reporting_errors(), opened(database) as store:
        has_findings = run_watch(store, WatchSettings(config, every, once, policy, verifier, format_.value))
        raise typer.Exit(FINDINGS if has_findings else CLEAN)


@app.command("promote")
def promote(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run (--out of `run`).")],
    ledger: Annotated[
        Path | None, typer.Option("--ledger", metavar="FILE", help="The file of proposals and decisions.")
    ] = None,
    suite: Annotated[
        Path | None, typer.Option("--suite", metavar="FILE", help="The static suite; what it has is not proposed.")
    ] = None,
    flaky: Annotated[bool, typer.Option("--flaky", help="Propose flaky cases too.")] = False,
    database: ProposalDatabaseOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    format_: Annotated[
        TextOrJson, typer.Option("--format", "-f", help="How to say what was proposed.")
    ] = TextOrJson.TEXT,
) -> None:
    """Propose what broke the system for the static suite; nothing is added before a person decides (`review`)."""
    from assay.cli.redteam.database import promote_recorded
    from assay.cli.redteam.promote import run_promote

    with reporting_errors():
        _require_one_place(ledger, database, "--ledger")
        if database is not None:
            with opened_record(database) as store:
                promote_recorded(store, tenant, folder, format_.value, flaky=flaky)
        elif ledger is not None:
            run_promote(folder, ledger, suite, format_.value, flaky=flaky)


def _require_one_place(ledger: Path | None, database: str | None, name: str) -> None:
    if (ledger is None) == (database is None):
        raise InputError(f"expected {name} or --database, one of them")


@app.command("review")
def review(
    ledger: Annotated[
        Path | None, typer.Argument(metavar="LEDGER", help="The file of --ledger of `promote`.", show_default=False)
    ] = None,
    approve: Annotated[
        list[str] | None, typer.Option("--approve", metavar="ID", help="Approve this one; may be repeated.")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option("--reject", metavar="ID", help="Reject this one; may be repeated.")
    ] = None,
    edit: Annotated[
        str | None, typer.Option("--edit", metavar="ID", help="Approve this one as edited in --case.")
    ] = None,
    case: Annotated[Path | None, typer.Option("--case", metavar="FILE", help="The edited case, JSON.")] = None,
    by: Annotated[str, typer.Option("--by", metavar="NAME", envvar="ASSAY_REVIEWER", help="Who decides.")] = "",
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    suite: Annotated[
        Path | None, typer.Option("--suite", metavar="FILE", help="The static suite that cases go into.")
    ] = None,
    database: ProposalDatabaseOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    format_: Annotated[
        TextOrJson, typer.Option("--format", "-f", help="How to write the proposals.")
    ] = TextOrJson.TEXT,
) -> None:
    """List proposals, and decide on them by name; every decision is an entry of a chained ledger, or of the audit log
    of a database."""
    from assay.cli.redteam.database import review_recorded
    from assay.cli.redteam.promote import ReviewSettings, run_review

    with reporting_errors():
        _require_one_place(ledger, database, "LEDGER")
        settings = ReviewSettings(
            ledger or Path(), tuple(approve or ()), tuple(reject or ()), edit, case, by, reason, suite, format_.value
        )
        if database is not None:
            with opened_record(database) as store:
                review_recorded(store, tenant, settings)
        else:
            run_review(settings)


@app.command("evidence")
def evidence(
    folders: Annotated[list[Path] | None, typer.Argument(metavar="[DIR]...", help="Folders of runs.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the statement here.")] = None,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who is responsible for it.")] = "",
    keys: Annotated[
        Path | None, typer.Option("--keys", metavar="DIR", help="The folder of keys. [default: ASSAY_RECEIPT_KEYS]")
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option(
            "--verify", metavar="FILE", help="Verify a statement; with folders, their files are checked against it."
        ),
    ] = None,
    ring: Annotated[
        Path | None,
        typer.Option("--ring", metavar="FILE", help="The public ring to verify with. [default: ASSAY_RECEIPT_KEYS]"),
    ] = None,
    format_: Annotated[
        TextOrJson, typer.Option("--format", "-f", help="How to say what --verify found.")
    ] = TextOrJson.TEXT,
) -> None:
    """Sign what was tested: what was run when, on which version, with what result; or verify such a statement."""
    from assay.cli.redteam.evidence import run_export, run_verify

    with reporting_errors():
        if verify is not None:
            raise typer.Exit(FINDINGS if run_verify(verify, folders or (), ring, format_.value) else CLEAN)
        if not folders:
            raise InputError("expected folders of runs to state, or --verify FILE")
        run_export(folders, keys, by, out)
