"""The consensus of several structured answers to one request, field by field (docs/concepts.md#self-consistency).

Each field takes the value that most documents have. The document that comes of it is the sample that most fields agree
with, its fields set to what the majority says, where the whole still satisfies the schema; a field without a majority
keeps the sample's value and is named as undecided: high risk, to be flagged. What cannot be read has no vote.
"""

import copy
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import AnswerError, InputError, VerifierError
from assay.models.chat import ChatModel, ChatRequest, Completion, read_structured, satisfies
from assay.rewrite.probes.sampling import adriven, bounded, driven, sampled
from assay.stats import FieldAgreement, FieldVote, vote_fields


@dataclass(frozen=True, slots=True)
class DocumentConsensus:
    """What several documents come to."""

    document: Any
    """Satisfies the schema of the request."""
    undecided: tuple[str, ...]
    """JSON Pointers of the fields without a majority."""
    outvoted: tuple[str, ...]
    """Those of fields whose value in the document is not the majority's: the schema did not allow to set it."""
    agreement: FieldAgreement
    samples: tuple[Any, ...]
    """The documents that counted."""
    asked: int
    """The documents that were asked for."""


def document_consensus(
    chat: ChatModel, request: ChatRequest, samples: int, *, most: int | None = None, concurrency: int = 4
) -> DocumentConsensus:
    """Ask `samples` times for a document and keep what most say of each field; see `samples_wanted` for how often.

    Args:
        chat: the model.
        request: what is asked, with a schema; its temperature should be above 0, and each sample gets its own seed.
        samples: how many documents.
        most: how many in all where the first ones do not agree on every field; `samples` by default.
        concurrency: requests at once.

    Raises:
        InputError: the request has no schema, fewer than one sample is asked for, or `most` is below `samples`.
        VerifierError: no document can be read.
        ChatError: the model could not be asked.
    """
    return driven(_rounds(request, samples, most), chat, concurrency)


async def adocument_consensus(
    chat: ChatModel, request: ChatRequest, samples: int, *, most: int | None = None, concurrency: int = 4
) -> DocumentConsensus:
    """As `document_consensus`, without blocking the event loop."""
    return await adriven(_rounds(request, samples, most), chat, concurrency)


def _rounds(
    request: ChatRequest, samples: int, most: int | None
) -> Generator[list[ChatRequest], list[Completion], DocumentConsensus]:
    first, end = bounded(samples, most)
    if request.schema is None:
        raise InputError("a consensus of documents needs a request with a JSON Schema")
    documents = _readable((yield sampled(request, 0, first)), request)
    asked = first
    if end > first and (len(documents) < first or any(vote.share < 1 for vote in vote_fields(documents).fields)):
        documents += _readable((yield sampled(request, first, end)), request)
        asked = end
    if not documents:
        raise VerifierError("the model gave no document that can be compared: none could be read")
    return _consensus(documents, request, asked)


def _readable(completions: Sequence[Completion], request: ChatRequest) -> list[Any]:
    found = []
    for choice in (choice for one in completions for choice in one.choices):
        try:
            found.append(read_structured(choice, request.schema or {}))
        except AnswerError:
            continue
    return found


def _consensus(documents: list[Any], request: ChatRequest, asked: int) -> DocumentConsensus:
    agreement = vote_fields(documents)
    decided = [vote for vote in agreement.fields if vote.decided]
    scores = [sum(_has(document, vote) for vote in decided) for document in documents]
    made = documents[scores.index(max(scores))]
    for vote in decided:
        changed = None if _has(made, vote) else _with(made, vote)
        if changed is not None and satisfies(changed, request.schema or {}):
            made = changed
    outvoted = tuple(vote.path for vote in decided if not _has(made, vote))
    return DocumentConsensus(made, agreement.undecided, outvoted, agreement, tuple(documents), asked)


def _has(document: Any, vote: FieldVote) -> bool:
    """Whether a document says of a field what the majority says, its absence included."""
    same = vote_fields([document]).fields
    found = next((one for one in same if one.path == vote.path), None)
    if vote.absent or found is None:
        return vote.absent and found is None
    return vote_fields([{"a": found.value}, {"a": vote.value}]).score == 1.0


def _with(document: Any, vote: FieldVote) -> Any | None:
    """The document with the value of the majority at a place that it has; none where it has not."""
    if vote.absent:
        return None
    parts = [part.replace("~1", "/").replace("~0", "~") for part in vote.path.split("/")[1:]]
    if not parts:
        return copy.deepcopy(vote.value)
    made = copy.deepcopy(document)
    place = made
    for part in parts[:-1]:
        place = _child(place, part)
    if isinstance(place, dict):
        place[parts[-1]] = copy.deepcopy(vote.value)
        return made
    if isinstance(place, list) and parts[-1].isdecimal() and int(parts[-1]) < len(place):
        place[int(parts[-1])] = copy.deepcopy(vote.value)
        return made
    return None


def _child(place: Any, part: str) -> Any:
    if isinstance(place, dict):
        return place.get(part)
    if isinstance(place, list) and part.isdecimal() and int(part) < len(place):
        return place[int(part)]
    return None
