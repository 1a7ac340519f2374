"""What `assay monitor golden` does and says, and how `assay monitor run` keeps to the schedule of the golden set."""

import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.monitor import GoldenSet, MonitorSettings
    from assay.store.db import Store


def run_golden_now(store: "Store", settings: "MonitorSettings", policy: str | None) -> dict[str, Any]:
    """Check the golden set, or go on with a run that was stopped, as a JSON value.

    Raises:
        InputError: the settings name no golden set, or it cannot be read.
        AssayError: it cannot be checked or stored.
    """
    from assay.server.cadence.golden import regressed, run_golden
    from assay.store.records import micros

    found = run_golden(store, _golden(settings), _guard(policy), micros(store.now()))
    return {
        "run": found.run.id,
        "rows": found.run.count,
        "checked": found.checked,
        **found.body,
        "regressed": regressed(found.body),
    }


def accept_run(store: "Store", settings: "MonitorSettings", run: str, who: str | None) -> None:
    """Have later runs compared with one.

    Raises:
        InputError: there is no such complete run, or nobody says who accepts it.
    """
    from assay.server.cadence.golden import tell_golden
    from assay.store.monitoring import accept_golden

    tenant = _golden(settings).tenant
    if who is None or not who.strip():
        raise InputError("expected --as NAME: the log records who accepts a run")
    if not accept_golden(store, tenant, run, who):
        raise InputError(
            f"expected the id of a complete run of the golden set of {tenant}, and there is none with this one"
        )
    tell_golden(store, tenant)


def golden_when_due(store: "Store", settings: "MonitorSettings") -> Callable[[], None]:
    """What checks the golden set when its schedule says so and no server does; nothing where there is no set."""
    from assay.monitor import TimedStep

    if TimedStep.GOLDEN not in settings.cadences.schedule:
        return lambda: None
    from assay.server.cadence.timer import Timer

    timer = Timer(store, settings, lambda: _guard(None), secrets.token_hex(8))
    return lambda: void(timer.once([TimedStep.GOLDEN]))


def void(_: object) -> None:
    """Nothing."""


def _golden(settings: "MonitorSettings") -> "GoldenSet":
    if settings.cadences.golden is None:
        raise InputError("expected settings with a section `golden` that names `rows`; give them with --settings FILE")
    return settings.cadences.golden


def _guard(policy: str | None) -> "Guard":
    from assay.config import Guard

    return Guard(policy)


def lines_of_golden(summary: Mapping[str, Any]) -> list[str]:
    """A run for people."""
    from assay.cli.terminal import one_line

    lines = [f"run {summary['run']}: {summary['rows']:,} rows, {summary['checked']:,} checked now"]
    against = summary.get("against", {})
    for name, mean in summary["means"].items():
        if mean is None:
            continue
        one = against.get(name)
        beside = (
            ""
            if one is None
            else f"  {one['before']:.4f} in the reference; {one['worse']} rows worse, {one['better']} better"
        )
        lines.append(f"  {name:10} {mean:.4f}{beside}")
    for name in summary["regressed"]:
        one = against[name]
        lines.append(
            f"WORSE in {name}: p {one['p']:.2g}, at most {one['level']:.2g}; rows {one_line(str(one['worse_rows']))}"
        )
    if not against:
        lines.append("the first run of these rows: later ones are compared with it")
    elif not summary["regressed"]:
        lines.append("not worse than the reference")
    return lines
