"""Loads a target from its name on the command line."""

from collections.abc import Mapping
from pathlib import Path

from assay.errors import InputError
from assay.redteam.targets.chat_endpoint import ChatEndpoint
from assay.redteam.targets.command_line import CommandLine
from assay.redteam.targets.interface import Target
from assay.redteam.targets.python_function import load_function


def load_target(name: str, model: str | None, timeout_s: float, environ: Mapping[str, str]) -> Target:
    """The target of `python:MODULE:FUNCTION`, `command:WORDS`, `langchain:MODULE:NAME`, `file:FILE` or an address.

    Args:
        name: the name, as on the command line.
        model: the name of the model, for an address; by default `OPENAI_MODEL` or `default`.
        timeout_s: the most seconds of one answer.
        environ: the environment; its `OPENAI_API_KEY` is sent to an address.

    Raises:
        InputError: the name has none of these forms, or what it names cannot be loaded.
        MissingPackageError: the target needs a package that is not installed.
    """
    kind, _, rest = name.partition(":")
    if kind == "python":
        return load_function(rest, timeout_s)
    if kind == "command":
        return CommandLine(rest, timeout_s)
    if kind == "langchain":
        from assay.redteam.targets.langchain_runnable import LangChainRunnable
        from assay.redteam.targets.python_function import load_object

        return LangChainRunnable(load_object(rest, kind), name, timeout_s)
    if kind == "file":
        from assay.redteam.targets.declared import load_declared

        return load_declared(Path(rest), timeout_s, environ)
    if kind in {"http", "https"}:
        return ChatEndpoint(
            name, model or environ.get("OPENAI_MODEL") or "default", environ.get("OPENAI_API_KEY"), timeout_s
        )
    raise InputError(
        "expected a target of the form URL, python:MODULE:FUNCTION, command:PROGRAM, langchain:MODULE:NAME or "
        f"file:TARGET.yaml, got {name!r}"
    )
