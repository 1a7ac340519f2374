"""What an audit of the logic of a text comes to."""

from dataclasses import dataclass, field
from enum import StrEnum

from assay.schema import Span


@dataclass(frozen=True, slots=True)
class LogicFinding:
    """One fault of reasoning, with its place."""

    code: str
    """`logic.arithmetic`, `logic.unit`, `logic.date`, `logic.order`, `logic.two_dates`, `logic.invalid_form`,
    `logic.count`, `logic.contradiction`, `logic.circular`, `logic.invalid_step` or `logic.unsupported_step`."""
    message: str
    """A sentence for people."""
    span: Span
    """The offending characters of the text."""
    others: tuple[Span, ...] = ()
    """The other places that it concerns: premises, the statement that is contradicted."""
    confidence: float = 1.0
    """How sure it is, in (0, 1]; 1 for what was recomputed."""


class StepVerdict(StrEnum):
    """What became of one inference."""

    FOLLOWS = "follows"
    """The premises entail the conclusion."""
    INVALID = "invalid"
    """The premises say otherwise."""
    UNSUPPORTED = "unsupported"
    """The premises do not support it."""
    CIRCULAR = "circular"
    """The conclusion is one of its own premises."""
    UNCHECKED = "unchecked"
    """It could not be tested; never counted as sound."""


@dataclass(frozen=True, slots=True)
class Step:
    """One inference that the text states: from premises to a conclusion."""

    conclusion: Span
    premises: tuple[Span, ...]
    cue: str
    """The word that announces it, such as `therefore` or `because`, in lower case."""
    verdict: StepVerdict = StepVerdict.UNCHECKED
    entailment: float | None = None
    """How probable it is that the premises entail the conclusion; none where nobody asked."""
    contradiction: float | None = None


@dataclass(frozen=True, slots=True)
class LogicLimits:
    """How much one audit looks at, and from where on it speaks."""

    contradiction: float = 0.85
    """The probability of contradiction, the mean of both directions, from which two statements contradict each other.
    Of 360 texts without one, 8 have a finding at 0.8 and 1 at 0.9 (`benchmarks/logic.py`)."""
    either_way: float = 0.5
    """What each direction must reach by itself."""
    invalid: float = 0.9
    """The probability of contradiction from which the premises of a step say otherwise."""
    entailment: float = 0.5
    """The probability of entailment from which a conclusion follows."""
    unsupported: float = 0.1
    """The probability of entailment below which a step is called unsupported; between the two nothing is said."""
    same: float = 0.8
    """The probability of entailment, in both directions, from which two statements say the same."""
    related: float = 0.5
    """The share of the shorter statement's content words that another must have before the two are compared."""
    pairs: int = 200
    """Pairs of statements that are compared at most, the most related ones first."""
    steps: int = 50
    """Inferences that are tested at most."""
    premises: int = 4
    """Sentences before a conclusion that count as its premises."""


@dataclass(frozen=True, slots=True)
class LogicAudit:
    """Everything that was found of one text."""

    findings: tuple[LogicFinding, ...] = ()
    """In the order of their places."""
    steps: tuple[Step, ...] = ()
    """The inferences that the text states."""
    compared: int = 0
    """Pairs of statements that were checked against each other."""
    unchecked: tuple[str, ...] = field(default=())
    """What could not be looked at, and why; an audit with any is not complete."""

    @property
    def complete(self) -> bool:
        """Whether everything was looked at."""
        return not self.unchecked
