"""`assay monitor golden`: checks the golden set; and how `assay monitor run` keeps its schedule."""

import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.monitor import GoldenSet, MonitorSettings
    from assay.store.db import Store


def run_golden_now(store: "Store", settings: "MonitorSettings", policy: str | None) -> dict[str, Any]:
    """Check the golden set, or resume a run that was stopped; gives the run as a JSON value.

    Raises:
        InputError: the settings have no golden set, or it cannot be read.
        AssayError: it cannot be checked or stored.
    """
    from assay.server.cadence.golden import regressed, run_golden
    from assay.store.records import micros

    golden_run = run_golden(store, _golden(settings), _guard(policy), micros(store.now()))
    return {
        "run": golden_run.run.id,
        "rows": golden_run.run.count,
        "checked": golden_run.checked,
        **golden_run.body,
        "regressed": regressed(golden_run.body),
    }


def accept_run(store: "Store", settings: "MonitorSettings", run: str, who: str | None) -> None:
    """Make a run the reference that later runs are compared with.

    Raises:
        InputError: there is no such complete run, or nobody is named as accepting it.
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


def golden_checker(store: "Store", settings: "MonitorSettings") -> Callable[[], None]:
    """A function that checks the golden set if it is due and no server has; it does nothing without a golden set."""
    from assay.monitor import TimedStep

    if TimedStep.GOLDEN not in settings.cadences.schedule:
        return lambda: None
    from assay.server.cadence.timer import Timer

    timer = Timer(store, settings, lambda: _guard(None), secrets.token_hex(8))
    return lambda: _discard(timer.once([TimedStep.GOLDEN]))


def _discard(_: object) -> None:
    """Discards a value, for a lambda that returns nothing."""


def _golden(settings: "MonitorSettings") -> "GoldenSet":
    if settings.cadences.golden is None:
        raise InputError("expected settings with a section `golden` that names `rows`; give them with --settings FILE")
    return settings.cadences.golden


def _guard(policy: str | None) -> "Guard":
    from assay.config import Guard

    return Guard(policy)


def golden_lines(summary: Mapping[str, Any]) -> list[str]:
    """A run for people."""
    from assay.cli.terminal import one_line

    lines = [f"run {summary['run']}: {summary['rows']:,} rows, {summary['checked']:,} checked now"]
    against = summary.get("against", {})
    for name, mean in summary["means"].items():
        if mean is None:
            continue
        comparison = against.get(name)
        comparison_text = (
            ""
            if comparison is None
            else f"  {comparison['before']:.4f} in the reference; {comparison['worse']} rows worse, "
            f"{comparison['better']} better"
        )
        lines.append(f"  {name:10} {mean:.4f}{comparison_text}")
    for name in summary["regressed"]:
        comparison = against[name]
        lines.append(
            f"WORSE in {name}: p {comparison['p']:.2g}, at most {comparison['level']:.2g}; rows "
            f"{one_line(str(comparison['worse_rows']))}"
        )
    if not against:
        lines.append("the first run of these rows: later ones are compared with it")
    elif not summary["regressed"]:
        lines.append("not worse than the reference")
    return lines
