"""The outcome of one inquiry at one source, as it is judged, recorded and replayed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any, Final, Literal

from assay.errors import InputError
from assay.knowledge.interface import Inquiry, Limits, Passage, Profile, Scope, SourceAnswer

FORM: Final = 1
"""The version of the form in which outcomes are recorded."""
Status = Literal["answered", "nothing", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one inquiry at one source."""

    source: str
    """The name of the source."""
    status: Status
    """The source answered; it has nothing on it; it failed; it was not asked."""
    key: str
    """Identifies the whole inquiry, however much of it the source was shown."""
    shown: Mapping[str, object]
    """The part of the inquiry that the source was shown."""
    at: str
    """The time of the question, in ISO 8601 and UTC."""
    elapsed_ms: float
    reason: str | None = None
    """A sentence on why it failed, was not asked or has nothing."""
    found: SourceAnswer = field(default_factory=SourceAnswer)
    age_s: float | None = None
    """The age of the answer in seconds, if it came from the cache."""

    @property
    def digest(self) -> str | None:
        """SHA-256 of `text`; none where there is no passage."""
        return hashlib.sha256(self.text.encode()).hexdigest() if self.found.passages else None

    @property
    def text(self) -> str:
        """The passages as a JSON list with sorted keys, over which the digest is computed."""
        passages = [_passage_json(one) for one in self.found.passages]
        return json.dumps(passages, sort_keys=True, ensure_ascii=True, separators=(",", ":"))

    def as_json(self) -> dict[str, Any]:
        """The outcome in its recorded form."""
        return {
            "source": self.source,
            "status": self.status,
            "key": self.key,
            "shown": dict(self.shown),
            "at": self.at,
            "elapsed_ms": self.elapsed_ms,
            "reason": self.reason,
            "age_s": self.age_s,
            "digest": self.digest,
            "asked": [_plain(one) for one in self.found.asked],
            "size": self.found.size,
            "notes": list(self.found.notes),
            "passages": [_passage_json(one) for one in self.found.passages],
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Outcome:
        """The outcome from its recorded form.

        Raises:
            InputError: it has another form, or the passages do not match the digest.
        """
        try:
            found = SourceAnswer(
                tuple(_passage(one) for one in body["passages"]),
                tuple(dict(one) for one in body["asked"]),
                int(body["size"]),
                tuple(map(str, body["notes"])),
            )
            made = cls(
                str(body["source"]),
                body["status"],
                str(body["key"]),
                dict(body["shown"]),
                str(body["at"]),
                float(body["elapsed_ms"]),
                body["reason"],
                found,
                body["age_s"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError("expected what a source had said, but it cannot be read") from error
        if made.digest != body.get("digest"):
            raise InputError(f"what {made.source} had said is not what its digest says")
        return made


def key_of(inquiry: Inquiry) -> str:
    """A digest that identifies an inquiry."""
    return hashlib.sha256(json.dumps(inquiry.as_json(), sort_keys=True).encode()).hexdigest()


def _plain(asked: Mapping[str, object]) -> dict[str, object]:
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in asked.items()}


def _passage_json(one: Passage) -> dict[str, object]:
    body = {name: value.isoformat() if isinstance(value, date) else value for name, value in asdict(one).items()}
    return {name: value for name, value in body.items() if value is not None}


def _passage(body: Mapping[str, Any]) -> Passage:
    days = {name: date.fromisoformat(body[name]) for name in ("effective_date", "expiry_date") if name in body}
    return Passage(**{**body, **days})


def tape_of(profiles: Sequence[Profile], outcomes: Sequence[Outcome]) -> dict[str, Any] | None:
    """The outcomes of one check as a JSON value; none where there are none."""
    if not outcomes:
        return None
    return {
        "form": FORM,
        "sources": [_profile_json(one) for one in profiles],
        "outcomes": [o.as_json() for o in outcomes],
    }


def _profile_json(one: Profile) -> dict[str, Any]:
    return {**asdict(one), "about": sorted(one.about)}


def profile_from(body: Mapping[str, Any]) -> Profile:
    """The profile of a recorded source.

    Raises:
        InputError: it has another form.
    """
    try:
        scope = Scope(
            None if body["scope"]["tenants"] is None else tuple(body["scope"]["tenants"]), body["scope"]["sends"]
        )
        rest = {name: value for name, value in body.items() if name not in {"scope", "limits", "about"}}
        return Profile(**rest, scope=scope, limits=Limits(**body["limits"]), about=frozenset(body["about"]))
    except (KeyError, TypeError) as error:
        raise InputError("expected what a source was, but it cannot be read") from error
