"""Cases with findings: the common model of checks and evaluations that every output format is made from."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

Level = Literal["error", "warning", "note"]
"""The severity of a finding: an error fails the case, a warning is doubtful, a note does not fail anything."""
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note")
"""The gravest first."""

_BREAK: Final = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file; lines and columns count from 1, columns in Unicode code points."""

    file: str
    """Relative to the working directory where it lies below it, with forward slashes."""
    line: int = 1
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    """The column after the last character."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of the evidence that shows a finding."""

    evidence_id: str
    text: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a case."""

    code: str
    """Such as `number.mismatch`; see `assay explain`."""
    level: Level
    message: str
    """A sentence for people; foreign text may be in it."""
    place: Place | None
    claim: str = ""
    words: str = ""
    """The wrong words."""
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One answer, one row or one limit."""

    name: str
    group: str
    """What it belongs to: `check`, a set of rows, or `limits`."""
    passed: bool
    headline: str
    """The result in one line."""
    findings: tuple[Finding, ...] = ()
    place: Place | None = None
    seconds: float = 0.0
    broken: bool = False
    """Whether it could not be checked; such a case has not passed."""
    properties: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    """The metrics that limits are about; none if a metric has no value."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """All cases of one run of the command."""

    title: str
    """For people, such as `assay check`."""
    cases: Sequence[Case]
    notes: tuple[str, ...] = ()
    """Blocks of Markdown that are shown first."""

    @property
    def failed(self) -> list[Case]:
        """The cases that have not passed."""
        return [case for case in self.cases if not case.passed]


class Lines:
    """Finds line and column of an offset in a text, in logarithmic time."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]

    def at(self, offset: int) -> tuple[int, int]:
        r"""Line and column of a character, from 1.

        >>> Lines("one\ntwo").at(5)
        (2, 2)
        """
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def place(self, file: str, start: int, end: int) -> Place:
        """The place of the characters from `start` to before `end`."""
        line, column = self.at(start)
        end_line, end_column = self.at(max(end, start))
        return Place(file, line, column, end_line, end_column)


def file_name(path: str | Path) -> str:
    """The name of a file as CI systems want it: relative to the working directory where it lies below it."""
    whole = Path(path).absolute()
    try:
        return whole.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return whole.as_posix()
