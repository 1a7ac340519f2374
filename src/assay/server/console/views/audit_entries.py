"""Entries of the audit log, as rows of a list and with all of their fields."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from assay.reporting import Child, Markup, foreign, group, tag
from assay.server.console.parts import badge, digest, facts, joined, line, moment

EntryData = Mapping[str, Any]
"""The fields of an entry."""
ENTRY_TONES: Final = {"decision": "accent", "erasure": "bad", "review": "escalate", "receipt": "good"}
"""The tone of each kind of entry."""


def entry_line(index: int, data: EntryData | None, actor: str | None, now: datetime) -> tuple[Markup | str, ...]:
    """The cells of an entry in a list: its number, its kind, what it is about, who acted, and when.

    Args:
        index: the index of the entry in the log.
        data: its fields; `None` where the stored entry cannot be read.
        who: the name of the person or key that acted.
        now: the moment that its age is relative to.
    """
    if data is None:
        return (entry_link(index), badge("unreadable", "bad"), "It is no entry any more: verify the log.", "–", "–")
    kind = str(data["kind"])
    about = [
        str(data[name]) for name in ("act", "action", "route", "verdict", "reason") if isinstance(data.get(name), str)
    ]
    record = data.get("record")
    summary = group(foreign(", ".join(about)[:120]), " ", digest(record) if isinstance(record, str) else "")
    tone = ENTRY_TONES.get(kind, "quiet")
    return (entry_link(index), badge(kind, tone), summary, line(actor, 60), _moment_of(data, now))


def entry_link(index: int) -> Markup:
    """A link to the page of an entry."""
    return tag("a", f"{index:,}", href=f"/console/audit/entries/{index}", class_="row")


def _moment_of(data: EntryData, now: datetime) -> Markup | str:
    try:
        return moment(datetime.fromisoformat(str(data.get("at"))), now)
    except (ValueError, TypeError):
        return "–"


def entry_fields(data: EntryData, actor_name: str | None) -> Markup:
    """All fields of an entry, the most useful ones first, and the name of the person or key that acted."""
    names = [*(name for name in _FIRST if name in data), *(name for name in data if name not in _FIRST)]
    actor: list[tuple[str, Child]] = [("by", foreign(actor_name, "b"))] if actor_name else []
    fields = [
        (name.replace("_", " "), _shown(_plain(name, data[name])))
        for name in names
        if name not in _NOT_SHOWN and data[name] not in (None, {}, [])
    ]
    return facts([*actor, *fields], "list")


_FIRST: Final = ("kind", "act", "action", "route", "verdict", "score", "risk", "verdicts", "scores", "stakes", "record")
_NOT_SHOWN: Final = ("v", "at")
_IN_MILLIONTHS: Final = ("score", "risk", "scores")
_MILLION: Final = 1_000_000


def _plain(name: str, value: Any) -> Any:
    """Scores between 0 and 1, as in the rest of the console: the log stores them as integers, in millionths."""
    if name not in _IN_MILLIONTHS:
        return value
    if isinstance(value, list):
        return [one / _MILLION if isinstance(one, int) else one for one in value]
    return value / _MILLION if isinstance(value, int) else value


def _shown(value: Any) -> Markup:
    if isinstance(value, dict):
        # A policy or verifier shows its name before its digest; counts of verdicts show the verdict and the count.
        parts = (
            f"{key} {inner}" if isinstance(inner, int) else str(inner)
            for key, inner in sorted(value.items(), key=lambda item: item[0] != "name")
        )
        return joined((tag("code", foreign(one[:2_000])) for one in list(parts)[:50]), " · ")
    if isinstance(value, list):
        shown = (tag("code", foreign(str(one)[:200]), class_="below") for one in value[:50])
        return group(*shown, f" and {len(value) - 50:,} more" if len(value) > 50 else "")
    return tag("code", foreign(str(value)[:2_000]))
