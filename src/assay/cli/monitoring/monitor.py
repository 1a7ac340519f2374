"""`assay monitor`: charts over the record. What a verb needs is imported when it runs."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.database import DEFAULT_TENANT, DatabaseOption, TenantOption, opened_record
from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.operations.engines import AddressOption, EngineOption, WorkerSettings, WorkersOption
from assay.cli.options.command import VerifierCommand
from assay.cli.options.completion import complete_policy
from assay.cli.options.shared import TextOrJson as Format

app = typer.Typer(
    name="monitor",
    help="Watch outputs over time: design charts, run them over the record, judge recorded outputs again.",
    epilog="Exit status: 0 done, 1 alarms or changed decisions, 2 misuse or unreadable input.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Kind(StrEnum):
    """The kind of observations."""

    RATE = "rate"
    SCORE = "score"


class Side(StrEnum):
    """The direction of the shifts to detect."""

    UP = "up"
    DOWN = "down"
    BOTH = "both"


FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]


@app.command()
def design(
    baseline: Annotated[float, typer.Option("--baseline", metavar="P", help="The rate or mean score without a shift.")],
    shift: Annotated[float, typer.Option("--shift", metavar="D", help="The change that is to be found.")],
    false_alarm_every: Annotated[
        float,
        typer.Option("--false-alarm-every", metavar="N", help="The least number of observations between false alarms."),
    ],
    kind: Annotated[Kind, typer.Option(help="Observations are 0 or 1, or scores from 0 to 1.")] = Kind.RATE,
    direction: Annotated[Side, typer.Option(help="Which shifts; both draws a chart for each.")] = Side.BOTH,
    spread: Annotated[
        float | None,
        typer.Option(metavar="SD", help="The standard deviation of scores. [default: half of that of a rate]"),
    ] = None,
    sample: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Scores that were seen, one on a line, in place of --spread.")
    ] = None,
    baseline_of: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The number of outputs that the baseline was estimated from; shows the effect of its uncertainty.",
        ),
    ] = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Find slack and threshold of a CUSUM chart, with its exact run lengths in and out of control."""
    from assay.cli.monitoring.design import DesignOptions, run_design
    from assay.cli.terminal import write_text

    with reporting_errors():
        options = DesignOptions(
            baseline,
            shift,
            false_alarm_every,
            kind.value,
            direction.value,
            spread,
            sample,
            baseline_of,
            format_ is Format.JSON,
        )
        write_text(run_design(options), sys.stdout)


SettingsOption = Annotated[
    Path | None,
    typer.Option("--settings", metavar="FILE", help="What is watched, sampled and acceptable, in YAML."),
]


@app.command()
def run(
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    settings: SettingsOption = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Up to this moment, such as 2026-03-01T12:00:00Z. [default: now]")
    ] = None,
    every: Annotated[
        float | None, typer.Option(min=1, metavar="SECONDS", help="Keep running, with one turn every SECONDS.")
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Search the whole record for outputs without observations.")
    ] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Move the charts on over the record, and raise alarms. Can be stopped at any moment and run again. A golden set of
    the settings is checked when its schedule says so."""
    from assay.cli.monitoring.golden import golden_checker
    from assay.cli.monitoring.monitor_run import (
        open_alarms,
        parse_moment,
        read_settings,
        run_turns,
        turn_json,
        turn_lines,
    )
    from assay.cli.terminal import write_text

    with reporting_errors(), opened_record(database) as store:
        monitor_settings = read_settings(settings)
        end = None if until is None else parse_moment(until)
        check_golden = golden_checker(store, monitor_settings)
        for turn in run_turns(store, monitor_settings, tenant, end, every, rebuild=rebuild):
            check_golden()
            alarms = open_alarms(store, tenant)
            text = (
                json.dumps(turn_json(turn, alarms)) if format_ is Format.JSON else "\n".join(turn_lines(turn, alarms))
            )
            write_text(f"{text}\n", sys.stdout)
        raise typer.Exit(FINDINGS if turn.alarms else CLEAN)


@app.command()
def golden(
    database: DatabaseOption,
    settings: SettingsOption = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="NAME|FILE",
            autocompletion=complete_policy,
            help="Check under this policy. [default: as a server]",
        ),
    ] = None,
    accept: Annotated[
        str | None, typer.Option(metavar="RUN", help="Check nothing: later runs are compared with this one.")
    ] = None,
    who: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Who accepts it; kept in the log.")] = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Check the golden set of the settings now, or go on with a run that was stopped. Exit 1 where it is worse."""
    from assay.cli.monitoring.golden import accept_run, golden_lines, run_golden_now
    from assay.cli.monitoring.monitor_run import read_settings
    from assay.cli.terminal import write_text

    with reporting_errors(), opened_record(database) as store:
        monitor_settings = read_settings(settings)
        if accept is not None:
            accept_run(store, monitor_settings, accept, who)
            write_text("accepted\n", sys.stdout)
            return
        summary = run_golden_now(store, monitor_settings, policy)
        text = json.dumps(summary, indent=2) if format_ is Format.JSON else "\n".join(golden_lines(summary))
        write_text(f"{text}\n", sys.stdout)
        raise typer.Exit(FINDINGS if summary["regressed"] else CLEAN)


