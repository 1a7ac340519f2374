"""What a guard promises whatever the network says; the network here is a deterministic fake."""

import asyncio
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError, PolicyError, VerifierError
from assay.guard import CheckRequest, Guard, Limits
from assay.policy import PRESETS, permissiveness, preset
from assay.schema import Action, ClaimKind, Evidence, ExtractedClaim, HallucinationReport, Span, Verdict
from assay.stats.catalogue import OUTPUT
from assay.testing import FailingScorer, FakeScorer
from assay.verify.network.combination import Combination

EVIDENCE = [
    Evidence(id="a", text="The warranty covers two years. Batteries are covered for six months."),
    Evidence(id="b", text="Returns are free within 30 days. Refunds are paid within five working days."),
    Evidence(id="c", text="Support answers on weekdays from 9 to 17."),
]
ANSWER = "The warranty covers two years. Refunds are paid within nine working days. Let me know if you need more!"


def without_timing(report: HallucinationReport) -> str:
    return json.dumps(report.model_dump(mode="json", exclude={"timing"}), sort_keys=True)


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard("general", scorer=FakeScorer())


def test_the_same_input_gives_the_same_bytes(guard: Guard) -> None:
    again = Guard("general", scorer=FakeScorer())
    assert without_timing(guard.check(ANSWER, EVIDENCE)) == without_timing(again.check(ANSWER, EVIDENCE))


def test_the_order_of_evidence_does_not_change_a_report(guard: Guard) -> None:
    reports = {without_timing(guard.check(ANSWER, order)) for order in itertools.permutations(EVIDENCE)}
    assert len(reports) == 1


def test_sync_and_async_give_the_same_report(guard: Guard) -> None:
    waited = asyncio.run(guard.acheck(ANSWER, EVIDENCE, question="What is covered?"))
    assert without_timing(waited) == without_timing(guard.check(ANSWER, EVIDENCE, question="What is covered?"))


def test_many_checks_give_what_single_checks_give(guard: Guard) -> None:
    answers = [ANSWER, "Returns are free within 30 days.", "Hello!", "Support answers on Sundays."] * 6
    together = list(guard.check_many({"answer": answer, "evidence": EVIDENCE} for answer in answers))
    alone = [guard.check(answer, EVIDENCE) for answer in answers]
    assert [without_timing(r) for r in together] == [without_timing(r) for r in alone]


def test_many_checks_and_single_claims_have_async_twins_with_the_same_result(guard: Guard) -> None:
    requests = [{"answer": answer, "evidence": EVIDENCE} for answer in (ANSWER, "Returns are free.", "Hello!")]
    rows = [("The warranty covers two years.", EVIDENCE, None), ("Nine days", EVIDENCE, "How long do refunds take?")]

    async def waited() -> tuple[list[HallucinationReport], object, object]:
        reports = [report async for report in guard.acheck_many(requests)]
        return reports, await guard.ajudge_claims(rows), await guard.ajudge_claim(*rows[0])

    reports, claims, claim = asyncio.run(waited())
    assert [without_timing(r) for r in reports] == [without_timing(r) for r in guard.check_many(requests)]
    assert claims == guard.judge_claims(rows)
    assert claim == guard.judge_claim(*rows[0])


@pytest.mark.parametrize("bad", [{"anwser": "Yes."}, {"answer": b"caf\xe9"}, {"answer": "Yes.", "stakes": "no"}])
def test_the_reports_before_a_request_that_cannot_be_read_are_given(guard: Guard, bad: dict[str, object]) -> None:
    reports = guard.check_many([{"answer": ANSWER, "evidence": EVIDENCE}, bad, {"answer": "Later."}])
    assert without_timing(next(reports)) == without_timing(guard.check(ANSWER, EVIDENCE))
    with pytest.raises(InputError):
        next(reports)


def test_requests_are_not_read_further_ahead_than_one_call_of_the_network(guard: Guard) -> None:
    taken: list[int] = []

    def rows() -> Iterator[dict[str, object]]:
        for number in range(40):
            taken.append(number)
            yield {"answer": "Returns are free.", "evidence": EVIDENCE}

    next(guard.check_many(rows()))
    assert len(taken) == 16


def test_a_check_stores_nothing_on_the_guard(guard: Guard) -> None:
    before = {k: v for k, v in vars(guard).items() if not k.endswith("indices")}
    guard.check(ANSWER, EVIDENCE)
    assert {k: v for k, v in vars(guard).items() if not k.endswith("indices")} == before


