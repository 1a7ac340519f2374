"""Formats as patterns that are at least as strict as the validator of the check.

The engine's own grammars let a little more through than the formats do: a second 60 at any minute, a name of 200
characters in an e-mail address. Where a document is to be valid in any case the narrower form is the one to generate.
"""

from collections.abc import Mapping
from typing import Any, Final

_YEAR: Final = r"[0-9]{4}"
_LEAP: Final = r"([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
_DATE: Final = (
    rf"({_YEAR}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
    rf"|{_LEAP}-02-29)"
)
_TIME: Final = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
_LABEL: Final = r"[a-z0-9]{1,15}(-[a-z0-9]{1,15}){0,2}"
_ATOM: Final = r"[A-Za-z0-9_+-]{1,20}"
_COUNT: Final = r"[1-9][0-9]{0,2}"
_CLOCK: Final = rf"T({_COUNT}H({_COUNT}M({_COUNT}S)?)?|{_COUNT}M({_COUNT}S)?|{_COUNT}S)"
_DAYS: Final = rf"({_COUNT}Y({_COUNT}M({_COUNT}D)?)?|{_COUNT}M({_COUNT}D)?|{_COUNT}D)"
PATTERNS: Final[Mapping[str, str]] = {
    "date": rf"^{_DATE}$",
    "time": rf"^{_TIME}$",
    "date-time": rf"^{_DATE}T{_TIME}$",
    "duration": rf"^P({_COUNT}W|{_DAYS}({_CLOCK})?|{_CLOCK})$",
    "uri": rf"^https?://{_LABEL}(\.{_LABEL}){{1,3}}(/[A-Za-z0-9_.~-]{{0,20}}){{0,4}}$",
    "email": rf"^{_ATOM}(\.{_ATOM}){{0,2}}@({_LABEL}\.){{1,3}}[a-z]{{2,12}}$",
    "hostname": rf"^[a-z]{_LABEL}(\.{_LABEL}){{0,3}}$",
}
"""By format; the others are left to the engine."""
_DATA: Final = frozenset({"enum", "const", "default", "examples"})


def exact_formats(schema: Any) -> Any:
    """A schema with patterns in place of the formats of `PATTERNS`.

    >>> exact_formats({"type": "string", "format": "uuid"})
    {'type': 'string', 'format': 'uuid'}
    >>> sorted(exact_formats({"properties": {"format": {"format": "time"}}})["properties"]["format"])
    ['pattern']
    """
    if isinstance(schema, list):
        return [exact_formats(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: value if key in _DATA else exact_formats(value) for key, value in schema.items()}
    form = made.get("format")
    pattern = PATTERNS.get(form) if isinstance(form, str) else None
    if pattern is None or made.get("type", "string") != "string":
        return made
    del made["format"]
    if "pattern" in made:
        made["allOf"] = [*made.get("allOf", ()), {"pattern": pattern}]
    else:
        made["pattern"] = pattern
    return made
