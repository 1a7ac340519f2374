"""Statements beside real documents: what is written, what a second reader says, and the pairs that both agree on."""

import gzip
import json
import random
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from train.conflict_pairs import PassagePair
from train.document_pairs import (
    HELD_OUT,
    Document,
    Statement,
    blind,
    copies,
    count,
    digest_of,
    of_statements,
    parse,
    read_documents,
    rows_beside,
    runs_of,
    shares_text,
    shown,
    text_of,
    texts_of,
)

BRIDGE = (
    "The crossing was concreted over in 1904 when the trams came. "
    "It opened again to people on foot after work that cost 5m pounds. "
    "The council hopes that the uncovered river will help against floods."
)
WRITTEN = """
== 1
s: 2
x: Pedestrians are still kept off the bridge.
y: Pedestrians may use the bridge once more.
n: Cyclists are still kept off the bridge.

== 1
s: 1
x: The bridge was first hidden under concrete in 1940.
n: Concrete was taken off the bridge in 2014.
"""


def bridge() -> Document:
    found = shown("news", BRIDGE)
    assert found is not None
    return found


def written() -> Document:
    document = bridge()
    parse(WRITTEN, [document])
    return document


def read_as_meant(document: Document) -> Document:
    for said in document.statements:
        said.against = said.of if said.kind == "wrong" else []
    return document


