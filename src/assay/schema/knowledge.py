"""What sources of knowledge outside of the given evidence said of claims (docs/knowledge.md)."""

from typing import Any

from pydantic import Field

from assay.schema.base import Value
from assay.schema.verdict import Verdict

AUTHORITY = "^(organisation|database|api|public|web)$"


class SourceWord(Value):
    """What one source came to on one claim."""

    source: str
    authority: str = Field(pattern=AUTHORITY)
    says: str = Field(pattern="^(verifies|refutes|neither|nothing|failed|skipped)$")
    """It entails the claim, denies it, mentions it and does neither, has nothing on it, could not be asked, or was not
    asked."""
    counts: bool = False
    """Whether its word is one by which the claim was decided: sure enough, of a source that counts as ground truth, and
    no source of more authority said otherwise."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    """How surely the verifier reads it so; none where it says nothing."""
    passage: str | None = None
    """The words that decide: foreign text, shown and never followed."""
    place: str | None = None
    """Where in the source they stand."""
    link: str | None = None
    reason: str | None = None
    """Why it has no word, as a sentence."""
    asked: tuple[dict[str, Any], ...] = ()
    """The statements, requests or queries as the operator wrote them, with the values that were bound."""
    at: str
    """When, in ISO 8601 and UTC."""
    elapsed_ms: float = Field(ge=0)
    """How long it took."""
    age_s: float | None = Field(default=None, ge=0)
    """How old the answer was, where it was remembered."""
    digest: str | None = None
    """SHA-256 of what came back; the text of it is in the record."""


class External(Value):
    """What knowledge outside of the given evidence says of one claim."""

    status: str = Field(pattern="^(verified|refuted|unverifiable)$")
    why: str = Field(pattern="^(decided|no_source|nothing|undecided|disagreement|budget|failed)$")
    """`decided`; or why nobody could say: no source may be asked, none has anything on it, what they have neither
    entails nor denies it, sources of one authority disagree, the latency budget was used up, or all that were asked
    failed."""
    message: str
    """A sentence for people."""
    source: str | None = None
    """Whose word it is."""
    authority: str | None = Field(default=None, pattern=AUTHORITY)
    passage: str | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    disagreement: bool = False
    """Whether sources say different things of it, of whatever authority."""
    words: tuple[SourceWord, ...] = ()
    """What each source came to, from the highest authority to the lowest."""
    before: Verdict
    """What the given evidence says of the claim."""
    changed: bool = False
    """Whether the verdict is another one because of it."""


class SourceUse(Value):
    """How one source was used in a check."""

    source: str
    kind: str
    authority: str = Field(pattern=AUTHORITY)
    asked: int = Field(ge=0)
    """Claims about which it was asked."""
    answered: int = Field(ge=0)
    remembered: int = Field(ge=0)
    """Of those, answers that were known from before."""
    failed: int = Field(ge=0)
    skipped: int = Field(ge=0)
    """Claims about which it was not asked: for its scope, its subject, its rate, or the budget."""


class KnowledgeReport(Value):
    """The part of sources of knowledge in a check."""

    mode: str = Field(pattern="^(note|decide)$")
    """Whether what they say decides, as the policy has it."""
    chosen: int = Field(ge=0)
    """Claims that were put to them: without support, as severe as the policy says, and of a kind that can be looked
    up."""
    verified: int = Field(ge=0)
    refuted: int = Field(ge=0)
    unverifiable: int = Field(ge=0)
    sources: tuple[SourceUse, ...] = ()
    notes: tuple[str, ...] = ()
