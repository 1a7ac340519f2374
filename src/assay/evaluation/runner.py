"""Judges whole sets of rows with a guard: in batches, and no row twice."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result, ResultLog
from assay.schema import Action, ClaimKind, ClaimReport, HallucinationReport, Verdict
from assay.stats import answer_support

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.models import PairScorer
    from assay.policy import Policy

Batch = list[tuple[str, Row]]
"""Rows with their digests, which are judged together."""
Judged = Callable[[Iterable[Batch]], Iterator[Sequence[Result]]]
"""A map from batches to the results of their rows, in order: in this process or by workers."""

BATCH_ROWS: Final = 64
"""The most rows of a batch; the results of a batch are kept together."""
BATCH_CHARACTERS: Final = 400_000
"""A batch is closed as soon as its evidence has this many characters."""


def evaluate(
    guard: "Guard",
    rows: Sequence[Row],
    log: ResultLog,
    progress: Callable[[int], None] | None = None,
    gates: Sequence["Guard"] = (),
    judged: Judged | None = None,
) -> list[Result]:
    """Judges the rows that the log has no result of.

    Args:
        guard: the guard that judges.
        rows: the rows; equal rows are judged once.
        log: the log of results, already entered.
        progress: called with the number of rows that were done since the last call.
        gates: guards under other policies, whose action on each answer is kept too.
        judged: a map by workers with an equal `EvaluationTask`, in place of the guards; the results are the same.

    Returns:
        One result for each row, in the order of the rows.
    """
    digests = [row.digest for row in rows]
    report_progress = progress if progress is not None else _no_progress
    unjudged = {digest: row for digest, row in zip(digests, rows, strict=True) if digest not in log.results}
    report_progress(len(rows) - len(unjudged))
    for results in (judged or partial(map, partial(_judge_batch, guard, gates)))(batches(unjudged.items())):
        log.add(results)
        report_progress(len(results))
    return [log.results[digest] for digest in digests]


@dataclass(frozen=True, slots=True)
class EvaluationTask:
    """The task of workers that evaluate: called once with the network, it gives the function that judges a batch."""

    policy: "Policy"
    gates: tuple[str, ...] = ()
    """Presets whose action on each answer is kept too."""
    knowledge: Path | None = None
    """The file that lists knowledge sources."""

    def __call__(self, scorer: "PairScorer") -> Callable[[Batch], list[Result]]:
        """Makes the guards."""
        from assay.config import Guard

        guard = Guard(self.policy, scorer=scorer, knowledge=self.knowledge or False)
        return partial(_judge_batch, guard, [guard.under(name) for name in self.gates])


def _no_progress(_: int) -> None:
    """Reports nothing."""


def batches(rows: Iterable[tuple[str, Row]]) -> Iterator[Batch]:
    """Cuts rows into batches of at most `BATCH_ROWS` rows and about `BATCH_CHARACTERS` characters of evidence."""
    batch: Batch = []
    characters = 0
    for digest, row in rows:
        batch.append((digest, row))
        characters += sum(len(piece.text) for piece in row.evidence)
        if len(batch) >= BATCH_ROWS or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _judge_batch(guard: "Guard", gates: Sequence["Guard"], batch: Batch) -> list[Result]:
    """One result for each row; claims are judged in one call of the guard, answers in another."""
    results: list[Result] = []
    claims = [(digest, row) for digest, row in batch if row.whole]
    if claims:
        reports = guard.judge_claims([(row.text, list(row.evidence), row.question) for _, row in claims])
        results += (result_of_claim(digest, report) for (digest, _), report in zip(claims, reports, strict=True))
    answers = [(digest, row) for digest, row in batch if not row.whole]
    if not answers:
        return results
    requests = [{"answer": row.text, "evidence": list(row.evidence), "question": row.question} for _, row in answers]
    reports_by_policy = {gate.policy.name: list(gate.check_many(requests)) for gate in (*gates, guard)}
    for number, (digest, _) in enumerate(answers):
        report_by_policy = {name: reports[number] for name, reports in reports_by_policy.items()}
        result = result_of_answer(digest, report_by_policy[guard.policy.name], guard.policy.support_threshold)
        results.append(
            replace(
                result,
                gates={name: (report.action.value, report.overall_score) for name, report in report_by_policy.items()},
            )
        )
    return results


def result_of_claim(digest: str, report: ClaimReport) -> Result:
    """The result of a claim that was judged whole."""
    return Result(
        digest=digest,
        verdict=report.verdict.value,
        score=report.score,
        contradiction=report.contradiction,
        spans=_spans([report]),
        signals={name: float(value) for name, value in report.signals.items()},
    )


def result_of_answer(digest: str, report: HallucinationReport, threshold: float) -> Result:
    """The result of an answer.

    Its score is `answer_support` of its claims. It is contradicted if a claim is, unchecked if a claim could not be
    checked, and otherwise supported from the threshold on, so that one weak claim of many does not flag it. An answer
    that only abstains makes no claim that could be wrong: it is supported if the gate emits it. Any other answer
    without a claim is not checkable and has no score.

    Args:
        digest: the digest of its row.
        report: the report of the answer.
        threshold: `support_threshold` of the policy.
    """
    checkable = [claim for claim in report.claims if claim.verdict is not Verdict.NOT_CHECKABLE]
    contradictions = [claim.contradiction for claim in checkable if claim.contradiction is not None]
    if checkable:
        verdict, score = _verdict_of_claims(checkable, threshold)
    elif report.action is Action.EMIT and any(claim.kind is ClaimKind.ABSTENTION for claim in report.claims):
        verdict, score = Verdict.SUPPORTED, 1.0
    else:
        verdict, score = Verdict.NOT_CHECKABLE, None
    return Result(
        digest=digest,
        verdict=verdict.value,
        score=score,
        contradiction=max(contradictions, default=None),
        spans=_spans(report.claims),
    )


def _verdict_of_claims(claims: Sequence[ClaimReport], threshold: float) -> tuple[Verdict, float | None]:
    """The verdict and the score of an answer with claims; no score if a claim has none."""
    verdicts = {claim.verdict for claim in claims}
    scores = [claim.score for claim in claims if claim.score is not None]
    score = answer_support(scores).value if len(scores) == len(claims) else None
    if Verdict.CONTRADICTED in verdicts:
        return Verdict.CONTRADICTED, score
    if score is None or Verdict.UNCHECKED in verdicts:
        return Verdict.UNCHECKED, None
    return (Verdict.SUPPORTED if score >= threshold else Verdict.UNSUPPORTED), score


def _spans(claims: Sequence[ClaimReport]) -> tuple[tuple[int, int], ...]:
    """The wrong words of claims that are not supported; the whole claim if its report names no wrong words."""
    spans: set[tuple[int, int]] = set()
    for claim in claims:
        if claim.verdict in {Verdict.CONTRADICTED, Verdict.UNSUPPORTED}:
            spans |= {(span.start, span.end) for span in claim.wrong_spans or (claim.span,)}
    return tuple(sorted(span for span in spans if span[0] < span[1]))
