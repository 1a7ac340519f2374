"""What panels look like: curves with their intervals and marks of changes, bars, and values with intervals, as SVG."""

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
_HIGH: Final = 210
_LETTER: Final = 6.5
"""How wide a letter of a label is, at most."""
_APART: Final = 24
"""Room between two labels."""


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A change in a chart over time."""

    place: float
    """Where: in parts from the first one on."""
    words: str


def panel_chart(
    title: str, drawing: Drawing, marks: Sequence[ChartMark] = (), links: Sequence[str] = ()
) -> Markup | None:
    """The chart of a panel; none where there is nothing to draw.

    Args:
        title: what is shown, for screen readers.
        drawing: the figures.
        marks: changes, for a chart over time.
        links: where each part of a chart over time leads to.
    """
    match drawing.kind:
        case "line":
            if not any(value is not None for line in drawing.lines for value in line.values):
                return None
            return tag(
                "div",
                _curves(title, drawing, marks, links, "wide", 1_000),
                # The same for a narrow screen, where the figures of the other one would be too small to read.
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
    title: str, drawing: Drawing, marks: Sequence[ChartMark], links: Sequence[str], name: str, wide: int
) -> Markup:
    number = max(len(drawing.labels), 1)
    step = (wide - _LEFT - _RIGHT) / number
    top = _top(drawing.lines)
    high = _HIGH - _TOP - _BOTTOM

    def x(at: float) -> float:
        return round(_LEFT + (at + 0.5) * step, 2)

    def y(value: float) -> float:
        return round(_TOP + high * (1 - min(value, top) / top), 2)

    parts: list[Child] = [tag("title", title)]
    for share in (0.0, 0.5, 1.0):
        at = y(top * share)
        parts.append(tag("line", class_="rule", x1=_LEFT, x2=wide - _RIGHT, y1=at, y2=at))
        parts.append(tag("text", f"{top * share:.2g}", class_="tick end", x=_LEFT - 8, y=at + 4))
    for line in drawing.lines:
        for first, last in _stretches(line):
            upper = [f"{x(at)} {y(_of(line.high, line.values, at))}" for at in range(first, last + 1)]
            lower = [f"{x(at)} {y(_of(line.low, line.values, at))}" for at in range(last, first - 1, -1)]
            parts.append(tag("path", class_="band", d="M" + "L".join([*upper, *lower]) + "Z"))
            path = "L".join(f"{x(at)} {y(line.values[at] or 0.0)}" for at in range(first, last + 1))
            # A line of no length after the start: a value that stands alone is drawn as a point.
            parts.append(tag("path", class_="curve", d=f"M{path}h0"))
    for mark in marks:
        here = round(_LEFT + mark.place * step, 2)
        tooltip = tag("title", shorten(mark.words, 120))
        parts.append(
            tag(
                "g",
                tooltip,
                tag("line", class_="mark", x1=here, x2=here, y1=_TOP, y2=_TOP + high),
                tag("circle", class_="mark", cx=here, cy=_TOP, r=3.5),
                class_="change",
            )
        )
    longest = max(map(len, drawing.labels), default=0) * _LETTER + _APART
    every = max(1, -(-number // max(1, int((wide - _LEFT - _RIGHT) / longest))))
    for at, label in enumerate(drawing.labels):
        if at % every == 0:
            parts.append(
                tag("text", label, class_="tick middle" if at else "tick", x=x(at) if at else _LEFT, y=_HIGH - 4)
            )
    for at, label in enumerate(drawing.labels):
        said = "; ".join(_interval_at(line, at) for line in drawing.lines)
        reach = tag("rect", class_="reach", x=round(_LEFT + at * step, 2), y=_TOP, width=round(step, 2), height=high)
        column: Child = tag("g", tag("title", f"{label}: {said}"), reach, class_="column")
        # Links for a pointer: with the keyboard the same ones are reached in the table below.
        parts.append(tag("a", column, href=links[at], tabindex=-1) if at < len(links) else column)
    return tag(
        "svg",
        parts,
        class_=f"chart curves {name}",
        viewBox=f"0 0 {wide} {_HIGH}",
        aria_label=title,
        role="group" if links else "img",
    )


def _top(lines: Sequence[Line]) -> float:
    most = max((value for line in lines for value in (*line.values, *line.high) if value is not None), default=0.0)
    return next((step for step in (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8) if most <= step), 1.0)


def _stretches(line: Line) -> list[tuple[int, int]]:
    """Where the values are without a gap."""
    found: list[tuple[int, int]] = []
    for at, value in enumerate(line.values):
        if value is None:
            continue
        if found and found[-1][1] == at - 1:
            found[-1] = found[-1][0], at
        else:
            found.append((at, at))
    return found


def _of(bound: Sequence[float | None], values: Sequence[float | None], at: int) -> float:
    found = bound[at] if bound[at] is not None else values[at]
    return found or 0.0


def _interval_at(line: Line, at: int) -> str:
    return interval_words(line.values[at], line.low[at], line.high[at])


def interval_words(value: float | None, low: float | None, high: float | None) -> str:
    """A value with its interval in words.

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
    """A value between 0 and 1 with its interval, and what it should be, as a bar."""
    shapes: list[Child] = [tag("rect", class_="track", width=100, height=10)]
    if low is not None and high is not None:
        wide = round(max(100 * (high - low), 0.4), 2)
        shapes.append(tag("rect", class_="span", x=round(100 * low, 2), y=2, width=wide, height=6))
    if expected is not None:
        shapes.append(tag("rect", class_="expected", x=round(100 * expected - 0.4, 2), y=0, width=0.8, height=10))
    if value is not None:
        shapes.append(tag("rect", class_="value", x=round(min(100 * value, 99.2), 2), y=0, width=0.8, height=10))
    return tag(
        "svg", shapes, viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true", class_="length range"
    )
