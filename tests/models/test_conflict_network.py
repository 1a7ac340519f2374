"""The network that tells conflicts of two sources from near texts, and the files that it is read from."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.errors import ModelError
from assay.models.conflicts.network import (
    GRAPH,
    LONGEST,
    MANIFEST,
    ConflictNetwork,
    EmbeddedConflicts,
    load_conflict_network,
    read_conflict_network,
)
from assay.models.manifest import EMBEDDED

FEE = "The library charges adults a fee of 20 euros a year."
TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60)


@pytest.mark.parametrize(
    ("conflict", "near"),
    [
        ("Adults pay 35 euros a year at the library.", "Children pay 5 euros a year at the library."),
        ("Using the library costs adults nothing.", "Using the museum costs adults nothing."),
    ],
)
def test_a_conflict_is_likelier_than_a_near_text(conflict: str, near: str) -> None:
    of_conflict, of_near = EmbeddedConflicts().probabilities([(FEE, conflict), (FEE, near)])
    assert of_conflict is not None
    assert of_near is not None
    assert of_conflict > 0.5 > of_near


@given(TEXTS, TEXTS)
@settings(max_examples=15)
def test_it_does_not_matter_which_passage_comes_first_nor_what_else_is_asked(first: str, second: str) -> None:
    network = load_conflict_network()
    (alone,) = network.probabilities([(first, second)])
    assert network.probabilities([(FEE, FEE), (second, first)])[1] == alone
    assert alone is None or 0 <= alone <= 1


def test_nothing_is_loaded_for_no_pair() -> None:
    assert EmbeddedConflicts().probabilities([]) == []


def test_a_number_of_threads_has_a_network_of_its_own_that_says_the_same() -> None:
    pair = (FEE, "Adults pay 35 euros a year at the library.")
    EmbeddedConflicts(1).load()
    assert load_conflict_network(1) is load_conflict_network(1) is not load_conflict_network(3)
    assert EmbeddedConflicts(1).probabilities([pair]) == EmbeddedConflicts(3).probabilities([pair])


def test_who_names_no_number_of_threads_gets_the_network_that_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.models.conflicts.network._LOADED", {})
    EmbeddedConflicts(5).load()
    assert load_conflict_network() is load_conflict_network(5)


class Scripted:
    """A scorer of known odds, whose texts have a token for each letter."""

    name, digest, three_way, max_pair_tokens = "scripted", "scripted", False, 900

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        self.asked += pairs
        return np.array([[0.9 if first < second else 0.5, 0.1, 0.0] for first, second in pairs], np.float32)


def test_both_directions_count_alike() -> None:
    (chance,) = ConflictNetwork(Scripted()).probabilities([("a", "b")])
    assert chance == pytest.approx(0.75)  # the odds of 9 to 1 and of 1 to 1, multiplied, under the root: 3 to 1


@pytest.mark.parametrize("text", ["a" * (LONGEST + 1), "ค่าเข้า 40", "입장료는 40유로", "a " * 140])
def test_nothing_is_known_of_a_passage_that_cannot_be_read_as_a_whole(text: str) -> None:
    scorer = Scripted()
    scorer.max_pair_tokens = 280
    assert ConflictNetwork(scorer).probabilities([(text, "b"), ("b", text), ("a", "b")])[:2] == [None, None]
    assert all(text not in pair for pair in scorer.asked)


def test_nothing_is_known_of_a_passage_with_a_sign_that_the_network_has_never_seen() -> None:
    known, unknown = EmbeddedConflicts().probabilities([(FEE, FEE), (FEE, f"{FEE} \N{SCROLL}")])
    assert known is not None
    assert unknown is None


@pytest.mark.parametrize("name", [GRAPH, "model.onnx", "tokenizer.json"])
def test_an_altered_file_is_refused(tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(EMBEDDED, tmp_path / "weights")
    with (folder / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(ModelError, match=f"{name}: its SHA-256 is"):
        read_conflict_network(folder)


def test_a_missing_manifest_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"{MANIFEST}: missing; install the package again"):
        read_conflict_network(tmp_path)
