"""Evaluating rows: batches, resume, and the figures that come out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from assay.errors import InputError
from assay.evaluation import runner as module
from assay.evaluation.figures.baselines import SystemScores, decide, fit_threshold, token_overlap
from assay.evaluation.figures.error_list import worst_errors
from assay.evaluation.figures.metrics import columns, figures
from assay.evaluation.figures.summary import guard_scores, summarise
from assay.evaluation.report_page import eval_page, margins, slice_tables
from assay.evaluation.report_page import three_way as three_way_sets
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result, ResultLog
from assay.evaluation.rows.slices import slices_of
from assay.evaluation.runner import batches, evaluate, result_of_answer
from assay.schema import (
    Action,
    ClaimKind,
    ClaimReport,
    ClaimStatus,
    Coverage,
    Decision,
    Evidence,
    HallucinationReport,
    Identity,
    Issue,
    Labels,
    Retrieval,
    Span,
    Timing,
    Verdict,
)
from assay.stats.classification import span_f1

WHO = {"verifier": "v"}


def row(number: int, label: str | None = "supported", text: str = "It is so.", **fields: Any) -> Row:
    evidence = (Evidence(id="e", text=fields.pop("evidence", f"Document {number // 2}.")),)
    return Row(
        set=fields.pop("set", "s"), id=str(number), evidence=evidence, text=text, whole=True, label=label, **fields
    )


class Judge:
    """Calls a claim contradicted where it says FALSE, and counts."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def judge_claims(self, rows: Sequence[tuple[str, Any, Any]]) -> list[ClaimReport]:
        self.calls.append(len(rows))
        return [self.report(text) for text, _, _ in rows]

    def check_many(self, requests: Any) -> Any:
        return iter(())

    @staticmethod
    def report(text: str) -> ClaimReport:
        false = "FALSE" in text
        return ClaimReport(
            text=text,
            span=Span(start=0, end=len(text)),
            kind=ClaimKind.FACTUAL,
            critical=False,
            verdict=Verdict.CONTRADICTED if false else Verdict.SUPPORTED,
            score=0.1 if false else 0.9,
            contradiction=0.8 if false else 0.1,
            status=ClaimStatus.BLOCK if false else ClaimStatus.PASS,
            issues=(Issue(code="number.mismatch", message="m", span=Span(start=0, end=5)),) if false else (),
            wrong_spans=(Span(start=0, end=5),) if false else (),
        )


def run(judge: Judge, rows: list[Row], log: ResultLog) -> list[Result]:
    with log:
        return evaluate(cast("Any", judge), rows, log)


def test_rows_are_judged_in_batches_and_come_back_in_order() -> None:
    rows = [row(n, text=f"FALSE {n}." if n % 3 else f"So {n}.") for n in range(150)]
    judge = Judge()
    results = run(judge, rows, ResultLog(None, WHO))
    assert judge.calls == [64, 64, 22]
    assert [result.digest for result in results] == [r.digest for r in rows]
    assert [result.supported for result in results] == [n % 3 == 0 for n in range(150)]


def test_equal_rows_are_judged_once() -> None:
    judge = Judge()
    results = run(judge, [row(1), row(1), row(1)], ResultLog(None, WHO))
    assert judge.calls == [1]
    assert len(results) == 3


def test_what_was_judged_is_not_judged_again(tmp_path: Any) -> None:
    path = tmp_path / "results.jsonl"
    rows = [row(n) for n in range(10)]
    run(Judge(), rows[:4], ResultLog(path, WHO))
    judge = Judge()
    seen: list[int] = []
    with ResultLog(path, WHO) as log:
        results = evaluate(cast("Any", judge), rows, log, seen.append)
    assert judge.calls == [6]
    assert seen == [4, 6]
    assert len(results) == 10


def test_long_evidence_closes_a_batch_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_CHARACTERS", 100)
    rows = [(str(n), row(n, evidence="x" * 60)) for n in range(5)]
    assert [len(batch) for batch in batches(rows)] == [2, 2, 1]


# Figures


def result_of(one: Row, score: float | None, verdict: str, contradiction: float | None = 0.1) -> Result:
    return Result(one.digest, verdict, score, contradiction)


