"""The split and the reading of labelled rows."""

import gzip
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from train.rows import Row, bucket, detokenise, load_training_sets, part_of, read_rows, unique


def row(evidence: str, claim: str, label: str = "supported", source: str = "mnli") -> Row:
    return Row(source, (evidence,), claim, label)  # type: ignore[arg-type]


@given(st.text(), st.text(), st.text())
def test_one_document_is_never_on_two_sides(evidence: str, first: str, second: str) -> None:
    assert part_of(row(evidence, first)) == part_of(row(evidence, second, source="snli"))


@given(st.text())
def test_case_and_spacing_do_not_move_a_document(text: str) -> None:
    ascii_only = text.encode("ascii", "ignore").decode()
    assert part_of(row(ascii_only, "c")) == part_of(row(f"  {ascii_only.upper()}  ", "c"))


def test_the_three_sides_are_about_as_large_as_they_say() -> None:
    parts = [part_of(row(f"document number {i}", "c")) for i in range(4000)]
    assert 0.05 < parts.count("fit") / 4000 < 0.11
    assert 0.07 < parts.count("test") / 4000 < 0.13


def test_buckets_are_stable_across_processes() -> None:
    assert bucket("the same text") == bucket("the same text")
    assert 0 <= bucket("") < 100


def test_a_pair_that_two_sets_share_is_kept_once() -> None:
    rows = [row("The sky is blue.", "It is blue."), row("the sky is BLUE", "it is blue", source="snli"), row("x", "y")]
    assert [r.source for r in unique(rows)] == ["mnli", "mnli"]


def test_evidence_of_the_development_sets_is_never_trained_on(tmp_path: Path) -> None:
    for folder, evidence in (("train", ["seen", "shared"]), ("dev", ["shared"])):
        (tmp_path / folder).mkdir()
        with gzip.open(tmp_path / folder / "set.jsonl.gz", "wt") as file:
            for text in evidence:
                file.write(json.dumps({"set": "s", "evidence": [text], "claim": "c", "label": "supported"}) + "\n")
    assert [r.evidence for r in load_training_sets(tmp_path)] == [("seen",)]


def test_refuted_rows_of_the_pool_that_has_no_third_label_are_contradicted(tmp_path: Path) -> None:
    path = tmp_path / "fever.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(json.dumps({"set": "fever_rte", "evidence": ["e"], "claim": "c", "label": "not_supported"}) + "\n")
    assert [r.label for r in read_rows(path)] == ["contradicted"]


def test_detokenising_leaves_plain_text_alone() -> None:
    text = "It costs $5.20 (net), doesn't it? Yes: 10%."
    assert detokenise(text) == text
