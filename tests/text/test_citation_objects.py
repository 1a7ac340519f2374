"""The citation objects of providers become the same citations as markers in a text."""

from typing import Any

import pytest

from assay.errors import InputError
from assay.text.citations.detection import Citation
from assay.text.citations.provider_objects import read_citation_objects

OUTPUT = "Größe zählt. Partners get 2 weeks of paid leave. Pay is full."
LEAVE = "Partners get 2 weeks of paid leave."
START = OUTPUT.index(LEAVE)
END = START + len(LEAVE)
BYTES = (len(OUTPUT[:START].encode()), len(OUTPUT[:END].encode()))
IDS = ["hr-1", "hr-2", "hr-3"]


def one(item: dict[str, Any], output: str = OUTPUT) -> Citation:
    [citation] = read_citation_objects([item], output, IDS)
    return citation


def cited(citation: Citation) -> str:
    return OUTPUT[citation.cited_start : citation.cited_end]


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ({"type": "char_location", "start_char_index": 3, "end_char_index": 20}, "characters 3 to 20"),
        ({"type": "page_location", "start_page_number": 2, "end_page_number": 3}, "pages 2 to 3"),
        ({"type": "content_block_location", "start_block_index": 0, "end_block_index": 1}, "blocks 0 to 1"),
    ],
)
def test_anthropic_citations_stand_behind_their_text_block(location: dict[str, Any], place: str) -> None:
    citation = {"cited_text": "entitled to 2 weeks", "document_index": 1, "document_title": "Leave"} | location
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": OUTPUT[:START]},
        {"type": "text", "text": LEAVE, "citations": [citation]},
        {"type": "text", "text": OUTPUT[END:], "citations": None},
    ]
    [found] = read_citation_objects(blocks, OUTPUT, IDS)
    assert (found.source_ids, found.quote, found.location) == (("hr-2",), "entitled to 2 weeks", place)
    assert cited(found) == LEAVE
    assert (found.start, found.end, found.kind) == (END, END, "object")


def test_an_anthropic_citation_alone_has_no_statement() -> None:
    found = one({"type": "char_location", "cited_text": "x y", "document_index": 0})
    assert (found.source_ids, found.cited_text) == (("hr-1",), "")


def test_anthropic_search_results_are_named_by_their_source() -> None:
    result = {"type": "web_search_result_location", "url": "https://x.example/a", "title": "A", "cited_text": "c"}
    [found] = read_citation_objects([{"type": "text", "text": LEAVE, "citations": [result]}], OUTPUT, IDS)
    assert (found.source_ids, found.aliases) == (("https://x.example/a",), ("A",))


def test_a_document_index_without_evidence_names_nothing_that_exists() -> None:
    found = one({"type": "char_location", "cited_text": "x", "document_index": 7, "document_title": None})
    assert found.source_ids == ("document 7 (counted from 0)",)


@pytest.mark.parametrize(
    "sources",
    [
        {"document_ids": ["hr-2"]},
        {"sources": [{"type": "document", "id": "hr-2", "document": {"id": "hr-2", "title": "Leave"}}]},
    ],
)
def test_cohere_citations_cover_their_span(sources: dict[str, Any]) -> None:
    found = one({"start": START, "end": END, "text": LEAVE} | sources)
    assert found.source_ids == ("hr-2",)
    assert cited(found) == LEAVE


def test_a_span_of_a_few_words_stands_for_its_sentence() -> None:
    at = OUTPUT.index("2 weeks")
    found = one({"start": at, "end": at + 7, "text": "2 weeks", "document_ids": ["hr-2"]})
    assert found.cited_text == LEAVE


