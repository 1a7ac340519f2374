"""The worst errors of an evaluation, for people to read: rows on which the verifier was wrong and most confident."""

from collections.abc import Mapping, Sequence
from typing import Any

from assay.evaluation.figures.slice_rates import is_flagged
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result
from assay.schema import Verdict


def errors_of(rows: Sequence[Row], results: Sequence[Result], threshold: float | None = None) -> list[dict[str, Any]]:
    """All errors, in the order of the rows.

    An error is a supported row that was flagged, or a wrong one that was not. Rows that could not be judged are left
    out.

    Args:
        rows: the rows.
        results: one for each row, in order.
        threshold: flag below this score; by default the verdict decides, as in the figures.

    Returns:
        For each error JSON values: set, id, kind (`false alarm` or `missed`), `sure` (0 to 1, how far the score lies on
        the wrong side), label, verdict, score, contradiction, question, claim, evidence, labelled spans, spans that the
        verifier pointed at, and signals.
    """
    errors = []
    for row, result in zip(rows, results, strict=True):
        if row.label is None or result.score is None or result.verdict == Verdict.UNCHECKED.value:
            continue
        flagged = is_flagged(result, threshold)
        if flagged != row.wrong:
            sure = 1 - result.score if flagged else result.score
            errors.append(_entry(row, result, sure, flagged=flagged))
    return errors


def worst_errors(
    rows: Sequence[Row], results: Sequence[Result], count: int, threshold: float | None = None
) -> list[dict[str, Any]]:
    """The errors whose score lies farthest on the wrong side, the worst first, sets taken in turn.

    Sets take turns so that one weak set does not fill the list; within a set the most confident errors come first.

    Args:
        rows: the rows.
        results: one for each row, in order.
        count: the most errors.
        threshold: flag below this score; by default the verdict decides, as in the figures.

    Returns:
        The errors as `errors_of` gives them.
    """
    by_set: dict[str, list[dict[str, Any]]] = {}
    for error in errors_of(rows, results, threshold):
        by_set.setdefault(error["set"], []).append(error)
    for errors_of_set in by_set.values():
        errors_of_set.sort(key=lambda error: (-_sure(error), error["id"]))
    ranked = [
        (place, -_sure(error), name, error)
        for name, errors_of_set in by_set.items()
        for place, error in enumerate(errors_of_set)
    ]
    ranked.sort(key=lambda item: item[:3])
    return [error for *_, error in ranked[:count]]


def _sure(error: Mapping[str, Any]) -> float:
    """How far the score lies on the wrong side; unrounded, unlike in the entry."""
    return float(error["score"] if error["kind"] == "missed" else 1 - error["score"])


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
