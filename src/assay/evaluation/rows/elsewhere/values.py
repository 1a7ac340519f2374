"""Values of other tools as text: answers that are messages, evidence that is a list, an object or a joined text."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

_TEXTS: Final = ("content", "text", "page_content", "output", "answer", "response", "value")
"""Fields that hold the text of an object, the likeliest first."""
_DOCUMENT_TEXTS: Final = ("document.content", "page_content", "content", "text", "context")
_DOCUMENT_IDS: Final = ("document.id", "id", "doc_id", "chunk_id", "source_id")
_SOURCE_MARK: Final = re.compile(r"^deepeval_source=(?P<source>.*?),deepeval_context=(?P<context>.*)$", re.DOTALL)
"""How DeepEval writes a passage with its source into one text."""
_PASSAGE: Final = re.compile(r"(?:^|\n)\s*passage \d+:", re.IGNORECASE)
"""How RAGTruth parts the passages of a question."""
_LONGEST_LITERAL: Final = 1_000_000
"""Characters of a cell that is read as a Python list at most."""


def find(record: object, path: str) -> Any:
    """What is at a path; none where nothing does. A field whose own name has dots in it counts first.

    >>> find({"a.b": 1, "a": {"b": 2}}, "a.b"), find({"a": [{"b": 1}, {"b": 2}]}, "a[].b")
    (1, [1, 2])
    """
    record = opened(record)
    if not isinstance(record, Mapping):
        return None
    if path in record:
        return record[path]
    for name, rest in _heads(path):
        if name.endswith("[]"):
            listed = opened(record.get(name[:-2]))
            if isinstance(listed, Sequence) and not isinstance(listed, str):
                found = [find(item, rest) for item in listed]
                return [one for one in found if one is not None] or None
        elif name in record:
            found = find(record[name], rest)
            if found is not None:
                return found
    return None


def _heads(path: str) -> list[tuple[str, str]]:
    """The ways to part a path into a field and the rest, the longest field first."""
    cuts = [index for index, character in enumerate(path) if character == "."]
    return [(path[:cut], path[cut + 1 :]) for cut in reversed(cuts)]


def opened(value: object) -> Any:
    """A value that was written as text into a cell: JSON, or a list as Python prints it; anything else as it is."""
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
    inner = opened(value)
    if isinstance(inner, str):
        return inner if inner.strip() else None
    if isinstance(inner, bool | int | float):
        return str(inner)
    if isinstance(inner, Mapping):
        for name in (*_TEXTS, *(inner if len(inner) == 1 else ())):
            if name in inner:
                found = as_text(inner[name])
                if found is not None:
                    return found
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
        value: a text, a list of texts or documents, or an object that is data of its own.
        ids: the ids of the texts, where another field holds them.
        delimiter: what stands between texts that were joined into one.
    """
    inner = opened(value)
    if inner is None or inner == "":
        return []
    if isinstance(inner, str):
        parts = inner.split(delimiter) if delimiter is not None and delimiter in inner else [inner]
        return [_passage(part) for part in parts if part.strip()]
    if isinstance(inner, Mapping):
        return _of_object(inner)
    if not isinstance(inner, Sequence):
        return []
    found: list[Any] = []
    for one in inner:
        found.extend(as_evidence(one) if not isinstance(one, str) else [_passage(one)] if one.strip() else [])
    names = opened(ids)
    if (
        isinstance(names, Sequence)
        and not isinstance(names, str)
        and len(names) == len(found) == len(set(map(str, names)))
    ):
        return [
            {"id": str(name), "text": one} if isinstance(one, str) else one
            for name, one in zip(names, found, strict=True)
        ]
    return found


def _passage(text: str) -> Any:
    match = _SOURCE_MARK.match(text)
    return text if match is None else {"text": match["context"], "source": match["source"]}


def _of_object(value: Mapping[str, Any]) -> list[Any]:
    text = next(
        (found for name in _DOCUMENT_TEXTS if isinstance(found := find(value, name), str) and found.strip()), None
    )
    if text is not None:
        name = next((found for key in _DOCUMENT_IDS if isinstance(found := find(value, key), str) and found), None)
        source = find(value, "metadata.source")
        made: dict[str, Any] = {"text": text}
        if name is not None:
            made["id"] = name
        if isinstance(source, str) and source:
            made["source"] = source
        return [made] if len(made) > 1 else [text]
    passages = value.get("passages")
    if isinstance(passages, str):
        return [part.strip() for part in _PASSAGE.split(passages) if part.strip()]
    for name in ("documents", "contexts", "nodes"):
        if name in value:
            return as_evidence(value[name])
    return [json.dumps(value, ensure_ascii=False, indent=1)]
