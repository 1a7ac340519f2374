"""The consensus of several structured answers to one request, field by field (docs/concepts.md#self-consistency).

Each field takes the value that most documents have. The result starts from the sample that agrees with the majority in
most fields, and its other fields are set to the majority's value where the document still satisfies the schema. A field
without a majority keeps the sample's value and is reported as undecided: it is of high risk and should be flagged. A
document that cannot be read does not vote.
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
    """The consensus of several documents."""

    document: Any
    """The resulting document, which satisfies the schema of the request."""
    undecided: tuple[str, ...]
    """JSON Pointers of the fields without a majority."""
    outvoted: tuple[str, ...]
    """JSON Pointers of fields whose value is not the majority's, because the schema does not allow it there."""
    agreement: FieldAgreement
    samples: tuple[Any, ...]
    """The documents that were readable."""
    asked: int
    """The number of documents requested."""


def document_consensus(
    chat: ChatModel, request: ChatRequest, samples: int, *, most: int | None = None, concurrency: int = 4
) -> DocumentConsensus:
    """Asks for a document `samples` times and keeps the majority's value of each field.

    `assay.stats.samples_wanted` says how often to ask.

    Args:
        chat: the model.
        request: the request, with a schema; its temperature should be above 0, and each sample gets its own seed.
        samples: the number of documents.
        most: the number in all where the first ones do not agree on every field; `samples` by default.
        concurrency: how many requests run at once.

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
    documents = []
    for choice in (choice for one in completions for choice in one.choices):
        try:
            documents.append(read_structured(choice, request.schema or {}))
        except AnswerError:
            continue
    return documents


def _consensus(documents: list[Any], request: ChatRequest, asked: int) -> DocumentConsensus:
    agreement = vote_fields(documents)
    decided = [vote for vote in agreement.fields if vote.decided]
    scores = [sum(_agrees(document, vote) for vote in decided) for document in documents]
    result = documents[scores.index(max(scores))]
    for vote in decided:
        changed = None if _agrees(result, vote) else _with_vote(result, vote)
        if changed is not None and satisfies(changed, request.schema or {}):
            result = changed
    outvoted = tuple(vote.path for vote in decided if not _agrees(result, vote))
    return DocumentConsensus(result, agreement.undecided, outvoted, agreement, tuple(documents), asked)


def _agrees(document: Any, vote: FieldVote) -> bool:
    """Whether a document has the majority's value in a field, or lacks the field as the majority does."""
    field = next((one for one in vote_fields([document]).fields if one.path == vote.path), None)
    if vote.absent or field is None:
        return vote.absent and field is None
    return vote_fields([{"a": field.value}, {"a": vote.value}]).score == 1.0


def _with_vote(document: Any, vote: FieldVote) -> Any | None:
    """The document with the majority's value in a field; None if the document has no place for it."""
    if vote.absent:
        return None
    parts = [part.replace("~1", "/").replace("~0", "~") for part in vote.path.split("/")[1:]]
    if not parts:
        return copy.deepcopy(vote.value)
    changed = copy.deepcopy(document)
    parent = changed
    for part in parts[:-1]:
        parent = _child(parent, part)
    if isinstance(parent, dict):
        parent[parts[-1]] = copy.deepcopy(vote.value)
        return changed
    if isinstance(parent, list) and parts[-1].isdecimal() and int(parts[-1]) < len(parent):
        parent[int(parts[-1])] = copy.deepcopy(vote.value)
        return changed
    return None


def _child(parent: Any, part: str) -> Any:
    if isinstance(parent, dict):
        return parent.get(part)
    if isinstance(parent, list) and part.isdecimal() and int(part) < len(parent):
        return parent[int(part)]
    return None
