"""Sources that give way to others, and what is judged by which."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Guard
from assay.guard.conflicts.superseded_sources import looks_back, superseded
from assay.schema import Evidence, Verdict
from assay.testing import FakeScorer, ScriptedScorer

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
)
def test_an_older_version_and_what_says_that_it_is_out_give_way(
    first: Evidence, second: Evidence, gives_way: dict[str, str | None]
) -> None:
    assert {old: one.to for old, one in superseded([first, second]).items()} == gives_way
    assert {old: one.to for old, one in superseded([second, first]).items()} == gives_way


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (
            source("a", text=f"Last updated: 3 June 2025. {TWO}", title="Team page"),
            source("b", text=f"Last updated: 12 January 2026. {FOUR}", title="Team page"),
            "version",
        ),
        (
            Evidence(id="a", source="handbook_v2.pdf", text=TWO),
            Evidence(id="b", source="handbook_v3.pdf", text=FOUR),
            "version",
        ),
        (source("a", "Directive 14"), source("b", "Directive 22", "This directive replaces Directive 14."), "replaced"),
        (
            source("a", "Memo 7 of the desk"),
            source("b", "Memo 9 of the desk", "Memo 7 is hereby cancelled."),
            "replaced",
        ),
        (source("a", "Budget 2026, draft for discussion"), source("b", "Budget 2026, final", FOUR), "draft"),
        (source("a", "Provisional timetable"), source("b", "Timetable", FOUR), "draft"),
    ],
)
def test_a_source_gives_way_for_what_it_or_another_one_says(first: Evidence, second: Evidence, why: str) -> None:
    assert {old: one.why for old, one in superseded([second, first]).items()} == {"a": why}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # A day of which something else is said is no stamp; a draft of something else; a source that speaks of itself.
        (source("a", "Fair", "Opening day: 11 June 2025. " + TWO), source("b", "Fair", "The fair ends on 2 May 2026.")),
        (source("a", "Draft law on water"), source("b", "Law on water: a commentary", FOUR)),
        (source("a", "Rule 4"), source("b", "Rule 5", "Whoever replaces a rule of the house says so.")),
        (source("a", "Tariff"), source("b", "Tariff of old", "This tariff is good. The fee is cancelled.")),
    ],
)
def test_what_only_looks_like_it_gives_no_way(first: Evidence, second: Evidence) -> None:
    assert superseded([first, second]) == {}


def test_what_is_not_in_force_on_the_day_that_is_asked_about_gives_way() -> None:
    soon = NEW.model_copy(update={"effective_date": date(2030, 1, 1)})
    assert superseded([OLD, soon], date(2026, 1, 1))["new"].why == "not yet"
    assert superseded([OLD, soon], date(2030, 1, 1))["old"].to == "new"
    offer = source("offer", "Spring offer", "Valid until 31 August 2025. " + TWO)
    prices = source("prices", "Prices", FOUR)
    assert superseded([offer, prices], date(2025, 8, 31)) == {}
    assert superseded([offer, prices], date(2025, 9, 1))["offer"].why == "no more"
    assert superseded([offer, prices]) == {}
    past = offer.model_copy(update={"expiry_date": date(2025, 8, 31), "text": TWO})
    assert superseded([past, prices], date(2025, 8, 31))["offer"].why == "no more"


def test_a_part_that_is_changed_gives_way_only_where_it_is_spoken_of() -> None:
    old = source("old", "Catering agreement", "Lunch is delivered at 11:30. The cook is Bodo Lind.")
    new = source(
        "new", "Amendment", "This amendment supersedes a time of the catering agreement: lunch is delivered at 12:15."
    )
    given = superseded([old, new])["old"]
    assert given.applies_to("Lunch is delivered at 11:30.")
    assert not given.applies_to("The cook is Bodo Lind.")


@given(
    st.lists(
        st.builds(
            Evidence,
            id=st.uuids().map(str),
            title=st.sampled_from(["Plan", "Plan v2", "Plan (draft)", "Old plan", "Note", "Plan of May 2025"]),
            text=st.sampled_from([TWO, FOUR, "Replaces the plan.", "Valid from 1 May 2024. " + TWO, ""]),
            effective_date=st.none() | st.dates(date(2020, 1, 1), date(2030, 1, 1)),
            expiry_date=st.none() | st.dates(date(2020, 1, 1), date(2030, 1, 1)),
        ),
        max_size=5,
        unique_by=lambda item: item.id,
    ),
    st.none() | st.dates(date(2020, 1, 1), date(2030, 1, 1)),
)
def test_some_source_is_always_left_and_the_order_changes_nothing(evidence: list[Evidence], as_of: date | None) -> None:
    out = superseded(evidence, as_of)
    assert not evidence or set(out) < {item.id for item in evidence}
    assert dict(superseded(evidence[::-1], as_of)) == dict(out)


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


def test_a_value_that_only_an_outdated_source_has_is_not_borne_out_by_what_holds() -> None:
    old = source("old", "Guide (deprecated)", "Use port 8080 for the service of the house.")
    new = source("new", "Guide", "Use port 8443 for the service of the house.")
    claim, right = "Port 8080 is for the service.", "Port 8443 is for the service."
    yes = (0.97, 0.02, 0.01)
    scorer = ScriptedScorer({(text, one): yes for text in (f"Guide: {new.text}", new.text) for one in (claim, right)})
    guard = Guard("general", scorer=scorer)
    assert guard.check(right, evidence=[old, new]).claims[0].verdict is Verdict.SUPPORTED
    assert guard.check(claim, evidence=[old, new]).claims[0].verdict is Verdict.UNSUPPORTED
    assert guard.check(claim, evidence=[new]).claims[0].verdict is Verdict.SUPPORTED
