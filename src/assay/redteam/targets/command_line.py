"""A command as a target: it reads the request as JSON from standard input and writes the answer as JSON or text."""

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
"""The most bytes that a command may write: enough for the longest answer with every character escaped in JSON."""
_CHUNK: Final = 65_536


class CommandLine:
    """Starts a command for each request, without a shell; the request never becomes part of the command line."""

    def __init__(self, command: str, timeout_s: float = 60.0) -> None:
        """Wraps a command.

        Args:
            command: the program and its arguments, quoted as for a shell.
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
        # Arguments may contain secrets, so the name has the program alone.
        self.name = f"command:{self._words[0]}"
        self._timeout_s = timeout_s

    def ask(self, request: Request) -> str:
        """The answer in the output of the command.

        Raises:
            TargetError: see `output_of`; or the answer is too long.
        """
        return text_of(answer_in(self.output_of(request).removesuffix("\n")), self.name)

    def output_of(self, value: object) -> str:
        """The standard output of the command for a JSON value on its standard input.

        Raises:
            TargetError: it could not be started, took too long, exited with a status other than 0, wrote too much, or
                wrote something other than UTF-8.
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
            stdout, stderr = self._exchange(process, json.dumps(value).encode())
        if process.returncode != 0:
            last = stderr.decode("utf-8", "replace").strip().splitlines()
            raise TargetError(
                f"{self.name}: ended with status {process.returncode}{': ' + last[-1][:300] if last else ''}"
            )
        try:
            return stdout.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TargetError(f"{self.name}: wrote bytes that are not UTF-8") from error

    def _exchange(self, process: "subprocess.Popen[bytes]", payload: bytes) -> tuple[bytes, bytes]:
        """Standard output, of which at most `MOST_BYTES` are held in memory, and the end of standard error."""
        stdout, stderr = bytearray(), bytearray()
        too_much = threading.Event()

        def write_input() -> None:
            with suppress(OSError, ValueError):  # a process that does not read its input may still answer
                process.stdin.write(payload)  # type: ignore[union-attr]
            with suppress(OSError, ValueError):
                process.stdin.close()  # type: ignore[union-attr]

        def read_output(stream: IO[bytes], buffer: bytearray, *, bounded: bool) -> None:
            while chunk := stream.read1(_CHUNK):  # type: ignore[attr-defined]
                buffer += chunk
                if bounded and len(buffer) > MOST_BYTES:
                    too_much.set()
                    self._kill(process)
                    return
                if not bounded:
                    del buffer[:-_CHUNK]

        threads = [
            threading.Thread(target=write_input, daemon=True),
            threading.Thread(target=read_output, args=(process.stdout, stdout), kwargs={"bounded": True}, daemon=True),
            threading.Thread(target=read_output, args=(process.stderr, stderr), kwargs={"bounded": False}, daemon=True),
        ]
        deadline = time.monotonic() + self._timeout_s
        for thread in threads:
            thread.start()
        try:
            for thread in threads[1:]:
                thread.join(max(0.0, deadline - time.monotonic()))
            late = any(thread.is_alive() for thread in threads[1:]) and not too_much.is_set()
            if not late:
                process.wait(max(0.01, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            late = True
        finally:
            self._kill(process)
        if too_much.is_set():
            raise TargetError(f"{self.name}: wrote more than {MOST_BYTES:,} bytes")
        if late:
            raise TargetError(f"{self.name}: no answer within {self._timeout_s:g} seconds")
        return bytes(stdout), bytes(stderr)

    @staticmethod
    def _kill(process: "subprocess.Popen[bytes]") -> None:
        """Kills the process and everything it started in its session, so that nothing outlives the call."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


def answer_in(text: str) -> str:
    """The answer in the output of a program: the `answer` (or a similar field) of a JSON object, a JSON string, or else
    the text itself.

    An object with none of these fields is itself the answer, in JSON.

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
        texts = [value[name] for name in _FIELDS if isinstance(value.get(name), str)]
        return texts[0] if texts else text
    return text
