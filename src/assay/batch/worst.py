"""The worst errors of an evaluation, to be read by a person: the rows on which the verifier was most surely wrong."""

from collections.abc import Sequence
from typing import Any

from assay.batch.results import Result
from assay.batch.rows import Row
from assay.schema import Verdict


def worst_errors(
    rows: Sequence[Row], results: Sequence[Result], count: int, threshold: float | None = None
) -> list[dict[str, Any]]:
    """The rows whose score lies farthest on the wrong side, the worst first, sets taken in turn.

    An error is a supported row that was flagged, or a wrong one that was not. Sets take turns so that one weak set does
    not fill the list; within a set the surest errors come first. Rows that could not be judged are no errors of
    judgement and are left out.

    Args:
        rows: the rows.
        results: one for each row, in order.
        count: how many to give at most.
        threshold: flag below this score; by default the verdict decides, as in the figures.

    Returns:
        For each error what JSON can hold: set, id, kind (`false alarm` or `missed`), how sure (0 to 1), label,
        verdict, score, contradiction, question, claim, evidence, the spans given and the spans pointed at, and the
        signals.
    """
    by_set: dict[str, list[tuple[float, dict[str, Any]]]] = {}
    for row, result in zip(rows, results, strict=True):
        if row.label is None or result.score is None or result.verdict == Verdict.UNCHECKED.value:
            continue
        flagged = not result.supported if threshold is None else result.score < threshold
        if flagged == row.wrong:
            continue
        sure = 1 - result.score if flagged else result.score
        by_set.setdefault(row.set, []).append((sure, _entry(row, result, sure, flagged=flagged)))
    for found in by_set.values():
        found.sort(key=lambda pair: (-pair[0], pair[1]["id"]))
    ranked = [
        (place, -sure, name, entry)
        for name, found in by_set.items()
        for place, (sure, entry) in enumerate(found)
    ]  # fmt: skip
    ranked.sort(key=lambda item: item[:3])
    return [entry for *_, entry in ranked[:count]]


def _entry(row: Row, result: Result, sure: float, *, flagged: bool) -> dict[str, Any]:
    return {
        "set": row.set,
        "id": row.id,
        "kind": "false alarm" if flagged else "missed",
        "sure": round(sure, 4),
        "label": row.label,
        "verdict": result.verdict,
        "score": result.score,
        "contradiction": result.contradiction,
        "question": row.question,
        "claim": row.text,
        "evidence": [piece.text for piece in row.evidence],
        "spans": row.spans,
        "pointed_at": result.spans,
        "signals": dict(result.signals),
    }
