"""LlamaIndex: the retrieval gate as a node postprocessor.

from assay.integrations.llama_index import AssayNodePostprocessor
engine = index.as_query_engine(node_postprocessors=[AssayNodePostprocessor(guard)])
response = engine.query("How long is partner leave?")
"""

from typing import Any, Unpack

from assay.guard import Guard
from assay.integrations.run_gate import missing
from assay.integrations.screening import NOTE, Gate, ScreenGateOptions

try:
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
except ImportError as error:
    raise missing("llama-index", error) from error

__all__ = ["AssayNodePostprocessor"]


class AssayNodePostprocessor(BaseNodePostprocessor):
    """Keeps the nodes that may be evidence for a query, the most relevant first, with their relevance as the score.

    The note for the model comes first, as a node whose metadata say `assay: note`.
    """

    _gate: Gate = PrivateAttr()

    def __init__(self, guard: Guard, **options: Unpack[ScreenGateOptions]) -> None:
        """Make the postprocessor.

        Args:
            guard: what screens, under its policy.
            options: `notes`, `historical`, `as_of` and `on_screening`; see `assay.integrations.screening.Gate`.
        """
        super().__init__()
        self._gate = Gate(guard, **options)

    @classmethod
    def class_name(cls) -> str:
        """Its name in LlamaIndex."""
        return "AssayNodePostprocessor"

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
        kept = self._gate.screen(query_bundle.query_str if query_bundle is not None else None, nodes, _mapping)
        note = self._gate.note(kept.screening)
        first = [] if note is None else [NodeWithScore(node=TextNode(text=note, metadata=dict(NOTE)), score=1.0)]
        for one, marks in kept.documents:
            node = one.node.model_copy(update={"metadata": {**one.node.metadata, **marks}})
            node.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, *marks]
            node.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, *marks]
            first.append(NodeWithScore(node=node, score=marks["assay_relevance"]))
        return first


def _mapping(one: Any) -> dict[str, Any]:
    metadata = dict(one.node.metadata)
    if one.node.ref_doc_id and not {"document_id", "doc_id"} & set(metadata):
        metadata["ref_doc_id"] = one.node.ref_doc_id
    return {"id": one.node.node_id, "text": one.node.get_content(metadata_mode=MetadataMode.NONE), "metadata": metadata}
