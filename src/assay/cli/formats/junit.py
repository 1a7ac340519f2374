"""JUnit XML, as Jenkins, GitLab and GitHub reporters read it: one test case for each answer, row or limit.

The form is that of the Apache Ant JUnit report with the attributes `file` and `line` and the element `properties` that
GitLab and pytest add; a case that could not be checked is an `error`, any other failed case a `failure`.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Final

from assay.cli.formats.cases import Case, Finding, Outcome

_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow (section 2.2)."""
_ATTACHMENT: Final = re.compile(r"\[(?=\s*\[\s*ATTACHMENT)", re.IGNORECASE)
"""What GitLab and Jenkins read as the path of an attachment of the case: foreign text must not name one."""


def junit(outcome: Outcome) -> str:
    """The outcome as a JUnit XML file."""
    groups: dict[str, list[Case]] = {}
    for case in outcome.cases:
        groups.setdefault(case.group, []).append(case)
    root = ET.Element("testsuites", {"name": outcome.title, **_counts(outcome.cases)})
    for name, cases in groups.items():
        suite = ET.SubElement(root, "testsuite", {"name": _text(name), **_counts(cases)})
        for case in cases:
            _case(suite, name, case)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    broken = sum(case.broken for case in cases)
    failed = sum(not case.passed for case in cases) - broken
    seconds = f"{sum(case.seconds for case in cases):.3f}"
    return {"tests": str(len(cases)), "failures": str(failed), "errors": str(broken), "skipped": "0", "time": seconds}


def _case(suite: ET.Element, group: str, case: Case) -> None:
    attributes = {"name": _text(case.name), "classname": _text(f"assay.{group}"), "time": f"{case.seconds:.3f}"}
    if case.place is not None:
        attributes |= {"file": _text(case.place.file), "line": str(case.place.line)}
    element = ET.SubElement(suite, "testcase", attributes)
    if case.properties:
        properties = ET.SubElement(element, "properties")
        for name, value in case.properties.items():
            ET.SubElement(properties, "property", {"name": name, "value": _text(value)})
    body = _text("\n".join([case.headline, *(line for one in case.findings for line in finding_lines(one))]))
    if case.passed:
        if case.findings:
            ET.SubElement(element, "system-out").text = body
        return
    kind = case.findings[0].code if case.findings else "assay"
    name = "error" if case.broken else "failure"
    ET.SubElement(element, name, {"message": _text(case.headline), "type": _text(kind)}).text = body


def finding_lines(finding: Finding) -> list[str]:
    """A finding as plain lines."""
    where = "" if finding.place is None else f"{finding.place.file}:{finding.place.line}: "
    lines = [f"{finding.level}: {where}{finding.message} ({finding.code})"]
    if finding.claim:
        lines.append(f"  claim: {_collapse_whitespace(finding.claim)}")
    if finding.words:
        lines.append(f"  words: {_collapse_whitespace(finding.words)}")
    lines += [f"  passage [{one.evidence_id}]: {_collapse_whitespace(one.text)}" for one in finding.passages]
    return lines


def _collapse_whitespace(text: str) -> str:
    return " ".join(text.split())


def _text(text: str) -> str:
    return _ATTACHMENT.sub("[ ", _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))
