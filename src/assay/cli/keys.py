"""`assay keys`: makes, lists, rotates and revokes the API keys of a server."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from assay.cli.terminal import clean
from assay.server.keys import SCOPES, KeyFile


def create(path: Path, name: str, scopes: Sequence[str], days: float | None) -> str:
    """Makes a key and returns it; it is never shown again."""
    return KeyFile(path).create(name, tuple(scopes) or SCOPES, days=days)


def rotate(path: Path, id_: str, hours: float) -> str:
    """Makes a key in place of another one and returns it."""
    return KeyFile(path).rotate(id_, hours=hours)


def revoke(path: Path, id_: str) -> None:
    """Ends a key at once."""
    KeyFile(path).revoke(id_)


def table(path: Path, now: datetime | None = None) -> Iterator[str]:
    """The keys as lines: id, state, scopes, the day each was made, and its name."""
    moment = now or datetime.now(UTC)
    for key in KeyFile(path).all_keys():
        state = "good" if key.holds(moment) else "revoked" if key.revoked else "ended"
        if state == "good" and key.expires:
            state = f"good until {key.expires[:16]}"
        yield f"{key.id}  {state:<28}  {'+'.join(key.scopes):<14}  {key.created[:10]}  {clean(key.name)}"
