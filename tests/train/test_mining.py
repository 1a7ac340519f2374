"""Choosing among made rows those that a network gets wrong."""

import argparse
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.made import MAKERS
from train.mining import hardest, record_of, right_probability, score
from train.rows import Row
from train.written import digest_of


def row(claim: str, label: str = "supported", spans: tuple[tuple[int, int], ...] = ()) -> Row:
    return Row("edit:made", ("The pump runs at night. It rests by day.",), claim, label, spans=spans)  # type: ignore[arg-type]


@given(st.lists(st.floats(0, 1), max_size=60), st.integers(0, 60), st.integers(0, 9))
def test_every_row_that_is_judged_wrongly_is_kept_before_any_other(right: list[float], keep: int, seed: int) -> None:
    rows = [row(f"claim {i}") for i in range(len(right))]
    kept = hardest(rows, right, keep, seed)
    hard = {r.claim for r, p in zip(rows, right, strict=True) if p < 0.5}
    names = [r.claim for r in kept]
    assert len(kept) == min(keep, len(rows)) == len(set(names))
    assert hard <= set(names) or set(names) <= hard
    assert kept == hardest(rows, right, keep, seed)


@pytest.mark.parametrize(
    ("label", "right"), [("supported", 0.5), ("unsupported", 0.3), ("contradicted", 0.2), ("not_supported", 0.5)]
)
def test_a_label_that_does_not_tell_two_apart_is_right_with_either(label: str, right: float) -> None:
    assert right_probability(row("It runs.", label), np.array([0.5, 0.3, 0.2], np.float32)) == pytest.approx(right)


class Length:
    """Entails short claims; reads thirteen tokens at once."""

    name, digest, three_way, max_pair_tokens = "length", "length", True, 16

    def count_tokens(self, texts: list[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def score(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        assert all(sum(self.count_tokens(list(pair))) <= 13 for pair in pairs)
        return np.array([[1.0, 0, 0] if len(claim) < 10 else [0, 1.0, 0] for _, claim in pairs], np.float32)


def test_a_row_that_is_too_long_to_be_read_is_not_called_a_mistake() -> None:
    rows = [row("It runs."), row("It runs at night too, they say."), row("It runs at night.")]
    scores = score(Length(), rows)  # type: ignore[arg-type]
    assert [s is None for s in scores] == [False, True, False]
    assert right_probability(rows[1], scores[1]) == 1


def test_what_is_mined_is_recorded_without_the_paths_of_a_machine(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    said = dict.fromkeys(MAKERS, 4) | {"weights": tmp_path, "seed": 3, "keep": 2}
    kept = [row("It runs."), row("It rests.")]
    record = record_of(argparse.Namespace(**said), kept, 9, 1)
    assert record["rows"] == 2
    assert record["digest"] == digest_of(kept)
    assert (record["edits_made"], record["edits_judged_wrongly"]) == (9, 1)
    assert record["makers"] == dict.fromkeys(MAKERS, 4)
    assert str(tmp_path) not in str(record)
