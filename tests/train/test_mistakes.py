"""What a network gets wrong is read once more."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from train.mistakes import misread, read_again
from train.rows import Row


class SaysYes:
    """Takes every claim for supported."""

    max_pair_tokens = 40

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[NDArray[np.float32]]:
        return [np.array([0.8, 0.1, 0.1], dtype=np.float32) for _ in pairs]


def row(claim: str, label: str, group: str | None = "v-1/0", evidence: str = "The fee is 40 euros.") -> Row:
    return Row("scenario:v", (evidence,), claim, label, group=group)  # type: ignore[arg-type]


def test_a_claim_is_misread_where_its_label_has_less_than_half_of_the_probability() -> None:
    rows = [row("It costs 40.", "supported"), row("It costs 50.", "contradicted"), row("It is due.", "unsupported")]
    assert misread(SaysYes(), rows) == {("v", "It costs 50."), ("v", "It is due.")}  # type: ignore[arg-type]


def test_a_row_too_long_to_be_read_at_once_is_not_misread() -> None:
    assert misread(SaysYes(), [row("It costs 50.", "contradicted", evidence="word " * 60)]) == frozenset()  # type: ignore[arg-type]


def test_the_right_claims_beside_a_misread_one_are_read_again_with_it_and_other_groups_are_not() -> None:
    rows = [
        row("It costs 40.", "supported", "v-1/0/9"),
        row("It costs 50.", "contradicted", "v-1/0/9"),
        row("It is a fee.", "supported", "v-2/0/9"),
        row("It costs 50.", "contradicted", None),
        row("It is due.", "unsupported", None),
    ]
    assert read_again(rows, frozenset({("v", "It costs 50.")})) == [rows[0], rows[1], rows[3]]


def test_the_same_words_in_another_batch_are_another_claim() -> None:
    assert read_again([row("It costs 50.", "contradicted")], frozenset({("w", "It costs 50.")})) == []
