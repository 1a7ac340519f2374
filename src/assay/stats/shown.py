"""Scores as people are shown them, the same wherever they stand."""

from math import floor


def shown_score(score: float) -> str:
    """Two decimals, rounded down: a score just below a threshold must not read as if it had reached it.

    >>> shown_score(0.849), shown_score(0.1 + 0.2 - 0.2), shown_score(1.0)
    ('0.84', '0.10', '1.00')

    Args:
        score: in [0, 1]; what is missing for a hundredth by no more than a rounding error counts as there.
    """
    return f"{floor(score * 100 + 1e-7) / 100:.2f}"
