"""Charts as SVG: they need no script, print, and each has its figures as words for who cannot see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Final

from assay.reporting import Child, Markup, tag

_LEFT: Final = 40
_BOTTOM: Final = 20
_TOP: Final = 8


@dataclass(frozen=True, slots=True)
class Series:
    """One sort of figures of a stacked chart."""

    name: str
    tone: str
    """The class that colours it: `good`, `doubt`, `bad`, `escalate`, `accent`, `quiet`."""
    values: Sequence[float]


def nice_top(most: float) -> float:
    """An even round number at or above the largest count, as the end of an axis: its half is whole too.

    >>> nice_top(0), nice_top(5), nice_top(41), nice_top(1200)
    (2.0, 6.0, 60.0, 2000.0)
    """
    if most <= 2:
        return 2.0
    unit = 10.0 ** int(log10(most))
    return next(step * unit for step in (1, 2, 4, 6, 8, 10) if step * unit >= most and step * unit != 1)


def count_words(value: float) -> str:
    """A count in few characters.

    >>> count_words(950), count_words(12_000), count_words(1_500_000)
    ('950', '12k', '1.5M')
    """
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:.1f}".removesuffix(".0") + unit
    return f"{value:g}"


def stacked(title: str, labels: Sequence[str], series: Sequence[Series], ticks: Sequence[tuple[int, str]]) -> Markup:
    """Bars over time, each of several parts.

    Args:
        title: what is shown, for screen readers.
        labels: what each bar is, such as a time.
        series: the parts from the bottom up, each with as many values as there are labels.
        ticks: places among the labels that are named below the axis, and the names.
    """
    totals = [sum(column) for column in zip(*(one.values for one in series), strict=True)] if series else []
    top = nice_top(max(totals, default=0))
    return tag(
        "div",
        _chart(title, labels, series, ticks, top, _Frame("wide", 1_000, 190)),
        # The same for a narrow screen, where the figures of the other one would be too small to read.
        _chart(title, labels, series, ticks[::2] if len(ticks) > 4 else ticks, top, _Frame("narrow", 380, 190)),
        class_="charted",
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    name: str
    width: int
    height: int

    @property
    def high(self) -> int:
        """How high the bars may be."""
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


def _bar(label: str, parts: Sequence[tuple[Series, float]], x: float, wide: float, frame: _Frame, top: float) -> Markup:
    counted = ", ".join(f"{one.name} {value:g}" for one, value in parts if value)
    drawn: list[Child] = [tag("title", f"{label}: {counted}")]
    base = float(_TOP + frame.high)
    for one, value in parts:
        if value:
            size = frame.high * value / top
            base -= size
            drawn.append(
                tag(
                    "rect",
                    class_=one.tone,
                    x=round(x, 2),
                    y=round(base, 2),
                    width=round(wide, 2),
                    height=round(max(size, 0.6), 2),
                )
            )
    # The whole column answers to the pointer, not only what is drawn of it.
    drawn.append(tag("rect", class_="reach", x=round(x, 2), y=_TOP, width=round(wide, 2), height=frame.high))
    return tag("g", drawn, class_="column")


def _axis(top: float, frame: _Frame) -> list[Markup]:
    made = []
    for part in (0.0, 0.5, 1.0):
        y = round(_TOP + frame.high * (1 - part), 2)
        made.append(tag("line", class_="rule", x1=_LEFT, x2=frame.width, y1=y, y2=y))
        made.append(tag("text", count_words(top * part), class_="tick end", x=_LEFT - 8, y=y + 4))
    return made


def legend(series: Sequence[Series]) -> Markup:
    """The names of the parts with their colours and sums."""
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
    """A line of values without an axis; gaps where there is none."""
    known = [value for value in values if value is not None]
    top = max(known, default=0) or 1
    step = 120 / max(len(values) - 1, 1)
    path, pen = [], "M"
    for at, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        # A line of no length after each start: a value that stands alone is drawn as a point.
        path.append(f"{pen}{at * step:.1f} {22 - 20 * value / top:.1f}" + ("h0" if pen == "M" else ""))
        pen = "L"
    drawn = tag("path", d=" ".join(path)) if path else None
    return tag(
        "svg", tag("title", title), drawn, class_="spark", viewBox="0 0 120 24", role="img", width=120, height=24
    )


def bar_list(rows: Sequence[tuple[Child, float, Child]], tone: str = "accent") -> Markup:
    """Named bars below each other: name, value, and the words for the value."""
    top = max((value for _, value, _ in rows), default=0) or 1
    return tag(
        "ul",
        (
            tag("li", tag("span", name, class_="name"), _length(value / top, tone), tag("span", words, class_="num"))
            for name, value, words in rows
        ),
        class_="bars",
    )


def _length(part: float, tone: str) -> Markup:
    return tag(
        "svg",
        tag("rect", class_=tone, width=round(100 * part, 2), height=6, rx=0.8),
        viewBox="0 0 100 6",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="length",
    )


def split_bar(parts: Sequence[tuple[str, float, str]], title: str) -> Markup:
    """One bar of several parts: name, value and tone of each."""
    whole = sum(value for _, value, _ in parts) or 1
    at, drawn = 0.0, []
    for name, value, tone in parts:
        if value:
            size = 100 * value / whole
            tooltip = tag("title", f"{name}: {value:g}")
            drawn.append(tag("rect", tooltip, class_=tone, x=round(at, 3), width=round(size, 3), height=6))
            at += size
    return tag(
        "svg", tag("title", title), drawn, viewBox="0 0 100 6", preserveAspectRatio="none", class_="split", role="img"
    )


def trade(
    points: Sequence[tuple[float, float]], own: tuple[float, float], names: tuple[str, str], title: str
) -> Markup:
    """A curve of two shares against each other with one's own place on it.

    Args:
        points: both shares of each other setting, from 0 to 1, in order.
        own: both shares as they are.
        names: what is drawn to the right, and what is drawn upwards.
        title: the figures in words, for who cannot see the chart.
    """
    wide, high = 260, 180

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return _LEFT + point[0] * (wide - _LEFT - 8), _TOP + (1 - point[1]) * (high - _TOP - _BOTTOM)

    lines = [
        tag("line", x1=at((0, y))[0], x2=at((1, y))[0], y1=at((0, y))[1], y2=at((0, y))[1], class_="rule")
        for y in (0.0, 0.5, 1.0)
    ]
    words = [tag("text", f"{y:.0%}", x=_LEFT - 6, y=at((0, y))[1] + 4, class_="tick end") for y in (0.0, 0.5, 1.0)] + [
        tag("text", f"{x:.0%}", x=at((x, 0))[0], y=high - 4, class_="tick middle") for x in (0.0, 0.5, 1.0)
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
            viewBox=f"0 0 {wide} {high}",
            role="img",
            width=wide,
            height=high,
        ),
        tag("figcaption", f"right: {names[0]}; up: {names[1]}", class_="soft"),
    )
