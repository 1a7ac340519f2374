"""The icons of the console, drawn for it: lines of one weight on a grid of 16 by 16."""

from typing import Final

from assay.reporting import Markup, tag

_PATHS: Final = {
    "mark": ("M2.5 13.5 7 2.5h2l4.5 11", "M5 9.5l2.2 2L12 7"),
    "menu": ("M2.5 4.5h11", "M2.5 8h11", "M2.5 11.5h11"),
    "overview": ("M2.5 13.5h11", "M4.5 11V8", "M8 11V3.5", "M11.5 11V6"),
    "monitor": ("M1.5 8h3l2-4.5 3 9 2-4.5h3",),
    "runs": ("M2.5 4h11", "M2.5 8h11", "M2.5 12h7"),
    "review": ("M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z", "M3 13.5c.6-2.4 2.5-3.5 5-3.5s4.4 1.1 5 3.5"),
    "redteam": (
        "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11z",
        "M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4z",
        "M8 1v2.4",
        "M8 12.6V15",
        "M1 8h2.4",
        "M12.6 8H15",
    ),
    "gaps": ("M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9z", "M10.4 10.4l3.1 3.1", "M5.2 7h3.6"),
    "policies": ("M3 4.5h4", "M10.5 4.5H13", "M8.7 6.2V2.8", "M3 11.5h1.5", "M8 11.5h5", "M6.2 13.2V9.8"),
    "datasets": ("M3 3h10v3H3z", "M3 6v7h10V6", "M3 9.5h10", "M6.5 6v7"),
    "playground": ("M4 3l8.5 5L4 13z",),
    "api": ("M5 4.5 2 8l3 3.5", "M11 4.5 14 8l-3 3.5", "M9 3.5 7 12.5"),
    "audit": ("M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z", "M5.8 8l1.6 1.6L10.5 6.5"),
    "users": (
        "M6 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4z",
        "M2 13c.4-2.2 1.9-3.3 4-3.3s3.6 1.1 4 3.3",
        "M10.5 3.4a2.1 2.1 0 0 1 0 4",
        "M11.6 10c1.3.4 2.1 1.4 2.4 3",
    ),
    "theme-auto": ("M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11z", "M8 2.5v11", "M8 5h3.8", "M8 8h5.4", "M8 11h3.8"),
    "theme-light": (
        "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
        "M8 1.5v1.6",
        "M8 12.9v1.6",
        "M1.5 8h1.6",
        "M12.9 8h1.6",
        "M3.4 3.4l1.1 1.1",
        "M11.5 11.5l1.1 1.1",
        "M3.4 12.6l1.1-1.1",
        "M11.5 4.5l1.1-1.1",
    ),
    "theme-dark": ("M13 9.6A5.4 5.4 0 0 1 6.4 3a5.4 5.4 0 1 0 6.6 6.6z",),
    "tick": ("M3 8.5l3.2 3L13 4.5",),
    "search": ("M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9z", "M10.4 10.4l3.1 3.1"),
    "back": ("M9.5 4 5.5 8l4 4",),
    "arrow": ("M3 8h9.5", "M9 4.5L12.5 8 9 11.5"),
}


def icon(name: str) -> Markup:
    """One icon. Screen readers skip it, so it needs a word next to it."""
    lines = (tag("path", d=line) for line in _PATHS[name])
    return tag(
        "svg", lines, class_="icon", viewBox="0 0 16 16", width=16, height=16, aria_hidden="true", focusable="false"
    )
