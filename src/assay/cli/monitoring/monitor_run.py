"""`assay monitor run` and `status`: their settings, turns, and output."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.monitor import MonitorSettings
    from assay.server.monitoring.service import Turn
    from assay.store.db import Store

MOST_BYTES: Final = 400_000
"""The largest file of settings."""


def read_settings(path: Path | None) -> "MonitorSettings":
    """The settings in a file: sections by themselves, or the section `monitor` of an `assay.yaml`.

    Without a file they are those of the file that `ASSAY_CONFIG` names, else the defaults.

    Raises:
        InputError: the file cannot be read, or holds no settings.
    """
    from assay.monitor import MonitorSettings, monitor_settings
    from assay.server.cadence.monitor_section import monitor_of, read_monitor

    if path is None:
        return read_monitor(None, os.environ) or MonitorSettings()
    import yaml

    data = path.read_bytes()
    if len(data) > MOST_BYTES:
        raise InputError(f"{path}: expected at most {MOST_BYTES:,} bytes")
    try:
        value = yaml.safe_load(data.decode("utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"{path}: expected settings in YAML, but they cannot be read: {type(error).__name__}"
        ) from error
    if isinstance(value, dict) and "monitor" in value:
        return monitor_of(path)
    try:
        return monitor_settings(value, path.resolve().parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def parse_moment(text: str) -> datetime:
    """The moment that a text names; without a time zone it is in UTC.

    >>> parse_moment("2026-03-01T12:00:00Z").isoformat()
    '2026-03-01T12:00:00+00:00'

    Raises:
        InputError: the text is not a moment.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InputError(f"expected a moment such as 2026-03-01T12:00:00Z, got {ascii(text)[:60]}") from error
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def run_turns(
    store: "Store",
    settings: "MonitorSettings",
    tenant: str,
    until: datetime | None,
    every: float | None,
    *,
    rebuild: bool,
) -> "Iterator[Turn]":
    """Turns of the monitor: one, or with `every` one after the other until the process is stopped."""
    from assay.server.monitoring.service import Monitor

    monitor = Monitor(store, settings)
    yield monitor.run(tenant, until, rebuild=rebuild)
    while every is not None:
        time.sleep(every)
        yield monitor.run(tenant)


def open_alarms(store: "Store", tenant: str) -> list[dict[str, Any]]:
    """The alarms that nobody has acknowledged yet."""
    from assay.server.monitoring.service import alarm_json
    from assay.store.monitoring import read_alarms

    with store.reading(tenant) as connection:
        return [alarm_json(row) for row in read_alarms(connection, tenant, ["open"], 100)]