def table(labels_scores: Sequence[tuple[str, float | None]]) -> tuple[list[Row], list[Result]]:
    rows = [row(n, label, text=f"claim {n}") for n, (label, _) in enumerate(labels_scores)]
    results = [
        result_of(one, score, "unchecked" if score is None else "supported" if score >= 0.5 else "unsupported")
        for one, (_, score) in zip(rows, labels_scores, strict=True)
    ]
    return rows, results


def test_a_perfect_verifier_has_perfect_figures() -> None:
    rows, results = table([("supported", 0.9), ("contradicted", 0.1), ("supported", 0.8), ("unsupported", 0.2)] * 6)
    overall = summarise(rows, results, WHO).overall
    expected = {"balanced_accuracy": 1, "f1": 1, "auroc": 1, "auprc": 1, "fpr": 0, "fnr": 0}
    assert {name: overall.figures[name].value for name in expected} == expected
    assert (overall.rows, overall.wrong, overall.not_judged) == (24, 12, 0)


def test_rates_are_of_the_class_that_they_name() -> None:
    rows, results = table([("supported", 0.1), ("supported", 0.9), ("not_supported", 0.2), ("not_supported", 0.3)])
    found = summarise(rows, results, WHO).overall.figures
    assert (found["fpr"].value, found["fnr"].value, found["balanced_accuracy"].value) == (0.5, 0.0, 0.75)


def test_what_was_not_judged_counts_as_flagged_and_is_counted() -> None:
    rows, results = table([("supported", None), ("supported", 0.9), ("not_supported", None), ("not_supported", 0.2)])
    overall = summarise(rows, results, WHO).overall
    assert overall.not_judged == 2
    assert overall.figures["fpr"].value == 0.5
    assert overall.figures["fnr"].value == 0.0
    assert overall.figures["auroc"].value == 1.0


def test_a_threshold_decides_in_place_of_the_verdict() -> None:
    rows, results = table([("supported", 0.6), ("not_supported", 0.7)])
    assert summarise(rows, results, WHO).overall.figures["fpr"].value == 0.0
    assert summarise(rows, results, WHO, threshold=0.65).overall.figures["fpr"].value == 1.0


def test_one_class_alone_leaves_figures_undefined_with_a_reason() -> None:
    rows, results = table([("supported", 0.9), ("supported", 0.4)])
    figure = summarise(rows, results, WHO).overall.figures["auroc"]
    assert figure.value is None
    assert figure.undefined


def test_rows_without_a_label_are_left_out_and_counted() -> None:
    rows, results = table([("supported", 0.9), ("not_supported", 0.1)])
    extra = row(99, None, text="no label")
    summary = summarise([*rows, extra], [*results, result_of(extra, 0.5, "supported")], WHO)
    assert (summary.rows, summary.unlabelled, summary.overall.rows) == (3, 1, 2)
    with pytest.raises(InputError, match="no row has a label"):
        summarise([extra], [result_of(extra, 0.5, "supported")], WHO)


def test_the_same_results_give_the_same_summary_with_intervals_around_the_figures() -> None:
    scores = [("supported" if n % 2 else "not_supported", (n * 37 % 100) / 100) for n in range(80)]
    rows, results = table(scores)
    first, second = (summarise(rows, results, WHO) for _ in range(2))
    assert first == second
    for name in ("balanced_accuracy", "auroc", "f1"):
        figure = first.overall.figures[name]
        assert figure.low is not None
        assert figure.value is not None
        assert figure.high is not None
        assert figure.low <= figure.value <= figure.high