def test_openai_url_citations_are_markers_or_spans() -> None:
    output = "Leave lasts 16 weeks ([x](https://x.example/a)). Pay is full."
    start, end = output.index("("), output.index(")).") + 2
    item = {"start_index": start, "end_index": end, "url": "https://x.example/a", "title": "Leave"}
    for form in ({"type": "url_citation"} | item, {"type": "url_citation", "url_citation": item}):
        [found] = read_citation_objects([form], output, IDS)
        assert found.source_ids == ("https://x.example/a",)
        assert found.aliases == ("Leave",)
        assert (found.start, found.end) == (start, end)
        assert found.cited_text == "Leave lasts 16 weeks"
    span = one({"type": "url_citation", "start_index": START, "end_index": END, "url": "https://x.example/a"})
    assert cited(span) == LEAVE


@pytest.mark.parametrize(
    "item",
    [
        {"type": "file_citation", "file_id": "file-1", "filename": "hr-2", "index": END - 1},
        {"type": "file_citation", "file_citation": {"file_id": "hr-2"}, "start_index": END - 1, "end_index": END - 1},
        {
            "type": "container_file_citation",
            "file_id": "file-1",
            "filename": "hr-2",
            "container_id": "c",
            "start_index": END - 1,
            "end_index": END - 1,
        },
    ],
)
def test_openai_file_citations_stand_behind_their_statement(item: dict[str, Any]) -> None:
    found = one(item)
    assert found.source_ids == ("hr-2",)
    assert cited(found) == LEAVE[:-1]


def test_a_file_that_the_model_wrote_is_no_citation() -> None:
    assert read_citation_objects([{"type": "file_path", "file_id": "f", "index": 3}], OUTPUT, IDS) == []


@pytest.mark.parametrize("snake", [False, True])
def test_gemini_counts_bytes(snake: bool) -> None:
    segment = {"startIndex": BYTES[0], "endIndex": BYTES[1], "text": LEAVE}
    support: dict[str, Any] = {"segment": segment, "groundingChunkIndices": [0, 1]}
    chunks = [{"web": {"uri": "https://x.example/a", "title": "A"}}, {"retrievedContext": {"uri": "hr-2", "text": "t"}}]
    item: dict[str, Any] = {"groundingMetadata": {"groundingSupports": [support], "groundingChunks": chunks}}
    if snake:
        support = {"segment": {"start_index": BYTES[0], "end_index": BYTES[1]}, "grounding_chunk_indices": [0, 1]}
        item = {"grounding_supports": [support], "grounding_chunks": chunks}
    first, second = read_citation_objects([item], OUTPUT, IDS)
    assert cited(first) == cited(second) == LEAVE
    assert (first.source_ids, second.source_ids) == (("https://x.example/a",), ("hr-2",))


def test_gemini_supports_without_chunks_count_the_evidence() -> None:
    assert one({"segment": {"endIndex": 14}, "groundingChunkIndices": [2]}).source_ids == ("hr-3",)


def test_check_grounding_claims_count_bytes_and_evidence() -> None:
    claim = {"startPos": BYTES[0], "endPos": BYTES[1], "claimText": LEAVE, "citationIndices": [1]}
    for item in (claim, {"claims": [claim], "citedChunks": []}):
        assert cited(one(item)) == LEAVE
        assert one(item).source_ids == ("hr-2",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_the_words_decide_how_offsets_are_counted(encoding: str) -> None:
    output = f"😀 {OUTPUT}"
    width = 2 if encoding == "utf-16-le" else 1
    start = len(f"😀 {OUTPUT[:START]}".encode(encoding)) // width
    item = {"start": start, "end": start + len(LEAVE), "text": LEAVE, "document_ids": ["hr-2"]}
    found = one(item, output)
    assert output[found.cited_start : found.cited_end] == LEAVE


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_half_a_surrogate_pair_before_the_words_does_not_move_them(encoding: str) -> None:
    output = f"\ud83d 😀 {OUTPUT}"
    start = len(output[: output.index(LEAVE)].encode(encoding, "surrogatepass")) // (
        2 if encoding == "utf-16-le" else 1
    )
    item: dict[str, Any] = {"start": start, "end": start + len(LEAVE), "text": LEAVE, "document_ids": ["hr-2"]}
    if encoding == "utf-8":
        segment = {"startIndex": start, "endIndex": start + len(LEAVE)}
        item = {"groundingSupports": [{"segment": segment, "groundingChunkIndices": [0]}]}
    found = one(item, output)
    assert output[found.cited_start : found.cited_end] == LEAVE


