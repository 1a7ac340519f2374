"""The options of a request for its own check, in headers and in the body field `assay`.

Without evidence in its options, an answer is checked against the content of the request: tool results, passages, and
what the user and the system prompt state (`assay.guard.runs.evidence`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from assay.errors import InputError
from assay.guard.runs import SOURCES
from assay.policy import Policy
from assay.schema import Evidence, Stakes, coerce_evidence, coerce_text

_FIELDS: Final = frozenset({"evidence", "sources", "question", "stakes", "policy", "task", "claim_free"})
_RANK: Final = {Stakes.LOW: 0, Stakes.MEDIUM: 1, Stakes.HIGH: 2}


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of a request for its own check, from its headers or the body field `assay`."""

    policy: str | None = None
    stakes: Stakes | None = None
    evidence: tuple[Evidence, ...] | None = None
    """None where the request's own content is the evidence."""
    sources: tuple[str, ...] | None = None
    """The kinds of content that count as evidence; by default all, or `tools` and `passages` beside `evidence`."""
    question: str | None = None
    task: str = "qa"
    claim_free: bool = False

    @property
    def counted(self) -> tuple[str, ...]:
        """The kinds of content that count as evidence."""
        if self.sources is not None:
            return self.sources
        return SOURCES if self.evidence is None else ("tools", "passages")


def read_request_options(field: object, policy: str | None, stakes: str | None) -> RequestOptions:
    """Reads the body field `assay`, and the policy and the stakes from headers.

    Raises:
        InputError: the field or a header is invalid, or the two differ.
    """
    if field is None:
        field = {}
    if not isinstance(field, Mapping):
        raise InputError(f"the body field assay is an object, got {type(field).__name__}")
    unknown = sorted(set(field) - _FIELDS)
    if unknown:
        raise InputError(f"the body field assay has the members {', '.join(sorted(_FIELDS))}; got {', '.join(unknown)}")
    evidence = field.get("evidence")
    if evidence is not None and not isinstance(evidence, list | str):
        raise InputError("assay.evidence is a text or an array of texts and objects; see POST /v1/check")
    claim_free = field.get("claim_free", False)
    if not isinstance(claim_free, bool):
        raise InputError(f"assay.claim_free is true or false, got {claim_free!r}")
    return RequestOptions(
        policy=_agreed(policy, _text(field, "policy"), "policy"),
        stakes=_agreed(_stakes(stakes), _stakes(_text(field, "stakes")), "stakes"),
        evidence=None if evidence is None else coerce_evidence(evidence),
        sources=_sources(field.get("sources")),
        question=_text(field, "question"),
        task=_text(field, "task") or "qa",
        claim_free=claim_free,
    )


_Option = TypeVar("_Option", str, Stakes)


def _agreed(header: _Option | None, member: _Option | None, name: str) -> _Option | None:
    if header is not None and member is not None and header != member:
        raise InputError(f"the header x-assay-{name} says {header!s}, assay.{name} in the body {member!s}; give one")
    return header if header is not None else member


def _text(field: Mapping[str, Any], name: str) -> str | None:
    value = field.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"assay.{name} is a text that is not blank, got {value!r}")
    return coerce_text(value, f"assay.{name}")


def _stakes(value: str | None) -> Stakes | None:
    try:
        return None if value is None else Stakes(value.strip().lower())
    except ValueError:
        raise InputError(f"stakes are low, medium or high; got {value!r}") from None


def _sources(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or any(one not in SOURCES for one in value):
        raise InputError(f"assay.sources is an array of {', '.join(SOURCES)}; got {value!r}")
    return tuple(value)


def require_held(task: str, policy: Policy, listed: Collection[str] | None) -> None:
    """Refuse a task with which a request would exempt its claims from evidence.

    Raises:
        InputError: the policy needs no evidence for the task, and the operator does not list it.
    """
    if task in policy.ungrounded_tasks and task not in (listed or ()):
        raise InputError(
            f"the policy {policy.name!r} holds the task {task!r} to no evidence, so a request may not declare it; the "
            "operator may list it under `tasks`"
        )


def require_stakes(asked: Stakes | None, own: Stakes) -> Stakes:
    """Allow a request to raise the stakes, not to lower them.

    Args:
        asked: the request's stakes; none where it names none.
        own: the operator's stakes.

    Returns:
        The stakes in force.

    Raises:
        InputError: they are lower than those that the operator set.
    """
    if asked is None:
        return own
    if _RANK[asked] < _RANK[own]:
        raise InputError(
            f"a request may raise the stakes from {own.value}, as the operator set them, and not lower them; got "
            f"{asked.value}"
        )
    return asked
