"""Which document a passage belongs to, in which version, and from when until when it holds: read from its metadata.

Names of fields differ from one framework to the next: `effective_date`, `validFrom`, `doc_version`, `file_name`. They
are compared without case and marks. Nothing here is guessed: a value that cannot be read is reported, not passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from assay.errors import InputError
from assay.schema import Evidence, coerce_evidence
from assay.text.files import folded_name, read_fields, read_metadata_day


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with what its metadata says of its document."""

    item: Evidence
    """Its dates and version are filled in from metadata in other spellings."""
    document: str | None = None
    """The document that the metadata names."""
    written: date | None = None
    """When it was published or changed last, where nothing says from when it holds: it orders versions."""
    language: str | None = None
    """The language that the metadata names, as `assay.text.sentences.languages` calls it."""
    unread: tuple[str, ...] = ()
    """Fields whose dates cannot be read, a sentence each."""


def read_passages(given: Iterable[Any] | str | None) -> tuple[Passage, ...]:
    """Passages as retrievers give them, in their order.

    Taken are texts, mappings, `Evidence`, and objects of frameworks that have their text under `page_content`,
    `text`, `content` or `get_content()` and their metadata under `metadata` or `meta`. Two chunks of one document
    that name the document alone get ids of their own.

    Raises:
        InputError: an item is none of these, holds no valid text, or has the id of another.
    """
    if given is None:
        return ()
    if isinstance(given, str | bytes):
        given = (given,)
    if isinstance(given, Mapping | Evidence):
        raise InputError(f"passages must be a list of items, got one {type(given).__name__}; write [item]")
    if not isinstance(given, Iterable):
        raise InputError(f"passages must be texts, mappings or Evidence values, got {type(given).__name__}")
    items = [item if isinstance(item, str | bytes | Mapping | Evidence) else _opened(item) for item in given]
    taken = {_id_of(item) for item in items}
    read: list[tuple[Any, dict[str, Any], tuple[str, ...]]] = []
    counts: dict[str, int] = {}
    for item in items:
        if not isinstance(item, Mapping):
            read.append((item, _metadata(item) if isinstance(item, Evidence) else {}, ()))
            continue
        fields, unread = _prepared(item, counts, taken)
        read.append((fields, _flat(item), unread))
    evidence = coerce_evidence([item for item, _, _ in read])
    return tuple(_passage(one, flat, unread) for one, (_, flat, unread) in zip(evidence, read, strict=True))


def _opened(item: Any) -> Any:
    """An object of a framework as a mapping; anything else as it is, for the error to name."""
    inner = getattr(item, "node", None)
    score_of = item if inner is None else inner
    text = next(
        (
            value
            for name in ("page_content", "text", "content")
            if isinstance(value := getattr(score_of, name, None), str)
        ),
        None,
    )
    if text is None and callable(getattr(score_of, "get_content", None)):
        text = score_of.get_content()
    if not isinstance(text, str):
        return item
    metadata = next(
        (value for name in ("metadata", "meta") if isinstance(value := getattr(score_of, name, None), Mapping)), {}
    )
    made: dict[str, Any] = {"text": text, "metadata": dict(metadata)}
    name = next((n for at in ("id", "node_id", "id_") if isinstance(n := getattr(score_of, at, None), str) and n), None)
    if name is not None:
        made["id"] = name
    parent = getattr(score_of, "ref_doc_id", None)
    if isinstance(parent, str) and parent:
        made["metadata"].setdefault("ref_doc_id", parent)
    return made


def _flat(item: Mapping[Any, Any]) -> dict[str, Any]:
    """All fields by their folded names; those above the metadata go before it, and named objects in it are opened."""
    flat: dict[str, Any] = {}
    nested = item.get("metadata", item.get("meta"))
    layers = [item, nested if isinstance(nested, Mapping) else {}]
    layers += [value for value in layers[1].values() if isinstance(value, Mapping)]
    for layer in layers:
        for name, value in layer.items():
            if name not in ("metadata", "meta") and value is not None and value != "":
                flat.setdefault(folded_name(name), value)
    return flat


