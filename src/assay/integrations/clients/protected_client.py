"""Protects a client of an official SDK: the same client, with the gate between it and its model."""

import inspect
import weakref
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any, Final, Literal, TypedDict, TypeVar

from assay.errors import InputError, MissingPackageError
from assay.guard import EvidenceLike, Guard
from assay.integrations.clients.calls import Call, ClientGate, Outcome, calling
from assay.integrations.clients.paths import Paths
from assay.integrations.clients.transport import KEY, gated_http
from assay.policy import Mode
from assay.schema import Stakes, coerce_evidence
from assay.wire import RequestOptions

C = TypeVar("C")

_CALLS: Final[dict[int, tuple["weakref.ref[Any]", Call]]] = {}
"""The call behind each result that is still there, by the identity of the result."""
_SOCKETS: Final = ("realtime", "live")
"""Parts of clients that speak by sockets of their own, which no HTTP client sees."""
_OPENING: Final = ("_websocket_query_params", "_websocket_query_params_fallback")
"""What every socket's address is made with, those of `responses.connect` included."""


class ProtectOptions(TypedDict, total=False):
    """How the answers of a client are checked: the options of `protect` for every SDK."""

    mode: Literal["enforce", "annotate", "shadow"]
    """`enforce`, the default, holds back what does not pass; `annotate` lets everything out and adds a member `assay`
    to what did not pass, in a stream a correction; `shadow` lets everything out and checks it afterwards."""
    on_withheld: Literal["answer", "raise"]
    """What the program gets of an answer that is withheld: an `answer` in the format's own words, with the policy's
    notice as its text, which is the default; or `raise` a `WithheldError`, for tool calls a `CallRejectedError`."""
    evidence: EvidenceLike
    """Evidence for calls that bring none; beside it only tool results and passages of a request count. By default the
    request is the evidence: tool results, passages, what the user and the system prompt state."""
    sources: Collection[str] | None
    """The kinds of content of a request that count: any of `tools`, `passages`, `user` and `system`."""
    question: str | None
    """What the answers answer; the user's last words by default."""
    stakes: Stakes | str
    """How much depends on them; `medium` by default."""
    task: str
    """The kind of task; `qa` by default."""
    claim_free: bool
    """Whether answers are declared to contain no claims."""
    fail_on: Literal["revise", "block"]
    """The mildest decision that withholds: `revise`, the default, or `block` to let `revise` pass."""
    attempts: int
    """How often the model is asked again, with what was found, for an answer that does not pass (not for streams); 0 by
    default. Sentences that passed stay to the character."""
    reasoning: Literal["withhold", "pass"]
    """What becomes under `enforce` of the words of the model's reasoning, which no check reads: they are taken out
    (`withhold`, the default; signatures and encrypted reasoning stay), or `pass` for programs that have to send them
    back and show them to nobody."""
    on_outcome: Callable[[Outcome], object] | None
    """Gets the outcome of every answer."""


def client_gate(
    guard: Guard | None,
    *,
    mode: Mode | str = "enforce",
    on_withheld: str = "answer",
    evidence: EvidenceLike = None,
    sources: Collection[str] | None = None,
    question: str | None = None,
    stakes: Stakes | str = Stakes.MEDIUM,
    task: str = "qa",
    claim_free: bool = False,
    fail_on: str = "revise",
    attempts: int = 0,
    on_outcome: Callable[[Outcome], object] | None = None,
    reasoning: str = "withhold",
) -> ClientGate:
    """The gate that the options of `protect` describe (`ProtectOptions`).

    Raises:
        InputError: an option is not what it should be.
    """
    if guard is None:
        from assay.config import Guard as Default

        guard = Default()
    try:
        chosen = Mode(mode)
    except ValueError:
        raise InputError(f"the mode is enforce, annotate or shadow; got {mode!r}") from None
    if chosen is Mode.OFF:
        raise InputError(
            "a client that is not to be checked needs no protection; the mode is enforce, annotate or shadow"
        )
    asked = RequestOptions(
        stakes=Stakes(stakes),
        evidence=None if evidence is None else coerce_evidence(evidence),
        sources=None if sources is None else tuple(sources),
        question=question,
        task=task,
        claim_free=claim_free,
    )
    return ClientGate(guard, chosen, on_withheld, asked, fail_on, attempts, on_outcome, reasoning)


