"""`assay budget`: the error budget of outputs, and the consequences when it is spent."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.database import DEFAULT_TENANT, DatabaseOption, TenantOption, opened_record
from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.monitoring.monitor import FormatOption, SettingsOption
from assay.cli.options.completion import complete_policy
from assay.cli.options.shared import TextOrJson as Format

app = typer.Typer(
    name="budget",
    help="The error budget: what is left of it, how fast it burns, and what follows.",
    epilog="Exit status: 0 there is some left, 1 it is spent or burns too fast, 2 misuse.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def check(
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    settings: SettingsOption = None,
    most: Annotated[
        float | None,
        typer.Option("--max", metavar="H", help="The acceptable mean. [default: as in the settings, or 0.05]"),
    ] = None,
    overlay: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the policy that is in force with the consequences, as an assay.yaml."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy", metavar="NAME|FILE", autocompletion=complete_policy, help="The policy that the overlay changes."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report only, and put nothing into force.")] = False,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Exit 1 when the budget is spent or burns too fast, or the golden set is worse; settle the consequences."""
    from dataclasses import replace

    from assay.cli.monitoring.monitor_run import read_settings
    from assay.cli.terminal import write_text
    from assay.server.monitoring.budget import Budgeting

    with reporting_errors(), opened_record(database) as store:
        monitor_settings = read_settings(settings)
        if most is not None:
            monitor_settings = replace(monitor_settings, budget=replace(monitor_settings.budget, most=most))
        budgeting = Budgeting(store, monitor_settings.budget)
        status = budgeting.read(tenant) if dry_run else budgeting.settle(tenant, "assay budget check")
        if overlay is not None:
            _write_overlay(overlay, policy, budgeting, tenant)
        text = json.dumps(status, indent=2) if format_ is Format.JSON else "\n".join(_status_lines(status))
        write_text(f"{text}\n", sys.stdout)
        lifted = status["consequences"]["deployment_freeze"]["lifted"]
        raise typer.Exit(FINDINGS if (status["broken"] and not lifted) or status["golden_regressed"] else CLEAN)


@app.command()
def lift(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The consequence, such as deployment_freeze.")],
    database: DatabaseOption,
    who: Annotated[str, typer.Option("--as", metavar="NAME", help="Who lifts it; kept in the record.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept in the record.")],
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """Lift a consequence by hand, until the budget has recovered once; servers follow."""
    from assay.cli.terminal import write_text
    from assay.errors import InputError
    from assay.monitor import Consequence
    from assay.store.monitoring import set_consequences

    with reporting_errors(), opened_record(database) as store:
        if name not in list(Consequence):
            raise InputError(f"expected a consequence: {', '.join(Consequence)}; got {ascii(name)[:40]}")
        changed = set_consequences(store, tenant, {name: False}, {"reason": reason[:500]}, who, lifts=True)
        write_text("lifted\n" if changed else "it was not in force\n", sys.stdout)


def _write_overlay(path: Path, policy: str | None, budgeting: Any, tenant: str) -> None:
    import os

    import yaml

    from assay.config import read_policy
    from assay.evaluation.rows import write_file

    overlaid = budgeting.overlaid(tenant, read_policy(policy, os.environ))
    write_file(path, yaml.safe_dump({"version": 1, "policy": overlaid}, sort_keys=False))  # a server may be reading it


def _status_lines(status: Mapping[str, Any]) -> list[str]:
    rate = status["rate"]
    if rate["estimate"] is None:
        lines = ["no outputs in the window: nothing is known"]
    else:
        share = status["left_share"]
        lines = [
            (
                f"{status['metric']} {rate['estimate']:.4f} ({rate['low']:.4f} to {rate['high']:.4f}), acceptable "
                f"{status['most']:g}; {status['outputs']:,.0f} outputs in {status['window_days']:g} days"
            ),
            f"budget: {status['left']:,.1f} of {status['allowed']:,.1f} left"
            + ("" if share is None else f" ({share:.0%})"),
        ]
    for entry in status["burns"]:
        rates = " and ".join("none" if entry[name] is None else f"{entry[name]:.2f}" for name in ("long", "short"))
        fires = "  TOO FAST" if entry["fires"] else ""
        lines.append(
            f"  burn rate over {entry['long_hours']:g} h and {entry['short_hours']:.3g} h: {rates} "
            f"(limit {entry['factor']:g}){fires}"
        )
    if status["hours_left"] is not None and status["hours_left"] > 0:
        lines.append(f"at this rate it is spent in {status['hours_left']:,.0f} hours")
    if not status["enough"]:
        lines.append("too few outputs to act on")
    for name, entry in status["consequences"].items():
        if entry["active"] or entry["changed"]:
            lines.append(
                f"{name}: {'in force' if entry['active'] else 'out of force'}{' (new)' if entry['changed'] else ''}"
            )
    if status["golden_regressed"]:
        lines.append("THE GOLDEN SET IS WORSE than its reference run: `assay monitor golden` shows the rows")
    lines.append(
        "BUDGET SPENT: deploy nothing that could make it worse"
        if status["exhausted"] and status["broken"]
        else "BURNS TOO FAST"
        if status["broken"]
        else "within the budget"
    )
    return lines
