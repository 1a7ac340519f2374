"""Which options a request may choose itself: stricter ones than the operator's, or those that the operator lists."""

from collections.abc import Collection, Iterable
from typing import Final

from assay.errors import InputError, PolicyError
from assay.policy import Policy, looser_settings
from assay.schema import Structure

OPTIONS: Final = frozenset({b"x-assay-policy", b"x-assay-stakes", b"x-assay-upstream"})
"""The headers that say how an answer is checked, which the gateway reads."""
HEADERS: Final = OPTIONS | {b"x-assay-key", b"x-assay-csrf"}
"""The headers `x-assay-*` that a request may have."""
NAMES_POLICY: Final = frozenset({"/v1/check", "/v1/runs/check", "/v1/batch", "/v1/screen"})
"""The paths of the REST API that read `x-assay-policy`; they read no other of `OPTIONS`."""
_PREFIX: Final = b"x-assay-"
_MOST_SHOWN: Final = 6


def unknown_headers(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Why a request is refused for an unknown header `x-assay-*`, which would otherwise be ignored unnoticed.

    >>> unknown_headers([(b"x-assay-polcy", b"rag")])
    'expected of the headers x-assay-*: csrf, key, policy, stakes, upstream; got polcy'
    """
    unknown = sorted({name for name, _ in headers if name.startswith(_PREFIX) and name not in HEADERS})
    if not unknown:
        return None
    known = ", ".join(sorted(name.removeprefix(_PREFIX).decode() for name in HEADERS))
    got = ", ".join(name.removeprefix(_PREFIX).decode("latin-1")[:40] for name in unknown[:_MOST_SHOWN])
    return f"expected of the headers x-assay-*: {known}; got {got}"


def unread_headers(path: str, headers: Iterable[tuple[bytes, bytes]], *, gateway: bool) -> str | None:
    """Why a request is refused for a header of `OPTIONS` that its route does not read, or that it has twice.

    Args:
        path: the path of the request.
        headers: its headers, of which none is unknown (`unknown_headers`).
        gateway: whether the path is one of the gateway's.

    >>> unread_headers("/v1/consensus", [(b"x-assay-policy", b"rag")], gateway=False)
    'the header x-assay-policy is not read at /v1/consensus; leave it out'
    >>> unread_headers("/v1/check", [(b"x-assay-policy", b"rag")], gateway=False)
    """
    options = [name for name, _ in headers if name in OPTIONS]
    for name in sorted(set(options)):
        if options.count(name) > 1:
            return f"expected one header {name.decode()}, got {options.count(name)}"
        if not gateway and not (name == b"x-assay-policy" and path in NAMES_POLICY):
            return f"the header {name.decode()} is not read at {path}; leave it out"
    return None


def named_policy(header: str | None, in_body: str | None) -> str | None:
    """The policy that a request to the REST API names in its header `x-assay-policy` or in its body.

    Raises:
        InputError: the two differ.
    """
    if header is not None and in_body is not None and header != in_body:
        raise InputError(f"the body names the policy {in_body!r}, the header x-assay-policy {header!r}; give one")
    return in_body or header


def require_permitted(asked: Policy, own: Policy, listed: Collection[str] | None) -> None:
    """Allow a request a policy that is at least as strict as the server's own, or one that the operator lists.

    Raises:
        PolicyError: it is neither; the message names the settings in which it is looser.
    """
    if listed is not None:
        if asked.name not in listed:
            allowed = ", ".join(listed) or "none"
            raise PolicyError(f"a request may name the policies {allowed}; got {asked.name!r}")
        return
    looser = looser_settings(asked, own)
    if looser:
        more = f" and {len(looser) - _MOST_SHOWN} more" if len(looser) > _MOST_SHOWN else ""
        raise PolicyError(
            f"a request may name a policy that is at least as strict as {own.name!r}; {asked.name!r} is not, by its "
            f"{', '.join(looser[:_MOST_SHOWN])}{more}. The operator of this server may list it under `policies`."
        )


def require_claims(structure: Structure | None, listed: Collection[str]) -> None:
    """Refuse a structure by which a request would exempt values of its output from being checked.

    Args:
        structure: the structure in the request.
        listed: JSON Pointers of values that requests may declare to be no claims, with everything inside them.

    Raises:
        InputError: it declares a value that the operator does not list.
    """
    unlisted = [one for one in structure.skip if not _is_within(one, listed)] if structure is not None else []
    if unlisted:
        more = f" and {len(unlisted) - _MOST_SHOWN} more" if len(unlisted) > _MOST_SHOWN else ""
        got = ", ".join(repr(one[:80]) for one in unlisted[:_MOST_SHOWN])
        raise InputError(
            "every value of a structured output is held to the evidence, so a request may not declare values to be no "
            f"claims; got {got}{more}. The operator of this server may list them under `skip`."
        )


def _is_within(pointer: str, listed: Iterable[str]) -> bool:
    """Whether a pointer names what a listed one names, or something inside of it.

    >>> [_is_within("/rows/*/note", [listed]) for listed in ("", "/rows", "/*/*/note", "/rows/0", "/note")]
    [True, True, True, False, False]
    """
    parts = pointer.split("/")
    for one in listed:
        outer = one.split("/")
        if len(outer) <= len(parts) and all(a in ("*", b) for a, b in zip(outer, parts, strict=False)):
            return True
    return False
