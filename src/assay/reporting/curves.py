"""Curves as SVG inside a page: axes, grid and points drawn by us, readable in black and white."""

from collections.abc import Iterator, Sequence
from typing import Final

from assay.reporting.html_writer import Child, Markup, group, tag

_SIZE: Final = 240
"""The side of the plotted square, in user units."""
_LEFT, _TOP, _BELOW, _RIGHT = 44, 10, 40, 12


def _x(value: float) -> float:
    return round(_LEFT + _SIZE * value, 2)


def _y(value: float) -> float:
    return round(_TOP + _SIZE * (1 - value), 2)


def _frame(x_label: str, y_label: str) -> Iterator[Markup]:
    for step in range(6):
        at = step / 5
        yield tag("line", class_="grid", x1=_x(at), x2=_x(at), y1=_y(0), y2=_y(1))
        yield tag("line", class_="grid", x1=_x(0), x2=_x(1), y1=_y(at), y2=_y(at))
        yield tag("text", f"{at:.1f}", class_="tick", x=_x(at), y=_y(0) + 15, text_anchor="middle")
        yield tag("text", f"{at:.1f}", class_="tick", x=_x(0) - 6, y=_y(at) + 4, text_anchor="end")
    yield tag("text", x_label, class_="axis", x=_x(0.5), y=_y(0) + 34, text_anchor="middle")
    middle = _y(0.5)
    yield tag(
        "text", y_label, class_="axis", x=12, y=middle, text_anchor="middle", transform=f"rotate(-90 12 {middle})"
    )


def _figure(title: Child, words: str, *inside: Markup | Iterator[Markup]) -> Markup:
    width, height = _LEFT + _SIZE + _RIGHT, _TOP + _SIZE + _BELOW
    drawing = tag("svg", tag("title", title), inside, viewBox=f"0 0 {width} {height}", role="img", class_="plot")
    return tag("figure", drawing, tag("figcaption", tag("b", title), " ", words))


def curve(
    title: str,
    words: str,
    labels: tuple[str, str],
    points: Sequence[tuple[float, float]],
    guide: Sequence[tuple[float, float]] = (),
) -> Markup:
    """A curve over the unit square.

    Args:
        title: what it shows.
        words: how to read it.
        labels: of the x and the y axis.
        points: in drawing order, both coordinates in [0, 1].
        guide: a dashed line of what chance would give.
    """
    lines = [
        tag("polyline", class_=style, points=_joined(line)) for style, line in (("guide", guide), ("curve", points))
    ]
    return _figure(title, words, _frame(*labels), group(*lines))


def rates_by_threshold(
    title: Child, words: str, emitted: Sequence[float], stopped: Sequence[float], threshold: float
) -> Markup:
    """Two rates over the thresholds of a score, and a line that stands at one of them.

    Args:
        title: what it shows.
        words: how to read it.
        emitted: the share of honest outputs that reach the threshold, at even steps from 0 to 1.
        stopped: the share of wrong outputs that do not, at the same steps.
        threshold: where the line stands, within 0 and 1; a script finds it by its class `at`.
    """
    last = len(emitted) - 1
    at = _x(threshold)
    return _figure(
        title,
        words,
        _frame("threshold", "share"),
        tag("polyline", class_="curve", points=_joined([(i / last, share) for i, share in enumerate(emitted)])),
        tag("polyline", class_="stopped", points=_joined([(i / last, share) for i, share in enumerate(stopped)])),
        tag("line", class_="at", x1=at, x2=at, y1=_y(0), y2=_y(1), data_from=_x(0), data_length=_SIZE),
    )


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_x(x)},{_y(y)}" for x, y in points)


def reliability(
    bins: Sequence[tuple[float, float, int]],
    title: Child = "Reliability.",
    words: str = "On the dashed line a score of 0.8 is right in 80 of 100 rows; larger marks hold more rows.",
) -> Markup:
    """The reliability diagram: what was said against what came about, the marks as large as the bins are full.

    Args:
        bins: mean score, share of supported rows, and number of rows.
        title: what it shows.
        words: how to read it.
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
        words,
        _frame("score", "share supported"),
        tag("polyline", class_="guide", points=_joined([(0, 0), (1, 1)])),
        tag("polyline", class_="curve thin", points=_joined([(x, y) for x, y, _ in bins])),
        group(*marks),
    )
