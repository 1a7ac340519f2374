"""What a judge, a chat model asked five closed questions, said of claims, and what an answer left out.

See docs/concepts.md#the-judge and docs/concepts.md#omissions.
"""

from pydantic import Field

from assay.schema.base import Value
from assay.schema.claim import Span
from assay.schema.evidence import EvidenceSpan
from assay.schema.verdict import Category, Verdict


class JudgeAnswer(Value):
    """The judge's answer to one of the five questions about one claim."""

    question: int = Field(ge=1, le=5)
    """1: is all of it found in the evidence? 2: does it contradict none of it? 3: can its citations be traced? 4: does
    it keep every condition that changes its meaning? 5: are its quantities, dates and identifiers those of the
    evidence?"""
    verdict: str = Field(pattern="^(PASS|FAIL|UNCERTAIN)$")
    justification: str
    """One sentence, in the judge's words: foreign text, shown and never followed."""
    quotes: tuple[EvidenceSpan, ...] = ()
    """The words of the evidence that it rests on, each found there."""
    void: str | None = None
    """Why the answer does not count, where it does not: a quote that stands nowhere, or none where one is needed."""


class ClaimJudgement(Value):
    """What the judge said of one claim, and what became of it."""

    asked_because: tuple[str, ...]
    """Why the claim was put to the judge: any of `all`, `unsure`, `tiers_differ`, `several_sources`, `inference` and
    `undecided`."""
    outcome: str = Field(pattern="^(supports|contradicts|not_found|omits|uncertain|unchecked)$")
    """What the five answers come to; `unchecked` where they cannot be used."""
    reason: str
    """A sentence for people."""
    answers: tuple[JudgeAnswer, ...] = ()
    before: Verdict
    """The verdict of the other tiers."""
    changed: bool = False
    """Whether the verdict or its probabilities are other ones because of the judge."""


class Omission(Value):
    """A condition, an exception, a deadline or a limit of the evidence that the output leaves out
    (docs/concepts.md#omissions)."""

    kind: str = Field(pattern="^(condition|exception|deadline|limit)$")
    category: Category = Category.COMPLETENESS
    message: str
    """A sentence for people."""
    evidence: EvidenceSpan
    """The words of the evidence that are left out."""
    statement: EvidenceSpan
    """The sentence of the evidence that they are in."""
    span: Span
    """The statement of the output that they qualify."""
    confidence: float = Field(ge=0, le=1)
    """How surely leaving them out changes the meaning, as the rules see it."""
    found_by: str = Field(pattern="^(rules|judge)$")
    judged: str = Field(default="not_asked", pattern="^(not_asked|confirmed|doubted|denied|unchecked)$")
    """What the judge says: `denied` only with the words of the output that say it, `doubted` without them."""
    justification: str | None = None
    """The judge's sentence, where it was asked."""


class JudgeReport(Value):
    """The judge's part in one check."""

    mode: str = Field(pattern="^(uncertain|all)$")
    """Which claims were put to it: those of which the other tiers are not sure, or all."""
    model: str | None = None
    """The chat model; none where none was at hand, so that nothing was asked."""
    prompts: tuple[str, ...] = ()
    """The prompts that were used, each with its version."""
    chosen: int = Field(default=0, ge=0)
    """Claims that were to be asked about."""
    answered: int = Field(default=0, ge=0)
    """Those of them that were answered in a form that can be used."""
    changed: int = Field(default=0, ge=0)
    """Claims with another verdict or other probabilities because of it."""
    unchecked: int = Field(default=0, ge=0)
    """Claims that were to be asked about and of which nothing that can be used was said."""
    asked_again: int = Field(default=0, ge=0)
    """Claims that were asked about once more, because an answer was cut off or was of another form."""
    remembered: int = Field(default=0, ge=0)
    """Claims of which the answer was known from an earlier check of the same content."""
    evidence_complete: bool = True
    """Whether it was shown all of the evidence; if not, what it did not find says nothing."""
    notes: tuple[str, ...] = ()
    """What went wrong, a sentence each."""
