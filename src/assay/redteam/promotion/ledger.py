"""The ledger of proposals: what was proposed for the static suite, who decided what, and why.

JSON Lines, append-only. Each entry contains the digest of the previous entry and its own, SHA-256 over its canonical
JSON, so that an entry that was changed, removed or inserted is detected when the ledger is next opened. A truncated end
can only be detected by someone who kept the last digest; `assay redteam review` prints it. The beginning of an entry at
the end, left by a process that died while it wrote, is no entry: it is ignored, and the next entry takes its place.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, Final

from assay.errors import InputError
from assay.redteam.cases import Case, parse_case

GENESIS: Final = "0" * 64
"""The previous digest of the first entry."""
_BEGINNING: Final = b'{"event": "'
"""How every line begins, so that the end of another file is never taken for a half-written entry and overwritten."""


class State(StrEnum):
    """The state of a proposal."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A case that broke a system, proposed for the static suite, with the decision on it."""

    case: Case
    """As proposed; after an edit, the edited case."""
    proposed_as: str
    """The id under which it was proposed."""
    match: float
    """The match of the answer that failed, in [0, 1]."""
    rule: str
    """The rule that judged it."""
    flaky: bool
    target: str
    """The name of the system that failed."""
    state: State = State.OPEN
    by: str | None = None
    """Who decided; none while it is open."""
    reason: str | None = None


class Ledger:
    """A ledger on disk."""

    def __init__(self, path: Path) -> None:
        """Reads a ledger; a file that does not exist is an empty one, created with its first entry.

        Raises:
            InputError: it cannot be read, or its chain of digests is broken.
        """
        self._path = path
        self.proposals: dict[str, Proposal] = {}
        self.head = GENESIS
        """The digest of the last entry."""
        try:
            data = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
        self._size = len(data)
        self._unfinished = _unfinished_at_end(data)
        """Bytes at the end that the next entry replaces."""
        self._line_is_open = not self._unfinished and not data.endswith(b"\n") and data != b""
        """Whether the last entry is whole and lacks its end of the line."""
        for number, line in enumerate(data[: len(data) - self._unfinished].splitlines(), 1):
            where = f"{path}, line {number}"
            try:
                entry = json.loads(line)
                digest = entry.pop("digest")
                if entry["previous"] != self.head or digest_of(entry) != digest:
                    raise InputError(f"{where}: the chain does not hold: this entry or one before it was changed")
                self.head = digest
                self._apply(entry, where)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                if isinstance(error, InputError):
                    raise
                raise InputError(f"{where}: expected an entry of the ledger ({error})") from error

    def _apply(self, entry: Mapping[str, Any], where: str) -> None:
        case = parse_case(json.dumps(entry["case"]), where)
        if entry["event"] == "proposed":
            self.proposals[case.id] = Proposal(
                case, case.id, float(entry["match"]), entry["rule"], bool(entry["flaky"]), entry["target"]
            )
            return
        known = self.proposals[entry["proposal"]]
        self.proposals[entry["proposal"]] = Proposal(
            case,
            known.proposed_as,
            known.match,
            known.rule,
            known.flaky,
            known.target,
            State.REJECTED if entry["event"] == "rejected" else State.APPROVED,
            entry["by"],
            entry["reason"],
        )

    def append(self, event: str, case: Case, **fields: Any) -> None:
        """Appends an entry and syncs it to disk before it takes effect.

        Raises:
            InputError: the ledger cannot be written to, or another process has appended to it since it was read: its
                entries have to be known before another one follows them in the chain.
        """
        entry = {
            "event": event,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "previous": self.head,
            "case": case.model_dump(mode="json"),
            **fields,
        }
        digest = digest_of(entry)
        line = json.dumps({**entry, "digest": digest}, ensure_ascii=True).encode() + b"\n"
        line = b"\n" + line if self._line_is_open else line
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as stream:
                _lock(stream)
                if os.fstat(stream.fileno()).st_size != self._size:
                    raise InputError(f"{self._path}: another process wrote to the ledger meanwhile; try again")
                if self._unfinished:
                    stream.truncate(self._size - self._unfinished)
                stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise InputError(f"{self._path}: cannot be written: {error.strerror or error}") from error
        self._size += len(line) - self._unfinished
        self._unfinished, self._line_is_open = 0, False
        self.head = digest
        self._apply(entry, str(self._path))

    @property
    def approved(self) -> tuple[Case, ...]:
        """The approved cases, in the order of their proposals."""
        return tuple(one.case for one in self.proposals.values() if one.state is State.APPROVED)


def _unfinished_at_end(data: bytes) -> int:
    """The bytes at the end that are an entry only in part."""
    last = data[data.rfind(b"\n") + 1 :]
    if not (last.startswith(_BEGINNING) or _BEGINNING.startswith(last)):
        return 0
    try:
        json.loads(last)
    except ValueError:
        return len(last)
    return 0


def _lock(stream: IO[bytes]) -> None:
    """Waits until no other process appends to the file; the lock is released when it is closed."""
    with suppress(ImportError):  # no such lock on Windows
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX)


def digest_of(entry: Mapping[str, Any]) -> str:
    """SHA-256 over an entry's canonical JSON."""
    canonical = json.dumps(entry, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
