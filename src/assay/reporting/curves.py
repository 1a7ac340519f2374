"""Curves as SVG inside a page, drawn without a plotting library and readable in black and white."""

from collections.abc import Iterator, Sequence
from typing import Final

from assay.reporting.html_writer import Child, Markup, group, tag

_SIZE: Final = 240
"""The side of the plotted square, in user units."""
_LEFT, _TOP, _BOTTOM, _RIGHT = 44, 10, 40, 12
"""The margins around it, in user units: room for the labels of the axes."""


def _x(value: float) -> float:
    return round(_LEFT + _SIZE * value, 2)


def _y(value: float) -> float:
    return round(_TOP + _SIZE * (1 - value), 2)


def _frame(x_label: str, y_label: str) -> Iterator[Markup]:
    for step in range(6):
        tick = step / 5
        yield tag("line", class_="grid", x1=_x(tick), x2=_x(tick), y1=_y(0), y2=_y(1))
        yield tag("line", class_="grid", x1=_x(0), x2=_x(1), y1=_y(tick), y2=_y(tick))
        yield tag("text", f"{tick:.1f}", class_="tick", x=_x(tick), y=_y(0) + 15, text_anchor="middle")
        yield tag("text", f"{tick:.1f}", class_="tick", x=_x(0) - 6, y=_y(tick) + 4, text_anchor="end")
    yield tag("text", x_label, class_="axis", x=_x(0.5), y=_y(0) + 34, text_anchor="middle")
    middle = _y(0.5)
    yield tag(
        "text", y_label, class_="axis", x=12, y=middle, text_anchor="middle", transform=f"rotate(-90 12 {middle})"
    )


def _figure(title: Child, caption: str, *shapes: Markup | Iterator[Markup]) -> Markup:
    width, height = _LEFT + _SIZE + _RIGHT, _TOP + _SIZE + _BOTTOM
    drawing = tag("svg", tag("title", title), shapes, viewBox=f"0 0 {width} {height}", role="img", class_="plot")
    return tag("figure", drawing, tag("figcaption", tag("b", title), " ", caption))


def curve(
    title: str,
    caption: str,
    labels: tuple[str, str],
    points: Sequence[tuple[float, float]],
    guide: Sequence[tuple[float, float]] = (),
) -> Markup:
    """A curve over the unit square.

    Args:
        title: what it shows.
        caption: how to read it.
        labels: of the x and the y axis.
        points: in drawing order, both coordinates in [0, 1].
        guide: the points of a dashed line for comparison: the result of chance.
    """
    lines = [
        tag("polyline", class_=style, points=_points(line)) for style, line in (("guide", guide), ("curve", points))
    ]
    return _figure(title, caption, _frame(*labels), group(*lines))


def rates_by_threshold(
    title: Child, caption: str, emitted: Sequence[float], stopped: Sequence[float], threshold: float
) -> Markup:
    """Two rates as functions of the threshold on a score, with a vertical line at one threshold.

    Args:
        title: what it shows.
        caption: how to read it.
        emitted: the share of honest outputs that reach the threshold, at even steps from 0 to 1.
        stopped: the share of wrong outputs that do not reach it, at the same steps.
        threshold: the position of the vertical line, from 0 to 1; a script finds the line by its class `at`.
    """
    last = len(emitted) - 1
    marker = _x(threshold)
    return _figure(
        title,
        caption,
        _frame("threshold", "share"),
        tag("polyline", class_="curve", points=_points([(i / last, share) for i, share in enumerate(emitted)])),
        tag("polyline", class_="stopped", points=_points([(i / last, share) for i, share in enumerate(stopped)])),
        tag("line", class_="at", x1=marker, x2=marker, y1=_y(0), y2=_y(1), data_from=_x(0), data_length=_SIZE),
    )


def _points(points: Sequence[tuple[float, float]]) -> str:
    """The value of the attribute `points` of an SVG polyline."""
    return " ".join(f"{_x(x)},{_y(y)}" for x, y in points)


def reliability(
    bins: Sequence[tuple[float, float, int]],
    title: Child = "Reliability.",
    caption: str = "On the dashed line a score of 0.8 is right in 80 of 100 rows; larger marks hold more rows.",
) -> Markup:
    """The reliability diagram: the observed share of supported rows against the mean score, one mark per bin.

    The area of a mark grows with the number of rows in its bin.

    Args:
        bins: mean score, share of supported rows, and number of rows.
        title: what it shows.
        caption: how to read it.
    """
    largest = max((count for _, _, count in bins), default=1)
    marks = (
        tag(
            "circle",
            tag("title", f"{count:,} rows"),
            class_="mark",
            cx=_x(x),
            cy=_y(y),
            r=round(2.5 + 5 * (count / largest) ** 0.5, 2),
        )
        for x, y, count in bins
    )
    return _figure(
        title,
        caption,
        _frame("score", "share supported"),
        tag("polyline", class_="guide", points=_points([(0, 0), (1, 1)])),
        tag("polyline", class_="curve thin", points=_points([(x, y) for x, y, _ in bins])),
        group(*marks),
    )
