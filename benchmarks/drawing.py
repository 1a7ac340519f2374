"""Curves over the unit square as a stand-alone SVG for the documentation, for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

SIDE, LEFT, TOP, BELOW, GAP = 230, 46, 34, 74, 66
STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#1b1f24}.soft{fill:#5b6470}.grid{stroke:#d9dee4;stroke-width:.6}"
    ".first{stroke:#1f5fa8;fill:none;stroke-width:2;stroke-dasharray:6 3}"
    ".second{stroke:#a61b1b;fill:none;stroke-width:2}"
    ".mark{stroke:#5b6470;stroke-dasharray:2 3}.title{font-weight:600;font-size:12px}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e7eb}.soft{fill:#9aa4b0}.grid{stroke:#333a43}"
    ".first{stroke:#7db4f0}.second{stroke:#ff938a}.mark{stroke:#9aa4b0}}"
)


@dataclass(frozen=True, slots=True)
class Panel:
    """One square."""

    title: str
    across: str
    up: str
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]]
    """At most two, each with its name and its points in [0, 1]."""
    diagonal: bool = False


def drawn(title: str, panels: Sequence[Panel]) -> str:
    """The drawing."""
    width, height = LEFT + len(panels) * (SIDE + GAP), TOP + SIDE + BELOW
    placed = ((panel, LEFT + number * (SIDE + GAP)) for number, panel in enumerate(panels))
    inside = "".join(part for panel, left in placed for part in _panel(panel, left))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img"><style>{STYLE}</style><title>{escape(title)}</title>{inside}</svg>\n'
    )


def _panel(panel: Panel, left: float) -> Iterator[str]:
    bottom = TOP + SIDE
    yield _text(panel.title, left, TOP - 14, "title")
    for step in range(6):
        at = step / 5
        x, y = left + SIDE * at, bottom - SIDE * at
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{TOP}"/>'
        yield f'<line class="grid" x1="{left}" x2="{left + SIDE}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(f"{at:.1f}", x, bottom + 15, "soft", "middle")
        yield _text(f"{at:.1f}", left - 6, y + 4, "soft", "end")
    yield _text(panel.across, left + SIDE / 2, bottom + 30, "soft", "middle")
    middle = TOP + SIDE / 2
    yield (
        f'<text class="soft" text-anchor="middle" transform="translate({left - 31:.1f} {middle:.1f}) rotate(-90)">'
        f"{escape(panel.up)}</text>"
    )
    if panel.diagonal:
        yield f'<line class="mark" x1="{left}" x2="{left + SIDE}" y1="{bottom}" y2="{TOP}"/>'
    styles = ("second",) if len(panel.lines) == 1 else ("first", "second")
    for number, (style, (name, points)) in enumerate(zip(styles, panel.lines, strict=True)):
        joined = " ".join(f"{left + SIDE * x:.1f},{bottom - SIDE * y:.1f}" for x, y in points)
        yield f'<polyline class="{style}" points="{joined}"/>'
        y = bottom + 48 + 16 * number
        yield f'<line class="{style}" x1="{left}" x2="{left + 18}" y1="{y - 4}" y2="{y - 4}"/>'
        yield _text(name, left + 23, y, "soft")


def _text(words: str, x: float, y: float, style: str, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
