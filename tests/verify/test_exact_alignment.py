"""A claim is held against the clause that says something of the same subject, and against no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema import Evidence
from assay.verify.exact import check_exact, index_evidence
from assay.verify.exact.alignment import align, places_of, names_another_subject
from assay.verify.exact.parsed_claim import parse_claim


def against(claim: str, evidence: str, least: float = 0.5) -> list[str]:
    """The codes of what speaks against a claim."""
    found = check_exact(claim, index_evidence([Evidence(id="e", text=evidence)])).findings
    return [f.code for f in found if f.effect == "contradicts" and f.confidence >= least]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The coating is dissolvable in water.", "The coating dissolves in water. The puzzle is solvable."),
        ("The shop is open on Mondays.", "The shop is open Monday to Friday. The cafe is closed on Mondays."),
        ("The museum is open on Sunday.", "The museum opens on Sunday. The cafe closes on Monday."),
        (
            "Secondary caregivers get 4 weeks.",
            "Primary caregivers get 16 weeks of leave. Secondary caregivers receive 4 weeks of leave.",
        ),
        (
            "Four weeks of leave go to secondary caregivers.",
            "Primary caregivers are entitled to sixteen weeks, secondary caregivers to four.",
        ),
        ("We hold ISO 27001.", "We hold ISO 27001, but we do not hold HIPAA certification."),
        ("HIPAA certification is not held.", "We hold ISO 27001, but we do not hold HIPAA certification."),
        ("The east gate is open.", "The west gate is closed. The east gate is open until eight."),
        ("Old tyres are accepted.", "Old tyres are accepted at the depot. New tyres are sold next door."),
        ("Version 2 is supported.", "Version 1 is no longer supported; version 2 is."),
        ("Visitors do not pay for parking.", "Visitors park free of charge. Staff pay for parking."),
        ("Electricity is not included in the rent.", "The rent includes water but not electricity."),
        ("The order came to $243.", '{"unit_price": 45.0, "quantity": 4, "shipping": 63.0, "total": 243.0}'),
        ("The invoice comes to 243 euros.", '{"unit_price": 31.5, "quantity": 2, "total": 243.0, "currency": "EUR"}'),
        ("Plan B costs 20 euros.", "Plan A costs 10 euros a month, plan B 20."),
    ],
)
def test_another_clause_says_nothing_against_a_claim(claim: str, evidence: str) -> None:
    assert against(claim, evidence) == []


@pytest.mark.parametrize(
    ("claim", "evidence", "code"),
    [
        ("The museum is closed on Sunday.", "The museum is open on Sunday.", "antonym.clash"),
        ("The east gate is closed.", "The west gate is closed. The east gate is open until eight.", "antonym.clash"),
        (
            "Secondary caregivers get 16 weeks.",
            "Primary caregivers get 16 weeks of leave. Secondary caregivers receive 4 weeks of leave.",
            "number.wrong_subject",
        ),
        ("The north wing has 55 beds.", "The north wing has 40 beds, the south wing 55.", "number.wrong_subject"),
        (
            "We do not hold ISO 27001.",
            "We hold ISO 27001, but we do not hold HIPAA certification.",
            "polarity.negation",
        ),
        (
            "We hold HIPAA certification.",
            "We hold ISO 27001, but we do not hold HIPAA certification.",
            "polarity.negation",
        ),
        ("The mix is prepared with DNA.", "The mix is prepared without DNA.", "polarity.negation"),
    ],
)
def test_the_clause_of_the_same_subject_speaks_against_it(claim: str, evidence: str, code: str) -> None:
    assert code in against(claim, evidence, 0.6)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("A parcel of 12 kg can be sent as L.", "Size M takes parcels up to 10 kg, size L parcels up to 25 kg."),
        ("If you order 12 chairs, delivery is free.", "For orders of 10 chairs and more, delivery is free."),
        ("For 180 m² you need 108 ml.", "Apply 6 ml for every 10 m²."),
        ("For a plot of 50 square metres you need two kilos.", "Spread 400 g of lime per 10 square metres."),
        ("Nobody may book more than three seats.", "Each customer can book up to three seats."),
        ("There is no ferry on Wednesdays.", "The ferry runs on Tuesdays and Fridays."),
        ("110 Mbit/s is below the minimum of 150 in the contract.", "The contract has a minimum of 150 Mbit/s."),
        (
            "The permit will not be issued before the fee has been paid.",
            "The permit is issued after the fee has been paid.",
        ),
        ("The team had to do without its captain.", "The captain of the team was injured and missed the match."),
    ],
)
def test_a_case_of_its_own_a_limit_and_a_denied_value_are_not_surely_contradicted(claim: str, evidence: str) -> None:
    assert against(claim, evidence, 0.8) == []


def test_a_case_that_the_claim_repeats_word_for_word_still_is() -> None:
    assert against("After two years a bicycle is insured.", "After three years a bicycle is insured.", 0.8)


_SUBJECTS = st.sampled_from(["gate", "lift", "pool", "office", "bridge", "garden"])
_PLACES = st.sampled_from(["east", "upper", "inner", "old"])
_OPPOSITE = {"east": "west", "upper": "lower", "inner": "outer", "old": "new"}


@given(_SUBJECTS, _PLACES, st.booleans(), st.sampled_from([". The", ", while the", "; the", " and the"]))
def test_what_is_said_of_the_opposite_thing_speaks_for_no_clash(
    subject: str, place: str, is_open: bool, joint: str
) -> None:
    one, other = ("open", "closed") if is_open else ("closed", "open")
    other_place = _OPPOSITE[place]
    evidence = f"The {other_place} {subject} is {other}{joint} {place} {subject} is {one}."
    assert "antonym.clash" not in against(f"The {place} {subject} is {one}.", evidence)


@given(st.text(alphabet="abc 12.,;'not", max_size=60), st.text(alphabet="abc 12.,;'not", max_size=80))
def test_alignment_is_a_share_and_names_words_of_the_claim(claim: str, evidence: str) -> None:
    index = index_evidence([Evidence(id="e", text=evidence)]) if evidence.strip() else None
    if index is None:
        return
    parsed = parse_claim(claim, index)
    stems = {word.stem for word in parsed.words.lexemes}
    for candidate in parsed.candidates:
        for stem in candidate.stems:
            for place in places_of(index, candidate.sentence, stem):
                found = align(parsed, index, (0, len(claim) // 2), candidate, place)
                assert 0 <= found.share <= 1.0000001
                assert found.missing | found.elsewhere <= stems
                assert isinstance(names_another_subject(parsed, index, candidate, found), bool)
