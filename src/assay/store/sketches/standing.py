"""What is said of one output, by the gate first and then by people: pure, out of the entries of its log.

What an output adds to the sketches is a function of this alone. Each further entry is counted as the difference of
what the output adds after it and what it added before: the same entries give the same sketches, however often and in
however many parts they were counted.
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
"""What a reviewer's decision says of the output as the gate saw it: one that had to be edited was not right. A deadline
that passed says nothing."""
_SAYS_NOTHING: Final = frozenset({Verdict.NOT_CHECKABLE.value, Verdict.UNCHECKED.value})

KINDS: Final = frozenset({DECISION, FEEDBACK, REVIEW})
"""The entries of the log that say something of an output."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One output as it stands after some entries."""

    decided: bool = False
    served: bool = False
    """Whether somebody got to see it: the gate emitted it, or a person released it."""
    score: float | None = None
    """The gating score."""
    scores: tuple[float | None, ...] = ()
    """The scores of its claims: the first thousand."""
    users: Mapping[int | None, bool] = field(default_factory=dict)
    """Whether users call it right, by the claim that they mean; the last word on each."""
    reviewers: Mapping[int | None, bool] = field(default_factory=dict)
    """The same of reviewers."""

    def after(self, data: Mapping[str, Any]) -> Self:
        """The same after one more entry."""
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
        said: dict[int | None, bool] = dict(self.reviewers)
        if act in _OUTPUT_LABELS:
            said[None] = _OUTPUT_LABELS[act]
        for place, verdict in (data.get("labels") or {}).items():
            if str(place).isdigit() and verdict not in _SAYS_NOTHING:
                said[int(place)] = verdict == Verdict.SUPPORTED.value
        return replace(self, reviewers=said, served=self.served or act in _APPROVED)

    @property
    def corrected(self) -> bool:
        """Whether a user has called it, or a claim of it, wrong, and has not taken that back."""
        return not all(self.users.values())

    def labelled(self) -> Iterable[tuple[str, float, bool]]:
        """Scores that people have judged: of which kind, what the verifier said, and whether it was right.

        A reviewer's word counts before a user's.
        """
        said = {**self.users, **self.reviewers}
        for place, right in said.items():
            if place is None:
                if self.score is not None:
                    yield "output", self.score, right
            elif place < len(self.scores) and (score := self.scores[place]) is not None:
                yield "claim", score, right


def standing_of(entries: Iterable[Mapping[str, Any]]) -> Standing:
    """An output after some entries, in their order."""
    found = Standing()
    for data in entries:
        found = found.after(data)
    return found


def _share(millionths: object) -> float | None:
    return millionths / _MILLION if isinstance(millionths, int) and not isinstance(millionths, bool) else None
