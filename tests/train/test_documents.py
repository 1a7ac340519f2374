"""Claims of ours over documents that others may not have."""

import gzip
import json
from pathlib import Path

import pytest
from train.documents import MOST_REPEATED, data_folder, digest_of_document, repeated_words, with_documents
from train.scenario_rows import SCENARIOS
from train.scenario_text import blind, read_scenarios

PASSAGES = ["Fees\nThe fee is 40 euros.", "It is due in May."]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "train").mkdir(parents=True)
    with gzip.open(folder / "train" / "town.all.jsonl.gz", "wt", encoding="utf-8") as out:
        out.write(json.dumps({"set": "town", "evidence": PASSAGES, "claim": "x", "label": "supported"}) + "\n")
    return folder


def scenario(passage: int | None, digest: str | None = None) -> dict[str, object]:
    named = {"document": "town", "sha256": digest or digest_of_document(PASSAGES), "passage": passage}
    claims = [{"text": "Forty euros are due in May.", "label": "supported", "kind": "sum"}]
    return {"id": "t-1", "question": "What does it cost?", "evidence": [{"id": "1", **named}], "claims": claims}


def test_a_named_passage_is_read_from_the_data(data: Path) -> None:
    (found,) = with_documents([scenario(1)], data)
    assert found["evidence"] == [{"id": "1", "text": "It is due in May."}]


def test_a_document_of_many_passages_is_read_as_a_whole(data: Path) -> None:
    (found,) = with_documents([scenario(None)], data)
    assert found["evidence"][0]["text"] == "\n".join(PASSAGES)


def test_scenarios_whose_document_is_not_at_hand_are_left_out(data: Path, tmp_path: Path) -> None:
    assert not list(with_documents([scenario(0, "0" * 64)], data))
    assert not list(with_documents([scenario(0)], tmp_path))


def test_invented_evidence_needs_no_data(tmp_path: Path) -> None:
    invented = {"id": "a-1", "evidence": [{"id": "1", "text": "Closed on Mondays."}]}
    assert list(with_documents([invented], tmp_path)) == [invented]


def test_a_second_reader_sees_the_document_and_not_its_name(data: Path) -> None:
    shown = blind(with_documents([scenario(0)], data))
    assert "The fee is 40 euros." in shown
    assert digest_of_document(PASSAGES) not in shown


def test_a_run_of_words_counts_whatever_its_case_and_punctuation() -> None:
    assert repeated_words("Fees: it IS due, in May!", PASSAGES[1]) == 5
    assert repeated_words("", PASSAGES[1]) == repeated_words("Nobody knows.", PASSAGES[1]) == 0


@pytest.mark.shared
@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("r*.jsonl")), ids=lambda path: path.stem)
def test_no_claim_carries_a_sentence_of_a_document_that_is_not_ours(path: Path) -> None:
    if not data_folder().exists():
        pytest.skip("the labelled data are not beside the project")
    named = [one for one in read_scenarios(path) if any("document" in passage for passage in one["evidence"])]
    resolved = list(with_documents(named))
    assert len(resolved) == len(named)
    for scenario in resolved:
        evidence = "\n".join(passage["text"] for passage in scenario["evidence"])
        for text in (scenario["answer"], *(claim["text"] for claim in scenario["claims"])):
            assert repeated_words(text, evidence) < MOST_REPEATED, text
