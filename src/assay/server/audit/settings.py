"""The settings of the audit log: how often it is signed, where checkpoints go, and when retention is applied."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from assay.errors import PolicyError


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness that signs checkpoints (C2SP tlog-witness)."""

    url: str
    """Its submission prefix."""
    key: str | None = None
    """Its key as a vkey; without one, its signatures are stored unverified."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """The timers of a server with a database."""

    checkpoint_minutes: float = 10.0
    """How often the log of each tenant is signed, where it has grown."""
    anchors: tuple[Path, ...] = ()
    """Files outside this host to which checkpoints are added. A `{tenant}` in a name stands for the tenant; without
    one, each tenant but `default` has a file beside it."""
    witnesses: tuple[Witness, ...] = ()
    retention_minutes: float = 60.0
    """How often the rules of retention are applied."""

    def __post_init__(self) -> None:
        for name in ("checkpoint_minutes", "retention_minutes"):
            value = getattr(self, name)
            good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not good or not 0.01 <= value <= 100_000:
                raise PolicyError(f"audit.{name} is a number of minutes from 0.01 to 100,000, got {value!r}")
        for witness in self.witnesses:
            if not witness.url.startswith(("https://", "http://")):
                raise PolicyError(f"a witness has an address such as https://witness.example.com, got {witness.url!r}")


def audit_settings(section: Mapping[str, Any]) -> AuditSettings:
    """The section `audit` of a gateway file.

    Raises:
        PolicyError: a setting is unknown or invalid.

    >>> audit_settings({"checkpoint_minutes": 5, "anchors": ["/worm/assay.txt"]}).anchors[0].name
    'assay.txt'
    """
    known = [one.name for one in fields(AuditSettings)]
    unknown = sorted(set(section) - set(known))
    if unknown:
        raise PolicyError(f"the section audit has the settings {', '.join(known)}; got {', '.join(unknown)}")
    values = dict(section)
    if "anchors" in values:
        values["anchors"] = tuple(Path(_text(one, "an anchor")) for one in _list(values["anchors"], "anchors"))
    if "witnesses" in values:
        values["witnesses"] = tuple(_witness(one) for one in _list(values["witnesses"], "witnesses"))
    return AuditSettings(**values)


def _witness(value: object) -> Witness:
    if isinstance(value, str):
        return Witness(value)
    if not isinstance(value, Mapping) or not set(value) <= {"url", "key"} or "url" not in value:
        raise PolicyError(f"a witness has a url, and may have a key; got {value!r}")
    key = value.get("key")
    return Witness(_text(value["url"], "the url of a witness"), None if key is None else _text(key, "its key"))


def _list(value: object, what: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise PolicyError(f"audit.{what} is a list, got {type(value).__name__}")
    return value


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise PolicyError(f"{what} is a text, got {value!r}")
    return value
