"""A function of a Python module as a target: `python:MODULE:FUNCTION`."""

import asyncio
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.redteam.targets.bounded import call_within
from assay.redteam.targets.interface import Reply, Request, text_of, token_count


class PythonFunction:
    """Calls a function with the request; a coroutine is run to completion."""

    def __init__(self, function: Callable[[Request], Any], name: str, timeout_s: float = 60.0) -> None:
        """Wraps a function.

        Args:
            function: takes the request as a dictionary and returns text, or an awaitable of it.
            name: its name in records.
            timeout_s: seconds after which an answer is no longer waited for. Python cannot stop a thread: a function
                that hangs keeps its thread until the process ends.
        """
        self.name = name
        self._function = function
        self._timeout_s = timeout_s

    def ask(self, request: Request) -> str | Reply:
        """The function's answer.

        Raises:
            TargetError: it raised, returned something other than text, or took too long.
        """

        def call() -> Any:
            value = self._function(request)
            return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value

        answer = call_within(call, self._timeout_s, self.name)
        if not isinstance(answer, Reply):
            return text_of(answer, self.name)
        return Reply(text_of(answer.text, self.name), token_count(answer.tokens_in), token_count(answer.tokens_out))


async def _awaited(value: Any) -> Any:
    return await value


def load_function(name: str, timeout_s: float = 60.0) -> PythonFunction:
    """Loads the target `MODULE:FUNCTION`; MODULE is importable from the working directory, or the path of a `.py` file.

    Raises:
        InputError: there is no such module or function, or importing it failed.
    """
    function = load_object(name, "python")
    if not callable(function):
        raise InputError(f"python:{name}: expected a function")
    return PythonFunction(function, f"python:{name}", timeout_s)


def load_object(name: str, kind: str) -> Any:
    """Imports the object `MODULE:NAME`; NAME may contain dots.

    Args:
        name: the module and the name.
        kind: the prefix on the command line, for messages.

    Raises:
        InputError: there is no such module or name, or importing it failed.
    """
    module_name, _, object_name = name.rpartition(":")
    if not module_name or not object_name:
        raise InputError(f"expected {kind}:MODULE:NAME, got {kind}:{name}")
    try:
        value = _from_file(Path(module_name)) if module_name.endswith(".py") else _imported(module_name)
    except Exception as error:  # importing runs the user's code, which may raise anything
        raise InputError(f"{kind}:{name}: cannot be imported: {type(error).__name__}: {error}") from error
    for part in object_name.split("."):
        value = getattr(value, part, None)
    if value is None:
        raise InputError(f"{kind}:{name}: {module_name} has no {object_name}")
    return value


def _imported(module: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return importlib.import_module(module)


def _from_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.exists():
        raise FileNotFoundError(f"no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module
