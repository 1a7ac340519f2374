"""The metadata of a document: its name, its version and the days between which it is in force.

Field names differ between frameworks (`effective_date`, `validFrom`, `doc_version`, `file_name`), so they are compared
without case and punctuation. Nothing is guessed: a date that cannot be read is reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from assay.text.dates import find_dates
from assay.text.lexicon import find_words


def _names(names: str) -> tuple[str, ...]:
    return tuple(names.split())


DOCUMENT: Final = _names(
    "documentid docid documentref documentkey parentdocumentid parentdocid refdocid policyid articleid"
)
"""Folded names of the fields that name the document, the most reliable first."""
VERSION: Final = _names(
    "version documentversion docversion versionnumber versionno versionid revision revisionnumber rev edition release"
)
EFFECTIVE: Final = _names(
    "effectivedate effective effectivefrom effectiveon effectiveat validfrom validfromdate validsince validitystart "
    "startdate inforcefrom inforcesince dateeffective publisheddate publicationdate publishedat datepublished "
    "published issuedate issuedat dateissued lastmodified lastmodifieddate lastmodifiedat modified modifiedat moddate "
    "updated updatedat lastupdated dateupdated revisiondate documentdate date"
)
"""Fields for the day from which a passage is in force. Those from `publisheddate` on give the day on which it was
written: that orders versions, but a later day does not mean that the passage is not in force yet."""
_VALIDITY_NAMES: Final = frozenset(EFFECTIVE[: EFFECTIVE.index("publisheddate")])
EXPIRY: Final = _names(
    "expirydate expirationdate expiry expires expireson expiresat expired expireddate validuntil validto validtodate "
    "validthrough validitystop validityend effectiveto effectiveuntil enddate inforceuntil dateexpires sunsetdate "
    "retiredon retirementdate"
)
TITLE: Final = _names("title documenttitle doctitle documentname docname heading header name")
SOURCE: Final = _names("source filename filepath path url uri sourceurl link file sourcefile")
LANGUAGE: Final = _names("language lang locale languagecode")
_KEY: Final = re.compile(r"[^a-z0-9]+")
_PDF_DATE: Final = re.compile(r"D?:?((?:19|20)\d\d)(\d\d)(\d\d)(?:\d{2,6}.*)?")
_UNIX_TIMES: Final = (0, 253_402_300_799)
"""The Unix times, in seconds, that a `date` can hold."""
_FROM_MILLISECONDS: Final = 100_000_000_000
_LANGUAGES: Final = {
    "en": "English",
    "eng": "English",
    "de": "German",
    "deu": "German",
    "ger": "German",
    "fr": "French",
    "fra": "French",
    "fre": "French",
    "es": "Spanish",
    "spa": "Spanish",
    "it": "Italian",
    "ita": "Italian",
    "pt": "Portuguese",
    "por": "Portuguese",
    "nl": "Dutch",
    "nld": "Dutch",
    "dut": "Dutch",
    "ja": "Japanese",
    "jpn": "Japanese",
    "ko": "Korean",
    "kor": "Korean",
    "zh": "Chinese",
    "zho": "Chinese",
    "chi": "Chinese",
    "el": "Greek",
    "he": "Hebrew",
    "th": "Thai",
}


@dataclass(frozen=True, slots=True)
class FileFields:
    """The metadata of a document; a field that they do not have is none."""

    document: str | None = None
    """The name of the document, which all of its versions share."""
    title: str | None = None
    source: str | None = None
    version: str | None = None
    effective_date: date | None = None
    """The first day on which it is in force."""
    written: date | None = None
    """When it was published or last changed, if no field gives the effective date: it orders versions."""
    expiry_date: date | None = None
    language: str | None = None
    """Its name in `assay.text.sentences`, such as `German`."""
    unread: tuple[str, ...] = ()
    """A message for each date that cannot be read: `effectivedate '03/04/2025' is no date that can be read`."""


def folded_name(name: object) -> str:
    """The name of a field in folded case, without anything but letters and digits of ASCII."""
    return _KEY.sub("", str(name).casefold())


def read_fields(fields: Mapping[str, Any]) -> FileFields:
    """The metadata of a document, whatever the spelling of their names.

    >>> found = read_fields({"Doc-Version": 3, "valid until": "30 June 2024", "validFrom": "03/04/2024"})
    >>> found.version, found.expiry_date, found.unread
    ('3', datetime.date(2024, 6, 30), ("validfrom '03/04/2024' is no date that can be read",))

    Args:
        fields: values by name; of two names that fold to the same one, the first counts.
    """
    flat: dict[str, Any] = {}
    for key, value in fields.items():
        if value is not None and value != "":
            flat.setdefault(folded_name(key), value)
    unread: list[str] = []
    name, day = _first_day(flat, EFFECTIVE, unread)
    _, until = _first_day(flat, EXPIRY, unread)
    version = _first(flat, VERSION)
    document = _first(flat, DOCUMENT)
    return FileFields(
        document=(str(document).strip() or None) if _is_plain(document) and not isinstance(document, float) else None,
        title=_text(flat, TITLE),
        source=_text(flat, SOURCE),
        version=(str(version).strip()[:100] or None) if _is_plain(version) else None,
        effective_date=day if name in _VALIDITY_NAMES else None,
        written=None if name in _VALIDITY_NAMES else day,
        expiry_date=until,
        language=_language(_first(flat, LANGUAGE)),
        unread=tuple(unread),
    )


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _text(flat: Mapping[str, Any], names: Sequence[str]) -> str | None:
    value = _first(flat, names)
    return (value.strip()[:500] or None) if isinstance(value, str) else None


def _language(code: object) -> str | None:
    if not isinstance(code, str):
        return None
    found = _LANGUAGES.get(re.split(r"[-_]", code.casefold())[0])
    front_title = code.strip().title()
    return found or (front_title if front_title in set(_LANGUAGES.values()) else None)


def _first(flat: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((flat[name] for name in names if flat.get(name) not in (None, "")), None)


def _first_day(flat: Mapping[str, Any], names: Sequence[str], unread: list[str]) -> tuple[str | None, date | None]:
    """The first of some fields that holds a date; validity dates that cannot be read are added to `unread`."""
    for name in names:
        value = flat.get(name)
        if value in (None, "") or isinstance(value, bool):
            continue
        day = read_metadata_day(value)
        if day is not None:
            return name, day
        if name in _VALIDITY_NAMES or name in EXPIRY:
            unread.append(f"{name} {str(value)[:40]!r} is no date that can be read")
    return None, None


def read_metadata_day(value: object) -> date | None:
    """The day that a metadata value names; none where it names none.

    Dates, times, ISO 8601, seconds and milliseconds since 1970, the PDF form and dates in words are read. A date such
    as 03/04/2024 is not, since day and month may be in either order.

    >>> [read_metadata_day(value).isoformat() for value in ("2024-06-30T12:00:00Z", "30 June 2024", 1719705600)]
    ['2024-06-30', '2024-06-30', '2024-06-30']
    >>> read_metadata_day("D:20240630101500+02'00'"), read_metadata_day("03/04/2024"), read_metadata_day("31/12/2024")
    (datetime.date(2024, 6, 30), None, datetime.date(2024, 12, 31))
    """
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _unix_day(value)
    if not isinstance(value, str):
        return None
    text = value.strip()[:100]
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00") if text.endswith("Z") else text).date()
    except ValueError:
        pass  # not ISO 8601: the other forms are tried
    pdf = _PDF_DATE.fullmatch(text)
    if pdf is not None:
        return _date_or_none(*(int(part) for part in pdf.groups()))
    if re.fullmatch(r"\d{9,13}(?:\.\d+)?", text):
        return _unix_day(float(text))
    found = [one for one in find_dates(text, find_words(text)) if one.year is not None]
    if len(found) != 1 or found[0].other is not None or found[0].last_year is not None:
        return None
    mention = found[0]
    return _date_or_none(mention.year or 0, mention.month or 1, mention.day or 1)


def _date_or_none(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _unix_day(value: float) -> date | None:
    if not 100_000_000 <= value <= _UNIX_TIMES[1] * 1000:
        return None
    seconds = value / 1000 if value >= _FROM_MILLISECONDS else value
    return datetime.fromtimestamp(seconds, UTC).date()
