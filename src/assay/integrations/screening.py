"""What the adapters of retrievers share: a framework's documents in, those that may be evidence out, in order."""

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
    """The documents that may be used, the most relevant first, each with what it gets as metadata."""

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
    """A guard and how it screens: the options of every adapter.

    Args:
        guard: what screens, under its policy.
        notes: whether the note for the model comes before the documents as one more: that some of them
            contradict each other, that some are out of force, or that none may be used.
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
            question: what was asked of the retriever.
            documents: what it gave.
            mapping: a document as `text`, `metadata` and, where it has one, `id`.

        Raises:
            InputError: there is no question to screen by, or a document cannot be read.
        """
        if question is None or not question.strip():
            raise InputError("screening needs the question that the documents were retrieved for; got none")
        taken: dict[str, D] = {}
        passages = []
        for number, document in enumerate(documents, 1):
            fields = mapping(document)
            name = str(fields.pop("id", None) or number)
            while name in taken:
                name = f"{name}#{number}"
            taken[name] = document
            passages.append({"id": name, **fields})
        found = self.guard.screen(question, passages, historical=self.historical, as_of=self.as_of)
        if self.on_screening is not None:
            self.on_screening(found)
        screened = {one.id: one for one in found.passages}
        kept = tuple(
            (taken[name], self._marks(found, screened[name].relevance, screened[name].standing)) for name in found.kept
        )
        return Kept(kept, found)

    def note(self, found: Screening) -> str | None:
        """What stands before the documents; none where there is nothing to note, or notes are off."""
        return found.note if self.notes else None

    def _marks(self, found: Screening, relevance: float | None, standing: Standing) -> dict[str, Any]:
        values: tuple[Any, ...] = (relevance, standing.value, found.signal.value)
        return dict(zip(MARKS, values, strict=True))


NOTE: Final[Mapping[str, Literal["note"]]] = {"assay": "note"}
"""The metadata by which the note among documents is told apart."""
