"""The retrieval gate in LangChain, LlamaIndex and Haystack, with the real packages, where they are installed."""

import asyncio
from typing import Any

import pytest

from assay.errors import InputError
from assay.guard import Guard
from assay.integrations.screening import MARKS, Gate
from assay.schema.screening import Screening, Signal
from assay.testing import FakeScorer

ASKED = "How long is parental leave for partners?"
OLD, NEW = "Partners get 2 weeks of parental leave.", "Partners get 4 weeks of parental leave."
KITCHEN = "The kitchen on floor two is cleaned every Friday."
ROWS: list[tuple[str, dict[str, Any]]] = [
    (OLD, {"document_id": "hr", "version": "2.8"}),
    (NEW, {"document_id": "hr", "version": "3.1"}),
    (KITCHEN, {"source": "kitchen.md"}),
]
GUARD = Guard("general", scorer=FakeScorer())


def test_what_the_adapters_share_keeps_documents_apart_whatever_their_ids() -> None:
    told: list[Screening] = []
    gate = Gate(GUARD, on_screening=told.append)
    kept = gate.screen(ASKED, ROWS, lambda row: {"id": "same", "text": row[0], "metadata": row[1]})
    assert [row[0] for row, _ in kept.documents] == [NEW]
    assert set(kept.documents[0][1]) == set(MARKS)
    assert told == [kept.screening]
    with pytest.raises(InputError, match="question"):
        gate.screen(" ", ROWS, lambda row: {"text": row[0]})


def test_langchain_filters_a_retriever_and_compresses_documents() -> None:
    pytest.importorskip("langchain_core", reason="needs the extra langchain: pip install 'assay-ai[langchain]'")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    from assay.integrations.frameworks.langchain_screen import as_retriever_filter

    class Retriever(BaseRetriever):
        rows: list[Any]

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            return [Document(page_content=text, metadata=meta) for text, meta in self.rows]

    retriever = as_retriever_filter(Retriever(rows=ROWS), GUARD)
    documents = retriever.invoke(ASKED)
    assert [one.page_content for one in documents] == [NEW]
    assert documents[0].metadata["version"] == "3.1"
    assert documents[0].metadata["assay_signal"] == "retrieve"
    assert asyncio.run(retriever.ainvoke(ASKED)) == documents
    refused = as_retriever_filter(Retriever(rows=ROWS[2:]), GUARD).invoke(ASKED)
    assert [one.metadata for one in refused] == [{"assay": "note"}]
    assert as_retriever_filter(Retriever(rows=ROWS[2:]), GUARD, notes=False).invoke(ASKED) == []
    compressor = as_retriever_filter(GUARD)
    given = [Document(page_content=text, metadata=meta) for text, meta in ROWS]
    assert [one.page_content for one in compressor.compress_documents(given, ASKED)] == [NEW]


def test_llama_index_postprocesses_nodes() -> None:
    pytest.importorskip("llama_index.core", reason="needs the extra llama-index: pip install 'assay-ai[llama-index]'")
    from llama_index.core.schema import NodeWithScore, TextNode

    from assay.integrations.frameworks.llama_index_screen import AssayNodePostprocessor

    nodes = [NodeWithScore(node=TextNode(text=text, metadata=meta), score=0.5) for text, meta in ROWS]
    kept = AssayNodePostprocessor(GUARD).postprocess_nodes(nodes, query_str=ASKED)
    assert [one.node.get_content() for one in kept] == [NEW]
    assert kept[0].score == kept[0].node.metadata["assay_relevance"]
    assert "assay_relevance" in kept[0].node.excluded_llm_metadata_keys
    assert "assay_relevance" not in nodes[1].node.metadata
    (note,) = AssayNodePostprocessor(GUARD).postprocess_nodes(nodes[2:], query_str=ASKED)
    assert note.node.metadata == {"assay": "note"}
    with pytest.raises(InputError, match="question"):
        AssayNodePostprocessor(GUARD).postprocess_nodes(nodes)


def test_haystack_runs_the_component_in_a_pipeline() -> None:
    pytest.importorskip("haystack", reason="needs the extra haystack: pip install 'assay-ai[haystack]'")
    from haystack import Document, Pipeline

    from assay.integrations.haystack import AssayScreen

    pipeline = Pipeline()
    pipeline.add_component("screen", AssayScreen(GUARD))
    documents = [Document(content=text, meta=meta) for text, meta in ROWS]
    found = pipeline.run({"screen": {"query": ASKED, "documents": documents}})["screen"]
    assert [one.content for one in found["documents"]] == [NEW]
    assert found["signal"] == "retrieve"
    assert found["screening"]["dropped"][0]["reason"] == "superseded"
    assert found["documents"][0].score == found["documents"][0].meta["assay_relevance"]
    refused = pipeline.run({"screen": {"query": ASKED, "documents": documents[2:]}})["screen"]
    assert (refused["signal"], refused["documents"]) == (Signal.REFUSE.value, [])
    assert refused["note"]