def _metadata(item: Evidence) -> dict[str, Any]:
    flat = {folded_name(name): value for name, value in item.metadata.items() if value is not None and value != ""}
    for name in list(flat):
        value = flat[name]
        if isinstance(value, str) and value.startswith("{") and len(value) < 100_000:
            try:
                opened = json.loads(value)
            except (ValueError, RecursionError):  # no JSON, or nested deeper than the parser follows: an opaque text
                continue
            if isinstance(opened, dict):
                for inner, one in opened.items():
                    flat.setdefault(folded_name(inner), one)
    return flat


def _id_of(item: Any) -> str | None:
    if isinstance(item, Evidence):
        return item.id
    if not isinstance(item, Mapping):
        return None
    value = item.get("id")
    return None if value is None else str(value)


_BY_ID: Final = ("id", "doc_id", "chunk_id", "source_id", "document_id")


def _prepared(
    item: Mapping[Any, Any], counts: dict[str, int], taken: set[str | None]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The mapping with an id of its own and dates in the one form that evidence is read in."""
    fields = dict(item)
    if "meta" in fields and "metadata" not in fields:
        fields["metadata"] = fields.pop("meta")
    nested = fields.get("metadata")
    metadata = dict(nested) if isinstance(nested, Mapping) else {}
    if isinstance(nested, Mapping):
        fields["metadata"] = metadata
    unread: list[str] = []
    for name in ("effective_date", "expiry_date"):
        for layer in (fields, metadata):
            if layer.get(name) in (None, ""):
                continue
            day = read_metadata_day(layer[name])
            if day is None:
                unread.append(f"{name} {str(layer[name])[:40]!r} is no date that can be read")
                layer[f"{name}_as_written"] = str(layer.pop(name))
            else:
                layer[name] = day
    for layer in (fields, metadata):
        if isinstance(layer.get("version"), int | float) and not isinstance(layer.get("version"), bool):
            layer["version"] = repr(layer["version"])
        elif layer.get("version") is not None and not isinstance(layer["version"], str):
            layer["version_as_written"] = str(layer.pop("version"))
    if fields.get("id") is None:
        named = [layer[name] for layer in (fields, metadata) for name in _BY_ID if layer.get(name) not in (None, "")]
        chunk = metadata.get("id", fields.get("chunk_id", metadata.get("chunk_id")))
        wanted = chunk if chunk not in (None, "") else (named[0] if named else None)
        if isinstance(wanted, str | int) and not isinstance(wanted, bool) and str(wanted).strip():
            base = str(wanted)
            number = counts[base] = counts.get(base, 0) + 1
            name = base if number == 1 and base not in taken else f"{base}#{number}"
            while name in taken:
                number += 1
                counts[base] = number
                name = f"{base}#{number}"
            taken.add(name)
            fields["id"] = name
    return fields, tuple(unread)


def _passage(item: Evidence, flat: Mapping[str, Any], unread: Sequence[str]) -> Passage:
    own = {"effectivedate": item.effective_date, "expirydate": item.expiry_date}
    fields = read_fields({**flat, **{name: day for name, day in own.items() if day is not None}})
    changes: dict[str, Any] = {
        name: value
        for name in ("effective_date", "expiry_date", "version", "title", "source")
        if getattr(item, name) is None and (value := getattr(fields, name)) is not None
    }
    unclear = (*(f"{one}; it was kept out of the comparison" for one in unread), *fields.unread)
    document = fields.document
    if document == item.id:  # it may name the passage and not its document
        document = document if any(folded_name(n) in flat for n in ("document_id", "document")) else None
    return Passage(
        item.model_copy(update=changes) if changes else item,
        document,
        fields.written if item.effective_date is None else None,
        fields.language,
        tuple(f"{item.id}: {one}." for one in unclear),
    )
