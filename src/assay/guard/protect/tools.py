"""Tools that are executed only if the call passes its check."""

import functools
import inspect
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from assay.errors import CallRejectedError, InputError
from assay.guard.runs.tool_calls import ToolLike, read_tools
from assay.guard.runs.watch import CallDecision, RunWatch
from assay.schema.run import (
    Arguments,
    TextPart,
    ToolCall,
    ToolDeclaration,
    ToolResult,
    free_text,
    plain_json,
    read_argument_object,
)
from assay.verify.tools import tool_from_function

OnRejected = Literal["return", "raise"]
"""What a caller gets for a rejected call: the message for the model, or a `CallRejectedError` with it."""
_NUMBERS: Final = itertools.count(1)


@dataclass(frozen=True, slots=True)
class ToolGate:
    """One tool behind the check of its calls."""

    tool: Callable[..., Any]
    declaration: ToolDeclaration
    watch: RunWatch
    on_rejected: OnRejected

    def admit(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[CallDecision, str]:
        """Checks one call and records it in the run, and its rejection if it is rejected.

        Returns:
            The decision, and the id of the call.

        Raises:
            InputError: the arguments are not JSON, or cannot be named.
        """
        call_id = self._new_id()
        call = ToolCall(id=call_id, name=self.declaration.name, arguments=self._arguments(args, named))
        decision = self.watch.take(call)
        if not decision.accepted:
            self._answer(call_id, decision.message, failed=True)
        return decision, call_id

    def _new_id(self) -> str:
        """An id that no call of the run has: a run that was stored may go on in another process."""
        taken = {step.id for step in self.watch.run().steps if isinstance(step, ToolCall)}
        return next(name for number in _NUMBERS if (name := f"call-{number}") not in taken)

    def done(self, call_id: str, result: Any) -> None:
        """Records what the tool returned."""
        self._answer(call_id, result, failed=False)

    def failed(self, call_id: str, error: BaseException) -> None:
        """Records that the tool raised an error."""
        self._answer(call_id, f"{type(error).__name__}: {error}", failed=True)

    def refuse(self, decision: CallDecision) -> str:
        """The message of a rejected call.

        Raises:
            CallRejectedError: the caller asked for errors.
        """
        if self.on_rejected == "raise":
            raise CallRejectedError(decision.message, decision)
        return decision.message

    def _arguments(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> Arguments:
        if self.declaration.type == "custom" and len(args) == 1 and not named and isinstance(args[0], str):
            return free_text(args[0])
        given = dict(named)
        if args:
            names = [n for n, p in inspect.signature(self.tool).parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
            if len(args) > len(names) or set(names[: len(args)]) & set(named):
                raise InputError(
                    f"a checked tool is called with arguments that have names; {self.declaration.name} got {len(args)} "
                    "that have none or that come twice"
                )
            given = {**dict(zip(names, args, strict=False)), **given}
        return read_argument_object(plain_json(given).value)

    def _answer(self, call_id: str, result: Any, *, failed: bool) -> None:
        text, structured = _read_result(result)
        self.watch.add(
            ToolResult(
                call_id=call_id,
                name=self.declaration.name,
                content=(TextPart(text=text),) if text else (),
                structured=structured,
                is_error=failed or None,
            )
        )


def _read_result(result: Any) -> tuple[str, Any]:
    """A result as text, or as JSON if it is not text; as its `repr` if it is neither."""
    if isinstance(result, str):
        return plain_json(result).value, None
    if result is None:
        return "done", None
    try:
        return "", plain_json(result).value
    except InputError:
        return str(plain_json(repr(result)).value), None


def protected_tool(
    tool: Callable[..., Any], declaration: ToolLike | None, watch: RunWatch, on_rejected: OnRejected
) -> Callable[..., Any]:
    """The tool behind its check; asynchronous where the tool is.

    Raises:
        InputError: the tool has no declaration and none can be read from its signature, or a setting is wrong.
    """
    if on_rejected not in ("return", "raise"):
        raise InputError(f"on_rejected is 'return' or 'raise', got {on_rejected!r}")
    declared = read_tools([declaration])[0] if declaration is not None else tool_from_function(tool)
    watch.add(declared)
    gate = ToolGate(tool, declared, watch, on_rejected)
    return _asynchronous(gate) if is_async(tool) else _synchronous(gate)


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling a function gives something to be awaited."""
    called = function.func if isinstance(function, functools.partial) else function
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(getattr(called, "__call__", None))  # noqa: B004 the method


def _synchronous(gate: ToolGate) -> Callable[..., Any]:
    @functools.wraps(gate.tool)
    def checked(*args: Any, **named: Any) -> Any:
        decision, call_id = gate.admit(args, named)
        if not decision.accepted:
            return gate.refuse(decision)
        try:
            result = gate.tool(*args, **named)
        except BaseException as error:  # the tool is anybody's code: recorded in the run, and raised again
            gate.failed(call_id, error)
            raise
        if inspect.isawaitable(result):
            raise InputError(f"{gate.declaration.name} returned something to be awaited; wrap an `async def` instead")
        gate.done(call_id, result)
        return result

    return checked


def _asynchronous(gate: ToolGate) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(gate.tool)
    async def checked(*args: Any, **named: Any) -> Any:
        import asyncio

        decision, call_id = await asyncio.to_thread(gate.admit, args, named)
        if not decision.accepted:
            return gate.refuse(decision)
        try:
            result = await gate.tool(*args, **named)
        except BaseException as error:  # as above; a cancellation counts too
            gate.failed(call_id, error)
            raise
        gate.done(call_id, result)
        return result

    return checked
