"""What all tests of a session checked: the summary, the snapshots and the colour of failures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from assay.cli.terminal import one_line
from assay.pytest.accepted import snapshot_path, write_accepted
from assay.pytest.failure_text import coloured

_ORDER: Final = ("supported", "contradicted", "unsupported", "unchecked", "not_checkable")
_FAIL: Final = "E   "
"""What pytest writes before the lines of a failure."""


def summarise(records: Sequence[Mapping[str, Any]], terminal: pytest.TerminalReporter, *, accepting: bool) -> None:
    """Writes the section of the summary."""
    checks = [check for one in records for check in one["checks"]]
    claims: Counter[str] = Counter()
    for check in checks:
        claims.update(check["claims"])
    failed = sum(check["failed"] for check in checks)
    accepted = sum(len(check["accepted"]) for check in checks)
    seconds = sum(check["ms"] for check in checks) / 1000
    terminal.section("assay", sep="=")
    answers = f"{len(checks):,} {_plural('answer', len(checks))} checked in {seconds:.2f} s"
    passes = "all supported or accepted" if accepted else "all supported"
    fails = f"{failed:,} not supported" if failed else passes
    terminal.write_line(f"{answers}, {fails}", red=bool(failed), green=not failed)
    parts = [f"{claims[name]:,} {name.replace('_', ' ')}" for name in _ORDER if claims[name]]
    terminal.write_line(f"{claims.total():,} {_plural('claim', claims.total())}: {', '.join(parts) or 'none'}")
    if accepted and accepting:
        files = sorted({str(snapshot_path(Path(one["file"]))) for one in records if _accepted(one)})
        terminal.write_line(f"{accepted:,} accepted now, to be reviewed: {', '.join(map(_clean, files))}", yellow=True)
    elif accepted:
        terminal.write_line(f"{accepted:,} not supported, accepted by a snapshot", yellow=True)
    by_test = Counter(f"{one['file']}::{one['test']}" for one in records for check in one["checks"] if check["failed"])
    if accepting and by_test:
        terminal.write_line("what could not be accepted: " + ", ".join(map(_clean, by_test)), red=True)


def _clean(text: str) -> str:
    return one_line(text, 300)


def _plural(word: str, count: int) -> str:
    return word if count == 1 else word + "s"


def _accepted(one: Mapping[str, Any]) -> list[list[str]]:
    return [entry for check in one["checks"] for entry in check["accepted"]]


def write_snapshots(records: Sequence[Mapping[str, Any]]) -> None:
    """Writes the snapshot of every test file of which a test checked something.

    Raises:
        InputError: a snapshot is damaged or cannot be written.
    """
    files: dict[str, dict[str, list[list[str]]]] = {}
    for one in records:
        files.setdefault(one["file"], {}).setdefault(one["test"], []).extend(_accepted(one))
    for file, tests in files.items():
        write_accepted(snapshot_path(Path(file)), tests, tests)


def colour(report: Any) -> None:
    """Colours the lines of a failure of ours; any other report, and one of an unknown form, is left as it is."""
    lines = getattr(report, "assay", {}).get("lines")
    entries = getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", None)
    shown = getattr(entries[-1], "lines", None) if entries else None
    if not lines or not shown:
        return
    first = next((at for at, line in enumerate(shown) if line.startswith("E ")), None)
    if first is None or len(shown) - first < len(lines):
        return
    for at, line in enumerate(lines):
        if at:  # the first one begins with the name of the error and is coloured by pytest
            indent, parts = line
            shown[first + at] = f"{_FAIL}\x1b[0m{' ' * indent}" + coloured([(str(t), str(s)) for t, s in parts])
