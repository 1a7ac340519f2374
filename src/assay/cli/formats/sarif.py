"""SARIF 2.1.0 (OASIS), which GitHub code scanning, GitLab, Azure DevOps and editors read: one result for each finding.

Sections of the standard: a run with its tool (3.14), rules (3.49), results (3.27) with a location (3.28), regions in
Unicode code points (3.14.17), fingerprints that hold while lines move (3.27.17), and paths relative to the root of the
sources (3.14.14).
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import quote

from assay._version import __version__
from assay.cli.formats.cases import Case, Finding, Outcome, Place
from assay.cli.terminal import clean

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT: Final = "%SRCROOT%"
"""The placeholder for the root of the sources, as GitHub names it."""
_WORDS: Final = {
    "assay": "A case failed for no finding of its own, such as a limit that was not reached.",
}


def sarif(outcome: Outcome) -> str:
    """The outcome as a SARIF file, in ASCII."""
    pairs = [(case, finding) for case in outcome.cases for finding in _findings(case)]
    codes = sorted({finding.code for _, finding in pairs})
    run = {
        "tool": {"driver": {"name": "assay", "version": __version__, "rules": [_rule(code) for code in codes]}},
        "automationDetails": {"id": f"{outcome.title.replace(' ', '-')}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not any(case.broken for case in outcome.cases)}],
        "results": [_result(case, finding, codes) for case, finding in pairs],
    }
    value = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(value, ensure_ascii=True, allow_nan=False, indent=2) + "\n"


def _findings(case: Case) -> Sequence[Finding]:
    if case.findings or case.passed:
        return case.findings
    return (Finding("assay", "error", f"{case.name}: {case.headline}", case.place),)


def _rule(code: str) -> dict[str, Any]:
    from assay.reporting import explanation_of

    explanation = explanation_of(code)
    short = _WORDS.get(code, code) if explanation is None else explanation.title
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": short}}
    if explanation is not None:
        rule["fullDescription"] = {"text": explanation.meaning}
        rule["help"] = {"text": f"{explanation.meaning}\n\nWhat to do: {explanation.remedy}"}
    return rule


def _result(case: Case, finding: Finding, codes: Sequence[str]) -> dict[str, Any]:
    message = _unlinked(finding.message)
    for one in finding.passages[:2]:
        message += f"\n[{_unlinked(one.evidence_id)}] {_unlinked(one.text)}"
    identity = json.dumps([finding.code, case.name, finding.claim, finding.words], ensure_ascii=True)
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": finding.level,
        "message": {"text": message},
        "partialFingerprints": {"assayClaim/v1": hashlib.sha256(identity.encode("ascii")).hexdigest()[:32]},
        "properties": {"case": clean(case.name), **({"claim": clean(finding.claim)} if finding.claim else {})},
    }
    place = finding.place or case.place
    if place is not None:
        result["locations"] = [{"physicalLocation": _location(place)}]
    return result


def _unlinked(text: str) -> str:
    """Foreign text of a message without embedded links (3.11.6): `[words](target)` would be one."""
    return re.sub(r"\](?=\()", "] ", clean(text))


def _location(place: Place) -> dict[str, Any]:
    fields = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    region = {name: value for name, value in fields.items() if value is not None}
    path = PurePosixPath(place.file)
    if path.is_absolute():
        return {"artifactLocation": {"uri": f"file://{_quoted(place.file)}"}, "region": region}
    return {"artifactLocation": {"uri": _quoted(place.file), "uriBaseId": ROOT}, "region": region}


def _quoted(name: str) -> str:
    """A file name for a URI; bytes that are not UTF-8, which Python reads as lone surrogates, are written as escapes.

    >>> _quoted("a b.md"), _quoted("\\ud800")
    ('a%20b.md', '%5Cud800')
    """
    return quote(name, errors="backslashreplace")