def test_a_pair_that_the_provider_cuts_in_two_belongs_to_the_words() -> None:
    start = len("Hi ") + 1
    item = {"start": start, "end": start + 9, "text": "\ude00 We agre", "document_ids": ["hr-2"]}
    output = "Hi 😀 We agree to that, all of us here."
    found = read_citation_objects([item], output, IDS)[0]
    assert found.end == len("Hi 😀 We agre")


def test_the_cited_claims_of_the_agent_specification_are_read() -> None:
    item = {
        "claim_text": LEAVE,
        "claim_confidence": 0.9,
        "citations": [
            {
                "source_id": "hr-2",
                "source_text": "2 weeks of leave",
                "relationship": "SUPPORTS",
                "page_or_location": "p. 4",
            }
        ],
    }
    found = one(item)
    assert (found.source_ids, found.quote, found.location) == (("hr-2",), "2 weeks of leave", "p. 4")
    assert cited(found) == LEAVE
    assert one(item | {"claim_text": "Not in the output."}).cited_text == "Not in the output."


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"start": 0, "end": 999, "document_ids": ["a"]}, "is 0 to 999, but the output has 61 characters"),
        ({"start": 5, "end": 2, "document_ids": ["a"]}, "must run forward from 0 or later, got 5 to 2"),
        ({"start": -1, "end": 2, "document_ids": ["a"]}, "got -1 to 2"),
        ({"start": "0", "end": 2, "document_ids": ["a"]}, "must have whole numbers"),
        ({"start": 0, "end": 5, "text": "other", "document_ids": ["a"]}, "gives its words as 'other'"),
        ({"start": 0, "end": 5, "document_ids": []}, "names no source"),
        ({"segment": {"endIndex": 999}, "groundingChunkIndices": [0]}, "bytes of UTF-8"),
        ({"segment": {"startIndex": 3, "endIndex": 9}, "groundingChunkIndices": [0]}, "cuts a character in two"),
        ({"segment": {"endIndex": 1}, "groundingChunkIndices": ["0"]}, "must be a whole number"),
        ({"type": "url_citation", "start_index": 0, "end_index": 3}, "names no source"),
        ({"type": "text", "text": "not there", "citations": []}, "does not stand in the output"),
        ({"type": "text", "text": LEAVE, "citations": [{"type": "other"}]}, "unknown type 'other'"),
        ({"type": "char_location", "document_index": -1}, "whole number from 0"),
        ({"type": "text", "text": LEAVE, "citations": ["x"]}, "a list of mappings here, got str"),
        ({"groundingSupports": ["x"]}, "a list of mappings here, got str"),
        ({"claims": [3]}, "a list of mappings here, got int"),
        ({"claim_text": LEAVE, "citations": ["x"]}, "a list of mappings here, got str"),
        ({"type": ["text"]}, "is of no known form: got the fields type"),
        ({"start": 0, "end": 5, "text": "\ud83d", "document_ids": ["a"]}, "gives its words as '\\ud83d'"),
        ({"segment": {"endIndex": 1, "text": "\ud83d"}, "groundingChunkIndices": [0]}, "gives its words as '\\ud83d'"),
        ({"foo": 1}, "is of no known form: got the fields foo"),
        ({}, "got the fields none"),
    ],
)
def test_what_cannot_be_read_is_an_input_error(item: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        one(item)
    assert "citation object 1" in str(caught.value)
    assert words in str(caught.value)


def test_something_that_is_no_mapping_is_an_input_error() -> None:
    with pytest.raises(InputError, match="citation object 2 must be a mapping, got str"):
        read_citation_objects([{"start": 0, "end": 5, "document_ids": ["a"]}, "x"], OUTPUT, IDS)  # type: ignore[list-item]
