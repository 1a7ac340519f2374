"""What the cases of the net are made of: only texts of the project's own, none over documents of other people."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

ROOT: Final = Path(__file__).resolve().parents[2]
PRESETS: Final = ("general", "rag", "support-desk", "monitor", "high-stakes", "creative")

Way = Literal["check", "run", "stream", "repair", "judged", "page"]
"""How a case is put to the guard: one output, an agent run, a stream of pieces, a repair without a model, a check that
asks a scripted judge, or a check whose report is written as text and as HTML."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that is put to the guard."""

    id: str
    """Names the case for good: two versions of the project give one case one name."""
    way: Way
    policy: str
    given: Mapping[str, Any]
    """Everything that is put in, as a JSON value."""

    @property
    def digest(self) -> str:
        """Identifies what is put in, so that a changed input is not taken for a changed report."""
        return short_digest([self.way, self.policy, self.given])


def canonical(value: Any) -> str:
    """A JSON value as one text: keys sorted, no blanks.

    Raises:
        ValueError: a number is not finite.
        TypeError: it holds what JSON cannot say.
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def short_digest(value: Any) -> str:
    """64 bits of the SHA-256 of a JSON value, in hexadecimal: nobody forges here, and a difference is to be seen."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def drawn(name: str, of: int) -> int:
    """A number below `of` that hangs on the name alone, so that a new case moves no other one."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % of


def preset_of(name: str) -> str:
    """The preset under which a case is checked."""
    return PRESETS[drawn(f"preset {name}", len(PRESETS))]


@cache
def gate_rows(name: str) -> tuple[dict[str, Any], ...]:
    """The rows of a file of `benchmarks/gate`."""
    return tuple(_lines(ROOT / "benchmarks/gate" / f"{name}.jsonl"))


@cache
def scenarios() -> tuple[dict[str, Any], ...]:
    """The scenarios that bring their own evidence; those over real documents are not at hand everywhere."""
    found = [one for path in sorted((ROOT / "train/scenarios").glob("*.jsonl")) for one in _lines(path)]
    return tuple(one for one in found if all("text" in passage for passage in one["evidence"]))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def evidence_of(scenario: Mapping[str, Any]) -> list[dict[str, str]]:
    """The passages of a scenario as a caller would give them."""
    found = []
    for one in scenario["evidence"]:
        passage = {key: one[key] for key in ("id", "text", "title") if one.get(key)}
        if re.fullmatch(r"\d{4}-\d\d-\d\d", one.get("date", "")):
            passage["effective_date"] = one["date"]
        if one["text"].strip():
            found.append(passage)
    return found


def answer_of(scenario: Mapping[str, Any]) -> str:
    """The answer of a scenario; where none was written, its first claims, right and wrong ones."""
    return scenario["answer"] or " ".join(claim["text"] for claim in scenario["claims"][:6])


def locale_of(scenario: Mapping[str, Any]) -> str:
    """The language that a scenario is written in."""
    return str(scenario.get("language") or "en")
