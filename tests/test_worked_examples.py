"""The worked examples of the documents that assay implements, on the verifier that ships with the package."""

import pytest

import assay
from assay.schema import Action, Category, ClaimReport, HallucinationReport, Verdict

PARENTAL_LEAVE_ANSWER = (
    "The parental leave policy provides 16 weeks of fully paid leave for primary caregivers. "
    "Partners are entitled to 4 weeks. "
    "The policy was updated in January 2024 to include adoption and surrogacy pathways."
)
PARENTAL_LEAVE_EVIDENCE = [
    assay.Evidence(id="hr-4.2", text="4.2 Duration. Primary caregivers are entitled to parental leave of 16 weeks."),
    assay.Evidence(id="hr-4.3", text="4.3 Pay. Parental leave is fully paid for primary caregivers."),
    assay.Evidence(id="hr-4.4", text="4.4 Partners. Partners are entitled to 2 weeks of leave."),
    assay.Evidence(
        id="hr-1",
        text="Revision history: the parental leave policy was updated in January 2024 to include adoption pathways.",
    ),
]


def claim_about(report: HallucinationReport, *words: str) -> ClaimReport:
    """The one claim whose text has all the words."""
    found = [claim for claim in report.claims if all(word.lower() in claim.text.lower() for word in words)]
    assert found, f"no claim has {words}: {[claim.text for claim in report.claims]}"
    return found[0]


@pytest.fixture(scope="module")
def parental_leave() -> HallucinationReport:
    return assay.check(
        PARENTAL_LEAVE_ANSWER, evidence=PARENTAL_LEAVE_EVIDENCE, question="How long is parental leave?", policy="rag"
    )


def test_sixteen_weeks_of_fully_paid_leave_are_supported(parental_leave: HallucinationReport) -> None:
    assert claim_about(parental_leave, "16 weeks").verdict is Verdict.SUPPORTED
    assert claim_about(parental_leave, "fully paid").verdict is Verdict.SUPPORTED
    assert claim_about(parental_leave, "primary caregivers").verdict is Verdict.SUPPORTED


def test_four_weeks_for_partners_are_contradicted_and_the_number_is_shown(parental_leave: HallucinationReport) -> None:
    partners = claim_about(parental_leave, "partners", "4 weeks")
    assert partners.verdict is Verdict.CONTRADICTED
    shown = [
        parental_leave.output[i.span.start : i.span.end]
        for i in partners.issues
        if i.code.startswith("number.") and i.span
    ]
    assert any("4" in text for text in shown)
    assert any(i.evidence is not None and i.evidence.evidence_id == "hr-4.4" for i in partners.issues)


def test_the_update_is_supported_and_its_surrogacy_pathway_is_not(parental_leave: HallucinationReport) -> None:
    assert claim_about(parental_leave, "updated", "January 2024").verdict is Verdict.SUPPORTED
    assert claim_about(parental_leave, "adoption").verdict is Verdict.SUPPORTED
    assert claim_about(parental_leave, "surrogacy").verdict is not Verdict.SUPPORTED


def test_parental_leave_is_not_served(parental_leave: HallucinationReport) -> None:
    assert parental_leave.action is Action.BLOCK
    factscore = parental_leave.metrics["factscore"].value
    assert factscore is not None
    assert factscore == pytest.approx(5 / 7, abs=0.15)


def test_an_extension_that_the_source_does_not_give_is_found() -> None:
    report = assay.check(
        "Parental leave is 18 weeks, which may be extended further.", evidence=["Parental leave is 16 weeks."]
    )
    assert claim_about(report, "18 weeks").verdict is Verdict.CONTRADICTED
    assert claim_about(report, "extended").verdict is not Verdict.SUPPORTED
    assert report.action is Action.BLOCK


def test_a_dropped_condition_is_named() -> None:
    report = assay.check(
        "Remote work from abroad is permitted.",
        evidence=["Remote work from abroad is permitted subject to manager approval and documentation."],
    )
    codes = {issue.code for claim in report.claims for issue in claim.issues}
    assert "condition.dropped" in codes
    assert report.action is not Action.EMIT


def test_the_same_statement_with_its_condition_passes_the_exact_tier() -> None:
    report = assay.check(
        "Remote work from abroad is permitted subject to manager approval and documentation.",
        evidence=["Remote work from abroad is permitted subject to manager approval and documentation."],
    )
    assert report.claims[0].verdict is Verdict.SUPPORTED
    assert report.action is Action.EMIT


def test_a_citation_of_a_document_that_was_not_retrieved_withholds_at_once() -> None:
    report = assay.check(
        "Partners are entitled to 2 weeks of leave [hr-9].",
        evidence=[assay.Evidence(id="hr-4.4", text="Partners are entitled to 2 weeks of leave.")],
        policy="rag",
    )
    assert [citation.status for citation in report.citations] == ["fabricated"]
    assert report.action is Action.BLOCK
    assert report.labels.routing == "WITHHOLD"


