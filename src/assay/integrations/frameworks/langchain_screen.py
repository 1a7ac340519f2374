"""LangChain: the retrieval gate as a document compressor, and around a retriever.

    from assay.integrations.langchain import as_retriever_filter
    retriever = as_retriever_filter(vectorstore.as_retriever(), guard)
    documents = retriever.invoke("How long is partner leave?")

It needs `langchain-core` alone; tested with 1.8.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Unpack

from assay.guard import Guard
from assay.integrations.run_gate import missing
from assay.integrations.screening import NOTE, Gate, ScreenGateOptions

try:
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict
except ImportError as error:
    raise missing("langchain", error) from error

__all__ = ["AssayDocumentFilter", "as_retriever_filter"]


class AssayDocumentFilter(BaseDocumentCompressor):
    """Keeps the documents that may be evidence for a question, the most relevant first.

    It takes its place wherever LangChain takes a document compressor. The note for the model comes first, as a
    document whose metadata say `assay: note`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    gate: Gate

    def compress_documents(
        self,
        documents: Sequence[Any],
        query: str,
        callbacks: Any = None,  # noqa: ARG002 the framework's own signature
    ) -> list[Any]:
        """The documents that may be used.

        Raises:
            InputError: the query is blank, or a document cannot be read.
        """
        kept = self.gate.screen(query, list(documents), _mapping)
        note = self.gate.note(kept.screening)
        first = [] if note is None else [Document(page_content=note, metadata=dict(NOTE))]
        return first + [one.model_copy(update={"metadata": {**one.metadata, **marks}}) for one, marks in kept.documents]

    async def acompress_documents(self, documents: Sequence[Any], query: str, callbacks: Any = None) -> list[Any]:
        """As `compress_documents`, off the event loop."""
        return await asyncio.to_thread(self.compress_documents, documents, query, callbacks)


class _Filtered(BaseRetriever):
    """A retriever whose documents have passed the gate."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    retriever: Any
    documents: AssayDocumentFilter

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
        found = self.retriever.invoke(query, config={"callbacks": run_manager.get_child()})
        return self.documents.compress_documents(found, query)

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
        found = await self.retriever.ainvoke(query, config={"callbacks": run_manager.get_child()})
        return await self.documents.acompress_documents(found, query)


def as_retriever_filter(retriever: Any, guard: Guard | None = None, **options: Unpack[ScreenGateOptions]) -> Any:
    """A retriever behind the gate; or, given a guard alone, the gate as a document compressor.

    Args:
        retriever: a retriever of LangChain, or the guard.
        guard: what screens, where a retriever is given.
        options: `notes`, `historical`, `as_of` and `on_screening`; see `assay.integrations.screening.Gate`.
    """
    if guard is None:
        return AssayDocumentFilter(gate=Gate(retriever, **options))
    return _Filtered(retriever=retriever, documents=AssayDocumentFilter(gate=Gate(guard, **options)))


def _mapping(document: Any) -> dict[str, Any]:
    return {"id": document.id, "text": document.page_content, "metadata": dict(document.metadata)}
