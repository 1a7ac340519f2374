"""Categories as a report shows them: of claims, of values of a document, of the output as a whole."""

from dataclasses import replace

from assay.guard import Guard
from assay.guard.check.report.claim_reports import claim_report
from assay.guard.check.verdicts import Judged
from assay.policy import preset
from assay.schema import Category, Origin, Stakes, Verdict
from assay.schema.outside import OutsideWord
from assay.testing import FakeScorer
from assay.text.claims.rule_extractor import RuleClaimExtractor
from assay.verify.exact import ExactResult
from assay.verify.network.entailment import EntailmentResult

SUM = "Four crates hold 4 × 12 = 46 bottles."
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "weeks": {"type": "integer"}, "tier": {"enum": ["gold", "silver"]}},
    "required": ["city", "weeks"],
}


def guard() -> Guard:
    return Guard("general", scorer=FakeScorer())


def test_a_wrong_sum_of_the_evidence_is_logical_and_extrinsic() -> None:
    report = guard().check(SUM, [SUM])
    assert (report.claims[0].category, report.claims[0].origin) == (Category.LOGICAL, Origin.EXTRINSIC)
    assert report.categories == (Category.LOGICAL,)


def test_a_conclusion_that_does_not_follow_from_a_rule_of_the_evidence_is_logical() -> None:
    evidence = ["All managers wear badges. Ada wears a badge."]
    report = guard().check("Ada wears a badge. Therefore, Ada is a manager.", evidence)
    assert "logic.invalid_form" in [issue.code for claim in report.claims for issue in claim.issues]
    assert report.action.value != "emit"


def test_a_missing_field_is_structural_though_it_belongs_to_no_claim() -> None:
    report = guard().check('{"city": "Ghent"}', ["The city is Ghent."], schema=SCHEMA)
    assert Category.STRUCTURAL in report.categories


def test_a_value_that_is_not_of_the_schema_is_structural_at_its_claim() -> None:
    output = '{"city": "Ghent", "weeks": 2, "tier": "bronze"}'
    report = guard().check(output, ["The city is Ghent. Weeks: 2."], schema=SCHEMA, structure={})
    found = {claim.path: claim.category for claim in report.claims}
    assert found["/tier"] is Category.STRUCTURAL
    assert found["/city"] is not Category.STRUCTURAL


def test_a_clean_answer_has_no_category() -> None:
    report = guard().check("The hall has nine doors.", ["The hall has nine doors."])
    assert report.categories == ()


def test_the_word_of_an_outside_source_reaches_the_claim() -> None:
    text = "The hall has nine doors."
    claim = RuleClaimExtractor().extract(text)[0]
    judged = Judged(Verdict.SUPPORTED, None, ExactResult((), {}, ()), EntailmentResult(), {}, (), None)
    denied = OutsideWord(
        source="Register of halls", relation="denies", confidence=0.95, authoritative=True, words="It has eight doors."
    )
    report = claim_report(claim, replace(judged, outside=(denied,)), text, preset("general"), Stakes.MEDIUM)
    assert (report.category, report.origin) == (Category.FACTUAL, Origin.EXTRINSIC)
    (issue,) = [one for one in report.issues if one.code == "knowledge.denied"]
    assert issue.message == "Register of halls says otherwise: “It has eight doors.”."
