"""A target from what the command line says."""

from collections.abc import Mapping

from assay.errors import InputError
from assay.redteam.targets.chat_endpoint import ChatEndpoint
from assay.redteam.targets.command_line import CommandLine
from assay.redteam.targets.interface import Target
from assay.redteam.targets.python_function import load_function


def load_target(name: str, model: str | None, timeout_s: float, environ: Mapping[str, str]) -> Target:
    """The target of `python:MODULE:FUNCTION`, `command:WORDS` or an address.

    Args:
        name: what the command line says.
        model: the model's name, for an address; `OPENAI_MODEL` or `default` without it.
        timeout_s: seconds that one answer may take.
        environ: `OPENAI_API_KEY` goes to the address that the user named.

    Raises:
        InputError: it is none of these.
    """
    kind, _, rest = name.partition(":")
    if kind == "python":
        return load_function(rest, timeout_s)
    if kind == "command":
        return CommandLine(rest, timeout_s)
    if kind in {"http", "https"}:
        return ChatEndpoint(
            name, model or environ.get("OPENAI_MODEL") or "default", environ.get("OPENAI_API_KEY"), timeout_s
        )
    raise InputError(f"expected a target of the form URL, python:MODULE:FUNCTION or command:PROGRAM, got {name!r}")
