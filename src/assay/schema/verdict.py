"""The words of a judgement: verdicts, categories, origins, severities and actions, each a closed enumeration."""

from enum import StrEnum


class Verdict(StrEnum):
    """What the evidence says of one claim."""

    SUPPORTED = "supported"
    """The evidence entails the claim."""
    CONTRADICTED = "contradicted"
    """The evidence says otherwise; beats any support."""
    UNSUPPORTED = "unsupported"
    """The evidence neither entails nor denies the claim."""
    NOT_CHECKABLE = "not_checkable"
    """An opinion, a greeting, a question, a meta statement or an abstention: nothing to test."""
    UNCHECKED = "unchecked"
    """A checker failed or ran out of budget; an issue says why. Never counted as clean."""


class Category(StrEnum):
    """Why a claim or an output is a hallucination (docs/concepts.md#categories)."""

    FACTUAL = "factual"
    """Contradicts an authoritative source."""
    LOGICAL = "logical"
    """A step of reasoning or arithmetic is invalid."""
    CONTEXTUAL = "contextual"
    """Distorts or contradicts the evidence that was given."""
    CONFABULATORY = "confabulatory"
    """A specific detail that no evidence contains."""
    STRUCTURAL = "structural"
    """Violates a schema, a type or a format."""
    ATTRIBUTION = "attribution"
    """Cites a source that does not exist or does not say so."""
    COMPLETENESS = "completeness"
    """Leaves out what the evidence makes a condition."""


class Origin(StrEnum):
    """Where the error can be seen from."""

    INTRINSIC = "intrinsic"
    """Visible from the given evidence alone."""
    EXTRINSIC = "extrinsic"
    """Visible only against knowledge outside of it."""


class SeverityLevel(StrEnum):
    """How bad a finding is (docs/concepts.md#severity)."""

    CRITICAL = "critical"
    """Immediate halt; a person must look."""
    HIGH = "high"
    """Quarantined; verified again automatically."""
    MEDIUM = "medium"
    """Flagged; regenerated with corrective context."""
    LOW = "low"
    """Logged; kept for the regression set."""


class Action(StrEnum):
    """What the gate decided for one output."""

    EMIT = "emit"
    """It may go downstream."""
    REVISE = "revise"
    """It goes back to its author with the findings."""
    BLOCK = "block"
    """It is withheld, and a fallback response is returned instead."""
    ESCALATE = "escalate"
    """A person decides."""


class Stakes(StrEnum):
    """How much depends on the output, as the caller says."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class ClaimKind(StrEnum):
    """What sort of statement a claim is (docs/concepts.md#claims)."""

    FACTUAL = "factual"
    """States something of the world."""
    INFERENTIAL = "inferential"
    """Concludes from something else (therefore, which means, tripled)."""
    PROCEDURAL = "procedural"
    """Tells how to do something, or commits to an act."""
    UNCERTAIN = "uncertain"
    """States something with a strong hedge, an opinion."""
    META = "meta"
    """Speaks of the conversation: greetings, offers, introductions, questions back."""
    ABSTENTION = "abstention"
    """Says that there is no answer."""


class ClaimStatus(StrEnum):
    """What the gate makes of one claim alone."""

    PASS = "pass"  # noqa: S105 a status, no password
    REVISE = "revise"
    BLOCK = "block"
    UNCHECKED = "unchecked"
    NOT_CHECKABLE = "not_checkable"
