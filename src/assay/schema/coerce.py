"""Converts the inputs of callers (texts, mappings, bytes) to values of the schema, or raises a precise error.

Every function takes time linear in its input, keeps every character, and raises `InputError` that names the item, the
place in it and the remedy.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

from pydantic import ValidationError

from assay.errors import InputError
from assay.schema.evidence import Evidence

BINARY_SHARE: Final = 0.1
"""From this share of control and replacement characters on, a text counts as binary content."""

_MOST_BITS: Final = 1_000
"""The longest whole number that is written out as a name, in bits: about 300 digits. Python refuses above 4,300."""

_TEXT_FIELDS: Final = ("text", "content", "page_content")
_ID_FIELDS: Final = ("id", "doc_id", "chunk_id", "source_id", "document_id")
_SOURCE_FIELDS: Final = ("source", "url")
_DATE_FIELDS: Final = ("effective_date", "expiry_date")

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\x80-\x84\x86-\x9f\ufffd]")
_MAGIC: Final = (
    ("%PDF-", "a PDF file"),
    ("PK\x03\x04", "a ZIP archive or an Office document"),
    ("\x89PNG", "a PNG image"),
    ("GIF8", "a GIF image"),
    ("\xff\xd8\xff", "a JPEG image"),
    ("\x1f\x8b", "a gzip archive"),
    ("\x7fELF", "a program"),
    ("SQLite format 3\x00", "a SQLite database"),
)


def coerce_text(value: str | bytes, what: str) -> str:
    """Reads a text, given as characters or as UTF-8 bytes.

    A byte order mark at the start of bytes is dropped; nothing else is changed. There is no limit of size.

    Args:
        value: the text.
        what: what it is, for the message, such as `the answer` or `evidence item 3`.

    Raises:
        InputError: it is neither str nor bytes, the bytes are not UTF-8 (with the offset of the first bad byte), it
            contains a lone surrogate (with its index), or it looks like binary content.

    >>> coerce_text(b"caf\\xc3\\xa9", "the answer")
    'café'
    """
    if isinstance(value, bytes | bytearray | memoryview):
        value = _decode(bytes(value), what)
    if not isinstance(value, str):
        raise InputError(f"{what} must be text (str, or bytes in UTF-8), got {type(value).__name__}")
    lone = _SURROGATE.search(value)
    if lone is not None:
        raise InputError(
            f"{what} contains a lone surrogate U+{ord(lone.group()):04X} at character {lone.start()}, which is "
            "no valid Unicode text; decode the original bytes again, or replace it with U+FFFD"
        )
    _refuse_binary(value, what)
    return value


def coerce_evidence(
    evidence: Iterable[str | bytes | Mapping[str, Any] | Evidence] | str | bytes | None,
) -> tuple[Evidence, ...]:
    """Reads evidence: nothing, one text, or any number of texts, mappings and `Evidence` values.

    A plain text gets its position as its id, counted from 1. A mapping has its text under `text`, `content` or
    `page_content`; its id under `id`, `doc_id`, `chunk_id`, `source_id` or `document_id` (else its position); and may
    have `title`, `source` or `url`, `version`, `effective_date`, `expiry_date` and `metadata`. These names are read
    from `metadata` too where they are missing above it; any other field is carried along in `metadata`.

    Blank texts are kept, because citations may name them; `blank_evidence` tells which they are.

    Raises:
        InputError: an item is of another type, holds no valid text, or has the id of an earlier item.

    >>> [item.id for item in coerce_evidence(["Leave is 16 weeks.", {"doc_id": "hr-2", "content": "It is paid."}])]
    ['1', 'hr-2']
    """
    if evidence is None:
        return ()
    if isinstance(evidence, str | bytes):
        evidence = (evidence,)
    if isinstance(evidence, Mapping | Evidence):
        raise InputError(f"evidence must be a list of items, got one {type(evidence).__name__}; write [item]")
    if not isinstance(evidence, Iterable):
        raise InputError(f"evidence must be texts, mappings or Evidence values, got {type(evidence).__name__}")
    items = tuple(_read_item(item, position) for position, item in enumerate(evidence, start=1))
    _refuse_duplicates(items)
    return items


def _decode(value: bytes, what: str) -> str:
    if value.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{what} is UTF-16 (it starts with a UTF-16 byte order mark); convert it to UTF-8")
    for magic, kind in _MAGIC:
        if value.startswith(magic.encode("latin-1")):
            raise InputError(f"{what} looks binary: it starts like {kind}; extract its text first")
    try:
        return value.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from behind a byte order mark; the caller counts from the first byte.
        offset = error.start + (3 if value.startswith(b"\xef\xbb\xbf") else 0)
        if b"\x00" in value:
            raise InputError(f"{what} looks binary: it is not UTF-8 and contains NUL bytes; extract its text") from None
        raise InputError(
            f"{what} must be UTF-8, but byte 0x{value[offset]:02x} at offset {offset} is not ({error.reason}); "
            "convert it to UTF-8"
        ) from None


def _refuse_binary(value: str, what: str) -> None:
    # A sentence may begin with GIF89a or %PDF-1.7; a file goes on with characters that no sentence has.
    if _CONTROL.search(value) is not None:
        for magic, kind in _MAGIC:
            if value.startswith(magic):
                raise InputError(f"{what} looks binary: it starts like {kind}; extract its text first")
    nul = value.find("\x00")
    if nul >= 0:
        raise InputError(f"{what} looks binary: NUL at character {nul}; extract its text first, or remove it")
    controls = len(_CONTROL.findall(value))
    if controls and controls >= BINARY_SHARE * len(value):
        first = _CONTROL.search(value)
        where = first.start() if first is not None else 0
        raise InputError(
            f"{what} looks binary: {controls} of {len(value)} characters are control or replacement characters, "
            f"the first at {where}; extract its text first"
        )


def _read_item(item: object, position: int) -> Evidence:
    what = f"evidence item {position}"
    if isinstance(item, Evidence):
        return _checked(item, what)
    if isinstance(item, str | bytes):
        return Evidence(id=str(position), text=coerce_text(item, what))
    if isinstance(item, Mapping):
        return _read_mapping(item, position, what)
    raise InputError(
        f"{what} must be a text, a mapping with a text field or an Evidence value, got {type(item).__name__}; "
        "for an object of a library pass its fields as a mapping, such as {'text': ..., 'source': ...}"
    )


def _checked(item: Evidence, what: str) -> Evidence:
    """Checks an `Evidence` of the caller: pydantic accepts lone surrogates, which would fail only on serialization."""
    coerce_text(item.text, f"the text of {what}")
    for field in ("id", "title", "source", "version"):
        name = getattr(item, field)
        if name is not None:
            coerce_text(name, f"the {field} of {what}")
    for key, value in item.metadata.items():
        coerce_text(key, f"a metadata field name of {what}")
        _scalar(value, key, what)
    return item


def _read_mapping(item: Mapping[Any, Any], position: int, what: str) -> Evidence:
    fields = dict(item)
    nested = fields.pop("metadata", None)
    if nested is not None and not isinstance(nested, Mapping):
        raise InputError(f"metadata of {what} must be a mapping, got {type(nested).__name__}")
    metadata = dict(nested or {})
    text = _take(fields, {}, _TEXT_FIELDS)
    if text is None:
        raise InputError(f"{what} has no text: expected one of {', '.join(_TEXT_FIELDS)}, got {_names(item)}")
    if not isinstance(text, str | bytes):
        raise InputError(f"the text of {what} must be str or UTF-8 bytes, got {type(text).__name__}")
    name = _take(fields, metadata, _ID_FIELDS)
    values: dict[str, Any] = {
        "id": str(position) if name is None else _name(name, "id", what),
        "text": coerce_text(text, f"the text of {what}"),
        "title": _optional_name(_take(fields, metadata, ("title",)), "title", what),
        "source": _optional_name(_take(fields, metadata, _SOURCE_FIELDS), "source", what),
        "version": _optional_name(_take(fields, metadata, ("version",)), "version", what),
    }
    for field in _DATE_FIELDS:
        values[field] = _day(_take(fields, metadata, (field,)), field, what)
    values["metadata"] = {
        _name(key, "field name", what): _scalar(value, str(key), what) for key, value in (metadata | fields).items()
    }
    try:
        return Evidence(**values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{what} cannot be read: {place}: {first['msg']}") from None


def _take(fields: dict[Any, Any], metadata: dict[Any, Any], names: Sequence[str]) -> Any:
    """Removes and returns the value of the first of the names that has one; the others stay."""
    for values in (fields, metadata):
        for name in names:
            if values.get(name) is not None:
                return values.pop(name)
    return None


def _names(item: Mapping[Any, Any]) -> str:
    return ", ".join(repr(key) for key in list(item)[:10]) or "no fields"


def _name(value: object, field: str, what: str) -> str:
    """A name as text: not blank; whole numbers are converted."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > _MOST_BITS:
            raise InputError(f"the {field} of {what} is a number of more than 300 digits; give it as a text")
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"the {field} of {what} must be a text, got {type(value).__name__}")
    if not value.strip():
        raise InputError(f"the {field} of {what} is blank; name it, or leave the field out")
    return coerce_text(value, f"the {field} of {what}")