def test_statements_stand_beside_the_sentences_that_they_name() -> None:
    assert [(said.kind, said.of) for said in written().statements] == [
        ("wrong", [2]),
        ("right", [2]),
        ("near", [2]),
        ("wrong", [1]),
        ("near", [1]),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x: It is shut.", "line 1: expected '== DOCUMENT'"),
        ("== 2\ns: 1\nx: It is shut.", "line 1: expected '== DOCUMENT'"),
        ("== 1\nx: It is shut.", "line 2: expected"),
        ("== 1\ns: 9\nx: It is shut.", "line 2: document 1 has no sentence 9"),
        ("== 1\ns: 1\nz: It is shut.", "line 3"),
    ],
)
def test_a_line_that_is_none_is_named(text: str, said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        parse(text, [bridge()])


@given(st.integers(0, 1_000))
def test_a_second_reader_who_says_what_the_writer_meant_agrees_with_everything(seed: int) -> None:
    document = written()
    groups, key = blind([document], {document.document: BRIDGE}, random.Random(seed))
    assert "[2] It opened again" in groups
    assert "wrong" not in groups
    meant = [document.statements[place] for place in key["1"]]
    answers = (
        f"{at}={','.join(map(str, said.of)) if said.kind == 'wrong' else 'n'}" for at, said in enumerate(meant, 1)
    )
    count(f"1: {' '.join(answers)}\n", key, [document])
    assert all(said.agreed for said in document.statements)


@pytest.mark.parametrize(
    ("kind", "against", "agreed"),
    [
        ("wrong", [2], True),
        ("wrong", [2, 3], True),
        ("wrong", [3], False),
        ("wrong", [], False),
        ("wrong", None, False),
        ("right", [], True),
        ("right", [3], False),
        ("near", None, False),
        ("near", [2], False),
    ],
)
def test_both_readers_agree_where_the_second_finds_what_was_meant(
    kind: str, against: list[int] | None, agreed: bool
) -> None:
    assert Statement("It is shut.", kind, [2], against).agreed is agreed


@pytest.mark.parametrize(
    ("kind", "answer", "agreed"),
    [("right", "s", True), ("right", "u", False), ("near", "u", True), ("near", "s", False), ("near", "n", True)],
)
def test_a_reader_who_is_asked_whether_all_is_told_agrees_where_that_is_so(
    kind: str, answer: str, agreed: bool
) -> None:
    document = bridge()
    document.statements = [Statement("Cyclists may cross.", kind, [2])]
    count(f"1: 1={answer}\n", {"1": [0]}, [document])
    assert document.statements[0].agreed is agreed


def test_a_doubtful_answer_and_none_leave_a_statement_out() -> None:
    document = written()
    count("1: 1=d 2=n 3=n 4=1 5=n\n", {"1": [0, 1, 2, 3, 4]}, [document])
    assert [said.agreed for said in document.statements] == [False, True, True, True, True]
    assert not any(said.agreed for said in written().statements)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("1: 1=n 2=n\n", "document 1: expected answers to 1 to 5, got 1, 2"),
        ("1: 1=n 2=n 3=n 4=n 6=n", "document 1: expected answers to 1 to 5"),
        ("1: 1=1, 2=n", "line 1: expected 'DOCUMENT"),
        ("\n1: 1=n 2=N", "line 2: expected 'DOCUMENT"),
        ("7: 1=n", "line 1: there is no document 7"),
    ],
)
def test_answers_that_are_none_are_named(answers: str, said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        count(answers, {"1": [0, 1, 2, 3, 4]}, [written()])


def test_sentences_of_answers_on_different_points_are_no_pair_and_twins_are() -> None:
    document = bridge()
    document.statements = [
        Statement("The work on the bridge cost five million pounds.", "right", [2], [], told=True),
        Statement("The work on the bridge cost eight million pounds.", "wrong", [2], [2]),
    ]
    right, wrong = (said.text for said in document.statements)
    twins = PassagePair(right, wrong, True, document.document)
    assert twins in list(document.pairs(BRIDGE))
    document.statements[1] = Statement("Only cars are allowed on it again.", "wrong", [2], [2])
    assert not any(pair.first == right for pair in document.pairs(BRIDGE))
    document.statements += [Statement("It was dear.", "right", [2], [], told=True)]
    assert not any(pair.first == right for pair in document.pairs(BRIDGE))


def test_statements_are_claims_for_the_verifier_in_groups_of_four(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = read_as_meant(written())
    monkeypatch.setattr("train.document_pairs.read_documents", lambda **_: [document])
    monkeypatch.setattr("train.document_pairs.texts_of", lambda *_: {document.document: BRIDGE})
    rows = rows_beside(tmp_path)
    assert [row.label for row in rows] == ["contradicted", "supported", "unsupported", "contradicted", "unsupported"]
    assert [row.group for row in rows] == [f"{document.document}/{at}" for at in (0, 0, 0, 0, 1)]
    assert {row.evidence for row in rows} == {(BRIDGE,)}


def test_a_text_shares_text_with_another_from_four_runs_of_eight_words_on() -> None:
    words = BRIDGE.split()
    runs = runs_of(BRIDGE)
    assert shares_text(" ".join(words[:11]), runs)
    assert not shares_text(" ".join(words[:10]), runs)


def test_a_wrong_statement_contradicts_its_sentence_and_the_right_one_and_no_other_sentence() -> None:
    pairs = list(read_as_meant(written()).pairs(BRIDGE))
    second = "It opened again to people on foot after work that cost 5m pounds."
    shut, may, cyclists = (said.text for said in written().statements[:3])
    digest = digest_of(BRIDGE)
    assert PassagePair(second, shut, True, digest) in pairs
    assert PassagePair(second, cyclists, False, digest) in pairs
    assert PassagePair(may, shut, True, digest) in pairs
    assert PassagePair(may, cyclists, False, digest) in pairs
    assert sum(pair.conflict for pair in pairs) == 3
    assert {pair.first for pair in pairs} > {may, second}


def test_what_the_readers_do_not_agree_on_is_in_no_pair() -> None:
    document = read_as_meant(written())
    document.statements[0].against = []
    assert not any(document.statements[0].text in (pair.first, pair.second) for pair in document.pairs(BRIDGE))


def test_ten_words_in_a_row_are_a_copy_and_nine_are_none() -> None:
    assert copies(f"We hear that {' '.join(BRIDGE.split()[:10])}", BRIDGE)
    assert not copies(f"We hear that {' '.join(BRIDGE.split()[:9])}", BRIDGE)


def test_documents_are_found_in_the_labelled_data_by_their_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train").mkdir()
    with gzip.open(tmp_path / "train" / "news.all.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps({"evidence": [text]}) + "\n" for text in ("Something else.", BRIDGE))
    document = read_as_meant(written())
    assert texts_of(tmp_path, [document]) == {digest_of(BRIDGE): BRIDGE}
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "01.jsonl").write_text(json.dumps(asdict(document)) + "\n", encoding="utf-8")
    monkeypatch.setattr("train.document_pairs.FOLDER", kept)
    assert of_statements(tmp_path) == list(document.pairs(BRIDGE))
    (kept / "01.jsonl").write_text(json.dumps({**asdict(document), "document": "0" * 16}) + "\n", encoding="utf-8")
    assert of_statements(tmp_path) == []


def test_a_document_that_is_cut_off_shows_whole_sentences_and_a_short_one_is_none() -> None:
    found = shown("news", f"{BRIDGE} " + "It goes on and on and on without an end in sight. " * 40)
    assert found is not None
    assert sum(end - start for start, end in found.places) <= 950
    assert shown("news", "It opened again. Nobody came.") is None


@given(st.lists(st.text(alphabet="ab .,\n", max_size=20), max_size=4))
def test_empty_pieces_are_no_part_of_a_document(pieces: list[str]) -> None:
    assert text_of(pieces) == text_of([piece for piece in pieces if piece.strip()])


def test_every_file_holds_statements_that_both_readers_agree_on_and_each_document_once() -> None:
    documents = [*read_documents(), *read_documents(only=HELD_OUT)]
    assert len({one.document for one in documents}) == len(documents) == 3_478
    assert all(said.agreed for one in documents for said in one.statements)
    assert all(0 < at <= len(one.places) for one in documents for said in one.statements for at in said.of)


def test_held_out_documents_are_not_among_those_for_training() -> None:
    held = {one.document for one in read_documents(only=HELD_OUT)}
    assert held
    assert not held & {one.document for one in read_documents()}
