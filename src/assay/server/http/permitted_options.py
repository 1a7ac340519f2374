"""What a request may ask for in place of what the operator set: more strictness, or what the operator lists."""

from collections.abc import Collection, Iterable
from typing import Final

from assay.errors import PolicyError
from assay.policy import Policy, looser_settings

HEADERS: Final = frozenset({b"x-assay-policy", b"x-assay-stakes", b"x-assay-upstream", b"x-assay-key", b"x-assay-csrf"})
"""The headers of ours that a request may carry."""
_PREFIX: Final = b"x-assay-"
_MOST_SHOWN: Final = 6


def unknown_headers(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Why a request is refused for a header of ours that there is not, which would otherwise change nothing unnoticed.

    >>> unknown_headers([(b"x-assay-polcy", b"rag")])
    'expected of the headers x-assay-*: csrf, key, policy, stakes, upstream; got polcy'
    """
    unknown = sorted({name for name, _ in headers if name.startswith(_PREFIX) and name not in HEADERS})
    if not unknown:
        return None
    known = ", ".join(sorted(name.removeprefix(_PREFIX).decode() for name in HEADERS))
    got = ", ".join(name.removeprefix(_PREFIX).decode("latin-1")[:40] for name in unknown[:_MOST_SHOWN])
    return f"expected of the headers x-assay-*: {known}; got {got}"


def require_permitted(asked: Policy, own: Policy, listed: Collection[str] | None) -> None:
    """Let a request have a policy that is at least as strict as the server's own, or one that the operator lists.

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