def turn_json(turn: "Turn", alarms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A turn as a JSON value."""
    return {
        "observed": turn.observed,
        "added": turn.added,
        "raised": turn.alarms,
        "changes": turn.changes,
        "until": moment_text(turn.until),
        "alarms": list(alarms),
    }


def turn_lines(turn: "Turn", alarms: Sequence[Mapping[str, Any]]) -> list[str]:
    """A turn for people."""
    lines = [
        (
            f"{turn.observed:,} outputs observed, {turn.added:,} added to the charts, {turn.alarms} alarms raised, "
            f"{turn.changes} changes seen; up to {moment_text(turn.until)}"
        )
    ]
    for alarm in alarms:
        lines += ["", *alarm_lines(alarm)]
    return lines


def alarm_lines(alarm: Mapping[str, Any]) -> list[str]:
    """An alarm for people."""
    from assay.cli.terminal import one_line

    series, rate, regression = alarm["series"], alarm["rate"], alarm.get("regression_now", alarm["regression"])
    name = (
        series["metric"]
        if series["dimension"] == "all"
        else f"{series['metric']} of {series['dimension']} {series['name']}"
    )
    rises = "rose" if alarm["direction"] == "up" else "fell"
    lines = [
        f"ALARM {alarm['id']} ({alarm['state']})",
        (
            f"  {one_line(name)} {rises} from {alarm['baseline']:.4g} to {_rate(rate)} since about "
            f"{moment_text(alarm['onset'])}"
        ),
        (
            f"  statistic {alarm['statistic']:.3f}, threshold {alarm['threshold']:.3f}; by chance this comes once in "
            f"{alarm['arl0']:,.0f} outputs"
        ),
    ]
    cause = alarm["cause"]
    if cause is not None:
        lines.append(
            f"  most probable cause ({cause['probability']:.0%}): {cause['kind']} {one_line(cause['ref'], 80)} at "
            f"{moment_text(cause['at'])}"
        )
        lines += [
            f"    also changed ({one['probability']:.0%}): {one['kind']} {one_line(one['ref'], 80)} at "
            f"{moment_text(one['at'])}"
            for one in alarm["others"][:5]
        ]
    else:
        lines.append("  no recorded change in the window")
    sure = "for sure" if regression["sure"] else "not sure yet"
    lines.append(f"  difference of the means {regression['low']:+.4f} to {regression['high']:+.4f} ({sure})")
    if alarm["worst"]:
        lines.append(f"  worst outputs: {', '.join(alarm['worst'])}")
    return [*lines, *(f"  - {action}" for action in alarm["actions"])]


def status_lines(status: Mapping[str, Any]) -> list[str]:
    """The status for people."""
    from assay.cli.terminal import one_line

    lines = [
        f"{status['observations']:,} observations up to {moment_text(status['until'])}"
        + (f", {status['unsampled']:,} not sampled" if status["unsampled"] else "")
        + (f", {status['too_late']:,} too late for the charts" if status["too_late"] else ""),
        "",
        f"Rates of the last {status['window_hours']:g} hours",
    ]
    lines += [f"  {name:12} {_rate(rate)}" for name, rate in status["rates"].items() if rate["sampled"]]
    corrected, calibration = status["corrected"], status["calibration"]
    if corrected["outputs"]:
        lines.append(f"  {'corrected':12} {corrected['estimate']:.4f} ({corrected['count']:,} called wrong by users)")
    if calibration["outputs"]:
        calibration_text = f"OFF since decision {calibration['after']:,}" if calibration["alarm"] else "holds"
        means = f"{calibration['mean_score']:.3f} in the mean, {calibration['share_right']:.3f} right"
        lines += [
            "",
            f"Scores beside {calibration['outputs']:,} decisions of reviewers: {means}; calibration {calibration_text}",
        ]
    for cadence, rates in status["cadences"].items():
        sampled_rates = [(name, rate) for name, rate in rates.items() if rate["sampled"]]
        lines += (
            ["", *(f"  {f'{cadence}: {name}':21} {_rate(rate)}" for name, rate in sampled_rates)]
            if sampled_rates
            else []
        )
    for name, entry in status["timed"].items():
        took = "" if entry["seconds"] is None else f", took {entry['seconds']:.3g} s"
        when = "not finished" if entry["finished"] is None else f"finished {moment_text(entry['finished'])}{took}"
        lines.append(f"  {name}: due {moment_text(entry['slot'])}, {when}")
    lines += ["", "Charts (statistic / threshold)"]
    for entry in status["series"]:
        name = (
            entry["metric"]
            if entry["dimension"] == "all"
            else f"{entry['metric']} {entry['dimension']}={entry['name']}"
        )
        if entry["baseline"] is None:
            lines.append(f"  {one_line(name, 40):40} learning, {entry['observations']:,} observations")
            continue
        sides = " ".join(
            f"{side} {entry[side]['statistic']:.2f} / {entry[side]['threshold']:.2f}"
            for side in ("up", "down")
            if entry[side]
        )
        lines.append(f"  {one_line(name, 40):40} baseline {entry['baseline']:.4g}  {sides}")
    for alarm in status["alarms"]:
        lines += ["", *alarm_lines(alarm)]
    return lines


def _rate(rate: Mapping[str, Any]) -> str:
    if rate["estimate"] is None:
        return "unknown"
    return f"{rate['estimate']:.4f} ({rate['low']:.4f} to {rate['high']:.4f}, {rate['sampled']:,} outputs)"


def moment_text(micros: int) -> str:
    """A moment for people and JSON, in UTC.

    >>> moment_text(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(micros // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
