"""`assay monitor design`: what a chart will do, told and drawn before it runs."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.stats.drift import Design

_BAR: Final = 40
"""Characters of the longest bar."""
LARGEST_SAMPLE: Final = 64 * 1024 * 1024
"""The most bytes of a file of scores."""


@dataclass(frozen=True, slots=True)
class DesignOptions:
    """What was asked for."""

    baseline: float
    shift: float
    false_alarm_every: float
    kind: str
    direction: str
    """`up`, `down`, or `both`: two charts side by side, told from the upward one."""
    spread: float | None
    sample: Path | None
    baseline_of: int | None
    """Of how many outputs the baseline was estimated; none where it is known."""
    as_json: bool


def run_design(options: DesignOptions) -> str:
    """The design as text or JSON.

    Raises:
        InputError: no chart has these.
    """
    from assay.stats import wilson
    from assay.stats.drift import Direction, both_sides, design_chart

    if options.kind == "rate" and (options.spread is not None or options.sample is not None):
        raise InputError("expected --spread and --sample with --kind score: a rate has the spread that it has")
    sample = None if options.sample is None else read_sample(options.sample)
    interval = None
    if options.baseline_of is not None:
        interval = wilson(min(round(options.baseline * options.baseline_of), options.baseline_of), options.baseline_of)

    def made(direction: Direction) -> "Design":
        return design_chart(
            options.baseline,
            options.shift,
            options.false_alarm_every,
            kind=options.kind,
            direction=direction,
            spread=options.spread,
            sample=sample,
            baseline_range=interval,
        )

    first = made(Direction.DOWN if options.direction == "down" else Direction.UP)
    described = design_json(first)
    second = None
    if options.direction == "both":
        # A mean that is nearer to nought than the shift cannot fall by it.
        if options.baseline - options.shift > 0:
            second = made(Direction.DOWN)
        described["opposite"] = None if second is None else design_json(second)
        described["both_sides_arl0"] = first.arl0 if second is None else both_sides(first.arl0, second.arl0)
    if options.as_json:
        return json.dumps(described, indent=2) + "\n"
    return "\n".join([*_shown(first), *([] if second is None else ["", *_shown(second), "", _together(described)]), ""])


def read_sample(path: Path) -> tuple[float, ...]:
    """Scores out of a file: a number on each line.

    Raises:
        InputError: there are none, or a line is no number from 0 to 1.
    """
    if path.stat().st_size > LARGEST_SAMPLE:
        raise InputError(f"{path}: expected at most {LARGEST_SAMPLE:,} bytes of scores")
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = float(line)
        except ValueError:
            value = math.nan
        if not 0 <= value <= 1:
            raise InputError(f"{path}, line {number}: expected a score from 0 to 1, got {ascii(line.strip())[:40]}")
        found.append(value)
    if not found:
        raise InputError(f"{path}: expected scores, one on each line, and there are none")
    return tuple(found)


def design_json(found: "Design") -> dict[str, Any]:
    """A design as JSON values."""
    chart, textbook = found.chart, found.approximation
    return {
        "kind": found.kind,
        "direction": chart.direction.value,
        "baseline": chart.baseline,
        "shift": found.shift,
        "false_alarm_every": found.false_alarm_every,
        "slack": chart.slack,
        "threshold": chart.threshold,
        "reference": chart.reference,
        "arl0": _finite(found.arl0),
        "arl1": _finite(found.arl1),
        "approximation": {
            "arl1": textbook.arl1,
            "siegmund_arl0": textbook.siegmund_arl0,
            "siegmund_arl1": textbook.siegmund_arl1,
        },
        "spread": found.spread,
        "curve": [{"mean": mean, "arl": _finite(length)} for mean, length in found.curve],
        "baseline_range": None if found.baseline_range is None else list(found.baseline_range),
        "arl0_range": None if found.arl0_range is None else [_finite(one) for one in found.arl0_range],
    }


def _finite(length: float) -> float | None:
    """A run length; none where the alarm never comes."""
    return length if math.isfinite(length) else None


def _shown(found: "Design") -> list[str]:
    chart, textbook = found.chart, found.approximation
    rises = "rises" if chart.direction.value == "up" else "falls"
    formula = "x - baseline - slack" if chart.direction.value == "up" else "baseline - slack - x"
    lines = [
        f"A {found.kind} of {chart.baseline:g} that {rises} by {found.shift:g}",
        f"  S = max(0, S + {formula}), alarm where S > threshold",
        f"  slack      {chart.slack:.6g}",
        f"  threshold  {chart.threshold:.6g}",
        "",
        "  observations until the alarm   exact        textbook",
        f"  without a shift (false)        {_count(found.arl0):<12} {_count(textbook.siegmund_arl0)} (Siegmund)",
        f"  with the shift from the start  {_count(found.arl1):<12} {_count(textbook.siegmund_arl1)} (Siegmund)"
        + ("" if textbook.arl1 is None else f", {_count(textbook.arl1)} (h / (shift - slack))"),
    ]
    if found.arl0_range is not None and found.baseline_range is not None:
        low, high = found.baseline_range
        lines += [
            "",
            (
                f"  The baseline was estimated: if it is {low:.4g} to {high:.4g}, false alarms come every "
                f"{_count(found.arl0_range[0])} to {_count(found.arl0_range[1])} observations."
            ),
        ]
    return [*lines, "", *_drawn(found)]


def _drawn(found: "Design") -> list[str]:
    """The mean run length over the mean, as bars of its logarithm."""
    finite = [length for _, length in found.curve if math.isfinite(length)]
    longest = max(math.log10(length) for length in finite)
    lines = [f"  {'mean':>8}  {'run length':>14}  (the length of a bar is its logarithm)"]
    for mean, length in found.curve:
        bar = "#" * max(1, round(_BAR * math.log10(length) / longest)) if math.isfinite(length) else "#" * _BAR + ">"
        note = ""
        if math.isclose(mean, found.chart.baseline):
            note = "  no shift"
        elif math.isclose(abs(mean - found.chart.baseline), found.shift):
            note = "  the shift"
        lines.append(f"  {mean:8.4g}  {_count(length):>14}  {bar}{note}")
    return lines


def _count(length: float) -> str:
    if not math.isfinite(length):
        return "never"
    return f"{length:.3g}" if length >= 1e9 else f"{length:,.0f}" if length >= 100 else f"{length:.1f}"


def _together(described: dict[str, Any]) -> str:
    return f"Both charts side by side alarm falsely every {_count(described['both_sides_arl0'])} observations."
