"""Reads values of other tools: answers that are messages, evidence that is a list, an object or one joined text."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

_TEXT_FIELDS: Final = ("content", "text", "page_content", "output", "answer", "response", "value")
"""The fields that may hold the text of an object, the likeliest first."""
_DOCUMENT_TEXT_FIELDS: Final = ("document.content", "page_content", "content", "text", "context")
_DOCUMENT_ID_FIELDS: Final = ("document.id", "id", "doc_id", "chunk_id", "source_id")
_DEEPEVAL_SOURCE: Final = re.compile(r"^deepeval_source=(?P<source>.*?),deepeval_context=(?P<context>.*)$", re.DOTALL)
"""How DeepEval writes a passage with its source into one text."""
_RAGTRUTH_PASSAGE: Final = re.compile(r"(?:^|\n)\s*passage \d+:", re.IGNORECASE)
"""How RAGTruth separates the passages of a question."""
_LONGEST_LITERAL: Final = 1_000_000
"""The most characters of a cell that is decoded."""


def find(record: object, path: str) -> Any:
    """The value at a path, or none. A field whose own name has dots in it takes precedence.

    >>> find({"a.b": 1, "a": {"b": 2}}, "a.b"), find({"a": [{"b": 1}, {"b": 2}]}, "a[].b")
    (1, [1, 2])
    """
    record = decoded(record)
    if not isinstance(record, Mapping):
        return None
    if path in record:
        return record[path]
    for name, rest in _splits(path):
        if name.endswith("[]"):
            listed = decoded(record.get(name[:-2]))
            if isinstance(listed, Sequence) and not isinstance(listed, str):
                found = [find(item, rest) for item in listed]
                return [one for one in found if one is not None] or None
        elif name in record:
            found = find(record[name], rest)
            if found is not None:
                return found
    return None


def _splits(path: str) -> list[tuple[str, str]]:
    """The ways to split a path into a field and the rest, the longest field first."""
    cuts = [index for index, character in enumerate(path) if character == "."]
    return [(path[:cut], path[cut + 1 :]) for cut in reversed(cuts)]


def decoded(value: object) -> Any:
    """The value of a cell that holds JSON or the `repr` of a Python list; any other value unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["} or len(value) > _LONGEST_LITERAL:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def as_text(value: object) -> str | None:
    """The text of an answer or a question: itself, that of an object, or that of the last message of a list.

    >>> as_text([{"role": "user", "content": "Q"}, {"role": "assistant", "content": [{"type": "text", "text": "A"}]}])
    'A'
    """
    inner = decoded(value)
    if isinstance(inner, str):
        return inner if inner.strip() else None
    if isinstance(inner, bool | int | float):
        return str(inner)
    if isinstance(inner, Mapping):
        for name in (*_TEXT_FIELDS, *(inner if len(inner) == 1 else ())):
            if name in inner:
                text = as_text(inner[name])
                if text is not None:
                    return text
        for name in ("message", "kwargs", "messages"):
            if name in inner:
                return as_text(inner[name])
        return None
    if isinstance(inner, Sequence) and inner:
        if all(isinstance(one, Mapping) and one.get("type") == "text" for one in inner):
            return "".join(str(one.get("text", "")) for one in inner) or None
        return as_text(inner[-1])
    return None


def as_evidence(value: object, ids: object = None, delimiter: str | None = None) -> list[Any]:
    """Evidence as texts and objects with id and text.

    Args:
        value: a text, a list of texts or documents, or an object, which without a text of its own becomes JSON.
        ids: the ids of the texts, if another field holds them.
        delimiter: the separator of texts that were joined into one.
    """
    inner = decoded(value)
    if inner is None or inner == "":
        return []
    if isinstance(inner, str):
        parts = inner.split(delimiter) if delimiter is not None and delimiter in inner else [inner]
        return [_passage(part) for part in parts if part.strip()]
    if isinstance(inner, Mapping):
        return _object_evidence(inner)
    if not isinstance(inner, Sequence):
        return []
    evidence: list[Any] = []
    for item in inner:
        evidence.extend(as_evidence(item) if not isinstance(item, str) else [_passage(item)] if item.strip() else [])
    id_values = decoded(ids)
    if (
        isinstance(id_values, Sequence)
        and not isinstance(id_values, str)
        and len(id_values) == len(evidence) == len(set(map(str, id_values)))
    ):
        return [
            {"id": str(name), "text": item} if isinstance(item, str) else item
            for name, item in zip(id_values, evidence, strict=True)
        ]
    return evidence


def _passage(text: str) -> Any:
    match = _DEEPEVAL_SOURCE.match(text)
    return text if match is None else {"text": match["context"], "source": match["source"]}


def _object_evidence(value: Mapping[str, Any]) -> list[Any]:
    text = next(
        (found for name in _DOCUMENT_TEXT_FIELDS if isinstance(found := find(value, name), str) and found.strip()), None
    )
    if text is not None:
        name = next(
            (found for key in _DOCUMENT_ID_FIELDS if isinstance(found := find(value, key), str) and found), None
        )
        source = find(value, "metadata.source")
        piece: dict[str, Any] = {"text": text}
        if name is not None:
            piece["id"] = name
        if isinstance(source, str) and source:
            piece["source"] = source
        return [piece] if len(piece) > 1 else [text]
    passages = value.get("passages")
    if isinstance(passages, str):
        return [part.strip() for part in _RAGTRUTH_PASSAGE.split(passages) if part.strip()]
    for name in ("documents", "contexts", "nodes"):
        if name in value:
            return as_evidence(value[name])
    return [json.dumps(value, ensure_ascii=False, indent=1)]