@app.command()
def status(
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    settings: SettingsOption = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Show the state of every chart, the rates with their intervals, and the open alarms."""
    from assay.cli.monitoring.monitor_run import moment_text, read_settings, status_lines
    from assay.cli.terminal import write_text
    from assay.server.monitoring.service import Monitor

    with reporting_errors(), opened_record(database) as store:
        state = Monitor(store, read_settings(settings)).status(tenant)
        text = (
            json.dumps({**state, "until": moment_text(state["until"])}, indent=2)
            if format_ is Format.JSON
            else "\n".join(status_lines(state))
        )
        write_text(f"{text}\n", sys.stdout)


@app.command()
def acknowledge(
    alarm: Annotated[str, typer.Argument(metavar="ID", help="The id of the alarm.")],
    database: DatabaseOption,
    who: Annotated[str, typer.Option("--as", metavar="NAME", help="Who has seen it; kept in the record.")],
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """Acknowledge an alarm."""
    from assay.cli.terminal import write_text
    from assay.errors import InputError
    from assay.monitor import AlarmState
    from assay.store.monitoring import set_alarm

    with reporting_errors(), opened_record(database) as store:
        if not set_alarm(store, tenant, alarm, AlarmState.ACKNOWLEDGED.value, who):
            raise InputError(f"expected the id of an alarm of {tenant}, and there is none with this one")
        write_text("acknowledged\n", sys.stdout)


@app.command(cls=VerifierCommand)
def rescore(
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="NAME|FILE",
            autocompletion=complete_policy,
            help="Decide by this policy. [default: the one that decided]",
        ),
    ] = None,
    verifier: Annotated[
        Path | None,
        typer.Option("--verifier", metavar="NAME|DIR", help="Judge with this network. [default: the shipped one]"),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many of the latest outputs to check.")] = 100,
    fraction: Annotated[
        float, typer.Option(min=0.0001, max=1.0, help="A share of them, drawn by their ids: always the same.")
    ] = 1.0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Keep results here; what is there is not judged again."),
    ] = None,
    format_: FormatOption = Format.TEXT,
    engine: EngineOption = None,
    workers: WorkersOption = None,
    address: AddressOption = None,
) -> None:
    """Judge recorded outputs again under another policy or verifier, and show what would change."""
    from assay.cli.monitoring.rescore import RescoreOptions, rescore_lines, run_rescore
    from assay.cli.terminal import write_text

    with reporting_errors(), opened_record(database) as store:
        worker_settings = WorkerSettings(engine, workers, address)
        summary = run_rescore(store, RescoreOptions(tenant, policy, verifier, limit, fraction, out, worker_settings))
        text = json.dumps(summary, indent=2) if format_ is Format.JSON else "\n".join(rescore_lines(summary))
        write_text(f"{text}\n", sys.stdout)
        raise typer.Exit(FINDINGS if summary["changed"] else CLEAN)
