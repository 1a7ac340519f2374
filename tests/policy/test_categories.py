"""Categories and origins by the definitions of docs/concepts.md#origin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from assay.policy.findings.categories import Grounds, attribute, is_denied
from assay.schema import Category, Origin, Verdict
from assay.schema.outside import OutsideWord


def word(relation: str = "denies", **changed: object) -> OutsideWord:
    given = {"source": "register", "relation": relation, "confidence": 0.9, "authoritative": True, **changed}
    return OutsideWord.model_validate(given)


def test_what_ground_truth_denies_is_factual_and_extrinsic_only_where_the_evidence_bears_it_out() -> None:
    denied = [word()]
    assert attribute(Grounds(Verdict.SUPPORTED, outside=denied)) == (Category.FACTUAL, Origin.EXTRINSIC)
    for verdict in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED):
        grounds = Grounds(verdict, read=Category.CONTEXTUAL, outside=denied)
        assert attribute(grounds) == (Category.FACTUAL, Origin.INTRINSIC)


def test_the_silence_of_a_complete_source_denies_and_that_of_any_other_says_nothing() -> None:
    assert is_denied([word("silent", complete=True)])
    assert not is_denied([word("silent")])
    assert not is_denied([word("entails", complete=True)])


def test_one_denial_outweighs_any_number_of_agreeing_sources() -> None:
    assert is_denied([word("entails"), word("entails"), word("denies")])


def test_a_source_that_nobody_vouches_for_and_an_unsure_one_attribute_nothing() -> None:
    for said in (word(authoritative=False), word(confidence=0.3)):
        assert attribute(Grounds(Verdict.SUPPORTED, outside=[said])) == (None, None)


def test_only_ground_truth_can_be_complete() -> None:
    with pytest.raises(ValidationError, match="only an authoritative source can be complete"):
        word(authoritative=False, complete=True)


def test_a_sum_that_the_evidence_repeats_is_extrinsic_and_a_bad_step_is_not() -> None:
    assert attribute(Grounds(Verdict.SUPPORTED, faults=["logic.arithmetic"])) == (Category.LOGICAL, Origin.EXTRINSIC)
    assert attribute(Grounds(Verdict.SUPPORTED, faults=["logic.invalid_form"])) == (Category.LOGICAL, Origin.INTRINSIC)


def test_a_conclusion_that_nothing_bears_out_and_that_does_not_follow_is_logical() -> None:
    grounds = Grounds(Verdict.UNSUPPORTED, read=Category.CONTEXTUAL, structural=True, faults=["logic.invalid_form"])
    assert attribute(grounds) == (Category.LOGICAL, Origin.INTRINSIC)


def test_a_value_that_breaks_its_schema_is_structural_unless_the_evidence_denies_it() -> None:
    assert attribute(Grounds(Verdict.SUPPORTED, structural=True))[0] is Category.STRUCTURAL
    unsupported = Grounds(Verdict.UNSUPPORTED, read=Category.CONFABULATORY, structural=True)
    assert attribute(unsupported) == (Category.STRUCTURAL, Origin.INTRINSIC)
    denied = Grounds(Verdict.CONTRADICTED, read=Category.CONTEXTUAL, structural=True)
    assert attribute(denied) == (Category.CONTEXTUAL, Origin.INTRINSIC)


@given(
    verdict=st.sampled_from(Verdict),
    read=st.none() | st.sampled_from(Category),
    fabricated=st.booleans(),
    structural=st.booleans(),
    faults=st.lists(st.sampled_from(["logic.arithmetic", "logic.count"])),
    outside=st.lists(st.builds(word, st.sampled_from(["entails", "denies", "silent"]), authoritative=st.booleans())),
)
def test_the_definitions_hold_of_all_grounds(
    verdict: Verdict,
    read: Category | None,
    fabricated: bool,
    structural: bool,
    faults: list[str],
    outside: list[OutsideWord],
) -> None:
    category, origin = attribute(Grounds(verdict, read, fabricated, structural, faults, outside))
    assert (category is None) == (origin is None)
    fails = verdict in {Verdict.CONTRADICTED, Verdict.UNSUPPORTED}
    if category is not None and fails:
        assert origin is Origin.INTRINSIC  # not entailed by the evidence
    if origin is Origin.EXTRINSIC:
        assert is_denied(outside) or "logic.arithmetic" in faults
    if verdict is not Verdict.NOT_CHECKABLE:
        assert (category is Category.FACTUAL) >= is_denied(outside)
