"""The record of a run: every request with its answer, as it comes, so that a run that was killed goes on.

JSON Lines: a header that names the suite and the target, then for each call a line when it begins and one when it ends.
A call that began and did not end was under way when the process died. A last line that was half written is dropped; any
other damage is an error.
"""

import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from assay.errors import InputError
from assay.redteam.targets import estimated_tokens

FORM: Final = 1
"""The version of the record's form."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one call."""

    case: str
    text: str | None
    """None where the target failed."""
    error: str | None = None
    """Why there is no answer."""
    seconds: float = 0.0
    """How long it took."""
    trial: int = 1
    """The number of the call of this case: flaky cases are asked several times."""
    tokens_in: int = 0
    """Tokens of the request."""
    tokens_out: int = 0
    """Tokens of the answer."""
    counted: bool = False
    """Whether the target counted both; else they are estimated."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What calls took."""

    given: int = 0
    """Tokens of requests."""
    got: int = 0
    """Tokens of answers."""

    @property
    def total(self) -> int:
        """Both."""
        return self.given + self.got


class RunLog:
    """A record that is open for one run; another process that opens it meanwhile is refused."""

    def __init__(self, path: Path, suite: str, target: str, version: str = "") -> None:
        """Opens a record, or begins one.

        Args:
            path: the file.
            suite: the digest of the suite.
            target: the name of the target.
            version: the version of the target, as its owner declares it.

        Raises:
            InputError: it is of another suite, target or version, damaged, in use, or cannot be written.
        """
        self._path = path
        self._lock = threading.Lock()
        self.answers: dict[tuple[str, int], Answer] = {}
        self.begun: set[tuple[str, int]] = set()
        self.largest = 0
        """Tokens of the longest answer so far."""
        self.counted = True
        """Whether the target counted all tokens by itself."""
        self._ended = Tokens()
        self._open: dict[tuple[str, int], int] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream: IO[bytes] = path.open("a+b")
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
        try:
            self._take()
            self._read(suite, target, version)
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def _take(self) -> None:
        with suppress(ImportError):  # no such lock on Windows
            import fcntl

            try:
                fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InputError(f"{self._path}: another run is writing here; choose another --out") from error

    @property
    def taken(self) -> Tokens:
        """What all calls of the record took, those of earlier runs too. A call that has not ended counts with what it
        sent: the target may have read it."""
        return Tokens(self._ended.given + sum(self._open.values()), self._ended.got)

    @property
    def under_way(self) -> int:
        """Calls that have begun and not ended."""
        return len(self._open)

    def _read(self, suite: str, target: str, version: str) -> None:
        self._stream.seek(0)
        data = self._stream.read()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            self._stream.truncate(len(whole))
        header = {"form": FORM, "suite": suite, "target": target, "version": version}
        if not whole:
            self._write({**header, "begun": _now()})
            return
        try:
            first, *rest = (json.loads(line) for line in whole.splitlines())
            found = {"version": "", **first}
            found = {name: found[name] for name in header}
            for line in rest:
                self._take_in(line)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self._path}: damaged ({error}); move it away to begin anew") from error
        if found != header:
            name = next(name for name in header if found[name] != header[name])
            raise InputError(
                f"{self._path}: is of another {name} ({found[name]!r}, not {header[name]!r}); choose another --out"
            )

    def _take_in(self, line: Mapping[str, Any]) -> None:
        key = (str(line["case"]), int(line["trial"]))
        if line["event"] == "begun":
            self.begun.add(key)
            self._open[key] = estimated_tokens(line["request"])
        elif line["event"] == "dropped":
            self.answers.pop(key, None)
        else:
            answer = Answer(
                key[0],
                line["answer"],
                line["error"],
                float(line["seconds"]),
                key[1],
                tokens_in=int(line.get("tokens_in", 0)),
                tokens_out=int(line.get("tokens_out", 0)),
                counted=bool(line.get("counted", False)),
            )
            self.answers[key] = answer
            self._count(answer)

    def _count(self, answer: Answer) -> None:
        self._open.pop((answer.case, answer.trial), None)
        self._ended = Tokens(self._ended.given + answer.tokens_in, self._ended.got + answer.tokens_out)
        self.largest = max(self.largest, answer.tokens_out)
        self.counted = self.counted and answer.counted

    def _write(self, value: Mapping[str, Any]) -> None:
        with self._lock:
            self._stream.write(json.dumps(value, ensure_ascii=True).encode() + b"\n")
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def begin(self, case: str, trial: int, request: Mapping[str, Any]) -> None:
        """Records that a call begins, with all that it sends."""
        self.begun.add((case, trial))
        self._open[case, trial] = estimated_tokens(dict(request))
        self._write({"event": "begun", "case": case, "trial": trial, "at": _now(), "request": request})

    def end(self, answer: Answer) -> None:
        """Records what came of a call."""
        self._write(
            {
                "event": "answered" if answer.error is None else "failed",
                "case": answer.case,
                "trial": answer.trial,
                "at": _now(),
                "seconds": round(answer.seconds, 6),
                "answer": answer.text,
                "error": answer.error,
                "tokens_in": answer.tokens_in,
                "tokens_out": answer.tokens_out,
                "counted": answer.counted,
            }
        )
        with self._lock:
            self._count(answer)
        self.answers[answer.case, answer.trial] = answer

    def drop(self, case: str, trial: int) -> None:
        """Records that what came of a call no longer counts, since the user wants failures asked again."""
        self._write({"event": "dropped", "case": case, "trial": trial, "at": _now()})
        self.answers.pop((case, trial), None)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it was written, for who only reads it."""

    suite: str
    target: str
    version: str
    begun: str
    """When the first run into it began."""
    ended: str
    """When the last call ended."""
    calls: int
    """Calls that were answered or failed, those that no longer count too."""
    answers: Mapping[tuple[str, int], Answer]
    """What came of calls, by case and trial; the last one counts."""


def read_record(path: Path) -> Record:
    """A record without opening it for a run: nothing is written, and a run may be under way.

    Raises:
        InputError: it cannot be read, or is damaged.
    """
    try:
        first, *rest = (json.loads(line) for line in path.read_bytes().splitlines())
        answers: dict[tuple[str, int], Answer] = {}
        calls, ended = 0, str(first["begun"])
        for line in rest:
            key = (str(line["case"]), int(line["trial"]))
            match line["event"]:
                case "begun":
                    continue
                case "dropped":
                    answers.pop(key, None)
                case _:
                    calls, ended = calls + 1, str(line["at"])
                    answers[key] = Answer(key[0], line["answer"], line["error"], float(line["seconds"]), key[1])
        about = (str(first["suite"]), str(first["target"]), str(first.get("version", "")), str(first["begun"]))
        return Record(*about, ended, calls, answers)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: damaged ({error})") from error
