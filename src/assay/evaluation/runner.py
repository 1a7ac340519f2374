"""Has a guard judge whole sets of rows: many claims in one batch, and never one row twice."""

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
"""Rows by their digests, which are judged at once."""
Judged = Callable[[Iterable[Batch]], Iterator[Sequence[Result]]]
"""The results of batches, in their order, each with one for each of its rows: a `map` in this process or by workers."""

BATCH_ROWS: Final = 64
"""Rows that are judged, and kept, at once."""
BATCH_CHARACTERS: Final = 400_000
"""Characters of evidence from which a batch is closed before it is full."""


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
        guard: what judges.
        gates: guards under other policies, whose action on each answer is kept besides.
        rows: the rows; equal rows are judged once.
        log: where results are kept, entered.
        progress: called with the number of rows that were done since the last call.
        judged: who judges in place of the guards, by an equal `Evaluating`; the results are the same.

    Returns:
        One result for each row, in the order of the rows.
    """
    digests = [row.digest for row in rows]
    report_progress = progress if progress is not None else _quiet
    waiting = {d: row for d, row in zip(digests, rows, strict=True) if d not in log.results}
    report_progress(len(rows) - len(waiting))
    for results in (judged or partial(map, partial(_judge, guard, gates)))(batches(waiting.items())):
        log.add(results)
        report_progress(len(results))
    return [log.results[digest] for digest in digests]


@dataclass(frozen=True, slots=True)
class Evaluating:
    """What a worker is given for an evaluation: called once with its network, it gives what judges batches."""

    policy: "Policy"
    gates: tuple[str, ...] = ()
    """Presets whose action on each answer is kept besides."""
    knowledge: Path | None = None
    """The file that lists sources of knowledge."""

    def __call__(self, scorer: "PairScorer") -> Callable[[Batch], list[Result]]:
        """Makes the guards."""
        from assay.config import Guard

        guard = Guard(self.policy, scorer=scorer, knowledge=self.knowledge or False)
        return partial(_judge, guard, [guard.under(name) for name in self.gates])


def _quiet(_: int) -> None:
    """Tells nobody."""


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


def _judge(guard: "Guard", gates: Sequence["Guard"], batch: Batch) -> list[Result]:
    """One result for each row: of claims in one call, of answers in another."""
    found: list[Result] = []
    claims = [(digest, row) for digest, row in batch if row.whole]
    if claims:
        reports = guard.judge_claims([(row.text, list(row.evidence), row.question) for _, row in claims])
        found += (of_claim(digest, report) for (digest, _), report in zip(claims, reports, strict=True))
    answers = [(digest, row) for digest, row in batch if not row.whole]
    if not answers:
        return found
    requests = [{"answer": r.text, "evidence": list(r.evidence), "question": r.question} for _, r in answers]
    asked = {one.policy.name: list(one.check_many(requests)) for one in (*gates, guard)}
    for number, (digest, _) in enumerate(answers):
        decided = {name: reports[number] for name, reports in asked.items()}
        result = of_answer(digest, decided[guard.policy.name], guard.policy.support_threshold)
        found.append(
            replace(result, gates={name: (one.action.value, one.overall_score) for name, one in decided.items()})
        )
    return found


def of_claim(digest: str, report: ClaimReport) -> Result:
    """The result of a claim that was judged whole."""
    return Result(
        digest=digest,
        verdict=report.verdict.value,
        score=report.score,
        contradiction=report.contradiction,
        spans=_spans([report]),
        signals={name: float(value) for name, value in report.signals.items()},
    )


def of_answer(digest: str, report: HallucinationReport, threshold: float) -> Result:
    """The result of an answer.

    Its score is `answer_support` of its claims. It is contradicted where a claim is, unchecked where one could not be
    checked, and otherwise supported from the threshold on, so that one weak claim of many does not flag it. An answer
    that only abstains claims nothing that could be wrong: where the gate lets it out it is supported. Any other answer
    without a claim is not checkable and has no score.

    Args:
        digest: of its row.
        report: of the answer.
        threshold: `support_threshold` of the policy.
    """
    checkable = [claim for claim in report.claims if claim.verdict is not Verdict.NOT_CHECKABLE]
    contradictions = [claim.contradiction for claim in checkable if claim.contradiction is not None]
    if checkable:
        verdict, score = _of_claims(checkable, threshold)
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


def _of_claims(claims: Sequence[ClaimReport], threshold: float) -> tuple[Verdict, float | None]:
    """The verdict and the score of an answer with claims; no score where one of them has none."""
    verdicts = {claim.verdict for claim in claims}
    scores = [claim.score for claim in claims if claim.score is not None]
    score = answer_support(scores).value if len(scores) == len(claims) else None
    if Verdict.CONTRADICTED in verdicts:
        return Verdict.CONTRADICTED, score
    if score is None or Verdict.UNCHECKED in verdicts:
        return Verdict.UNCHECKED, None
    return (Verdict.SUPPORTED if score >= threshold else Verdict.UNSUPPORTED), score


def _spans(claims: Sequence[ClaimReport]) -> tuple[tuple[int, int], ...]:
    """The wrong words of claims that are not supported; a claim that names none is wrong as a whole."""
    found: set[tuple[int, int]] = set()
    for claim in claims:
        if claim.verdict in {Verdict.CONTRADICTED, Verdict.UNSUPPORTED}:
            found |= {(span.start, span.end) for span in claim.wrong_spans or (claim.span,)}
    return tuple(sorted(span for span in found if span[0] < span[1]))
