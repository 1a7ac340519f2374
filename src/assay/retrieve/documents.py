"""Reads from a passage's metadata its document, its version and the days between which it is in force.

Field names differ between frameworks (`effective_date`, `validFrom`, `doc_version`, `file_name`), so they are compared
without case and punctuation. Nothing is guessed: a date that cannot be read is reported.
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
    """A passage with what its metadata says about its document."""

    item: Evidence
    """The passage, with dates and version filled in from metadata in other spellings."""
    document: str | None = None
    """The document that the metadata names."""
    written: date | None = None
    """When it was published or last changed, if no field gives the effective date: it orders versions."""
    language: str | None = None
    """The language that the metadata names, by its name in `assay.text.sentences.languages`."""
    unread: tuple[str, ...] = ()
    """A sentence for each date that cannot be read."""


def read_passages(passages: Iterable[Any] | str | None) -> tuple[Passage, ...]:
    """The passages that a retriever returned, in their order.

    Accepted are texts, mappings, `Evidence`, and framework objects with their text under `page_content`, `text`,
    `content` or `get_content()` and their metadata under `metadata` or `meta`. Chunks that only name their common
    document get distinct ids.

    Raises:
        InputError: an item is none of these, has no valid text, or has the id of another.
    """
    if passages is None:
        return ()
    if isinstance(passages, str | bytes):
        passages = (passages,)
    if isinstance(passages, Mapping | Evidence):
        raise InputError(f"passages must be a list of items, got one {type(passages).__name__}; write [item]")
    if not isinstance(passages, Iterable):
        raise InputError(f"passages must be texts, mappings or Evidence values, got {type(passages).__name__}")
    items = [item if isinstance(item, str | bytes | Mapping | Evidence) else _as_mapping(item) for item in passages]
    used_ids = {_id_of(item) for item in items}
    prepared: list[tuple[Any, dict[str, Any], tuple[str, ...]]] = []
    counts: dict[str, int] = {}
    for item in items:
        if not isinstance(item, Mapping):
            prepared.append((item, _metadata(item) if isinstance(item, Evidence) else {}, ()))
            continue
        fields, unread = _with_id_and_dates(item, counts, used_ids)
        prepared.append((fields, _flat_fields(item), unread))
    evidence = coerce_evidence([item for item, _, _ in prepared])
    return tuple(_passage(one, flat, unread) for one, (_, flat, unread) in zip(evidence, prepared, strict=True))


def _as_mapping(item: Any) -> Any:
    """An object of a framework as a mapping; anything else unchanged, so that the error can name it."""
    inner = getattr(item, "node", None)
    source = item if inner is None else inner
    text = next(
        (
            value
            for name in ("page_content", "text", "content")
            if isinstance(value := getattr(source, name, None), str)
        ),
        None,
    )
    if text is None and callable(getattr(source, "get_content", None)):
        text = source.get_content()
    if not isinstance(text, str):
        return item
    metadata = next(
        (value for name in ("metadata", "meta") if isinstance(value := getattr(source, name, None), Mapping)), {}
    )
    mapping: dict[str, Any] = {"text": text, "metadata": dict(metadata)}
    name = next((n for at in ("id", "node_id", "id_") if isinstance(n := getattr(source, at, None), str) and n), None)
    if name is not None:
        mapping["id"] = name
    parent = getattr(source, "ref_doc_id", None)
    if isinstance(parent, str) and parent:
        mapping["metadata"].setdefault("ref_doc_id", parent)
    return mapping


def _flat_fields(item: Mapping[Any, Any]) -> dict[str, Any]:
    """All fields by their folded names: first the item's own, then its metadata, then mappings within the metadata."""
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


_ID_FIELDS: Final = ("id", "doc_id", "chunk_id", "source_id", "document_id")


def _with_id_and_dates(
    item: Mapping[Any, Any], counts: dict[str, int], used_ids: set[str | None]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The mapping with a unique id and with dates and versions in the form of `Evidence`, and the unread dates."""
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
        id_fields = [
            layer[name] for layer in (fields, metadata) for name in _ID_FIELDS if layer.get(name) not in (None, "")
        ]
        chunk = metadata.get("id", fields.get("chunk_id", metadata.get("chunk_id")))
        id_field = chunk if chunk not in (None, "") else (id_fields[0] if id_fields else None)
        if isinstance(id_field, str | int) and not isinstance(id_field, bool) and str(id_field).strip():
            base = str(id_field)
            number = counts[base] = counts.get(base, 0) + 1
            name = base if number == 1 and base not in used_ids else f"{base}#{number}"
            while name in used_ids:
                number += 1
                counts[base] = number
                name = f"{base}#{number}"
            used_ids.add(name)
            fields["id"] = name
    return fields, tuple(unread)


def _passage(item: Evidence, flat: Mapping[str, Any], unread: Sequence[str]) -> Passage:
    dates = {"effectivedate": item.effective_date, "expirydate": item.expiry_date}
    fields = read_fields({**flat, **{name: day for name, day in dates.items() if day is not None}})
    changes: dict[str, Any] = {
        name: value
        for name in ("effective_date", "expiry_date", "version", "title", "source")
        if getattr(item, name) is None and (value := getattr(fields, name)) is not None
    }
    unread_dates = (*(f"{one}; it was kept out of the comparison" for one in unread), *fields.unread)
    document = fields.document
    if document == item.id:  # the field may name the passage and not its document
        document = document if any(folded_name(n) in flat for n in ("document_id", "document")) else None
    return Passage(
        item.model_copy(update=changes) if changes else item,
        document,
        fields.written if item.effective_date is None else None,
        fields.language,
        tuple(f"{item.id}: {one}." for one in unread_dates),
    )
