"""What `assay monitor run` and `status` do and say."""

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
    """The settings in a file: sections by themselves, or the section `monitor` of an `assay.yaml`; where none is named,
    those of the file that `ASSAY_CONFIG` names, else the defaults.

    Raises:
        InputError: it cannot be read, or says something else.
    """
    from assay.monitor import MonitorSettings, monitor_settings
    from assay.server.cadence.reading import monitor_of, read_monitor

    if path is None:
        return read_monitor(None, os.environ) or MonitorSettings()
    import yaml

    data = path.read_bytes()
    if len(data) > MOST_BYTES:
        raise InputError(f"{path}: expected at most {MOST_BYTES:,} bytes")
    try:
        given = yaml.safe_load(data.decode("utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"{path}: expected settings in YAML, but they cannot be read: {type(error).__name__}"
        ) from error
    if isinstance(given, dict) and "monitor" in given:
        return monitor_of(path)
    try:
        return monitor_settings(given, path.resolve().parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def moment_of(text: str) -> datetime:
    """A moment out of a text; without a zone it is in UTC.

    >>> moment_of("2026-03-01T12:00:00Z").isoformat()
    '2026-03-01T12:00:00+00:00'

    Raises:
        InputError: it is none.
    """
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InputError(f"expected a moment such as 2026-03-01T12:00:00Z, got {ascii(text)[:60]}") from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def turns(
    store: "Store",
    settings: "MonitorSettings",
    tenant: str,
    until: datetime | None,
    every: float | None,
    *,
    rebuild: bool,
) -> "Iterator[Turn]":
    """Turns of the monitor: one, or one after the other until somebody stops it."""
    from assay.server.monitoring.service import Monitor

    monitor = Monitor(store, settings)
    yield monitor.run(tenant, until, rebuild=rebuild)
    while every is not None:
        time.sleep(every)
        yield monitor.run(tenant)


def open_alarms(store: "Store", tenant: str) -> list[dict[str, Any]]:
    """The alarms that nobody has seen yet."""
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
        "until": shown_moment(turn.until),
        "alarms": list(alarms),
    }


def lines_of_turn(turn: "Turn", alarms: Sequence[Mapping[str, Any]]) -> list[str]:
    """A turn for people."""
    lines = [
        (
            f"{turn.observed:,} outputs observed, {turn.added:,} added to the charts, {turn.alarms} alarms raised, "
            f"{turn.changes} changes seen; up to {shown_moment(turn.until)}"
        )
    ]
    for alarm in alarms:
        lines += ["", *lines_of_alarm(alarm)]
    return lines


def lines_of_alarm(alarm: Mapping[str, Any]) -> list[str]:
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
            f"{shown_moment(alarm['onset'])}"
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
            f"{shown_moment(cause['at'])}"
        )
        lines += [
            f"    also changed ({one['probability']:.0%}): {one['kind']} {one_line(one['ref'], 80)} at "
            f"{shown_moment(one['at'])}"
            for one in alarm["others"][:5]
        ]
    else:
        lines.append("  no recorded change in the window")
    sure = "for sure" if regression["sure"] else "not sure yet"
    lines.append(f"  difference of the means {regression['low']:+.4f} to {regression['high']:+.4f} ({sure})")
    if alarm["worst"]:
        lines.append(f"  worst outputs: {', '.join(alarm['worst'])}")
    return [*lines, *(f"  - {action}" for action in alarm["actions"])]


def lines_of_status(status: Mapping[str, Any]) -> list[str]:
    """The status for people."""
    from assay.cli.terminal import one_line

    lines = [
        f"{status['observations']:,} observations up to {shown_moment(status['until'])}"
        + (f", {status['unsampled']:,} not sampled" if status["unsampled"] else "")
        + (f", {status['too_late']:,} too late for the charts" if status["too_late"] else ""),
        "",
        f"Rates of the last {status['window_hours']:g} hours",
    ]
    lines += [f"  {name:12} {_rate(rate)}" for name, rate in status["rates"].items() if rate["sampled"]]
    corrected, known = status["corrected"], status["calibration"]
    if corrected["outputs"]:
        lines.append(f"  {'corrected':12} {corrected['estimate']:.4f} ({corrected['count']:,} called wrong by users)")
    if known["outputs"]:
        said = f"OFF since decision {known['after']:,}" if known["alarm"] else "holds"
        means = f"{known['mean_score']:.3f} in the mean, {known['share_right']:.3f} right"
        lines += ["", f"Scores beside {known['outputs']:,} decisions of reviewers: {means}; calibration {said}"]
    for cadence, rates in status["cadences"].items():
        seen = [(name, rate) for name, rate in rates.items() if rate["sampled"]]
        lines += ["", *(f"  {f'{cadence}: {name}':21} {_rate(rate)}" for name, rate in seen)] if seen else []
    for name, one in status["timed"].items():
        took = "" if one["seconds"] is None else f", took {one['seconds']:.3g} s"
        when = "not finished" if one["finished"] is None else f"finished {shown_moment(one['finished'])}{took}"
        lines.append(f"  {name}: due {shown_moment(one['slot'])}, {when}")
    lines += ["", "Charts (statistic / threshold)"]
    for one in status["series"]:
        name = one["metric"] if one["dimension"] == "all" else f"{one['metric']} {one['dimension']}={one['name']}"
        if one["baseline"] is None:
            lines.append(f"  {one_line(name, 40):40} learning, {one['observations']:,} observations")
            continue
        sides = " ".join(
            f"{side} {one[side]['statistic']:.2f} / {one[side]['threshold']:.2f}"
            for side in ("up", "down")
            if one[side]
        )
        lines.append(f"  {one_line(name, 40):40} baseline {one['baseline']:.4g}  {sides}")
    for alarm in status["alarms"]:
        lines += ["", *lines_of_alarm(alarm)]
    return lines


def _rate(rate: Mapping[str, Any]) -> str:
    if rate["estimate"] is None:
        return "unknown"
    return f"{rate['estimate']:.4f} ({rate['low']:.4f} to {rate['high']:.4f}, {rate['sampled']:,} outputs)"


def shown_moment(micros: int) -> str:
    """A moment for people and JSON, in UTC.

    >>> shown_moment(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(micros // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
