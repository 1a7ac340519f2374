"""Skeletons: prompts and declarations of tools as sequences of digests, in which varying parts are masked.

A text is cut at the ends of lines and sentences. In each part, numbers, dates, times, addresses and identifiers are
replaced by a mark, so that a prompt that contains the current date is the same prompt tomorrow. Other varying parts,
such as names, are recognised from the traffic (`assay.monitor.takeovers`). Only digests are kept, no words.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from assay.monitor import MOST_PARTS

_MONTHS: Final = "jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec"
_DAYS: Final = "mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun"
_MASKED: Final = re.compile(
    r"https?://\S+|\S+@\S+\.\w+"  # addresses
    r"|\b(?=[0-9a-f-]*\d)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=\w*\d)\w{12,}\b"  # identifiers
    rf"|\b(?:{_MONTHS})(?:uary|ruary|ch|il|ust|tember|ober|ember)?\b\.?"
    rf"|\b(?:{_DAYS})(?:day)?\b\.?"
    r"|\b(?:am|pm|utc|gmt|z)\b|[+-]?\d[\d.,:/_-]*(?:st|nd|rd|th|t|z)?",
    re.IGNORECASE,
)
_RUNS: Final = re.compile(r"#(?:[\s#.,:/-]*#)+")
_CUTS: Final = re.compile(r"[\r\n]+|(?<=[.!?;:])\s+")
_BLANKS: Final = re.compile(r"\s+")


@lru_cache(maxsize=512)
def skeleton_of(text: str) -> tuple[str, ...]:
    """The parts of a prompt as digests.

    >>> skeleton_of("Help Ann. Today is Monday, 2 March 2026.") == skeleton_of("Help Ann. Today is Friday, 13 June.")
    True
    >>> skeleton_of("Be brief.") == skeleton_of("Be thorough.")
    False
    """
    return tuple(digest for part in _CUTS.split(text) if (digest := _part(part)))[:MOST_PARTS]


@lru_cache(maxsize=16_384)
def _part(part: str) -> str:
    """The digest of a part; empty for an empty part. It is cached, since most parts recur from prompt to prompt."""
    left = masked(part)
    return _digest(left) if left else ""


def masked(part: str) -> str:
    """A part in lower case with one mark for each run of varying words.

    >>> masked("It is  10:32 on Tuesday, March 3rd; ticket 9f8e7d6c5b4a3")
    'it is # on #; ticket #'
    >>> masked("It is 10pm.") == masked("It is 11am.")
    True
    """
    text = _BLANKS.sub(" ", part).strip().lower()
    while True:
        # A mask can free what it was attached to: "10pm" becomes "#pm", in which "pm" is a word of its own.
        once_more = _RUNS.sub("#", _MASKED.sub("#", text))
        if once_more == text:
            return text
        text = once_more


def declarations_of(tools: Sequence[Any]) -> tuple[str, ...]:
    """The declarations of tools as digests, in the order of their names; those that are not JSON are left out."""
    found = []
    for tool in tools[:MOST_PARTS]:
        inner = tool.get("function") if isinstance(tool, dict) else None
        named = inner if isinstance(inner, dict) else tool if isinstance(tool, dict) else {}
        try:
            text = json.dumps(tool, sort_keys=True, ensure_ascii=True, default=str)
        except (TypeError, ValueError, RecursionError):
            continue
        found.append((str(named.get("name", named.get("type", "")))[:200], _digest(masked(text))))
    return tuple(digest for _, digest in sorted(found))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