def test_a_citation_of_the_wrong_article_is_misattributed() -> None:
    report = assay.check(
        "Individuals have the right to have their personal data erased [gdpr-21].",
        evidence=[
            assay.Evidence(
                id="gdpr-17", text="Article 17: individuals have the right to have their personal data erased."
            ),
            assay.Evidence(id="gdpr-21", text="Article 21: individuals may object to direct marketing."),
        ],
        policy="rag",
    )
    assert report.citations[0].status == "misattributed"
    assert report.action is not Action.EMIT


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("Access keys must be rotated every 30 days, per ISO 27001:2022 Section 8.4.3.", "misattributed"),
        ("Access keys must be rotated every 30 days, per ISO 9001:2015 Section 8.4.3.", "fabricated"),
        ("Risk assessments are performed at planned intervals, per ISO 27001:2022 Section 8.4.3.", "misattributed"),
    ],
)
def test_a_section_that_no_document_has_withholds(answer: str, status: str) -> None:
    standard = assay.Evidence(
        id="iso-27001",
        title="ISO 27001:2022",
        text="8.2 Risk assessment. The organization performs risk assessments at planned intervals. "
        "8.3 Risk treatment. The organization implements the risk treatment plan.",
    )
    report = assay.check(answer, evidence=[standard], policy="rag")
    assert [citation.status for citation in report.citations] == [status]
    assert report.action is Action.BLOCK
    assert report.decision.route == "withhold_citation"


def test_an_elaboration_by_the_way_is_told_from_the_rule_that_is_quoted_rightly() -> None:
    report = assay.check(
        "A request for erasure may be refused where the data are needed for a legal claim. "
        "By the way, regulators have fined nobody under this rule since 2018.",
        evidence=["A request for erasure may be refused where the data are needed for a legal claim."],
        policy="rag",
    )
    rule, aside = report.claims
    assert rule.verdict is Verdict.SUPPORTED
    assert aside.verdict is not Verdict.SUPPORTED
    assert aside.category is Category.CONFABULATORY
    assert report.action is not Action.EMIT


AEGIS_1 = "AegisRAG uses Qdrant for vector storage, Neo4j for graph reasoning, and Redis for memory caching."
AEGIS_1_CONTEXTS = [
    "Vector storage is handled by Qdrant in AegisRAG.",
    "Neo4j is used by AegisRAG for the knowledge graph and for graph reasoning.",
    "Redis provides AegisRAG with temporal memory and caching.",
]


def test_aegis_example_1_is_clean() -> None:
    report = assay.check(AEGIS_1, evidence=AEGIS_1_CONTEXTS, policy="monitor")
    assert len(report.claims) == 3
    assert [claim.verdict for claim in report.claims] == [Verdict.SUPPORTED] * 3
    assert report.metrics["hallucination_rate"].value == 0.0
    assert report.labels.verdict == "PASS"


def test_aegis_example_2_is_made_up_throughout() -> None:
    report = assay.check(
        "AegisRAG was created in 2020 by a team at Stanford University and uses GPT-4 for embeddings.",
        evidence=[
            "AegisRAG is an Agentic Enterprise Graph Intelligence System.",
            "BGE-M3 embeddings are used for vector search.",
        ],
        policy="monitor",
    )
    assert len(report.claims) == 3
    assert all(claim.verdict in (Verdict.UNSUPPORTED, Verdict.CONTRADICTED) for claim in report.claims)
    assert report.metrics["hallucination_rate"].value == 1.0
    assert report.labels.verdict == "FAIL"
    assert claim_about(report, "Stanford").category is Category.CONFABULATORY


def test_aegis_example_3_has_one_true_claim_of_three() -> None:
    report = assay.check(
        "BGE-M3 produces 1024-dimensional vectors and supports 50 languages. It was trained on 100 billion tokens.",
        evidence=[
            "BGE-M3 is a multi-vector embedding model that produces 1024-dimensional dense vectors.",
            "The model supports over 100 languages.",
        ],
        policy="monitor",
    )
    assert len(report.claims) == 3
    assert claim_about(report, "1024").verdict is Verdict.SUPPORTED
    assert claim_about(report, "50 languages").verdict is not Verdict.SUPPORTED
    assert claim_about(report, "100 billion").verdict is not Verdict.SUPPORTED
    assert report.metrics["hallucination_rate"].value == pytest.approx(2 / 3)
    assert report.labels.verdict == "FAIL"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The invoice of Acme is overdue.", "The invoice of Acme is not overdue."),
        ("The order total is $1,250.", "The order total is $125."),
        ("The contract ends on 1 March 2025.", "The contract ends on 1 March 2024."),
        ("Python was released in 2005.", "Python was first released in 1991."),
    ],
)
def test_a_meaning_changing_modification_of_a_tool_result_is_never_supported(claim: str, evidence: str) -> None:
    report = assay.check(claim, evidence=[evidence])
    assert report.claims[0].verdict is Verdict.CONTRADICTED
    assert report.action is Action.BLOCK


def test_an_entity_that_no_tool_result_has_is_confabulated() -> None:
    report = assay.check(
        "The ticket was assigned to Maria Keller.",
        evidence=["The ticket was opened on Monday and is waiting for an engineer."],
    )
    assert report.claims[0].verdict is not Verdict.SUPPORTED
    assert report.claims[0].category is Category.CONFABULATORY


def test_an_abstention_is_no_hallucination() -> None:
    report = assay.check("I don't have enough information to answer that.", evidence=["Shipping takes three days."])
    assert report.claims[0].verdict is Verdict.NOT_CHECKABLE
    assert report.action is Action.EMIT
    assert report.labels.abstention == "ABSTAIN"


def test_a_claim_about_something_else_is_unsupported_and_not_contradicted() -> None:
    report = assay.check("Cats sleep most of the day.", evidence=["Partners are entitled to 2 weeks of leave."])
    assert report.claims[0].verdict is Verdict.UNSUPPORTED
    assert report.action is not Action.EMIT
