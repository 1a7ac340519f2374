"""Labelled texts as the verifier reads them."""

from train.read import ASSEMBLED, as_read, by_sentence
from train.rows import Row

TEXT = "The fee for members is 40 euros. It is due in the month of May."


def test_every_sentence_of_a_right_text_is_right() -> None:
    parts = list(by_sentence(Row("x", ("e",), TEXT, "supported")))
    assert [part.label for part in parts] == ["supported", "supported"]
    assert " ".join(part.claim for part in parts) == TEXT


def test_a_sentence_is_wrong_where_its_words_are_marked() -> None:
    at = TEXT.index("40")
    first, second = by_sentence(Row("x", ("e",), TEXT, "not_supported", spans=((at, at + 2),)))
    assert first.label == "not_supported"
    assert [first.claim[start:end] for start, end in first.spans] == ["40"]
    assert (second.label, second.spans) == ("supported", ())


def test_nobody_knows_which_sentence_is_wrong_where_nothing_is_marked() -> None:
    row = Row("x", ("e",), TEXT, "not_supported")
    assert list(by_sentence(row)) == [row]


def test_a_mark_over_two_sentences_makes_both_wrong() -> None:
    at = TEXT.index("euros")
    parts = list(by_sentence(Row("x", ("e",), TEXT, "contradicted", spans=((at, at + 20),))))
    assert [part.label for part in parts] == ["contradicted", "contradicted"]
    assert all(0 <= start < end <= len(part.claim) for part in parts for start, end in part.spans)


def test_sentences_stand_beside_evidence_that_is_no_longer_than_in_use() -> None:
    filler = "Nothing here is of any use to somebody who wants to know about fees or months. " * 60
    row = Row("x", (filler, "Members pay 40 euros, in May."), TEXT, "supported")
    parts = as_read([row], tokens=(224,))
    assert len(parts) == 2
    for part in parts:
        assert part.source == f"{ASSEMBLED}x"
        assert "Members pay 40 euros" in part.evidence[0]
        assert len(part.evidence[0].split()) < 224
