"""Which document a passage belongs to, in which version, and from when until when it holds: read from its metadata.

Names of fields differ from one framework to the next: `effective_date`, `validFrom`, `doc_version`, `file_name`. They
are compared without case and marks. Nothing here is guessed: a value that cannot be read is told, not passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from assay.errors import InputError
from assay.schema import Evidence, coerce_evidence
from assay.text.dates import find_dates
from assay.text.lexicon import find_words


def _names(names: str) -> tuple[str, ...]:
    return tuple(names.split())


DOCUMENT: Final = _names(
    "documentid docid documentref documentkey parentdocumentid parentdocid refdocid policyid articleid"
)
"""Fields that name the document, without case and marks, the surest first."""
VERSION: Final = _names(
    "version documentversion docversion versionnumber versionno versionid revision revisionnumber rev edition release"
)
EFFECTIVE: Final = _names(
    "effectivedate effective effectivefrom effectiveon effectiveat validfrom validfromdate validsince validitystart "
    "startdate inforcefrom inforcesince dateeffective publisheddate publicationdate publishedat datepublished "
    "published issuedate issuedat dateissued lastmodified lastmodifieddate lastmodifiedat modified modifiedat moddate "
    "updated updatedat lastupdated dateupdated revisiondate documentdate date"
)
"""From when a passage holds. Those from `published` on say when it was written: they order versions, and a passage of a
later day is not taken to be out of force for it."""
_STRICT: Final = frozenset(EFFECTIVE[: EFFECTIVE.index("publisheddate")])
EXPIRY: Final = _names(
    "expirydate expirationdate expiry expires expireson expiresat expired expireddate validuntil validto validtodate "
    "validthrough validitystop validityend effectiveto effectiveuntil enddate inforceuntil dateexpires sunsetdate "
    "retiredon retirementdate"
)
TITLE: Final = _names("title documenttitle doctitle documentname docname heading header name")
SOURCE: Final = _names("source filename filepath path url uri sourceurl link file sourcefile")
LANGUAGE: Final = _names("language lang locale languagecode")
CHUNK: Final = _names("id chunkid nodeid passageid pointid uuid docid documentid sourceid")
_KEY: Final = re.compile(r"[^a-z0-9]+")
_PDF_DATE: Final = re.compile(r"D?:?((?:19|20)\d\d)(\d\d)(\d\d)(?:\d{2,6}.*)?")
_SECONDS: Final = (0, 253_402_300_799)
"""Unix times of the years that a date can have."""
_FROM_MILLISECONDS: Final = 100_000_000_000
_LANGUAGES: Final = {
    "en": "English", "eng": "English", "de": "German", "deu": "German", "ger": "German", "fr": "French",
    "fra": "French", "fre": "French", "es": "Spanish", "spa": "Spanish", "it": "Italian", "ita": "Italian",
    "pt": "Portuguese", "por": "Portuguese", "nl": "Dutch", "nld": "Dutch", "dut": "Dutch", "ja": "Japanese",
    "jpn": "Japanese", "ko": "Korean", "kor": "Korean", "zh": "Chinese", "zho": "Chinese", "chi": "Chinese",
    "el": "Greek", "he": "Hebrew", "th": "Thai",
}  # fmt: skip


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


def _key(name: object) -> str:
    return _KEY.sub("", str(name).casefold())


def _flat(item: Mapping[Any, Any]) -> dict[str, Any]:
    """All fields by their folded names; those above the metadata go before it, and named objects in it are opened."""
    flat: dict[str, Any] = {}
    nested = item.get("metadata", item.get("meta"))
    layers = [item, nested if isinstance(nested, Mapping) else {}]
    layers += [value for value in layers[1].values() if isinstance(value, Mapping)]
    for layer in layers:
        for name, value in layer.items():
            if name not in ("metadata", "meta") and value is not None and value != "":
                flat.setdefault(_key(name), value)
    return flat


def _metadata(item: Evidence) -> dict[str, Any]:
    flat = {_key(name): value for name, value in item.metadata.items() if value is not None and value != ""}
    for name in list(flat):
        value = flat[name]
        if isinstance(value, str) and value.startswith("{") and len(value) < 100_000:
            try:
                opened = json.loads(value)
            except ValueError:
                continue
            if isinstance(opened, dict):
                for inner, one in opened.items():
                    flat.setdefault(_key(inner), one)
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
            day = read_day_of(layer[name])
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
    told = [f"{item.id}: {one}; it was kept out of the comparison." for one in unread]
    changes: dict[str, Any] = {}
    written: date | None = None
    if item.effective_date is None:
        name, day = _first_day(flat, EFFECTIVE, item.id, told)
        if day is not None and name in _STRICT:
            changes["effective_date"] = day
        elif day is not None:
            written = day
    if item.expiry_date is None:
        _, day = _first_day(flat, EXPIRY, item.id, told)
        if day is not None:
            changes["expiry_date"] = day
    if item.version is None:
        value = _first(flat, VERSION)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            changes["version"] = str(value).strip()[:100]
    if item.title is None:
        value = _first(flat, TITLE)
        if isinstance(value, str) and value.strip():
            changes["title"] = value.strip()[:500]
    if item.source is None:
        value = _first(flat, SOURCE)
        if isinstance(value, str) and value.strip():
            changes["source"] = value.strip()[:500]
    document = _first(flat, DOCUMENT)
    named = str(document).strip() if isinstance(document, str | int) and not isinstance(document, bool) else ""
    if named == item.id:  # it may name the passage and not its document
        named = named if any(_key(n) in flat for n in ("document_id", "document")) else ""
    code = _first(flat, LANGUAGE)
    language = _LANGUAGES.get(re.split(r"[-_]", code.casefold())[0]) if isinstance(code, str) else None
    if isinstance(code, str) and language is None:
        language = code.strip().title() if code.strip().title() in set(_LANGUAGES.values()) else None
    return Passage(
        item.model_copy(update=changes) if changes else item, named or None, written, language, tuple(told)
    )  # fmt: skip


def _first(flat: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((flat[name] for name in names if flat.get(name) not in (None, "")), None)


def _first_day(
    flat: Mapping[str, Any], names: Sequence[str], item: str, told: list[str]
) -> tuple[str | None, date | None]:
    """The first field of some names that holds a date; of those that hold something else it is told."""
    for name in names:
        value = flat.get(name)
        if value in (None, "") or isinstance(value, bool):
            continue
        day = read_day_of(value)
        if day is not None:
            return name, day
        if name in _STRICT or name in EXPIRY:
            told.append(f"{item}: {name} {str(value)[:40]!r} is no date that can be read.")
    return None, None


def read_day_of(value: object) -> date | None:
    """The day that a value of metadata names; none where it names none.

    Read are dates, times, ISO 8601, seconds and milliseconds since 1970, the form of PDF, and dates in words. Of a
    date such as 03/04/2024, whose parts may be either way round, none is read: it would be a guess.

    >>> read_day_of("2024-06-30T12:00:00Z"), read_day_of("30 June 2024"), read_day_of("D:20240630101500+02'00'")
    (datetime.date(2024, 6, 30), datetime.date(2024, 6, 30), datetime.date(2024, 6, 30))
    >>> read_day_of(1719705600), read_day_of("03/04/2024"), read_day_of("31/12/2024")
    (datetime.date(2024, 6, 30), None, datetime.date(2024, 12, 31))
    """
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _unix_day(float(value))
    if not isinstance(value, str):
        return None
    text = value.strip()[:100]
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00") if text.endswith("Z") else text).date()
    except ValueError:
        pass  # the other forms follow
    pdf = _PDF_DATE.fullmatch(text)
    if pdf is not None:
        return _made(*(int(part) for part in pdf.groups()))
    if re.fullmatch(r"\d{9,13}(?:\.\d+)?", text):
        return _unix_day(float(text))
    found = [one for one in find_dates(text, find_words(text)) if one.year is not None]
    if len(found) != 1 or found[0].other is not None or found[0].last_year is not None:
        return None
    mention = found[0]
    return _made(mention.year or 0, mention.month or 1, mention.day or 1)


def _made(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _unix_day(value: float) -> date | None:
    seconds = value / 1000 if value >= _FROM_MILLISECONDS else value
    if not 100_000_000 <= seconds <= _SECONDS[1]:
        return None
    return datetime.fromtimestamp(seconds, UTC).date()
