"""What a site asks of robots (RFC 9309): which paths are left alone, and how long to wait between two requests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

MOST_BYTES: Final = 512_000
"""Bytes of robots.txt that are read; RFC 9309 asks for 500 KiB at least."""
_MOST_RULES: Final = 10_000
_LONGEST: Final = 2_000
_MOST_STARS: Final = 20


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules for one robot."""

    rules: tuple[tuple[bool, str], ...] = ()
    """Whether each allows, and its path with `*` and `$`; the longest one that matches decides."""
    delay: float = 0.0
    """Seconds between two requests that are asked for."""

    def allows(self, address: str) -> bool:
        """Whether an address, in one spelling, may be fetched.

        >>> robots = read_robots("User-agent: *\\nDisallow: /drafts\\nAllow: /drafts/final", "assay")
        >>> [robots.allows(f"https://a.example{path}") for path in ("/", "/drafts/1", "/drafts/final/1")]
        [True, False, True]
        """
        parts = urlsplit(address)
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        if path == "/robots.txt":
            return True
        found = [(len(pattern), allows) for allows, pattern in self.rules if _matches(pattern, path)]
        return max(found)[1] if found else True  # of two as long the one that allows wins


NOTHING: Final = Robots(rules=((False, "/"),))
"""What holds where robots.txt cannot be had because the server fails (RFC 9309, 2.3.1.4)."""


def read_robots(text: str, agent: str) -> Robots:
    """The rules of a robots.txt for a robot: those of its own name, else those of `*`.

    Args:
        text: the file.
        agent: the robot's name.
    """
    groups: list[tuple[list[str], list[tuple[bool, str]], list[float]]] = []
    opened = False
    for line in text[:MOST_BYTES].splitlines():
        name, mark, value = line.partition("#")[0].strip().partition(":")
        name, value = name.strip().lower(), value.strip()[:_LONGEST]
        if not mark:
            continue
        if name == "user-agent":
            if not opened:
                groups.append(([], [], []))
            groups[-1][0].append(value.lower())
            opened = True
            continue
        opened = False
        if groups and name in {"allow", "disallow"} and value and len(groups[-1][1]) < _MOST_RULES:
            groups[-1][1].append((name == "allow", value))
        elif groups and name == "crawl-delay" and re.fullmatch(r"\d{1,4}(\.\d{1,4})?", value):
            groups[-1][2].append(float(value))
    own = [one for one in groups if agent.lower() in one[0]]
    chosen = own or [one for one in groups if "*" in one[0]]
    rules = tuple(rule for _, group, _ in chosen for rule in group)
    return Robots(rules[:_MOST_RULES], max((delay for _, _, delays in chosen for delay in delays), default=0.0))


def _matches(pattern: str, path: str) -> bool:
    return _walk(*_parts(pattern), path)


@lru_cache(maxsize=20_000)
def _parts(pattern: str) -> tuple[tuple[str, ...], str]:
    """The pieces of a pattern between its stars, and "$" where it has to end there."""
    end = "$" if pattern.endswith("$") else ""
    return tuple(pattern.removesuffix("$").split("*")[: _MOST_STARS + 1]), end


def _walk(pieces: Sequence[str], end: str, path: str) -> bool:
    """Whether pieces follow each other in a path, the first at its start; linear in the path for each piece."""
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
