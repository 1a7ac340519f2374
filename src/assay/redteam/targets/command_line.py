"""A command as a target: the request goes in as JSON on standard input, the answer comes out as JSON or text."""

import json
import os
import shlex
import signal
import subprocess
import threading
import time
from contextlib import suppress
from typing import IO, Final

from assay.errors import InputError
from assay.redteam.targets.interface import LONGEST_ANSWER, Request, TargetError, text_of

_FIELDS = ("answer", "text", "output", "content", "response")
"""The fields of a JSON object in which an answer is looked for, in this order."""

MOST_BYTES: Final = 8 * LONGEST_ANSWER
"""Bytes that a command may write: an answer of the most characters, each escaped in JSON, and what stands around it."""
_CHUNK: Final = 65_536


class CommandLine:
    """Starts a command for each request; no shell reads it, and the request never becomes a part of it."""

    def __init__(self, command: str, timeout_s: float = 60.0) -> None:
        """Wraps a command.

        Args:
            command: words as a shell would split them.
            timeout_s: seconds after which the process is killed.

        Raises:
            InputError: the command is empty or its quotes do not close.
        """
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"command:{command}: {error}") from error
        if not self._words:
            raise InputError("expected command:PROGRAM ARGUMENTS, got no program")
        # Arguments may hold secrets; the program says enough.
        self.name = f"command:{self._words[0]}"
        self._timeout_s = timeout_s

    def ask(self, request: Request) -> str:
        """The answer in what the command writes.

        Raises:
            TargetError: see `written`; or an answer that is too long.
        """
        return text_of(answer_in(self.written(request).removesuffix("\n")), self.name)

    def written(self, given: object) -> str:
        """All that the command writes for a value of JSON.

        Raises:
            TargetError: it cannot be started, took too long, ended with another status than 0, wrote too much
                or no UTF-8.
        """
        try:
            process = subprocess.Popen(  # noqa: S603 the user's own command, without a shell
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise TargetError(f"{self.name}: cannot be started: {error.strerror or error}") from error
        with process:
            said, complained = self._exchanged(process, json.dumps(given).encode())
        if process.returncode != 0:
            last = complained.decode("utf-8", "replace").strip().splitlines()
            raise TargetError(
                f"{self.name}: ended with status {process.returncode}{': ' + last[-1][:300] if last else ''}"
            )
        try:
            return said.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TargetError(f"{self.name}: wrote bytes that are not UTF-8") from error

    def _exchanged(self, process: "subprocess.Popen[bytes]", sent: bytes) -> tuple[bytes, bytes]:
        """What a process wrote to its two outputs: at most `MOST_BYTES` are ever held, and of complaints the end."""
        said, complained = bytearray(), bytearray()
        over = threading.Event()

        def give() -> None:
            with suppress(OSError, ValueError):  # one that does not read its input may answer all the same
                process.stdin.write(sent)  # type: ignore[union-attr]
            with suppress(OSError, ValueError):
                process.stdin.close()  # type: ignore[union-attr]

        def take(stream: IO[bytes], into: bytearray, *, bounded: bool) -> None:
            while chunk := stream.read1(_CHUNK):  # type: ignore[attr-defined]
                into += chunk
                if bounded and len(into) > MOST_BYTES:
                    over.set()
                    self._kill(process)
                    return
                if not bounded:
                    del into[:-_CHUNK]

        works = [
            threading.Thread(target=give, daemon=True),
            threading.Thread(target=take, args=(process.stdout, said), kwargs={"bounded": True}, daemon=True),
            threading.Thread(target=take, args=(process.stderr, complained), kwargs={"bounded": False}, daemon=True),
        ]
        until = time.monotonic() + self._timeout_s
        for work in works:
            work.start()
        try:
            for work in works[1:]:
                work.join(max(0.0, until - time.monotonic()))
            late = any(work.is_alive() for work in works[1:]) and not over.is_set()
            if not late:
                process.wait(max(0.01, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            late = True
        finally:
            self._kill(process)
        if over.is_set():
            raise TargetError(f"{self.name}: wrote more than {MOST_BYTES:,} bytes")
        if late:
            raise TargetError(f"{self.name}: no answer within {self._timeout_s:g} seconds")
        return bytes(said), bytes(complained)

    @staticmethod
    def _kill(process: "subprocess.Popen[bytes]") -> None:
        """Ends the process and all that it started in its session; nothing of them outlives the call."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


def answer_in(text: str) -> str:
    """The answer in what a program wrote: the `answer` of a JSON object, a JSON string, else the text itself.

    An object with none of the fields that name an answer is an answer in JSON.

    >>> answer_in('{"answer": "Six weeks."}'), answer_in("Six weeks."), answer_in('{"weeks": 6}')
    ('Six weeks.', 'Six weeks.', '{"weeks": 6}')
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        found = [value[name] for name in _FIELDS if isinstance(value.get(name), str)]
        return found[0] if found else text
    return text
