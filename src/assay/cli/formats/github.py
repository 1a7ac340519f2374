"""Commands of GitHub Actions that put findings beside the lines of a pull request.

The form is `::error file=...,line=...::message`; the escapes are those of the runner's toolkit (percent sign, carriage
return and newline everywhere, colon and comma in properties too), so that foreign text can neither end a command nor
begin one. GitHub shows ten errors, ten warnings and ten notices of a step: the gravest come first.
"""

from collections.abc import Iterator
from typing import Final

from assay.cli.formats.cases import LEVELS, Finding, Outcome, Place
from assay.cli.terminal import clean, one_line

_COMMAND: Final = {"error": "error", "warning": "warning", "note": "notice"}


def github(outcome: Outcome) -> str:
    """The commands, one a line; the last line is the result of the run."""
    return "".join(line + "\n" for line in _lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    findings = [finding for case in outcome.cases for finding in case.findings]
    findings += [
        Finding("assay", "error", f"{case.name}: {case.headline}", case.place)
        for case in outcome.cases
        if not case.passed and not case.findings
    ]
    findings.sort(key=lambda one: LEVELS.index(one.level))
    for finding in findings:
        title = f"assay: {finding.code}"
        yield f"::{_COMMAND[finding.level]} {_properties(finding.place, title)}::{_data(_message(finding))}"
    failed = len(outcome.failed)
    yield _plain(f"{outcome.title}: {failed} of {len(outcome.cases)} failed")


def _message(finding: Finding) -> str:
    lines = [finding.message]
    if finding.claim:
        lines.append(f"Claim: {one_line(finding.claim, 500)}")
    lines += [f"[{one_line(one.evidence_id, 80)}] {one_line(one.text, 400)}" for one in finding.passages[:2]]
    return "\n".join(clean(line) for line in lines)


def _properties(place: Place | None, title: str) -> str:
    named: dict[str, object] = {}
    if place is not None:
        named = {"file": place.file, "line": place.line, "endLine": place.end_line}
        if place.end_line in (None, place.line):  # GitHub takes columns within one line only
            named |= {"col": place.column, "endColumn": place.end_column}
    named["title"] = title
    return ",".join(f"{name}={_property(str(value))}" for name, value in named.items() if value is not None)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(clean(text)).replace(":", "%3A").replace(",", "%2C")


def _plain(text: str) -> str:
    """A line of the log that the runner cannot read as a command."""
    return one_line(text).replace("::", ": :").replace("##[", "## [")
