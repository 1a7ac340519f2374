"""Dates of a claim beside spans and lists of dates in the evidence."""

import pytest

from assay.schema import Evidence
from assay.verify.exact import check_exact
from assay.verify.exact.index_builder import index_evidence


def contradicted(claim: str, evidence: str) -> bool:
    found = check_exact(claim, index_evidence([Evidence(id="e", text=evidence)], "en"))
    return any(finding.effect == "contradicts" for finding in found.findings)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The desk is open on Tuesday.", "The desk is open from Monday to Thursday."),
        ("The desk is open on Tuesdays.", "The desk is open Monday through Friday."),
        ("The desk is open on Sunday.", "The desk is open from Friday to Monday."),
        ("The desk is open on Friday.", "The desk is open on Monday and Friday."),
        ("The fair takes place on 5 May 2024.", "The fair takes place from 3 May 2024 to 7 May 2024."),
        ("The fair takes place in June.", "The fair takes place from May to July."),
        ("She worked in Oslo in 1992.", "She worked in Oslo from 1990 to 1995."),
        ("The shop is open at 10:00.", "The shop is open from 9:00 to 17:00."),
    ],
)
def test_what_lies_in_a_span_or_stands_in_a_list_is_not_contradicted(claim: str, evidence: str) -> None:
    assert not contradicted(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The desk is open on Saturday.", "The desk is open from Monday to Thursday."),
        ("The desk is open on Tuesday.", "The desk is open on Monday and Friday."),
        ("The desk is open from Monday to Wednesday.", "The desk is open from Monday to Thursday."),
        ("The fair takes place on 9 May 2024.", "The fair takes place from 3 May 2024 to 7 May 2024."),
        ("The fair ends on 5 May 2024.", "The fair lasts from 3 May 2024 to 7 May 2024."),
        ("The museum is open on Mondays.", "The museum is closed on Mondays."),
    ],
)
def test_what_lies_outside_or_says_when_it_ends_is_contradicted(claim: str, evidence: str) -> None:
    assert contradicted(claim, evidence)


def test_a_date_that_lies_in_a_span_is_found_in_it() -> None:
    evidence = "The desk is open from Monday to Thursday."
    found = check_exact("The desk is open on Tuesday.", index_evidence([Evidence(id="e", text=evidence)], "en"))
    (within,) = [one for one in found.findings if one.code == "date.within"]
    assert within.effect == "note"
    assert within.evidence is not None
    assert within.evidence.text == "from Monday to Thursday"
    assert evidence[within.evidence.start : within.evidence.end] == within.evidence.text
    assert found.signals["dates_found"] == 1.0
    assert within.message == "The evidence says 'from Monday to Thursday', and 'Tuesday' lies in it."