def _optional_name(value: object, field: str, what: str) -> str | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    # A version such as 2.1 comes as a number from YAML and JSON.
    return _name(repr(value) if isinstance(value, float) else value, field, what)


def _day(value: object, field: str, what: str) -> date | None:
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip()).date()
        except ValueError:
            pass  # the error below covers this
    raise InputError(f"{field} of {what} must be a date as in 2026-01-31, got {_shown(value)}")


def _shown(value: object) -> str:
    try:
        shown = ascii(value)
    except ValueError:  # Python does not write out a whole number of more than 4,300 digits
        return f"a value of type {type(value).__name__} that is too long to show"
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _scalar(value: object, field: str, what: str) -> str | int | float | bool | None:
    """A value of metadata: scalars as they are, anything nested as JSON text; metadata is carried along, never read."""
    if isinstance(value, str):
        lone = _SURROGATE.search(value)
        if lone is not None:
            raise InputError(f"metadata {field!r} of {what} contains a lone surrogate at character {lone.start()}")
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"metadata {field!r} of {what} must be a finite number, got {value}")
    if value is None or isinstance(value, bool | int | float):
        return value
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"metadata {field!r} of {what} cannot be written as JSON: {error}") from None


def _refuse_duplicates(items: Sequence[Evidence]) -> None:
    first: dict[str, int] = {}
    for position, item in enumerate(items, start=1):
        earlier = first.setdefault(item.id, position)
        if earlier != position:
            same = item == items[earlier - 1]
            advice = "they are identical: pass it once" if same else "give each passage an id of its own"
            raise InputError(
                f"evidence id {item.id!r} is used twice, by items {earlier} and {position}; a citation could not tell "
                f"them apart: {advice}"
            )
