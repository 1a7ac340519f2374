"""Haystack: the retrieval gate between a retriever and a prompt builder, and the gate behind a generator.

    from assay.integrations.haystack import AssayGate, AssayScreen
    pipeline.add_component("screen", AssayScreen(guard))
    pipeline.add_component("gate", AssayGate(guard))
    pipeline.connect("retriever.documents", "screen.documents")
    pipeline.connect("screen.documents", "gate.documents")
    pipeline.connect("generator.replies", "gate.replies")

The query goes to `screen.query` and `gate.query`. The extra `haystack` installs what this needs; tested with
haystack-ai 3.4.
"""

from dataclasses import replace
from typing import Any, Unpack

from assay.errors import InputError, WithheldError
from assay.guard import AskedCheckOptions, Guard, require_options
from assay.guard.protect import OnWithheld
from assay.integrations.run_gate import missing
from assay.integrations.screening import NOTE, Gate, ScreenGateOptions
from assay.policy import answer_of, fallback_response
from assay.schema import Action

try:
    from haystack import Document, component
    from haystack.dataclasses import ChatMessage
except ImportError as error:
    raise missing("haystack", error) from error

__all__ = ["AssayGate", "AssayScreen"]


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
        """The documents that may be used, the signal, the note for the model, and the whole screening.

        Raises:
            InputError: the query is blank, or a document cannot be read.
        """
        kept = self._gate.screen(query, documents, _mapping)
        note = self._gate.note(kept.screening)
        first = [] if note is None else [Document(content=note, meta=dict(NOTE))]
        made = [
            replace(one, meta={**one.meta, **marks}, score=marks["assay_relevance"]) for one, marks in kept.documents
        ]
        return {
            "documents": first + made,
            "signal": kept.screening.signal.value,
            "note": kept.screening.note or "",
            "screening": kept.screening.model_dump(mode="json"),
        }


@component
class AssayGate:
    """Lets out of a generator's replies what the documents support; the others are withheld.

    Replies may be texts or `ChatMessage`s, as generators and chat generators give them.
    """

    def __init__(
        self, guard: Guard, *, on_withheld: OnWithheld = "answer", **options: Unpack[AskedCheckOptions]
    ) -> None:
        """Make the component.

        Args:
            guard: what checks, under its policy.
            on_withheld: `answer` for the policy's words in the place of a reply that does not pass, or `raise`.
            options: further ones of `Guard.check`, such as `stakes`.
        """
        require_options(options, AskedCheckOptions)
        self._guard, self._on_withheld, self._options = guard, on_withheld, options

    @component.output_types(replies=list[str], actions=list[str], reports=list[dict[str, Any]])
    def run(
        self, replies: list[str] | list[ChatMessage], documents: list[Document], query: str | None = None
    ) -> dict[str, Any]:
        """The replies that may be shown, with the action and the report of each.

        Raises:
            WithheldError: one does not pass, and `on_withheld` is `raise`.
            InputError: a reply has no text, or a document cannot be read.
        """
        evidence = [_mapping(one) for one in documents]
        texts = [one if isinstance(one, str) else one.text for one in replies]
        if any(text is None for text in texts):
            raise InputError("expected replies that have a text, got one without; check tool calls before this gate")
        reports = [self._guard.check(text or "", evidence, question=query, **self._options) for text in texts]
        for report in reports:
            if report.action is not Action.EMIT and self._on_withheld == "raise":
                raise WithheldError(fallback_response(report), report)
        return {
            "replies": [answer_of(report) for report in reports],
            "actions": [report.action.value for report in reports],
            "reports": [report.model_dump(mode="json") for report in reports],
        }


def _mapping(document: Any) -> dict[str, Any]:
    metadata = dict(document.meta)
    if "source_id" in metadata and "split_id" in metadata:  # what DocumentSplitter writes: the whole document's id
        metadata.setdefault("document_id", metadata["source_id"])
    return {"id": document.id, "text": document.content or "", "metadata": metadata}
