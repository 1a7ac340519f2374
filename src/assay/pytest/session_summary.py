"""The end of a test session: the summary of all checks, the snapshots and the colour of failures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from assay.cli.terminal import one_line
from assay.pytest.failure_text import coloured
from assay.pytest.snapshot import snapshot_path, write_accepted

_VERDICT_ORDER: Final = ("supported", "contradicted", "unsupported", "unchecked", "not_checkable")
_FAILURE_PREFIX: Final = "E   "
"""The prefix that pytest writes before each line of a failure."""


def summarise(records: Sequence[Mapping[str, Any]], terminal: pytest.TerminalReporter, *, accepting: bool) -> None:
    """Writes the section `assay` of the terminal summary.

    Args:
        records: the checks of each phase of a test, as the plugin attached them to its report.
        terminal: where to write.
        accepting: whether `--assay-accept` is given.
    """
    checks = [check for record in records for check in record["checks"]]
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
    parts = [f"{claims[name]:,} {name.replace('_', ' ')}" for name in _VERDICT_ORDER if claims[name]]
    terminal.write_line(f"{claims.total():,} {_plural('claim', claims.total())}: {', '.join(parts) or 'none'}")
    if accepted and accepting:
        files = sorted({str(snapshot_path(Path(record["file"]))) for record in records if _accepted_entries(record)})
        terminal.write_line(f"{accepted:,} accepted now, to be reviewed: {', '.join(map(_clean, files))}", yellow=True)
    elif accepted:
        terminal.write_line(f"{accepted:,} not supported, accepted by a snapshot", yellow=True)
    failed_tests = Counter(
        f"{record['file']}::{record['test']}" for record in records for check in record["checks"] if check["failed"]
    )
    if accepting and failed_tests:
        terminal.write_line("what could not be accepted: " + ", ".join(map(_clean, failed_tests)), red=True)


def _clean(text: str) -> str:
    return one_line(text, 300)


def _plural(word: str, count: int) -> str:
    return word if count == 1 else word + "s"


def _accepted_entries(record: Mapping[str, Any]) -> list[list[str]]:
    return [entry for check in record["checks"] for entry in check["accepted"]]


def write_snapshots(records: Sequence[Mapping[str, Any]]) -> None:
    """Writes the snapshot of every test file in which a test checked something.

    Raises:
        InputError: a snapshot is damaged or cannot be written.
    """
    files: dict[str, dict[str, list[list[str]]]] = {}
    for record in records:
        files.setdefault(record["file"], {}).setdefault(record["test"], []).extend(_accepted_entries(record))
    for file, tests in files.items():
        write_accepted(snapshot_path(Path(file)), tests, tests)


def colour(report: Any) -> None:
    """Colours the lines of a failed `assert_supported`; a report of any other kind or form stays as it is."""
    lines = getattr(report, "assay", {}).get("lines")
    entries = getattr(getattr(report.longrepr, "reprtraceback", None), "reprentries", None)
    printed_lines = getattr(entries[-1], "lines", None) if entries else None
    if not lines or not printed_lines:
        return
    start = next((index for index, line in enumerate(printed_lines) if line.startswith("E ")), None)
    if start is None or len(printed_lines) - start < len(lines):
        return
    for index, line in enumerate(lines):
        if index:  # the first one begins with the name of the error and is coloured by pytest
            indent, parts = line
            printed_lines[start + index] = f"{_FAILURE_PREFIX}\x1b[0m{' ' * indent}" + coloured(
                [(str(t), str(s)) for t, s in parts]
            )