def test_a_report_survives_its_wire_form(guard: Guard) -> None:
    report = guard.check(ANSWER, EVIDENCE)
    assert HallucinationReport.model_validate_json(report.model_dump_json()) == report


def test_a_greeting_is_no_hallucination(guard: Guard) -> None:
    report = guard.check(ANSWER, EVIDENCE)
    assert [claim.verdict for claim in report.claims][-1] is Verdict.NOT_CHECKABLE


def test_without_evidence_nothing_is_supported_and_nothing_is_emitted(guard: Guard) -> None:
    report = guard.check("The warranty covers two years.", [])
    assert [claim.verdict for claim in report.claims] == [Verdict.UNSUPPORTED]
    assert report.action is not Action.EMIT


@pytest.mark.parametrize("answer", ["", " ", "\n\t \u3000"])
def test_an_empty_answer_is_never_emitted(guard: Guard, answer: str) -> None:
    report = guard.check(answer, EVIDENCE, claim_free=True)
    assert report.action is not Action.EMIT
    assert report.coverage.claim_free
    assert report.overall_score is None


def test_an_undeclared_answer_without_claims_is_not_emitted(guard: Guard) -> None:
    assert guard.check("Hello there!", EVIDENCE).action is not Action.EMIT
    assert guard.check("Hello there!", EVIDENCE, claim_free=True).action is Action.EMIT


def test_a_network_that_fails_leaves_claims_unchecked_with_a_reason() -> None:
    report = Guard("general", scorer=FailingScorer()).check("The warranty covers two years.", EVIDENCE)
    assert [claim.verdict for claim in report.claims] == [Verdict.UNCHECKED]
    assert report.claims[0].score is None
    assert report.claims[0].issues[0].code == "claim.unchecked"
    assert report.coverage.unchecked > 0
    assert report.action is not Action.EMIT
    assert report.metrics["faithfulness"].value is None


def test_the_tail_of_a_long_answer_is_reported_as_unchecked() -> None:
    guard = Guard("general", scorer=FakeScorer(), limits=Limits(output_characters=40))
    report = guard.check("The warranty covers two years. " + "Refunds take nine weeks. " * 5, EVIDENCE)
    assert report.coverage.unchecked > 0
    assert any("longer than the limit" in reason for reason in report.coverage.reasons)
    assert report.action is not Action.EMIT


def test_claims_beyond_the_limit_are_unchecked() -> None:
    guard = Guard("general", scorer=FakeScorer(), limits=Limits(claims=1))
    report = guard.check("The warranty covers two years. Returns are free within 30 days [b].", EVIDENCE)
    assert [claim.verdict for claim in report.claims][1:] == [Verdict.UNCHECKED]
    assert "more than the 1 claims" in report.claims[1].issues[0].message
    assert report.coverage.unchecked > 0
    assert report.metrics["faithfulness"].value is None
    assert report.action is not Action.EMIT


def test_text_beyond_the_limit_leaves_the_metrics_over_claims_undefined() -> None:
    guard = Guard("general", scorer=FakeScorer(), limits=Limits(output_characters=31))
    report = guard.check("The warranty covers two years. Refunds take nine weeks.", EVIDENCE)
    assert [claim.verdict for claim in report.claims] == [Verdict.SUPPORTED]
    assert "not read" in (report.metrics["faithfulness"].undefined or "")
    whole = guard.check("The warranty covers two years.   \n  ", EVIDENCE)
    assert whole.metrics["faithfulness"].value is not None


def test_an_output_of_which_part_was_not_checked_has_no_composite_score() -> None:
    answer = "The warranty covers two years [a]. Refunds take nine weeks."
    guard = Guard("general", scorer=FailingScorer(only="nine"))
    metrics = guard.check(answer, EVIDENCE).metrics
    assert metrics["composite_hallucination_score"].undefined == "1 of 2 claims could not be checked"
    assert metrics["attribution_precision"].value == 1
    assert 0 < (metrics["coverage_rate"].value or 0) < 1


def test_every_metric_of_an_output_that_is_documented_is_reported(guard: Guard) -> None:
    assert set(guard.check(ANSWER, EVIDENCE).metrics) == {entry.name for entry in OUTPUT}


def test_an_entry_of_a_reference_list_counts_in_no_metric_of_attribution(guard: Guard) -> None:
    answer = "The warranty covers two years [a].\n\n## References\n\n[a] Terms of warranty\n[b] Terms of return\n"
    report = guard.check(answer, EVIDENCE)
    assert any(citation.claim is None for citation in report.citations)
    assert report.metrics["attribution_precision"].value == 1