def protected_client(client: C, gate: ClientGate, paths: Paths) -> C:
    """A client like another one, with a gate between it and its model; the other stays as it is.

    Raises:
        InputError: the client has no HTTP client that can be gated.
    """
    made: Any = client
    http = getattr(made, "_client", None)
    if http is None or not callable(getattr(made, "copy", None)):
        raise InputError(f"expected a client of the official SDK, got {type(client).__name__}")
    if isinstance(made, _Protected):
        raise InputError("this client is protected already")
    copied = made.copy(http_client=gated_http(http, gate, paths))
    # The copy is made by the SDK and belongs to nobody yet; its class changes, so that copies of it are protected too.
    kind: Any = type(made)
    copied.__class__ = _protected_class(kind, gate.enforces)
    result: C = copied
    return result


def outcome_of(result: object) -> Outcome | None:
    """What was found of the answer that a protected client gave.

    Args:
        result: what the client returned: a completion, a response or a message, a raw response, or a stream.

    Returns:
        The outcome; none while it is not known (a stream that has not ended, a check in the shadow), and for results
        that were not checked.
    """
    found = _CALLS.get(id(result))
    if found is not None and found[0]() is result:
        return found[1].outcome
    for name in ("http_response", "response", "_response"):
        extensions = getattr(getattr(result, name, None), "extensions", None)
        if isinstance(extensions, dict) and isinstance(extensions.get(KEY), Call):
            call: Call = extensions[KEY]
            return call.outcome
    return None


def package(extra: str, error: ImportError) -> MissingPackageError:
    """The error where a client's package is not installed."""
    return MissingPackageError(
        f"assay.integrations.{extra} needs the package {extra}, which cannot be imported here ({error}); install it "
        f"with: pip install 'assay-ai[{extra}]'"
    )


def answers_below(plain: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    """The paths that no check is needed for, with those that a caller names."""
    return (*plain, *(path.strip("/") for path in more))


class _Protected:
    """What every protected client is."""

    __slots__ = ()  # nothing of its own: the class of a client that is there already changes to one with this


@lru_cache(maxsize=64)
def _protected_class(kind: Any, enforces: bool) -> Any:
    """The class of a client whose calls are checked."""
    request = _awaited(kind) if inspect.iscoroutinefunction(kind.request) else _waited(kind)
    members: dict[str, Any] = {"request": request, "__module__": kind.__module__, "__doc__": kind.__doc__}
    if enforces:
        refuse = _no_socket(kind)
        members |= {name: property(refuse) for name in _SOCKETS if hasattr(kind, name)}
        members |= {name: refuse for name in _OPENING if hasattr(kind, name)}
    return type(kind.__name__, (kind, _Protected), members)


def _no_socket(kind: type[Any]) -> Callable[..., Any]:
    def refuse(*_: object) -> object:
        raise InputError(
            f"a protected {kind.__name__} opens no sockets of its own: what comes by them could not be checked"
        )

    return refuse


def _waited(kind: type[Any]) -> Callable[..., Any]:
    inner = kind.request

    def request(self: Any, *args: Any, **named: Any) -> Any:
        with calling() as call:
            result = inner(self, *args, **named)
        return _remembered(result, call)

    return request


def _awaited(kind: type[Any]) -> Callable[..., Any]:
    inner = kind.request

    async def request(self: Any, *args: Any, **named: Any) -> Any:
        with calling() as call:
            result = await inner(self, *args, **named)
        return _remembered(result, call)

    return request


def _remembered(result: Any, call: Call) -> Any:
    """Keeps the call of a result for as long as the result is there."""
    key = id(result)
    try:
        _CALLS[key] = (weakref.ref(result, lambda _: _CALLS.pop(key, None)), call)
    except TypeError:
        return result  # a plain value, of which nothing was checked
    return result
