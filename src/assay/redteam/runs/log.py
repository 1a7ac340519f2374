"""The record of a run: every request with its answer, written as it arrives, so that a killed run can be resumed.

JSON Lines: a header that names the suite and the target, then one line when a call begins and one when it ends. A call
that began and did not end was in progress when the process died. An incomplete last line is dropped; any other damage
is an error.
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
"""The version of the file format."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of one call."""

    case: str
    """The id of the case."""
    text: str | None
    """The answer; none where the target failed."""
    error: str | None = None
    """Why there is no answer."""
    seconds: float = 0.0
    """The duration of the call."""
    trial: int = 1
    """The number of the trial, from 1: failed cases may be asked several times."""
    tokens_in: int = 0
    """Tokens of the request."""
    tokens_out: int = 0
    """Tokens of the answer."""
    counted: bool = False
    """Whether the target counted both; otherwise they are estimated."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of some calls."""

    sent: int = 0
    """Tokens of requests."""
    received: int = 0
    """Tokens of answers."""

    @property
    def total(self) -> int:
        """Tokens of requests and answers together."""
        return self.sent + self.received


class RunLog:
    """A record opened for a run, locked against other processes."""

    def __init__(self, path: Path, suite: str, target: str, version: str = "") -> None:
        """Opens a record, or creates one.

        Args:
            path: the file.
            suite: the digest of the suite.
            target: the name of the target.
            version: the version of the target, as its owner declares it.

        Raises:
            InputError: it belongs to another suite, target or version, is damaged or in use, or cannot be written.
        """
        self._path = path
        self._lock = threading.Lock()
        self.answers: dict[tuple[str, int], Answer] = {}
        """The outcomes of calls that count, by case and trial."""
        self.started_calls: set[tuple[str, int]] = set()
        """Calls that began, by case and trial, whether they ended or not."""
        self.longest_answer = 0
        """Tokens of the longest answer so far."""
        self.counted = True
        """Whether the target counted all tokens itself."""
        self._used_by_ended = Tokens()
        self._sent_by_open: dict[tuple[str, int], int] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream: IO[bytes] = path.open("a+b")
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
        try:
            self._lock_file()
            self._read(suite, target, version)
        except BaseException:  # whatever it is, it is raised on; only the file must not stay open and locked
            self._stream.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def _lock_file(self) -> None:
        with suppress(ImportError):  # no such lock on Windows
            import fcntl

            try:
                fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InputError(f"{self._path}: another run is writing here; choose another --out") from error

    @property
    def used(self) -> Tokens:
        """The tokens of all calls in the record, including earlier runs. A call that has not ended counts with its
        request, which the target may have read."""
        with self._lock:
            return self._used()

    def _used(self) -> Tokens:
        return Tokens(self._used_by_ended.sent + sum(self._sent_by_open.values()), self._used_by_ended.received)

    def expected(self, sent: int, least: int) -> Tokens:
        """The tokens of all calls after one more, if it and each open call get an answer as long as the longest so far.

        Args:
            sent: the tokens of the request of the next call.
            least: the least tokens of an answer that are expected.
        """
        with self._lock:  # an answer that is counted meanwhile would be missing from both sums
            used, answers = self._used(), len(self._sent_by_open) + 1
            return Tokens(used.sent + sent, used.received + answers * max(least, self.longest_answer))

    def _read(self, suite: str, target: str, version: str) -> None:
        self._stream.seek(0)
        content = self._stream.read()
        complete_lines = _complete_lines(content)
        if len(complete_lines) < len(content):
            self._stream.truncate(len(complete_lines))
        header = {"form": FORM, "suite": suite, "target": target, "version": version}
        if not complete_lines:
            self._write({**header, "begun": _now()})
            return
        try:
            first, *rest = (json.loads(line) for line in complete_lines.splitlines())
            written_header = {"version": "", **first}
            written_header = {name: written_header[name] for name in header}
            for line in rest:
                self._apply_line(line)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self._path}: damaged ({error}); move it away to begin anew") from error
        if written_header != header:
            name = next(name for name in header if written_header[name] != header[name])
            raise InputError(
                f"{self._path}: is of another {name} ({written_header[name]!r}, not {header[name]!r}); "
                "choose another --out"
            )

    def _apply_line(self, line: Mapping[str, Any]) -> None:
        key = (str(line["case"]), int(line["trial"]))
        if line["event"] == "begun":
            self.started_calls.add(key)
            self._sent_by_open[key] = estimated_tokens(line["request"])
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
        self._sent_by_open.pop((answer.case, answer.trial), None)
        self._used_by_ended = Tokens(
            self._used_by_ended.sent + answer.tokens_in, self._used_by_ended.received + answer.tokens_out
        )
        self.longest_answer = max(self.longest_answer, answer.tokens_out)
        self.counted = self.counted and answer.counted

    def _write(self, value: Mapping[str, Any]) -> None:
        with self._lock:
            self._stream.write(json.dumps(value, ensure_ascii=True).encode() + b"\n")
            self._stream.flush()
            os.fsync(self._stream.fileno())

    def begin(self, case: str, trial: int, request: Mapping[str, Any]) -> None:
        """Records that a call begins, with its whole request."""
        with self._lock:
            self.started_calls.add((case, trial))
            self._sent_by_open[case, trial] = estimated_tokens(dict(request))
        self._write({"event": "begun", "case": case, "trial": trial, "at": _now(), "request": request})

    def end(self, answer: Answer) -> None:
        """Records the outcome of a call."""
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
        """Records that the outcome of a call no longer counts, because the user wants failed calls repeated."""
        self._write({"event": "dropped", "case": case, "trial": trial, "at": _now()})
        self.answers.pop((case, trial), None)


def _complete_lines(content: bytes) -> bytes:
    """The content up to its last end of a line: what follows is being written, or was when a process died."""
    return content[: content.rfind(b"\n") + 1]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Record:
    """The content of a record, for readers."""

    suite: str
    target: str
    version: str
    begun: str
    """When its first run began."""
    ended: str
    """When the last call ended."""
    calls: int
    """Calls that were answered or failed, including those that no longer count."""
    answers: Mapping[tuple[str, int], Answer]
    """The outcome of calls by case and trial; of several the last one."""


def read_record(path: Path) -> Record:
    """Reads a record without locking or changing it; a run may be in progress, and an incomplete last line is ignored.

    Raises:
        InputError: it cannot be read, or is damaged.
    """
    try:
        first, *rest = (json.loads(line) for line in _complete_lines(path.read_bytes()).splitlines())
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
