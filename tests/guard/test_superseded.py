"""Sources that give way to others, and what is judged by which."""

from datetime import date

import pytest

from assay import Guard
from assay.guard.superseded import looks_back, superseded
from assay.schema import Evidence, Verdict
from assay.testing import FakeScorer

TWO, FOUR = "Partners are entitled to 2 weeks of leave.", "Partners are entitled to 4 weeks of leave."
OLD = Evidence(id="old", title="Leave policy", text=TWO, effective_date=date(2022, 1, 1))
NEW = Evidence(id="new", title="Leave policy", text=FOUR, effective_date=date(2024, 1, 1))


def source(id_: str, title: str | None = None, text: str = TWO, version: str | None = None) -> Evidence:
    return Evidence(id=id_, title=title, text=text, version=version)


@pytest.mark.parametrize(
    ("first", "second", "gives_way"),
    [
        (OLD, NEW, {"old": "new"}),
        (source("a", "Leave policy v3.1"), source("b", "Leave policy v3.2"), {"a": "b"}),
        (source("a", "Leave policy", version="2"), source("b", "Leave policy", version="10"), {"a": "b"}),
        (source("a", "Price list 2023"), source("b", "Price list 2024"), {"a": "b"}),
        (source("a", "Old intranet page (archived)"), source("b", "Handbook"), {"a": None}),
        (source("a", "Memo", "This memo has been replaced."), source("b", "Handbook"), {"a": None}),
        # Other documents, the same date, no date, or nothing in common but the name.
        (source("a", "Leave policy 2023"), source("b", "Travel policy 2024"), {}),
        (source("a", "Leave policy 2024"), source("b", "Leave policy 2024"), {}),
        (source("a", "Leave policy"), source("b", "Leave policy"), {}),
        (source("a", "Minutes 2023", "The roof was mended."), source("b", "Minutes 2024", "Ann was elected."), {}),
        (source("a", "Cards", "Expired cards are replaced by the desk."), source("b", "Handbook"), {}),
    ],
)  # fmt: skip
def test_an_older_version_and_what_says_that_it_is_out_give_way(
    first: Evidence, second: Evidence, gives_way: dict[str, str | None]
) -> None:
    assert dict(superseded([first, second])) == gives_way
    assert dict(superseded([second, first])) == gives_way


def test_where_every_source_is_out_none_gives_way() -> None:
    assert superseded([source("a", "Memo (archived)"), source("b", "Note (archived)")]) == {}


@pytest.mark.parametrize(
    ("claim", "back"),
    [
        ("Partners get 4 weeks of leave.", False),
        ("Partners used to get 2 weeks of leave.", True),
        ("The 2022 policy grants 2 weeks.", True),
        ("Version 1 grants 2 weeks.", True),
        ("The sources disagree.", True),
    ],
)
def test_a_claim_about_what_was_is_told_from_one_about_what_is(claim: str, back: bool) -> None:
    assert looks_back(claim, [OLD]) is back


def test_what_holds_now_is_judged_by_what_holds_now() -> None:
    guard = Guard("general", scorer=FakeScorer())
    now = guard.check(FOUR, evidence=[OLD, NEW])
    then = guard.check(TWO, evidence=[OLD, NEW])
    past = guard.check("Partners used to be entitled to 2 weeks of leave.", evidence=[OLD, NEW])
    assert now.claims[0].verdict is Verdict.SUPPORTED
    assert not now.claims[0].conflict
    assert then.claims[0].verdict is Verdict.CONTRADICTED
    assert past.claims[0].verdict is not Verdict.CONTRADICTED
    assert any("old" in reason and "new" in reason for reason in now.coverage.reasons)


def test_sources_of_equal_standing_that_have_different_values_are_a_conflict() -> None:
    evidence = [source("a"), source("b", text="Partners are entitled to 4 weeks of leave.")]
    for weeks in (2, 4):
        report = Guard("general", scorer=FakeScorer()).check(
            f"Partners are entitled to {weeks} weeks of leave.", evidence=evidence
        )
        assert report.claims[0].conflict
        assert report.action.value != "emit"
        (conflict,) = report.retrieval.conflicts
        assert {conflict.supporting.evidence_id, conflict.contradicting.evidence_id} == {"a", "b"}
