"""Charts as SVG: they need no script, they print, and each has its figures in words for screen readers."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Final

from assay.reporting import Child, Markup, tag

_LEFT: Final = 40
_BOTTOM: Final = 20
_TOP: Final = 8
"""The margins of a plot, in user units: room for the labels of its axes."""


@dataclass(frozen=True, slots=True)
class Series:
    """One part of each bar of a stacked chart."""

    name: str
    tone: str
    """The CSS class that colours it: `good`, `doubt`, `bad`, `escalate`, `accent` or `quiet`."""
    values: Sequence[float]
    """The size of the part in each bar."""


def axis_top(most: float) -> float:
    """The end of an axis of counts: a round, even number that is not below the largest count, so that half of it is
    a whole number too.

    >>> axis_top(0), axis_top(5), axis_top(41), axis_top(1200)
    (2.0, 6.0, 60.0, 2000.0)
    """
    if most <= 2:
        return 2.0
    unit = 10.0 ** int(log10(most))
    return next(step * unit for step in (1, 2, 4, 6, 8, 10) if step * unit >= most and step * unit != 1)


def count_words(value: float) -> str:
    """A count in few characters, with `k` for thousands and `M` for millions.

    >>> count_words(950), count_words(12_000), count_words(1_500_000)
    ('950', '12k', '1.5M')
    """
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:.1f}".removesuffix(".0") + unit
    return f"{value:g}"


def stacked_bars(
    title: str, labels: Sequence[str], series: Sequence[Series], ticks: Sequence[tuple[int, str]]
) -> Markup:
    """Bars side by side, each stacked from several parts.

    Args:
        title: what the chart shows, for screen readers.
        labels: the name of each bar, such as a time.
        series: the parts from the bottom up, each with as many values as there are labels.
        ticks: the indices of the bars that are labelled below the axis, and their labels.
    """
    totals = [sum(column) for column in zip(*(one.values for one in series), strict=True)] if series else []
    top = axis_top(max(totals, default=0))
    return tag(
        "div",
        _chart(title, labels, series, ticks, top, _Frame("wide", 1_000, 190)),
        # The same chart for a narrow screen, where the labels of the wide one would be too small to read.
        _chart(title, labels, series, ticks[::2] if len(ticks) > 4 else ticks, top, _Frame("narrow", 380, 190)),
        class_="charted",
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    name: str
    width: int
    height: int

    @property
    def plot_height(self) -> int:
        """The height of the highest bar."""
        return self.height - _TOP - _BOTTOM


def _chart(
    title: str,
    labels: Sequence[str],
    series: Sequence[Series],
    ticks: Sequence[tuple[int, str]],
    top: float,
    frame: _Frame,
) -> Markup:
    step = (frame.width - _LEFT) / max(len(labels), 1)
    bars = (
        _bar(labels[at], [(one, one.values[at]) for one in series], _LEFT + step * (at + 0.12), step * 0.76, frame, top)
        for at in range(len(labels))
        if any(one.values[at] for one in series)
    )
    names = (
        tag("text", words, class_="tick middle", x=round(_LEFT + (at + 0.5) * step, 2), y=frame.height - 4)
        for at, words in ticks
    )
    return tag(
        "svg",
        tag("title", title),
        _axis(top, frame),
        bars,
        names,
        class_=f"chart {frame.name}",
        viewBox=f"0 0 {frame.width} {frame.height}",
        role="img",
    )


def _bar(
    label: str, parts: Sequence[tuple[Series, float]], x: float, width: float, frame: _Frame, top: float
) -> Markup:
    counts = ", ".join(f"{one.name} {value:g}" for one, value in parts if value)
    shapes: list[Child] = [tag("title", f"{label}: {counts}")]
    base = float(_TOP + frame.plot_height)
    for one, value in parts:
        if value:
            size = frame.plot_height * value / top
            base -= size
            shapes.append(
                tag(
                    "rect",
                    class_=one.tone,
                    x=round(x, 2),
                    y=round(base, 2),
                    width=round(width, 2),
                    height=round(max(size, 0.6), 2),
                )
            )
    # The tooltip appears over the whole column, not only over the bar.
    shapes.append(tag("rect", class_="reach", x=round(x, 2), y=_TOP, width=round(width, 2), height=frame.plot_height))
    return tag("g", shapes, class_="column")


def _axis(top: float, frame: _Frame) -> list[Markup]:
    shapes = []
    for part in (0.0, 0.5, 1.0):
        y = round(_TOP + frame.plot_height * (1 - part), 2)
        shapes.append(tag("line", class_="rule", x1=_LEFT, x2=frame.width, y1=y, y2=y))
        shapes.append(tag("text", count_words(top * part), class_="tick end", x=_LEFT - 8, y=y + 4))
    return shapes


def legend(series: Sequence[Series]) -> Markup:
    """The colour, the name and the sum of each part of a stacked chart."""
    return tag(
        "ul",
        (
            tag(
                "li",
                tag("span", class_=f"swatch {one.tone}", aria_hidden="true"),
                one.name,
                tag("b", f"{sum(one.values):,.0f}"),
            )
            for one in series
        ),
        class_="legend",
    )


def sparkline(values: Sequence[float | None], title: str) -> Markup:
    """A small line chart without axes; a `None` leaves a gap in the line."""
    known = [value for value in values if value is not None]
    top = max(known, default=0) or 1
    step = 120 / max(len(values) - 1, 1)
    path, pen = [], "M"
    for at, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        # A line of no length after each start draws a single value between gaps as a point.
        path.append(f"{pen}{at * step:.1f} {22 - 20 * value / top:.1f}" + ("h0" if pen == "M" else ""))
        pen = "L"
    line = tag("path", d=" ".join(path)) if path else None
    return tag("svg", tag("title", title), line, class_="spark", viewBox="0 0 120 24", role="img", width=120, height=24)


def bar_list(rows: Sequence[tuple[Child, float, Child]], tone: str = "accent") -> Markup:
    """Horizontal bars below each other, each with its name, its value, and the value in words."""
    top = max((value for _, value, _ in rows), default=0) or 1
    return tag(
        "ul",
        (
            tag("li", tag("span", name, class_="name"), _value_bar(value / top, tone), tag("span", words, class_="num"))
            for name, value, words in rows
        ),
        class_="bars",
    )


def _value_bar(part: float, tone: str) -> Markup:
    return tag(
        "svg",
        tag("rect", class_=tone, width=round(100 * part, 2), height=6, rx=0.8),
        viewBox="0 0 100 6",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="length",
    )


def split_bar(parts: Sequence[tuple[str, float, str]], title: str) -> Markup:
    """One horizontal bar of several parts, each with its name, its value and its tone."""
    whole = sum(value for _, value, _ in parts) or 1
    x, shapes = 0.0, []
    for name, value, tone in parts:
        if value:
            width = 100 * value / whole
            tooltip = tag("title", f"{name}: {value:g}")
            shapes.append(tag("rect", tooltip, class_=tone, x=round(x, 3), width=round(width, 3), height=6))
            x += width
    return tag(
        "svg", tag("title", title), shapes, viewBox="0 0 100 6", preserveAspectRatio="none", class_="split", role="img"
    )


def trade_off_curve(
    points: Sequence[tuple[float, float]], own: tuple[float, float], names: tuple[str, str], title: str
) -> Markup:
    """The trade-off between two shares as a curve, with the present setting marked on it.

    Args:
        points: both shares, from 0 to 1, at each alternative setting, in the order of the curve.
        own: both shares at the present setting.
        names: what the x axis and the y axis show.
        title: the figures in words, for screen readers.
    """
    width, height = 260, 180

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return _LEFT + point[0] * (width - _LEFT - 8), _TOP + (1 - point[1]) * (height - _TOP - _BOTTOM)

    lines = [
        tag("line", x1=at((0, y))[0], x2=at((1, y))[0], y1=at((0, y))[1], y2=at((0, y))[1], class_="rule")
        for y in (0.0, 0.5, 1.0)
    ]
    words = [tag("text", f"{y:.0%}", x=_LEFT - 6, y=at((0, y))[1] + 4, class_="tick end") for y in (0.0, 0.5, 1.0)] + [
        tag("text", f"{x:.0%}", x=at((x, 0))[0], y=height - 4, class_="tick middle") for x in (0.0, 0.5, 1.0)
    ]
    path = " ".join(f"{'L' if n else 'M'}{x:.1f} {y:.1f}" for n, (x, y) in enumerate(map(at, points)))
    x, y = at(own)
    return tag(
        "figure",
        tag(
            "svg",
            tag("title", title),
            *lines,
            *words,
            tag("path", d=path, class_="line") if path else None,
            tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=5, class_="here"),
            class_="chart trade",
            viewBox=f"0 0 {width} {height}",
            role="img",
            width=width,
            height=height,
        ),
        tag("figcaption", f"right: {names[0]}; up: {names[1]}", class_="soft"),
    )
