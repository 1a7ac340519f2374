"""A command as a target: the request goes in as JSON on standard input, the answer comes out as JSON or text."""

import json
import shlex
import subprocess

from assay.errors import InputError
from assay.redteam.targets.interface import LONGEST_ANSWER, Request, TargetError, text_of

_FIELDS = ("answer", "text", "output", "content", "response")
"""The fields of a JSON object in which an answer is looked for, in this order."""


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
        """What the command writes.

        Raises:
            TargetError: it cannot be started, took too long, ended with another status than 0, or wrote no UTF-8.
        """
        try:
            done = subprocess.run(  # noqa: S603 the user's own command, without a shell
                self._words,
                input=json.dumps(request).encode(),
                capture_output=True,
                timeout=self._timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise TargetError(f"{self.name}: no answer within {self._timeout_s:g} seconds") from error
        except OSError as error:
            raise TargetError(f"{self.name}: cannot be started: {error.strerror or error}") from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise TargetError(
                f"{self.name}: ended with status {done.returncode}{': ' + said[-1][:300] if said else ''}"
            )
        try:
            text = done.stdout.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TargetError(f"{self.name}: wrote bytes that are not UTF-8") from error
        return text_of(answer_in(text[: LONGEST_ANSWER + 2].removesuffix("\n")), self.name)


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