def test_citations_beyond_the_limit_are_unchecked() -> None:
    guard = Guard("general", scorer=FakeScorer(), limits=Limits(citation_pairs=1))
    report = guard.check("The warranty covers two years [a]. Returns are free within 30 days [b].", EVIDENCE)
    assert [citation.status for citation in report.citations] == ["verified", "unchecked"]
    assert report.action is not Action.EMIT


def test_one_citation_of_many_equal_sentences_is_reported_at_its_own(guard: Guard) -> None:
    report = guard.check(
        "Returns are free [b]. " * 3 + "Returns are free [z-9]. " + "Returns are free [b]. " * 3, EVIDENCE
    )
    fabricated = [any(i.code == "citation.fabricated" for i in claim.issues) for claim in report.claims]
    assert fabricated == [False, False, False, True, False, False, False]


class StrayExtractor:
    """Places claims where nothing stands."""

    name = "stray 1"

    def __init__(self, span: Span, sentence: Span) -> None:
        self.claim = ExtractedClaim(
            text="Leave is long.", span=span, sentence=sentence, kind=ClaimKind.FACTUAL, checkable=True
        )

    def extract(self, text: str, question: str | None = None) -> list[ExtractedClaim]:
        return [self.claim]


@pytest.mark.parametrize(
    ("span", "sentence"), [((0, 99), (0, 99)), ((0, 5), (6, 9)), ((0, 9), (0, 5)), ((80, 90), (80, 95))]
)
def test_claims_that_stand_outside_of_the_text_are_refused(span: tuple[int, int], sentence: tuple[int, int]) -> None:
    places = [Span(start=start, end=end) for start, end in (span, sentence)]
    guard = Guard("general", scorer=FakeScorer(), extractor=StrayExtractor(*places))
    with pytest.raises(VerifierError, match="stray 1"):
        guard.check("Leave is two weeks.", EVIDENCE)


@pytest.mark.parametrize(
    "settings",
    [
        {"claim_free": "false"},
        {"claim_free": None},
        {"revisions_failed": -1},
        {"revisions_failed": "2"},
        {"task": ""},
        {"task": 3},
        {"run_id": 7},
        {"run_id": "a\ud800"},
    ],
)
def test_settings_of_another_type_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(settings))):
        CheckRequest.from_mapping({"answer": "Hello there!", **settings})


def test_evidence_beyond_the_limit_is_reported_as_unread() -> None:
    guard = Guard("general", scorer=FakeScorer(), limits=Limits(evidence_characters=70))
    report = guard.check("The warranty covers two years.", EVIDENCE)
    assert report.coverage.evidence_read == 70
    assert report.coverage.evidence_characters == sum(len(e.text) for e in EVIDENCE)
    assert not report.coverage.complete
    assert report.action is not Action.EMIT


def test_duplicate_evidence_ids_are_refused(guard: Guard) -> None:
    with pytest.raises(InputError, match="hr"):
        guard.check("Yes.", [Evidence(id="hr", text="a"), Evidence(id="hr", text="b")])


def test_lone_surrogates_are_refused_with_their_place(guard: Guard) -> None:
    with pytest.raises(InputError, match="3"):
        guard.check("abc\ud800def", EVIDENCE)


def test_bytes_that_are_no_utf8_are_refused(guard: Guard) -> None:
    with pytest.raises(InputError, match="UTF-8"):
        guard.check(b"caf\xe9 is open", EVIDENCE)


def test_unknown_stakes_are_refused(guard: Guard) -> None:
    with pytest.raises(InputError, match="low, medium or high"):
        guard.check("Yes.", EVIDENCE, stakes="enormous")


def test_unknown_request_fields_are_refused() -> None:
    with pytest.raises(InputError, match="anwser"):
        CheckRequest.from_mapping({"anwser": "Yes."})


def test_a_structured_output_that_breaks_its_schema_is_reported(guard: Guard) -> None:
    schema = {"type": "object", "required": ["weeks"], "properties": {"weeks": {"type": "integer"}}}
    report = guard.check('{"weeks": "two"}', EVIDENCE, schema=schema)
    assert any(issue.code.startswith("structure.") for issue in report.issues)
    assert report.action is not Action.EMIT


def test_a_fabricated_citation_withholds_in_every_preset_but_creative() -> None:
    for name in ("general", "rag", "support-desk", "monitor", "high-stakes"):
        report = Guard(name, scorer=FakeScorer()).check("The warranty covers two years [z-9].", EVIDENCE)
        assert report.action is Action.BLOCK, name


