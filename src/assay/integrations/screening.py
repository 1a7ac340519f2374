"""The retrieval gate that the adapters of retrievers share: it keeps the documents that may be evidence, in order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypedDict, TypeVar

from assay.errors import InputError
from assay.guard import Guard
from assay.schema import Screening, Standing

D = TypeVar("D")

OnScreening = Callable[[Screening], None]
"""Called with each screening, for a log or a metric."""
MARKS: Final = ("assay_relevance", "assay_standing", "assay_signal")
"""The metadata that a kept document gets."""


@dataclass(frozen=True, slots=True)
class Kept(Generic[D]):
    """The documents that may be used, the most relevant first, each with the metadata that it gets."""

    documents: tuple[tuple[D, Mapping[str, Any]], ...]
    screening: Screening


class ScreenGateOptions(TypedDict, total=False):
    """The options of every adapter, with the meaning and the defaults of the fields of `Gate`."""

    notes: bool
    historical: bool | None
    as_of: Any
    on_screening: OnScreening | None


@dataclass(frozen=True, slots=True)
class Gate:
    """A guard with the options of every adapter.

    Args:
        guard: what screens, under its policy.
        notes: whether a note for the model comes first among the documents: that some of them contradict each
            other, that some are out of force, or that none may be used.
        historical: as in `Guard.screen`.
        as_of: as in `Guard.screen`.
        on_screening: called with each screening.
    """

    guard: Guard
    notes: bool = True
    historical: bool | None = None
    as_of: Any = None
    on_screening: OnScreening | None = None

    def screen(self, question: str | None, documents: Sequence[D], mapping: Callable[[D], dict[str, Any]]) -> Kept[D]:
        """Screen a framework's documents.

        Args:
            question: the query to the retriever.
            documents: its documents.
            mapping: gives a document as `text`, `metadata` and, where it has one, `id`.

        Raises:
            InputError: there is no question to screen by, or a document cannot be read.
        """
        if question is None or not question.strip():
            raise InputError("screening needs the question that the documents were retrieved for; got none")
        by_id: dict[str, D] = {}
        passages = []
        for number, document in enumerate(documents, 1):
            fields = mapping(document)
            name = str(fields.pop("id", None) or number)
            while name in by_id:
                name = f"{name}#{number}"
            by_id[name] = document
            passages.append({"id": name, **fields})
        screening = self.guard.screen(question, passages, historical=self.historical, as_of=self.as_of)
        if self.on_screening is not None:
            self.on_screening(screening)
        reports = {passage.id: passage for passage in screening.passages}
        kept = tuple(
            (by_id[name], self._marks(screening, reports[name].relevance, reports[name].standing))
            for name in screening.kept
        )
        return Kept(kept, screening)

    def note(self, screening: Screening) -> str | None:
        """The note before the documents; none where there is nothing to note, or notes are off."""
        return screening.note if self.notes else None

    def _marks(self, screening: Screening, relevance: float | None, standing: Standing) -> dict[str, Any]:
        values: tuple[Any, ...] = (relevance, standing.value, screening.signal.value)
        return dict(zip(MARKS, values, strict=True))


NOTE: Final[Mapping[str, Literal["note"]]] = {"assay": "note"}
"""The metadata of the note, by which it differs from the documents."""
