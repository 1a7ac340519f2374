"""Draws rates over a threshold as one self-contained SVG, readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from assay.reporting.html_writer import Markup, group, tag

SIDE = 260
"""Width and height of a panel's square, in user units."""
LEFT, TOP, GAP, BELOW = 46, 30, 70, 84
STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#1b1f24}.soft{fill:#5b6470}.grid{stroke:#d9dee4;stroke-width:.6}"
    ".bad{stroke:#a61b1b;fill:none;stroke-width:2}.plain{stroke:#1f5fa8;fill:none;stroke-width:2;stroke-dasharray:6 3}"
    ".mark{stroke:#5b6470;stroke-dasharray:2 3}.title{font-weight:600;font-size:12px}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e7eb}.soft{fill:#9aa4b0}.grid{stroke:#333a43}.bad{stroke:#ff938a}"
    ".plain{stroke:#7db4f0}.mark{stroke:#9aa4b0}}"
)
"""Solid and dashed lines besides the colours, so that black and white will do."""


@dataclass(frozen=True)
class Line:
    """One rate over the threshold."""

    name: str
    x: Sequence[float]
    """Thresholds in [0, 1]."""
    y: Sequence[float]
    """Rates in [0, 1]."""
    style: Literal["bad", "plain"]


@dataclass(frozen=True)
class Mark:
    """A threshold that is in use."""

    at: float
    name: str


Panel = tuple[str, Sequence[Line], Sequence[Mark]]


def panels(*drawn: Panel) -> str:
    """The panels side by side as one SVG document.

    Args:
        drawn: for each panel its title, its lines and the thresholds that are marked.
    """
    width = LEFT + len(drawn) * (SIDE + GAP) - GAP + 12
    height = TOP + SIDE + BELOW
    inside = [_panel(LEFT + number * (SIDE + GAP), *panel) for number, panel in enumerate(drawn)]
    document = tag(
        "svg",
        tag("style", STYLE),
        tag("title", "Error rates over the thresholds"),
        inside,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
    )
    return document.html + "\n"


def _panel(left: float, title: str, lines: Sequence[Line], marks: Sequence[Mark]) -> Markup:
    return group(
        tag("text", title, class_="title", x=left, y=TOP - 12),
        _grid(left),
        (_mark(left, mark, number) for number, mark in enumerate(marks)),
        (
            tag(
                "polyline",
                class_=line.style,
                points=" ".join(f"{left + SIDE * x:.1f},{_y(y):.1f}" for x, y in zip(line.x, line.y, strict=True)),
            )
            for line in lines
        ),
        (_legend(left, line, number) for number, line in enumerate(lines)),
    )


def _grid(left: float) -> Iterator[Markup]:
    for step in range(6):
        at = step / 5
        across = round(left + SIDE * at, 1)
        yield tag("line", class_="grid", x1=across, x2=across, y1=_y(0), y2=_y(1))
        yield tag("line", class_="grid", x1=left, x2=left + SIDE, y1=_y(at), y2=_y(at))
        yield tag("text", f"{at:.1f}", class_="soft", x=across, y=_y(0) + 15, text_anchor="middle")
        yield tag("text", f"{at:.1f}", class_="soft", x=left - 6, y=_y(at) + 4, text_anchor="end")


def _mark(left: float, mark: Mark, number: int) -> Markup:
    across = round(left + SIDE * mark.at, 1)
    return group(
        tag("line", class_="mark", x1=across, x2=across, y1=_y(0), y2=_y(1)),
        tag("text", f"{mark.at:g} {mark.name}", class_="soft", x=left, y=_y(0) + 62 + 14 * number),
    )


def _legend(left: float, line: Line, number: int) -> Markup:
    height = _y(0) + 31 + 14 * number
    return group(
        tag("line", class_=line.style, x1=left, x2=left + 24, y1=height - 4, y2=height - 4),
        tag("text", line.name, x=left + 30, y=height),
    )


def _y(value: float) -> float:
    return round(TOP + SIDE * (1 - value), 1)
