"""The state of one output: the gate's decision and people's judgements of it, from its log entries. Pure.

The increments of an output to the sketches are a function of this state alone. Each further entry is counted as the
difference between the increments after and before it: the same entries give the same sketches, however often and in
however many batches they are counted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from assay.schema import Action, ReviewAct, Verdict
from assay.store.audit.entries import DECISION, FEEDBACK, REVIEW
from assay.store.records.run_events import WRONG

_MILLION: Final = 1_000_000
_APPROVED: Final = frozenset({ReviewAct.APPROVE.value, ReviewAct.EDIT.value})
_OUTPUT_LABELS: Final = {
    ReviewAct.APPROVE.value: True,
    ReviewAct.EDIT.value: False,
    ReviewAct.REJECT.value: False,
}
"""Whether a reviewer's decision means that the output was right as the gate saw it: an edited one was not. A missed
deadline means neither."""
_NO_LABEL: Final = frozenset({Verdict.NOT_CHECKABLE.value, Verdict.UNCHECKED.value})

KINDS: Final = frozenset({DECISION, FEEDBACK, REVIEW})
"""The kinds of log entries that change the state of an output."""


@dataclass(frozen=True, slots=True)
class OutputState:
    """The state of an output after some log entries."""

    decided: bool = False
    """Whether the gate has decided on it."""
    served: bool = False
    """Whether it was served: the gate emitted it, or a person released it."""
    score: float | None = None
    """The score on which the gate decided."""
    scores: tuple[float | None, ...] = ()
    """The scores of its claims, as far as the entry has them (`assay.store.audit.entries.MOST_SCORES`)."""
    users: Mapping[int | None, bool] = field(default_factory=dict)
    """The users' last feedback, by claim, with None for the whole output: whether it is right."""
    reviewers: Mapping[int | None, bool] = field(default_factory=dict)
    """The same for reviewers."""

    def after(self, data: Mapping[str, Any]) -> Self:
        """The state after one more entry."""
        match data.get("kind"):
            case "decision":
                return replace(
                    self,
                    decided=True,
                    served=data.get("action") == Action.EMIT.value,
                    score=_share(data.get("score")),
                    scores=tuple(map(_share, data.get("scores") or ())),
                )
            case "feedback":
                claim = data.get("claim")
                return replace(self, users={**self.users, claim: data.get("verdict") != WRONG})
            case "review":
                return self._reviewed(data)
            case _:
                return self

    def _reviewed(self, data: Mapping[str, Any]) -> Self:
        act = data.get("act")
        reviewers: dict[int | None, bool] = dict(self.reviewers)
        if act in _OUTPUT_LABELS:
            reviewers[None] = _OUTPUT_LABELS[act]
        for place, verdict in (data.get("labels") or {}).items():
            if str(place).isdecimal() and verdict not in _NO_LABEL:
                reviewers[int(place)] = verdict == Verdict.SUPPORTED.value
        return replace(self, reviewers=reviewers, served=self.served or act in _APPROVED)

    @property
    def corrected(self) -> bool:
        """Whether the last feedback of users on the output, or on one of its claims, is that it is wrong."""
        return not all(self.users.values())

    def labelled(self) -> Iterable[tuple[str, float, bool]]:
        """The labelled scores: `output` or `claim`, the verifier's score, and whether it was right.

        A reviewer's judgement takes precedence over a user's.
        """
        for place, right in {**self.users, **self.reviewers}.items():
            if place is None:
                if self.score is not None:
                    yield "output", self.score, right
            elif place < len(self.scores) and (score := self.scores[place]) is not None:
                yield "claim", score, right


def state_after(entries: Iterable[Mapping[str, Any]]) -> OutputState:
    """The state of an output after its log entries, given in order."""
    state = OutputState()
    for data in entries:
        state = state.after(data)
    return state


def _share(millionths: object) -> float | None:
    return millionths / _MILLION if isinstance(millionths, int) and not isinstance(millionths, bool) else None
