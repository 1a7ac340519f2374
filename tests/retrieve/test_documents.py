"""Passages are read with the metadata of their documents, whatever form a retriever gives them."""

from assay.retrieve import read_passages
from assay.schema import Evidence


def test_metadata_of_json_in_a_text_is_read() -> None:
    (passage,) = read_passages([Evidence(id="a", text="Leave is 2 weeks.", metadata={"extra": '{"doc_id": "hr-2"}'})])
    assert passage.document == "hr-2"


def test_metadata_nested_without_end_is_passed_over() -> None:
    nested = '{"a":' * 3_000 + "1" + "}" * 3_000
    (passage,) = read_passages([Evidence(id="a", text="Leave is 2 weeks.", metadata={"extra": nested})])
    assert passage.document is None
