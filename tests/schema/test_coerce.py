"""What callers hand in is read as it came, or refused with the place and the remedy."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.schema import Evidence
from assay.schema.coerce import coerce_evidence, coerce_text

PRINTABLE = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ufffd"))


@given(PRINTABLE)
def test_any_valid_text_comes_through_unchanged(text: str) -> None:
    assert coerce_text(text, "the answer") == text
    assert coerce_text(text.encode(), "the answer") == text.removeprefix("\ufeff")


def test_bytes_that_are_not_utf8_are_refused_with_the_offset() -> None:
    with pytest.raises(InputError, match=r"the answer must be UTF-8, but byte 0xff at offset 3"):
        coerce_text(b"abc\xff", "the answer")


def test_the_offset_counts_from_the_first_byte_behind_a_byte_order_mark_too() -> None:
    with pytest.raises(InputError, match="byte 0xe9 at offset 4"):
        coerce_text(b"\xef\xbb\xbfa\xe9 ", "the answer")


def test_utf16_is_named_as_what_it_is() -> None:
    with pytest.raises(InputError, match="UTF-16"):
        coerce_text("leave".encode("utf-16"), "the answer")


def test_a_lone_surrogate_is_refused_with_its_index() -> None:
    with pytest.raises(InputError, match=r"lone surrogate U\+D800 at character 5"):
        coerce_text("leave\ud800", "the answer")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a\x00b", "NUL at character 1"),
        (b"%PDF-1.7 ...", "a PDF file"),
        (b"PK\x03\x04rest", "a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "a PNG image"),
        (b"\x00\xff\xfe\x81", "NUL bytes"),
        ("\x01\x02\x03abc", "control or replacement characters"),
        ("\ufffd" * 20, "control or replacement characters"),
    ],
)
def test_binary_content_is_refused(value: str | bytes, words: str) -> None:
    with pytest.raises(InputError, match="looks binary") as caught:
        coerce_text(value, "the answer")
    assert words in str(caught.value)


def test_a_few_control_characters_do_not_make_a_text_binary() -> None:
    log = "\x1b[31mERROR\x1b[0m the disk is full\r\n\tretry\f"
    assert coerce_text(log, "the answer") == log


@pytest.mark.parametrize("text", ["GIF89a added transparency in 1989.", "%PDF-1.7 is the first line of the file."])
def test_a_sentence_about_a_file_format_is_no_file(text: str) -> None:
    assert coerce_text(text, "the answer") == text


def test_something_that_is_no_text_is_refused_by_its_type() -> None:
    with pytest.raises(InputError, match="got int"):
        coerce_text(7, "the answer")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", " \n", "مرحبا بالعالم", "e\u0301\u0327", "👩‍👩‍👧 ok", "\u202eabc\u202c"])
def test_blank_right_to_left_and_combining_text_is_kept(text: str) -> None:
    assert coerce_evidence([text])[0].text == text


def test_a_five_megabyte_answer_and_twenty_megabytes_of_evidence_are_read() -> None:
    answer, passage = "a b c. " * 750_000, "word " * 4_000_000
    assert coerce_text(answer, "the answer") is answer
    assert sum(len(item.text) for item in coerce_evidence([passage])) == 20_000_000


def test_no_evidence_is_an_empty_tuple() -> None:
    assert coerce_evidence(None) == coerce_evidence([]) == ()


def test_one_text_is_one_item_and_not_its_letters() -> None:
    assert coerce_evidence("Leave is 16 weeks.") == (Evidence(id="1", text="Leave is 16 weeks."),)


def test_plain_texts_are_numbered_by_position() -> None:
    assert [item.id for item in coerce_evidence(["a", Evidence(id="x", text="b"), b"c"])] == ["1", "x", "3"]


@pytest.mark.parametrize(
    "item",
    [
        {"text": "T", "id": "k"},
        {"content": "T", "doc_id": "k"},
        {"page_content": "T", "metadata": {"chunk_id": "k"}},
        {"text": "T", "source_id": "k"},
    ],
)
def test_the_common_names_of_other_libraries_are_read(item: dict[str, Any]) -> None:
    assert coerce_evidence([item]) == (Evidence(id="k", text="T"),)


def test_a_whole_mapping_is_read() -> None:
    item = {
        "page_content": "Leave is 16 weeks.",
        "metadata": {"title": "Leave policy", "page": 4, "tags": ["hr", "leave"]},
        "url": "https://intranet.example/leave",
        "effective_date": "2024-01-31",
        "expiry_date": date(2025, 1, 31),
        "version": 3.1,
        "score": 0.75,
    }
    assert coerce_evidence([item])[0] == Evidence(
        id="1",
        text="Leave is 16 weeks.",
        title="Leave policy",
        source="https://intranet.example/leave",
        version="3.1",
        effective_date=date(2024, 1, 31),
        expiry_date=date(2025, 1, 31),
        metadata={"page": 4, "tags": '["hr", "leave"]', "score": 0.75},
    )


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ([1], "evidence item 1 must be a text"),
        (["a", None], "evidence item 2 must be a text"),
        ([{"id": "a"}], "evidence item 1 has no text"),
        ([{"text": 4}], "the text of evidence item 1 must be str"),
        (["a", {"text": "b\udfff"}], "the text of evidence item 2 contains a lone surrogate"),
        ([{"text": "a", "id": "  "}], "the id of evidence item 1 is blank"),
        ([{"text": "a", "id": 2.5}], "the id of evidence item 1 must be a text"),
        ([{"text": "a", "effective_date": "soon"}], "effective_date of evidence item 1 must be a date"),
        ([{"text": "a", "metadata": {"p": float("nan")}}], "must be a finite number"),
        ([{"text": "a", "metadata": 3}], "metadata of evidence item 1 must be a mapping"),
        ({"text": "a"}, "write [item]"),
        (7, "got int"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_item(evidence: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        coerce_evidence(evidence)
    assert words in str(caught.value)


@pytest.mark.parametrize("field", ["text", "title", "source", "version"])
def test_a_lone_surrogate_in_an_evidence_value_is_refused(field: str) -> None:
    item = Evidence(**{"id": "1", "text": "a", field: "x\udfff"})
    with pytest.raises(InputError, match=f"the {field} of evidence item 1 contains a lone surrogate"):
        coerce_evidence([item])


def test_a_lone_surrogate_in_metadata_is_refused() -> None:
    with pytest.raises(InputError, match="metadata 'page' of evidence item 1"):
        coerce_evidence([Evidence(id="1", text="a", metadata={"page": "\ud800"})])


def test_a_duplicate_id_names_both_positions() -> None:
    with pytest.raises(InputError, match=r"'hr' is used twice, by items 1 and 3.*id of its own"):
        coerce_evidence([{"id": "hr", "text": "a"}, "b", {"id": "hr", "text": "c"}])


def test_an_identical_duplicate_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match="pass it once"):
        coerce_evidence([{"id": "hr", "text": "a"}, {"id": "hr", "text": "a"}])


def test_a_position_that_meets_a_given_id_is_a_duplicate() -> None:
    with pytest.raises(InputError, match="'2' is used twice, by items 1 and 2"):
        coerce_evidence([{"id": 2, "text": "a"}, "b"])


def test_blank_evidence_is_kept() -> None:
    assert [item.id for item in coerce_evidence(["", "x", " \n\t"])] == ["1", "2", "3"]


@given(st.lists(PRINTABLE, max_size=5))
def test_evidence_keeps_its_order_and_every_character(texts: list[str]) -> None:
    assert [item.text for item in coerce_evidence(texts)] == texts


@pytest.mark.parametrize("field", ["id", "version", "effective_date"])
def test_a_number_too_long_to_be_written_out_is_refused_and_named(field: str) -> None:
    with pytest.raises(InputError, match=f"{field} of evidence item 1"):
        coerce_evidence([{"text": "Leave is 16 weeks.", field: 10**5000}])
