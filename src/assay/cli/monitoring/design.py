"""`assay monitor design`: the run lengths of a chart before it runs, as text, JSON and a drawn curve."""

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
"""The largest file of scores, in bytes."""


@dataclass(frozen=True, slots=True)
class DesignOptions:
    """The options of `assay monitor design`."""

    baseline: float
    shift: float
    false_alarm_every: float
    kind: str
    direction: str
    """`up`, `down`, or `both`: two charts in parallel, of which the upward one is reported first."""
    spread: float | None
    sample: Path | None
    baseline_of: int | None
    """The number of outputs from which the baseline was estimated; none if it is known."""
    as_json: bool


def run_design(options: DesignOptions) -> str:
    """The design as text or JSON.

    Raises:
        InputError: no chart has these properties.
    """
    from assay.stats import wilson
    from assay.stats.drift import Direction, both_sides, design_chart

    if options.kind == "rate" and (options.spread is not None or options.sample is not None):
        raise InputError("expected --spread and --sample with --kind score: a rate has the spread that it has")
    sample = None if options.sample is None else read_sample(options.sample)
    interval = None
    if options.baseline_of is not None:
        interval = wilson(min(round(options.baseline * options.baseline_of), options.baseline_of), options.baseline_of)

    def make_design(direction: Direction) -> "Design":
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

    first = make_design(Direction.DOWN if options.direction == "down" else Direction.UP)
    fields = design_json(first)
    second = None
    if options.direction == "both":
        # A baseline below the shift cannot fall by it.
        if options.baseline - options.shift > 0:
            second = make_design(Direction.DOWN)
        fields["opposite"] = None if second is None else design_json(second)
        fields["both_sides_arl0"] = first.arl0 if second is None else both_sides(first.arl0, second.arl0)
    if options.as_json:
        return json.dumps(fields, indent=2) + "\n"
    return "\n".join(
        [
            *_design_lines(first),
            *([] if second is None else ["", *_design_lines(second), "", _both_sides_line(fields)]),
            "",
        ]
    )


def read_sample(path: Path) -> tuple[float, ...]:
    """The scores in a file, a number on each line.

    Raises:
        InputError: there are none, or a line is not a number from 0 to 1.
    """
    if path.stat().st_size > LARGEST_SAMPLE:
        raise InputError(f"{path}: expected at most {LARGEST_SAMPLE:,} bytes of scores")
    scores = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = float(line)
        except ValueError:
            value = math.nan
        if not 0 <= value <= 1:
            raise InputError(f"{path}, line {number}: expected a score from 0 to 1, got {ascii(line.strip())[:40]}")
        scores.append(value)
    if not scores:
        raise InputError(f"{path}: expected scores, one on each line, and there are none")
    return tuple(scores)


def design_json(design: "Design") -> dict[str, Any]:
    """A design as JSON values."""
    chart, textbook = design.chart, design.approximation
    return {
        "kind": design.kind,
        "direction": chart.direction.value,
        "baseline": chart.baseline,
        "shift": design.shift,
        "false_alarm_every": design.false_alarm_every,
        "slack": chart.slack,
        "threshold": chart.threshold,
        "reference": chart.reference,
        "arl0": _finite(design.arl0),
        "arl1": _finite(design.arl1),
        "approximation": {
            "arl1": textbook.arl1,
            "siegmund_arl0": textbook.siegmund_arl0,
            "siegmund_arl1": textbook.siegmund_arl1,
        },
        "spread": design.spread,
        "curve": [{"mean": mean, "arl": _finite(length)} for mean, length in design.curve],
        "baseline_range": None if design.baseline_range is None else list(design.baseline_range),
        "arl0_range": None if design.arl0_range is None else [_finite(one) for one in design.arl0_range],
    }


def _finite(length: float) -> float | None:
    """A run length; none if the alarm never comes."""
    return length if math.isfinite(length) else None


def _design_lines(design: "Design") -> list[str]:
    chart, textbook = design.chart, design.approximation
    rises = "rises" if chart.direction.value == "up" else "falls"
    formula = "x - baseline - slack" if chart.direction.value == "up" else "baseline - slack - x"
    lines = [
        f"A {design.kind} of {chart.baseline:g} that {rises} by {design.shift:g}",
        f"  S = max(0, S + {formula}), alarm where S > threshold",
        f"  slack      {chart.slack:.6g}",
        f"  threshold  {chart.threshold:.6g}",
        "",
        "  observations until the alarm   exact        textbook",
        f"  without a shift (false)        {_count(design.arl0):<12} {_count(textbook.siegmund_arl0)} (Siegmund)",
        f"  with the shift from the start  {_count(design.arl1):<12} {_count(textbook.siegmund_arl1)} (Siegmund)"
        + ("" if textbook.arl1 is None else f", {_count(textbook.arl1)} (h / (shift - slack))"),
    ]
    if design.arl0_range is not None and design.baseline_range is not None:
        low, high = design.baseline_range
        lines += [
            "",
            (
                f"  The baseline was estimated: if it is {low:.4g} to {high:.4g}, false alarms come every "
                f"{_count(design.arl0_range[0])} to {_count(design.arl0_range[1])} observations."
            ),
        ]
    return [*lines, "", *_curve_lines(design)]


def _curve_lines(design: "Design") -> list[str]:
    """The mean run length as a function of the mean, drawn as bars of its logarithm."""
    finite = [length for _, length in design.curve if math.isfinite(length)]
    longest = max(math.log10(length) for length in finite)
    lines = [f"  {'mean':>8}  {'run length':>14}  (the length of a bar is its logarithm)"]
    for mean, length in design.curve:
        bar = "#" * max(1, round(_BAR * math.log10(length) / longest)) if math.isfinite(length) else "#" * _BAR + ">"
        note = ""
        if math.isclose(mean, design.chart.baseline):
            note = "  no shift"
        elif math.isclose(abs(mean - design.chart.baseline), design.shift):
            note = "  the shift"
        lines.append(f"  {mean:8.4g}  {_count(length):>14}  {bar}{note}")
    return lines


def _count(length: float) -> str:
    if not math.isfinite(length):
        return "never"
    return f"{length:.3g}" if length >= 1e9 else f"{length:,.0f}" if length >= 100 else f"{length:.1f}"


def _both_sides_line(fields: dict[str, Any]) -> str:
    return f"Both charts side by side alarm falsely every {_count(fields['both_sides_arl0'])} observations."
