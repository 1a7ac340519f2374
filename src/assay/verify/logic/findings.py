"""The values of an audit of a text's logic."""

from dataclasses import dataclass, field
from enum import StrEnum

from assay.schema import Span


@dataclass(frozen=True, slots=True)
class LogicFinding:
    """One fault of reasoning."""

    code: str
    """`logic.arithmetic`, `logic.unit`, `logic.date`, `logic.order`, `logic.two_dates`, `logic.invalid_form`,
    `logic.count`, `logic.contradiction`, `logic.circular`, `logic.invalid_step` or `logic.unsupported_step`."""
    message: str
    """The fault as a sentence."""
    span: Span
    """The wrong part of the text."""
    others: tuple[Span, ...] = ()
    """The other parts that it concerns: premises, or the contradicted statement."""
    confidence: float = 1.0
    """In (0, 1]; 1 for a recomputation."""


class StepVerdict(StrEnum):
    """The outcome for one inference."""

    FOLLOWS = "follows"
    """The premises entail the conclusion."""
    INVALID = "invalid"
    """The premises contradict the conclusion."""
    UNSUPPORTED = "unsupported"
    """The premises do not support it."""
    CIRCULAR = "circular"
    """The conclusion is one of its own premises."""
    UNCHECKED = "unchecked"
    """It could not be tested; never counted as sound."""


@dataclass(frozen=True, slots=True)
class Step:
    """One inference that the text states, from premises to a conclusion."""

    conclusion: Span
    premises: tuple[Span, ...]
    cue: str
    """The word that signals it, such as `therefore` or `because`, in lower case."""
    verdict: StepVerdict = StepVerdict.UNCHECKED
    entailment: float | None = None
    """The probability that the premises entail the conclusion; none where it was not scored."""
    contradiction: float | None = None
    """The probability that the premises contradict the conclusion; none where it was not scored."""


@dataclass(frozen=True, slots=True)
class LogicLimits:
    """Limits and thresholds of an audit; thresholds are probabilities."""

    contradiction: float = 0.85
    """The least probability of contradiction, as the mean of both directions, of two statements that contradict each
    other. Of 360 texts without a contradiction, 8 have a finding at 0.8 and 1 at 0.9 (`benchmarks/logic.py`)."""
    either_way: float = 0.5
    """The least probability of contradiction in each direction."""
    invalid: float = 0.9
    """The least probability of contradiction of an invalid step."""
    entailment: float = 0.5
    """The least probability of entailment of a step that follows."""
    unsupported: float = 0.1
    """A step below this probability of entailment is reported as unsupported; one between the two is not reported."""
    same: float = 0.8
    """The least probability of entailment, in both directions, of two statements that mean the same."""
    related: float = 0.5
    """The least share of the shorter statement's content words in the other, for two statements to be compared."""
    pairs: int = 200
    """The most pairs of statements that are compared, the most related ones first."""
    steps: int = 50
    """The most inferences that are tested."""
    premises: int = 4
    """How many sentences before a conclusion are its premises."""


@dataclass(frozen=True, slots=True)
class LogicAudit:
    """The result of the audit of one text."""

    findings: tuple[LogicFinding, ...] = ()
    """In the order of their spans."""
    steps: tuple[Step, ...] = ()
    """The inferences that the text states."""
    compared: int = 0
    """The number of pairs of statements that were compared."""
    unchecked: tuple[str, ...] = field(default=())
    """What could not be checked, and why; an audit with any of these is incomplete."""

    @property
    def complete(self) -> bool:
        """Whether everything was checked."""
        return not self.unchecked
