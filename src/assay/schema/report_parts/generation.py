"""How an output was generated under control: what the model was shown, what it said, and what became of it."""

from pydantic import Field

from assay.schema.base import Value


class ShownEvidence(Value):
    """One piece of evidence as the model saw it."""

    evidence_id: str
    alias: str
    """The short id that the model saw; what others named the evidence is not shown where it could be cited."""
    characters: int = Field(ge=0)
    """How much of its text was shown."""
    of: int = Field(ge=0)
    """How much there is."""


class StatementReport(Value):
    """One statement that the model made."""

    text: str
    sources: tuple[str, ...] = ()
    """The evidence that it cites."""
    attempt: int = Field(ge=1)
    """The answer that it was in."""
    outcome: str = Field(pattern="^(kept|flagged|removed|rejected|quarantined)$")
    """Kept in the output; kept with a mark that nothing confirms it; taken out; in an answer that another one took the
    place of; left out unread because it cites nothing that was shown."""
    reasons: tuple[str, ...] = ()
    """Why it is not kept, as sentences for people."""


class VerificationQuestion(Value):
    """One question of a chain of verification (docs/concepts.md#chain-of-verification)."""

    claim: str
    question: str
    """What was asked, without the draft."""
    answer: str
    """What the model answered from the evidence alone; empty where it found no answer."""
    sources: tuple[str, ...] = ()
    outcome: str = Field(pattern="^(consistent|contradicted|unconfirmed|unanswered|unchecked)$")
    """Whether the answer entails the claim, contradicts it, does neither; or that there is no answer, or that nothing
    could be asked or read."""
    score: float | None = Field(default=None, ge=0, le=1)
    """The probability that the answer supports the claim."""
    passed: bool
    """Whether the claim stays."""


class DocumentRepair(Value):
    """One change that was made to a broken document before anything else looked at it."""

    code: str
    """What was wrong, such as `trailing_comma`."""
    at: int = Field(ge=0)
    """Where in the model's answer, in Unicode code points."""
    removed: str
    put: str
    message: str
    """A sentence for people."""


class DocumentAttempt(Value):
    """One document that a model wrote."""

    number: int = Field(ge=1)
    outcome: str = Field(pattern="^(better|no_better|unreadable)$")
    """Kept; checked and no better than the one before, so rolled back; no document, or one that only a guess would
    repair."""
    findings: int | None = Field(default=None, ge=0)
    """What is wrong with it: with its structure, and values that the evidence does not support; none where unread."""
    told: tuple[str, ...] = ()
    """The JSON Pointers of the faults that the model was told of, before it wrote this one."""
    repairs: tuple[DocumentRepair, ...] = ()
    restored: tuple[str, ...] = ()
    """JSON Pointers of values that had passed, that the model changed, and that were put back."""
    reason: str = ""
    """Why it could not be read."""


class Generation(Value):
    """The record of one controlled generation (docs/concepts.md#grounded-generation)."""

    model: str
    prompts: tuple[str, ...] = ()
    """The prompts that were used, with their versions, as in `grounded@0123456789ab`."""
    evidence: tuple[ShownEvidence, ...] = ()
    """In the order in which the model saw it."""
    left_out: tuple[str, ...] = ()
    """Ids of evidence of which nothing was shown, because the budget of tokens was spent."""
    attempts: int = Field(ge=0)
    """Answers that were asked for."""
    stopped: str = Field(pattern="^(grounded|treated|no_evidence|no_answer|exhausted|unchanged|budget|failed)$")
    """Why no further answer was asked for: everything is grounded; what is not was treated as the caller said; there
    was nothing to answer from; the model found no answer; no attempts were left; it said the same again; the budget was
    spent; it could not be asked, or what it said could not be read."""
    ungrounded: float | None = Field(default=None, ge=0, le=1)
    """The share of statements that failed in the first answer; none where there was none."""
    statements: tuple[StatementReport, ...] = ()
    """Every statement of every answer, in order."""
    documents: tuple[DocumentAttempt, ...] = ()
    """Every document that was written, where a document was asked for."""
    samples: int | None = Field(default=None, ge=1)
    """Answers that had a vote on what is in the one that was taken; none where there is no answer."""
    missing: str | None = None
    """What the model said that the evidence does not answer; its words, unchecked."""
    chain: tuple[VerificationQuestion, ...] = ()
    relative_cost: float | None = Field(default=None, ge=1)
    """Tokens of the whole over tokens of the first answer; none where they are not known."""