def test_intervals_resample_documents() -> None:
    labels = [("supported" if n % 4 < 2 else "not_supported", 0.9 if n // 2 % 3 else 0.1) for n in range(60)]
    rows, results = table(labels)
    apart = [row(n * 2, one.label, text=one.text) for n, one in enumerate(rows)]
    guard = guard_scores("g", results, None)
    together = figures("x", columns(rows, guard)).figures["balanced_accuracy"]
    alone = figures("x", columns(apart, guard)).figures["balanced_accuracy"]
    assert together.value == alone.value
    assert together.high is not None
    assert together.low is not None
    assert alone.high is not None
    assert alone.low is not None
    assert together.high - together.low > alone.high - alone.low


def test_contradiction_is_told_from_lack_of_support() -> None:
    rows = [row(n, label, text=str(n)) for n, label in enumerate(["contradicted", "unsupported", "supported"] * 2)]
    results = [result_of(one, 0.2, "unsupported", 0.9 if one.label == "contradicted" else 0.1) for one in rows]
    assert summarise(rows, results, WHO).overall.figures["contradiction_auroc"].value == 1.0


def test_contradiction_is_ranked_among_what_lacks_support_and_so_are_its_resamples() -> None:
    # A contradicted row of doubtful support has less contradiction than an unsupported one of none.
    kinds = [("contradicted", 0.7, 0.28), ("unsupported", 0.1, 0.3)] * 8
    rows = [row(n, label, text=str(n)) for n, (label, _, _) in enumerate(kinds)]
    results = [
        result_of(one, support, "unsupported", against) for one, (_, support, against) in zip(rows, kinds, strict=True)
    ]
    figure = summarise(rows, results, WHO).overall.figures["contradiction_auroc"]
    assert (figure.value, figure.low, figure.high) == (1.0, 1.0, 1.0)


def test_spans_are_scored_where_rows_have_them() -> None:
    rows = [row(0, "contradicted", "FALSE here", spans=((0, 5),)), row(1, "supported", "So.", spans=()), row(2)]
    results = run(Judge(), rows, ResultLog(None, WHO))
    assert summarise(rows, results, WHO).overall.figures["span_f1"].value == 1.0


def three_way(count: int, seed: int = 0) -> tuple[list[Row], list[Result]]:
    labels = ("contradicted", "unsupported", "supported", "not_supported")
    rows = [
        row(2 * n, labels[n % 4], f"{n} is a number.", set=f"s{n % 2}", spans=((0, 2),) if n % 3 else ())
        for n in range(count)
    ]
    results = [
        Result(one.digest, "unsupported", (7 * n + seed) % 10 / 10, (3 * n + seed) % 10 / 10, ((0, 1),))
        for n, one in enumerate(rows)
    ]
    return rows, results


def test_every_figure_of_a_slice_has_an_interval_around_it() -> None:
    summary = summarise(*three_way(160), WHO)
    for found in (summary.overall, *summary.sets, *summary.slices["claim length"]):
        for name, figure in found.figures.items():
            if figure.value is not None:
                assert figure.low is not None, name
                assert figure.high is not None, name
                assert figure.low <= figure.value + 0.1, name
                assert figure.value - 0.1 <= figure.high, name


def test_span_f1_of_columns_is_that_of_the_catalogue() -> None:
    rows, results = three_way(40)
    marked = [(r.spans, list(one.spans or ())) for one, r in zip(rows, results, strict=True) if one.spans is not None]
    expected = span_f1([found for found, _ in marked], [right for _, right in marked]).f1.value
    assert summarise(rows, results, WHO).overall.figures["span_f1"].value == expected


def test_only_rows_with_both_labels_tell_contradiction_from_lack_of_support() -> None:
    rows, results = three_way(80)
    only = [(a, b) for a, b in zip(rows, results, strict=True) if a.label in ("supported", "not_supported")]
    summary = summarise([a for a, _ in only], [b for _, b in only], WHO)
    assert summary.overall.figures["contradiction_auroc"].undefined
    assert (summary.overall.contradicted, summary.overall.unsupported) == (0, 0)
    assert three_way_sets(summary.sets) == []


def test_the_sets_that_tell_contradiction_apart_come_worst_first() -> None:
    found = three_way_sets(summarise(*three_way(160), WHO).sets)
    values = [figures.figures["contradiction_auroc"].value or 0 for figures in found]
    assert values == sorted(values)


def test_a_set_is_held_against_the_best_baseline_on_the_same_resamples() -> None:
    rows, results = three_way(160)
    rows = [replace(one, set=f"s{int(one.id) // 8 % 2}") for one in rows]
    guard = guard_scores("assay", results, None)
    good = decide("good", [0.1 if one.wrong else 0.9 for one in rows], 0.5)
    same = SystemScores("same", guard.scores, guard.flagged)
    summary = summarise(rows, results, WHO, baselines=[same])
    for best, figure in summary.margins.values():
        assert (best, figure.value, figure.low, figure.high) == ("same", 0.0, 0.0, 0.0)
    ahead = summarise(rows, results, WHO, baselines=[same, good])
    found = margins(ahead)
    assert {best for _, best, _ in found} == {"good"}
    assert all((figure.high or 0.0) < 0 for *_, figure in found)
    assert "Ahead of the best baseline" in eval_page(ahead)


def test_what_claims_contain_is_one_table() -> None:
    tables = dict(slice_tables(summarise(*three_way(160), WHO)))
    assert [found.name for found in tables["claim type"]][:1] == ["with number"]
    assert "number" not in tables


def test_reliability_is_drawn_by_domain_and_by_length_where_rows_are_enough() -> None:
    rows, results = three_way(160)
    summary = summarise(rows, results, WHO)
    assert set(summary.reliability) == {"domain", "claim length", "evidence length"}
    assert sum(count for *_, count in summary.reliability["domain"]["not stated"]) == 160
    few = summarise(rows[:40], results[:40], WHO)
    assert few.reliability["domain"] == {}
    assert "Reliability by domain" in eval_page(summary)
    assert "Reliability by domain" not in eval_page(few)


def test_lengths_stand_in_their_order() -> None:
    rows = [row(n, text="word " * (3 if n % 2 else 12)) for n in range(60)]
    results = [result_of(one, 0.5, "supported") for one in rows]
    names = [found.name for found in summarise(rows, results, WHO).slices["claim length"]]
    assert names == ["up to 8 words", "9 to 16 words"]


def test_sets_and_slices_are_shown_apart() -> None:
    rows = [
        row(n, "supported" if n % 2 else "not_supported", f"{n} words", set=f"s{n % 2}", meta={"k": n % 3})
        for n in range(90)
    ]
    results = [result_of(one, 0.5, "supported") for one in rows]
    summary = summarise(rows, results, WHO, slice_keys=["k"])
    assert [found.name for found in summary.sets] == ["s0", "s1"]
    assert [found.rows for found in summary.slices["meta k"]] == [30, 30, 30]
    assert [found.name for found in summary.slices["number"]] == ["with"]


@pytest.mark.parametrize(
    ("text", "way", "expected"),
    [
        ("He has 5.", "number", "with"),
        ("He has five.", "number", "without"),
        ("It was in 1987.", "date", "with"),
        ("It may rain.", "date", "without"),
        ("It rained on 3/4/2020.", "date", "with"),
        ("We met Anna.", "name", "with"),
        ("The dog ran.", "name", "without"),
        ("It isn't so.", "negation", "with"),
        ("It is noted.", "negation", "without"),
        ("It is larger than Rome.", "inference", "with"),
        ("It is a town.", "inference", "without"),
        ("Der Vertrag ist nicht gültig.", "language", "German"),
        ("これは試験です。", "language", "Japanese"),
        ("It is so.", "domain", "not stated"),
        ("It is so.", "question", "without"),
        ("one " * 20, "claim length", "17 to 32 words"),
        ("one " * 200, "claim length", "over 32 words"),
    ],
)
def test_a_row_is_sliced_by_what_its_claim_contains(text: str, way: str, expected: str) -> None:
    assert slices_of(row(0, text=text))[way] == expected


def test_the_worst_errors_take_turns_between_sets_and_the_surest_come_first() -> None:
    rows = [row(n, "not_supported", f"{n}.", set="a" if n < 6 else "b") for n in range(8)]
    results = [result_of(one, 0.9 - int(one.id) / 20, "supported") for one in rows]
    found = worst_errors(rows, results, 4)
    assert [(error["set"], error["id"]) for error in found] == [("a", "0"), ("b", "6"), ("a", "1"), ("b", "7")]
    assert {error["kind"] for error in found} == {"missed"}


def test_what_was_right_or_could_not_be_judged_is_no_error() -> None:
    rows = [row(0, "supported"), row(1, "unsupported"), row(2, None), row(3, "supported"), row(4, "supported")]
    results = [
        result_of(rows[0], 0.9, "supported"),
        result_of(rows[1], 0.1, "unsupported"),
        result_of(rows[2], 0.1, "unsupported"),
        Result(rows[3].digest, "unchecked", None, None),
        result_of(rows[4], 0.2, "unsupported"),
    ]
    (error,) = worst_errors(rows, results, 10)
    assert (error["id"], error["kind"], error["sure"]) == ("4", "false alarm", 0.8)


def test_with_a_threshold_the_score_decides_what_is_an_error() -> None:
    rows = [row(0, "supported")]
    results = [result_of(rows[0], 0.6, "supported")]
    assert worst_errors(rows, results, 1) == []
    assert worst_errors(rows, results, 1, threshold=0.7)[0]["kind"] == "false alarm"


# Baselines


def test_overlap_is_the_share_of_words_that_the_evidence_has() -> None:
    assert token_overlap(row(0, text="The leave is two weeks.", evidence="Leave: two days.")) == pytest.approx(2 / 3)
    assert token_overlap(row(0, text="?!", evidence="x")) == 0.0


def test_a_threshold_is_fitted_for_the_best_balanced_accuracy() -> None:
    assert fit_threshold([0.2, 0.3, 0.7, 0.6], [True, True, False, False]) == pytest.approx(0.45)
    assert fit_threshold([0.2], [True]) == 0.5


def test_what_has_no_score_is_flagged() -> None:
    assert decide("b", [0.4, None, 0.6], 0.5).flagged == (True, True, False)


def _scored(score: float | None) -> ClaimReport:
    enough = {True: Verdict.SUPPORTED, False: Verdict.UNSUPPORTED}
    verdict = Verdict.UNCHECKED if score is None else enough[score >= 0.4]
    return Judge.report("It is so.").model_copy(update={"score": score, "verdict": verdict})


def answer(*scores: float | None, action: Action = Action.REVISE, **fields: Any) -> HallucinationReport:
    """A report of an answer with one claim for each score; a claim without one could not be checked."""
    text = "It is so. " * len(scores) or "I do not know."
    claims = [_scored(score).model_copy(update=fields) for score in scores]
    return HallucinationReport(
        run_id="r",
        output=text,
        claims=tuple(claims),
        retrieval=Retrieval(evidence=1, windows=1, pairs=1, pairs_possible=1),
        coverage=Coverage(characters=len(text), checked=len(text), not_checkable=0, unchecked=0),
        action=action,
        decision=Decision(action=action, route="serve", reasons=()),
        labels=Labels(verdict="PASS", abstention="RESPOND", routing="SERVE", escalation="auto_approve"),
        policy=Identity(name="p", digest="d"),
        verifier=Identity(name="v", digest="d"),
        timing=Timing(total_ms=0),
    )


def test_a_claim_by_itself_is_judged_as_an_answer_of_one_claim() -> None:
    assert [result_of_answer("d", answer(score), 0.4).verdict for score in (0.39, 0.4)] == ["unsupported", "supported"]
    assert result_of_answer("d", answer(0.4), 0.4).score == 0.4


def test_one_weak_claim_among_many_does_not_flag_an_answer_and_a_wrong_one_does() -> None:
    weak, wrong = (result_of_answer("d", answer(*[0.95] * 7, least), 0.4) for least in (0.3, 0.02))
    assert (weak.supported, wrong.supported) == (True, False)


def test_a_contradicted_claim_flags_an_answer_of_any_length() -> None:
    report = answer(*[0.95] * 9)
    against = Judge.report("FALSE it is.").model_copy(update={"score": 0.45, "contradiction": 0.55})
    found = result_of_answer("d", report.model_copy(update={"claims": (*report.claims, against)}), 0.4)
    assert (found.verdict, found.contradiction) == ("contradicted", 0.55)


def test_an_answer_with_a_claim_that_could_not_be_checked_is_not_supported_and_has_no_score() -> None:
    found = result_of_answer("d", answer(0.95, None), 0.4)
    assert (found.verdict, found.score) == ("unchecked", None)


def test_an_answer_that_only_abstains_counts_as_supported_where_the_gate_lets_it_out() -> None:
    said = {"verdict": Verdict.NOT_CHECKABLE, "kind": ClaimKind.ABSTENTION, "contradiction": None}
    out = result_of_answer("d", answer(None, action=Action.EMIT, **said), 0.4)
    kept = result_of_answer("d", answer(None, action=Action.BLOCK, **said), 0.4)
    greeting = result_of_answer("d", answer(None, action=Action.EMIT, **{**said, "kind": ClaimKind.META}), 0.4)
    assert (out.verdict, out.score) == ("supported", 1.0)
    assert [(found.verdict, found.score) for found in (kept, greeting)] == [("not_checkable", None)] * 2