def test_high_stakes_reads_every_window() -> None:
    long = [
        Evidence(id=str(i), text=" ".join(f"Filler {i}-{n} is about nothing." for n in range(60))) for i in range(3)
    ]
    report = Guard("high-stakes", scorer=FakeScorer()).check("The warranty covers two years.", [*EVIDENCE, *long])
    assert report.retrieval.pairs >= report.retrieval.pairs_possible


def test_spans_of_issues_and_evidence_slice_back(guard: Guard) -> None:
    report = guard.check(ANSWER, EVIDENCE)
    texts = {item.id: item.text for item in EVIDENCE}
    for claim in report.claims:
        assert report.output[claim.span.start : claim.span.end].strip()
        for span in claim.evidence_spans:
            assert texts[span.evidence_id][span.start : span.end] == span.text


TEXTS = st.text(max_size=200).filter(lambda text: not any("\ud800" <= c <= "\udfff" or c == "\0" for c in text))


@settings(max_examples=60, deadline=None)
@given(answer=TEXTS, evidence=st.lists(TEXTS, max_size=3))
def test_any_text_gives_a_report_that_accounts_for_every_character(answer: str, evidence: list[str]) -> None:
    try:
        report = Guard("general", scorer=FakeScorer()).check(answer, evidence)
    except InputError:
        return  # refused as binary, with a message
    coverage = report.coverage
    assert coverage.checked + coverage.not_checkable + coverage.unchecked == coverage.characters == len(answer)
    for claim in report.claims:
        assert 0 <= claim.span.start <= claim.span.end <= len(answer)
        if claim.verdict is Verdict.SUPPORTED:
            assert (claim.contradiction or 0) < preset("general").contradiction_threshold
    if not any(claim.verdict is not Verdict.NOT_CHECKABLE for claim in report.claims):
        assert report.action is not Action.EMIT or report.labels.abstention == "ABSTAIN"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(["The warranty covers two years.", "Returns are free.", "Batteries last forever.", "Hi!"]),
        min_size=1,
        max_size=5,
    )
)
def test_adding_a_false_claim_never_makes_the_action_more_permissive(sentences: list[str]) -> None:
    guard = Guard("general", scorer=FakeScorer())
    before = guard.check(" ".join(sentences), EVIDENCE)
    if all(claim.verdict is Verdict.NOT_CHECKABLE for claim in before.claims):
        return  # an output without claims is not a better one than an output with a false claim
    after = guard.check(" ".join([*sentences, "Refunds are never paid to Martians from 1875."]), EVIDENCE)
    assert permissiveness(after.action) <= permissiveness(before.action)


PIECES = st.sampled_from(
    [
        "The warranty covers two years.",
        "Returns are free within 30 days.",
        "Batteries last 9 years 😀.",
        "Hello!",
        "1. Refunds are paid within five days [b].",
        "| a | b |\n|---|---|\n| x | 4 |",
        "e\u0301te\u0301 costs 3 €.",
        "\u202bשלום, 12 ימים.\u202c",
        "He said “two years” [z].",
        "- not 30 but 40 days",
        "\u200b",
        "𝔘𝔫𝔦 12.5 and 2.5 kg.",
    ]
)
ANSWERS = st.lists(PIECES, min_size=1, max_size=6).map("\n".join)
CHECKED = {name: Guard(name, scorer=FakeScorer()) for name in PRESETS}


@settings(max_examples=40, deadline=None)
@given(answer=ANSWERS, evidence=st.lists(ANSWERS, max_size=3), name=st.sampled_from(sorted(PRESETS)))
def test_every_span_slices_back_and_every_metric_is_in_range_or_undefined(
    answer: str, evidence: list[str], name: str
) -> None:
    report = CHECKED[name].check(answer, evidence)
    texts = {str(number): text for number, text in enumerate(evidence, 1)}
    issues = [*report.issues, *(issue for claim in report.claims for issue in claim.issues)]
    shown = [span for claim in report.claims for span in claim.evidence_spans]
    for span in (*shown, *(issue.evidence for issue in issues if issue.evidence)):
        assert texts[span.evidence_id][span.start : span.end] == span.text
    for place in (*(claim.span for claim in report.claims), *(issue.span for issue in issues if issue.span)):
        assert place.end <= len(answer)
    for citation in report.citations:
        assert answer[citation.span.start : citation.span.end] == citation.marker
    for metric in report.metrics.values():
        assert (metric.value is None) != (metric.undefined is None)
        assert metric.value is None or 0 <= metric.value <= 1
    for claim in report.claims:
        assert claim.score is None or claim.contradiction is None or claim.score <= 1 - claim.contradiction + 1e-9


