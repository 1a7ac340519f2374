"""The rules of a robots.txt (RFC 9309): which paths not to fetch, and how long to wait between two requests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

MAX_ROBOTS_BYTES: Final = 512_000
"""Bytes of robots.txt that are read; RFC 9309 requires at least 500 KiB."""
_MAX_RULES: Final = 10_000
_MAX_LINE_LENGTH: Final = 2_000
_MAX_STARS: Final = 20


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules for one robot."""

    rules: tuple[tuple[bool, str], ...] = ()
    """Whether each allows, and its path pattern with `*` and `$`; the longest pattern that matches decides."""
    delay: float = 0.0
    """Seconds between two requests that the site asks for."""

    def allows(self, address: str) -> bool:
        """Whether a normalised address may be fetched.

        >>> robots = read_robots("User-agent: *\\nDisallow: /drafts\\nAllow: /drafts/final", "assay")
        >>> [robots.allows(f"https://a.example{path}") for path in ("/", "/drafts/1", "/drafts/final/1")]
        [True, False, True]
        """
        parts = urlsplit(address)
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        if path == "/robots.txt":
            return True
        found = [(len(pattern), allows) for allows, pattern in self.rules if _matches(pattern, path)]
        return max(found)[1] if found else True  # of two patterns of equal length the one that allows wins


DISALLOW_ALL: Final = Robots(rules=((False, "/"),))
"""Applies when robots.txt cannot be fetched because of a server error (RFC 9309, 2.3.1.4)."""


def read_robots(text: str, agent: str) -> Robots:
    """The rules of a robots.txt for one robot: those under its own name, otherwise those under `*`.

    Args:
        text: the content of the file.
        agent: the name of the robot.
    """
    groups: list[tuple[list[str], list[tuple[bool, str]], list[float]]] = []
    in_group_head = False
    for line in text[:MAX_ROBOTS_BYTES].splitlines():
        name, mark, value = line.partition("#")[0].strip().partition(":")
        name, value = name.strip().lower(), value.strip()[:_MAX_LINE_LENGTH]
        if not mark:
            continue
        if name == "user-agent":
            if not in_group_head:
                groups.append(([], [], []))
            groups[-1][0].append(value.lower())
            in_group_head = True
            continue
        in_group_head = False
        if groups and name in {"allow", "disallow"} and value and len(groups[-1][1]) < _MAX_RULES:
            groups[-1][1].append((name == "allow", value))
        elif groups and name == "crawl-delay" and re.fullmatch(r"\d{1,4}(\.\d{1,4})?", value):
            groups[-1][2].append(float(value))
    own = [one for one in groups if agent.lower() in one[0]]
    chosen = own or [one for one in groups if "*" in one[0]]
    rules = tuple(rule for _, group, _ in chosen for rule in group)
    return Robots(rules[:_MAX_RULES], max((delay for _, _, delays in chosen for delay in delays), default=0.0))


def _matches(pattern: str, path: str) -> bool:
    return _follow_in_order(*_pattern_parts(pattern), path)


@lru_cache(maxsize=20_000)
def _pattern_parts(pattern: str) -> tuple[tuple[str, ...], str]:
    """The pieces of a pattern between its stars, and "$" if the path must end with the last one."""
    end = "$" if pattern.endswith("$") else ""
    return tuple(pattern.removesuffix("$").split("*")[: _MAX_STARS + 1]), end


def _follow_in_order(pieces: Sequence[str], end: str, path: str) -> bool:
    """Whether the pieces occur in order in a path, the first at its start; linear in the path for each piece."""
    if not path.startswith(pieces[0]):
        return False
    at = len(pieces[0])
    for piece in pieces[1:-1]:
        found = path.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    if len(pieces) == 1:
        return not end or at == len(path)
    if end:
        return path.endswith(pieces[-1]) and len(path) - len(pieces[-1]) >= at
    return path.find(pieces[-1], at) >= 0
