"""The results of rows, written to disk as they come, so that a run that was killed resumes where it stopped.

The file is JSON Lines: a header that identifies verifier and policy, then one result a line. Results are keyed by the
digest of their row. A last line that was half written when the process died is dropped; any other damage is an error.
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from assay.errors import InputError

FORMAT_VERSION = 3
"""The version of the file format, and of the meaning of a result."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one row."""

    digest: str
    """`Row.digest` of the row."""
    verdict: str
    """The verdict on the claim, or on all claims of an answer together."""
    score: float | None
    """The probability of support; for an answer its `answer_support`. None if it could not be judged."""
    contradiction: float | None
    """The probability of contradiction; for an answer the highest of its claims."""
    spans: tuple[tuple[int, int], ...] = ()
    """The spans of characters that issues point at."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """The scores of the single tiers, for a claim."""
    gates: Mapping[str, tuple[str, float | None]] = field(default_factory=dict)
    """For an answer its action and overall score by policy name; the score is none if nothing was checked."""

    @property
    def supported(self) -> bool:
        """Whether the verdict is `supported`."""
        return self.verdict == "supported"


def read_results(path: Path) -> dict[str, Result]:
    """The results of a finished run by the digest of their row, whatever verifier and policy judged.

    Raises:
        InputError: the file is missing or damaged, or has no header.
    """
    try:
        with path.open("rb") as stream:
            lines = [json.loads(line) for line in stream]
        if not lines or "assay_results" not in lines[0]:
            raise ValueError("its first line is not the header of results")  # noqa: TRY301 wrapped below
        results = [_from_json(value) for value in lines[1:]]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: not the results of a finished run ({error}); let `assay eval --out` finish"
        ) from error
    return {result.digest: result for result in results}


class ResultLog:
    """The results of one run: a context manager that appends to a file, or keeps them in memory without one.

    Args:
        path: the file, created with its folders if missing; none to keep nothing on disk.
        identity: the identity of what judges, such as the digests of policy and verifier.

    Raises:
        InputError: the file has another identity, is damaged before its last line, or cannot be written.
    """

    def __init__(self, path: Path | None, identity: Mapping[str, str]) -> None:
        self._path = path
        self._identity = dict(identity)
        self._stream: IO[bytes] | None = None
        self.results: dict[str, Result] = {}
        """The results so far by the digest of their row."""

    def __enter__(self) -> Self:
        if self._path is not None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with ExitStack() as opened:
                    self._stream = opened.enter_context(self._path.open("a+b"))
                    self._load(self._path, self._stream)
                    opened.pop_all()
            except OSError as error:
                raise InputError(f"{self._path}: cannot be written: {error.strerror or error}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()

    def _load(self, path: Path, stream: IO[bytes]) -> None:
        """Reads the existing results, truncates a half-written end, and writes the header into an empty file."""
        stream.seek(0)
        intact_bytes = 0
        header: Mapping[str, Any] | None = None
        for number, raw in enumerate(stream, 1):
            if not raw.endswith(b"\n"):
                break
            header = self._line(path, number, raw, header)
            intact_bytes += len(raw)
        stream.truncate(intact_bytes)
        if header is None:
            self._write([{"assay_results": FORMAT_VERSION, **self._identity}])

    def _line(self, path: Path, number: int, raw: bytes, header: Mapping[str, Any] | None) -> Mapping[str, Any]:
        try:
            value = json.loads(raw)
            if header is not None:
                result = _from_json(value)
                self.results[result.digest] = result
                return header
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}, line {number}: not a result ({error}); the file was changed by something else: remove it, or "
                "name another folder with --out"
            ) from error
        expected = {"assay_results": FORMAT_VERSION, **self._identity}
        if value != expected:
            raise InputError(
                f"{path}: holds results of another verifier, policy, knowledge or version; remove it, or name another "
                "with --out or --results, so that figures of two of them are not mixed"
            )
        return expected

    def add(self, results: Iterable[Result]) -> None:
        """Keeps results; they are on disk when this returns."""
        listed = list(results)
        self._write([asdict(result) for result in listed])
        self.results.update((result.digest, result) for result in listed)

    def _write(self, values: Iterable[Mapping[str, Any]]) -> None:
        if self._stream is None:
            return
        self._stream.write(b"".join(json.dumps(value, allow_nan=False).encode() + b"\n" for value in values))
        self._stream.flush()
        os.fsync(self._stream.fileno())


def _from_json(value: Mapping[str, Any]) -> Result:
    return Result(
        digest=str(value["digest"]),
        verdict=str(value["verdict"]),
        score=None if value["score"] is None else float(value["score"]),
        contradiction=None if value["contradiction"] is None else float(value["contradiction"]),
        spans=tuple((int(start), int(end)) for start, end in value["spans"]),
        signals={str(name): float(number) for name, number in value["signals"].items()},
        gates={
            str(name): (str(action), None if score is None else float(score))
            for name, (action, score) in value["gates"].items()
        },
    )