@settings(max_examples=25, deadline=None)
@given(answer=ANSWERS, evidence=st.permutations(EVIDENCE), name=st.sampled_from(sorted(PRESETS)))
def test_neither_order_nor_way_of_asking_changes_the_bytes(answer: str, evidence: list[Evidence], name: str) -> None:
    guard = CHECKED[name]
    expected = without_timing(guard.check(answer, EVIDENCE))
    assert without_timing(Guard(name, scorer=FakeScorer()).check(answer, evidence)) == expected
    assert without_timing(asyncio.run(guard.acheck(answer, evidence))) == expected
    assert [without_timing(r) for r in guard.check_many([{"answer": answer, "evidence": evidence}] * 2)] == [
        expected,
        expected,
    ]


class DoubtfulScorer(FakeScorer):
    """Takes a share of the entailment of claims with one word away."""

    def __init__(self, word: str, share: float) -> None:
        super().__init__()
        self.word, self.share = word, share

    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
        entailment, neutral, contradiction = super()._judge(premise, claim)
        taken = entailment * self.share if self.word in claim else 0.0
        return entailment - taken, neutral + taken, contradiction


ENTAILMENT_ALONE = Combination.from_json(
    json.dumps(
        {
            "support": {"intercept": -2.0, "weights": {"entail_max": 6.0}},
            "against": {"intercept": -3.0, "weights": {"contra_max": 6.0}},
            "contradiction": {"intercept": 0.0, "weights": {"logit(against)": 1.0}},
            "logits": [],
            "prior": 0.5,
        }
    )
)


@settings(max_examples=30, deadline=None)
@given(
    word=st.sampled_from(["warranty", "Refunds", "Support", "Returns"]),
    share=st.floats(0, 1),
    name=st.sampled_from(sorted(PRESETS)),
)
def test_lowering_the_score_of_any_claim_never_makes_the_action_more_permissive(
    word: str, share: float, name: str
) -> None:
    answer = "The warranty covers two years. Returns are free within 30 days [b]. Support answers on weekdays."
    before = Guard(name, scorer=FakeScorer(), combination=ENTAILMENT_ALONE).check(answer, EVIDENCE)
    doubtful = Guard(name, scorer=DoubtfulScorer(word, share), combination=ENTAILMENT_ALONE).check(answer, EVIDENCE)
    for old, new in zip(before.claims, doubtful.claims, strict=True):
        assert (new.score or 0) <= (old.score or 0)
    assert permissiveness(doubtful.action) <= permissiveness(before.action)


def test_threads_that_share_a_guard_get_what_each_would_get_alone(guard: Guard) -> None:
    answers = [ANSWER, "Returns are free within 30 days [b].", "Support answers on Sundays.", "Hello!"] * 4
    alone = [without_timing(Guard("general", scorer=FakeScorer()).check(answer, EVIDENCE)) for answer in answers]
    with ThreadPoolExecutor(4) as pool:
        together = [without_timing(report) for report in pool.map(lambda a: guard.check(a, EVIDENCE), answers)]
    assert together == alone


def test_neither_hash_seed_nor_locale_nor_time_zone_changes_the_bytes(guard: Guard) -> None:
    script = (
        "import hashlib, assay.guard, assay.testing\n"
        "report = assay.guard.Guard('general', scorer=assay.testing.FakeScorer()).check(*eval(input()))\n"
        "print(hashlib.sha256(report.model_dump_json(exclude={'timing'}).encode()).hexdigest())"
    )
    answer = "Refunds by Acme Corp. are paid on 3 May 2021, 12.5% more [z-9], and returns are free [b]."
    texts = [item.model_dump(include={"id", "text"}) for item in EVIDENCE]
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=repr((answer, texts)),
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, locale, zone in (("0", "C.UTF-8", "UTC"), ("7", "tr_TR.UTF-8", "Asia/Tokyo"))
    }
    assert len(digests) == 1


def test_a_policy_that_was_copied_around_its_rules_is_refused() -> None:
    policy = preset("general").model_copy(update={"contradiction_threshold": float("nan")})
    with pytest.raises(PolicyError, match="contradiction_threshold"):
        Guard(policy, scorer=FakeScorer())
