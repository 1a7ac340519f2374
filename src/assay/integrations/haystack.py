"""Haystack: the retrieval gate as a component between a retriever and a prompt builder.

    from assay.integrations.haystack import AssayScreen
    pipeline.add_component("screen", AssayScreen(guard))
    pipeline.connect("retriever.documents", "screen.documents")

The query goes to `screen.query`. The extra `haystack` installs what this needs; tested with haystack-ai 3.4.
"""

from dataclasses import replace
from typing import Any, Unpack

from assay.guard import Guard
from assay.integrations.run_gate import missing
from assay.integrations.screening import NOTE, Gate, ScreenGateOptions

try:
    from haystack import Document, component
except ImportError as error:
    raise missing("haystack", error) from error

__all__ = ["AssayScreen"]


@component
class AssayScreen:
    """Keeps the documents that may be evidence for a query, the most relevant first, with their relevance as score."""

    def __init__(self, guard: Guard, **options: Unpack[ScreenGateOptions]) -> None:
        """Make the component.

        Args:
            guard: what screens, under its policy.
            options: `notes`, `historical`, `as_of` and `on_screening`; see `assay.integrations.screening.Gate`. The
                note comes as the output `note` besides, and stands among the documents only with `notes=True`.
        """
        gate_options: ScreenGateOptions = {"notes": False, **options}
        self._gate = Gate(guard, **gate_options)

    @component.output_types(documents=list[Document], signal=str, note=str, screening=dict[str, Any])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """The documents that may be used, the signal, what a model has to be told, and the whole screening.

        Raises:
            InputError: the query is blank, or a document cannot be read.
        """
        kept = self._gate.screen(query, documents, _mapping)
        note = self._gate.note(kept.screening)
        first = [] if note is None else [Document(content=note, meta=dict(NOTE))]
        made = [
            replace(one, meta={**one.meta, **marks}, score=marks["assay_relevance"]) for one, marks in kept.documents
        ]  # fmt: skip
        return {
            "documents": first + made, "signal": kept.screening.signal.value, "note": kept.screening.note or "",
            "screening": kept.screening.model_dump(mode="json"),
        }  # fmt: skip


def _mapping(document: Any) -> dict[str, Any]:
    metadata = dict(document.meta)
    if "source_id" in metadata and "split_id" in metadata:  # what DocumentSplitter writes: the whole document's id
        metadata.setdefault("document_id", metadata["source_id"])
    return {"id": document.id, "text": document.content or "", "metadata": metadata}
