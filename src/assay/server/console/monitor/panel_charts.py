"""The charts of panels as SVG: curves with intervals and marks of changes, bars, and values with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assay.reporting import Child, Markup, foreign, tag
from assay.server.console.charts import Series, stacked_bars
from assay.server.console.parts import shorten
from assay.server.panels.values import Drawing, Line

_LEFT: Final = 40
_RIGHT: Final = 8
_TOP: Final = 12
_BOTTOM: Final = 20
_HEIGHT: Final = 210
_LETTER_WIDTH: Final = 6.5
"""The width of a letter of a label, at most."""
_LABEL_GAP: Final = 24
"""The space between two labels."""


@dataclass(frozen=True, slots=True)
class ChartMark:
    """The mark of a change in a chart over time."""

    place: float
    """Its position on the time axis, in parts from the start of the first one."""
    words: str
    """Its tooltip."""


def panel_chart(
    title: str, drawing: Drawing, marks: Sequence[ChartMark] = (), links: Sequence[str] = ()
) -> Markup | None:
    """The chart of a panel; `None` if there is nothing to draw.

    Args:
        title: what the chart shows, for screen readers.
        drawing: the figures.
        marks: the changes to mark in a chart over time.
        links: the address that each part of a chart over time links to.
    """
    match drawing.kind:
        case "line":
            if not any(value is not None for line in drawing.lines for value in line.values):
                return None
            return tag(
                "div",
                _curves(title, drawing, marks, links, "wide", 1_000),
                # The same chart for a narrow screen, where the labels of the wide one would be too small to read.
                _curves(title, drawing, marks, links, "narrow", 380),
                class_="charted",
            )
        case "bars":
            if not any(drawing.counts):
                return None
            series = [Series("outputs", "accent", [float(count) for count in drawing.counts])]
            ticks = [(at, label) for at, label in enumerate(drawing.labels) if at % 4 == 0]
            return stacked_bars(title, drawing.labels, series, ticks)
        case _:
            return _ranges(title, drawing)


def _curves(
    title: str, drawing: Drawing, marks: Sequence[ChartMark], links: Sequence[str], name: str, width: int
) -> Markup:
    parts_count = max(len(drawing.labels), 1)
    step = (width - _LEFT - _RIGHT) / parts_count
    top = _top(drawing.lines)
    height = _HEIGHT - _TOP - _BOTTOM

    def x(at: float) -> float:
        return round(_LEFT + (at + 0.5) * step, 2)

    def y(value: float) -> float:
        return round(_TOP + height * (1 - min(value, top) / top), 2)

    parts: list[Child] = [tag("title", title)]
    for share in (0.0, 0.5, 1.0):
        at = y(top * share)
        parts.append(tag("line", class_="rule", x1=_LEFT, x2=width - _RIGHT, y1=at, y2=at))
        parts.append(tag("text", f"{top * share:.2g}", class_="tick end", x=_LEFT - 8, y=at + 4))
    for line in drawing.lines:
        for first, last in _segments(line):
            upper = [f"{x(at)} {y(_bound(line.high, line.values, at))}" for at in range(first, last + 1)]
            lower = [f"{x(at)} {y(_bound(line.low, line.values, at))}" for at in range(last, first - 1, -1)]
            parts.append(tag("path", class_="band", d="M" + "L".join([*upper, *lower]) + "Z"))
            path = "L".join(f"{x(at)} {y(line.values[at] or 0.0)}" for at in range(first, last + 1))
            # A line of no length after the start draws a single value between gaps as a point.
            parts.append(tag("path", class_="curve", d=f"M{path}h0"))
    for mark in marks:
        mark_x = round(_LEFT + mark.place * step, 2)
        tooltip = tag("title", shorten(mark.words, 120))
        parts.append(
            tag(
                "g",
                tooltip,
                tag("line", class_="mark", x1=mark_x, x2=mark_x, y1=_TOP, y2=_TOP + height),
                tag("circle", class_="mark", cx=mark_x, cy=_TOP, r=3.5),
                class_="change",
            )
        )
    longest = max(map(len, drawing.labels), default=0) * _LETTER_WIDTH + _LABEL_GAP
    every = max(1, -(-parts_count // max(1, int((width - _LEFT - _RIGHT) / longest))))
    for at, label in enumerate(drawing.labels):
        if at % every == 0:
            parts.append(
                tag("text", label, class_="tick middle" if at else "tick", x=x(at) if at else _LEFT, y=_HEIGHT - 4)
            )
    for at, label in enumerate(drawing.labels):
        values = "; ".join(_interval_at(line, at) for line in drawing.lines)
        reach = tag("rect", class_="reach", x=round(_LEFT + at * step, 2), y=_TOP, width=round(step, 2), height=height)
        column: Child = tag("g", tag("title", f"{label}: {values}"), reach, class_="column")
        # These links are for the pointer only: the table below has the same ones for the keyboard.
        parts.append(tag("a", column, href=links[at], tabindex=-1) if at < len(links) else column)
    return tag(
        "svg",
        parts,
        class_=f"chart curves {name}",
        viewBox=f"0 0 {width} {_HEIGHT}",
        aria_label=title,
        role="group" if links else "img",
    )


def _top(lines: Sequence[Line]) -> float:
    most = max((value for line in lines for value in (*line.values, *line.high) if value is not None), default=0.0)
    return next((step for step in (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8) if most <= step), 1.0)


def _segments(line: Line) -> list[tuple[int, int]]:
    """The first and last index of each run of values without a gap."""
    segments: list[tuple[int, int]] = []
    for at, value in enumerate(line.values):
        if value is None:
            continue
        if segments and segments[-1][1] == at - 1:
            segments[-1] = segments[-1][0], at
        else:
            segments.append((at, at))
    return segments


def _bound(bounds: Sequence[float | None], values: Sequence[float | None], at: int) -> float:
    """The bound of an interval; the value itself if it has none."""
    bound = bounds[at] if bounds[at] is not None else values[at]
    return bound or 0.0


def _interval_at(line: Line, at: int) -> str:
    return interval_words(line.values[at], line.low[at], line.high[at])


def interval_words(value: float | None, low: float | None, high: float | None) -> str:
    """A value with its interval, or a dash if it is unknown.

    >>> interval_words(0.5, 0.4, 0.6), interval_words(None, None, None)
    ('0.500 (0.400–0.600)', '–')
    """
    if value is None:
        return "–"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} ({low:.3f}–{high:.3f})"


def _ranges(title: str, drawing: Drawing) -> Markup | None:
    if not any(value is not None for _, value, _, _ in drawing.ranges):
        return None
    rows = []
    for at, (name, value, low, high) in enumerate(drawing.ranges):
        expected = drawing.expected[at] if at < len(drawing.expected) else None
        rows.append(
            tag(
                "li",
                tag("span", foreign(shorten(name, 60)), class_="name"),
                interval_bar(value, low, high, expected),
                tag("span", interval_words(value, low, high), class_="num"),
            )
        )
    return tag("ul", rows, class_="bars ranges", aria_label=title)


def interval_bar(value: float | None, low: float | None, high: float | None, expected: float | None = None) -> Markup:
    """A bar that shows a value between 0 and 1, its interval, and the value that is expected."""
    shapes: list[Child] = [tag("rect", class_="track", width=100, height=10)]
    if low is not None and high is not None:
        width = round(max(100 * (high - low), 0.4), 2)
        shapes.append(tag("rect", class_="span", x=round(100 * low, 2), y=2, width=width, height=6))
    if expected is not None:
        shapes.append(tag("rect", class_="expected", x=round(100 * expected - 0.4, 2), y=0, width=0.8, height=10))
    if value is not None:
        shapes.append(tag("rect", class_="value", x=round(min(100 * value, 99.2), 2), y=0, width=0.8, height=10))
    return tag(
        "svg", shapes, viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true", class_="length range"
    )
