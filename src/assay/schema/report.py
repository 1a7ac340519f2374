"""The report of one check: every claim, where it stands, what the evidence says of it, and what the gate decided."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from assay.schema.base import Value
from assay.schema.claim import Span
from assay.schema.evidence import EvidenceSpan
from assay.schema.knowledge import External, KnowledgeReport
from assay.schema.report_parts.abstention import Abstention
from assay.schema.report_parts.digests import Digests
from assay.schema.report_parts.generation import Generation
from assay.schema.report_parts.judgements import ClaimJudgement, JudgeReport, Omission
from assay.schema.report_parts.provenance import ArgumentProvenance, CallAttempt
from assay.schema.report_parts.root_causes import CauseReport
from assay.schema.report_parts.spending import Spending
from assay.schema.report_parts.tier import Escalated
from assay.schema.screening import Screening
from assay.schema.verdict import Action, Category, ClaimKind, ClaimStatus, Origin, SeverityLevel, Stakes, Verdict

SPEC_VERSION = "1.0"
"""The version of the report's form."""


class Severity(Value):
    """sev(c) = alpha * propagation + beta * undetectability + gamma * consequence (docs/concepts.md#severity)."""

    score: float = Field(ge=0, le=1)
    level: SeverityLevel
    propagation_risk: float = Field(ge=0, le=1)
    undetectability: float = Field(ge=0, le=1)
    """The inverse of detectability: how easily a reader would believe it."""
    consequence: float = Field(ge=0, le=1)
    response: str
    """The response protocol of the level."""


class Issue(Value):
    """One finding, with the place where it was found."""

    code: str = Field(pattern=r"^[a-z0-9]+(\.[a-z0-9_]+)+$")
    """A stable name such as `number.mismatch` or `citation.fabricated`."""
    message: str
    """A sentence for people."""
    span: Span | None = None
    """The offending characters of the output, where it is a place in the output."""
    evidence: EvidenceSpan | None = None
    """The passage that shows it."""
    path: str | None = None
    """For structured output, the JSON Pointer of what is wrong."""


class Suggestion(Value):
    """A correction that the evidence itself gives: the value of the same thing. Nothing applies it unasked."""

    span: Span
    """The characters of the output that it would replace."""
    before: str
    after: str
    """What the evidence says in their place."""
    evidence: EvidenceSpan
    """Where the evidence says so."""
    code: str = Field(pattern=r"^[a-z0-9]+(\.[a-z0-9_]+)+$")
    """The finding behind it, such as `number.mismatch`."""


class ClaimReport(Value):
    """What was found of one claim."""

    text: str
    span: Span
    kind: ClaimKind
    critical: bool
    critical_reasons: tuple[str, ...] = ()
    hedge: float = Field(default=0.0, ge=0, le=1)
    verdict: Verdict
    score: float | None = Field(default=None, ge=0, le=1)
    """The calibrated probability that the evidence supports the claim; none where it was not checked."""
    contradiction: float | None = Field(default=None, ge=0, le=1)
    """The calibrated probability that the evidence contradicts it."""
    status: ClaimStatus
    evidence_spans: tuple[EvidenceSpan, ...] = ()
    category: Category | None = None
    origin: Origin | None = None
    severity: Severity | None = None
    issues: tuple[Issue, ...] = ()
    wrong_spans: tuple[Span, ...] = ()
    """The wrong words, as places in the output, in order and apart from each other. Empty for a claim that is
    supported, and for one that is wrong as a whole."""
    suggestions: tuple[Suggestion, ...] = ()
    """Corrections that the evidence gives the values of, in the order of the text; unchecked until somebody applies
    them and checks again, as `Guard.repair` does."""
    conflict: bool = False
    """Whether one source supports it and another contradicts it."""
    decided_by: str | None = Field(default=None, pattern="^(exact|network|judge|knowledge)$")
    """The tier whose word the verdict is: the exact one where it was sure, the judge where the verdict or its
    probabilities are other ones because of it, `knowledge` where a source outside of the evidence settled it, else the
    network with what the exact tier saw. None where nothing was
    decided, or by a run's trace."""
    judgement: ClaimJudgement | None = None
    """What the judge said of it, where it was to be asked."""
    external: External | None = None
    """What knowledge outside of the evidence says of it, where it was put to any source (docs/knowledge.md)."""
    path: str | None = None
    """The JSON Pointer of the value that it was read from, in a structured output."""
    part_of: int | None = Field(default=None, ge=0)
    """The number of the sentence that it was cut from; none where it is a sentence of its own."""
    signals: dict[str, float] = Field(default_factory=dict)
    """The tiers' own scores that were combined into `score` and `contradiction`."""


class ToolCallValidation(Value):
    """The validation of one tool call of an agent run (docs/concepts.md#agent-runs)."""

    tool: str
    args: dict[str, Any]
    """The arguments; empty where they could not be read."""
    status: str = Field(pattern="^(accepted|rejected|unchecked)$")
    errors: tuple[str, ...] = ()
    """What is wrong, as sentences: the messages of `issues`."""
    issues: tuple[Issue, ...] = ()
    """The same with codes and the JSON Pointers of the arguments."""
    provenance: tuple[ArgumentProvenance, ...] = ()
    """Where each entity of the arguments comes from."""
    attempts: tuple[CallAttempt, ...] = ()
    """The rejected attempts that came before this one."""
    call_id: str | None = None
    """The call's id in the transcript."""
    step: int | None = Field(default=None, ge=0)
    """The call's place among the steps of the run."""
    executed: bool | None = None
    """Whether the run has a result of it that is no failure; none where the call was checked before it was executed."""


class ConsistencyProbe(Value):
    """What the model said when asked again (docs/concepts.md#self-consistency)."""

    claim: str
    original: str
    probe_answers: tuple[str, ...]
    agreement: float = Field(ge=0, le=1)


class TextChange(Value):
    """One place at which two versions of an output differ."""

    start: int = Field(ge=0)
    """Index of the first character in the earlier version, in Unicode code points."""
    end: int = Field(ge=0)
    """Index after the last one."""
    before: str
    """The words of the earlier version; empty where something was put in."""
    after: str
    """The words of the later version; empty where something was taken out."""


class RevisionAttempt(Value):
    """One new version that an author was asked for (docs/concepts.md#revision)."""

    number: int = Field(ge=1)
    outcome: str = Field(pattern="^(better|no_better|unchanged|repeated|refused|unreadable|not_asked)$")
    """What became of it: kept; verified and no better, so that the version before stands; the text as it was; a version
    that was there before; refused because it changed what had passed and this could not be put back; in no form that
    can be read; or never written, since the author could not be asked."""
    reason: str
    """A sentence for people."""
    failed_claims: int | None = Field(default=None, ge=0)
    """Claims that fail in it; none where it was not verified."""
    overall_score: float | None = Field(default=None, ge=0, le=1)
    restored: int = Field(default=0, ge=0)
    """Sentences that had passed, that the author changed or left out, and that were put back."""
    changes: tuple[TextChange, ...] = ()
    """What it changed in the version before it."""


class Revision(Value):
    """What revising an output came to."""

    original: str
    """The output as it was first."""
    attempts: tuple[RevisionAttempt, ...] = ()
    stopped: str = Field(
        pattern="^(passed|not_revisable|exhausted|no_improvement|oscillation|unchanged|refused|unreadable|budget|failed)$"
    )
    """Why there were no further attempts; `budget` and `failed` say that the author could not be asked."""
    escalation_required: bool
    """Whether something still fails, so that a person has to decide or the output is withheld."""
    changes: tuple[TextChange, ...] = ()
    """The difference between the first and the last version."""
    failed_before: int | None = Field(default=None, ge=0)
    """Claims and citations that failed in the first version."""
    failed_after: int | None = Field(default=None, ge=0)
    """Those that fail in the last one."""
    author: str | None = None
    """Who wrote the versions: a model's name, or `evidence` where its own values were put in; none where unknown."""
    prompts: tuple[str, ...] = ()
    """The prompts that the author was asked with."""

    @property
    def converged(self) -> bool:
        """Whether the output passes now (docs/concepts.md#revision)."""
        return self.stopped == "passed"

    @property
    def rolled_back(self) -> int:
        """Versions that were verified, were no better, and were dropped."""
        return sum(attempt.outcome == "no_better" for attempt in self.attempts)


class CitationReport(Value):
    """One citation of the output and how far it holds (docs/concepts.md#citations)."""

    marker: str
    """The citation as written."""
    span: Span
    """Where it is in the output; empty at the cited text's end for citations that came as objects."""
    source_id: str
    """The source it names, as written."""
    evidence_id: str | None = None
    """The evidence it was resolved to."""
    claim: str | None = None
    """The statement that it is attached to."""
    quote: str | None = None
    """The words that it claims the source to contain."""
    exists: bool
    text_matches: bool | None = None
    """Whether the quoted words are in the source; true where nothing is quoted, none where there is no source."""
    entails: bool | None = None
    """Whether the source entails the statement; none where the steps before failed or it could not be checked."""
    score: float | None = Field(default=None, ge=0, le=1)
    status: str = Field(pattern="^(verified|fabricated|misquoted|misattributed|non_entailing|unchecked)$")
    message: str


class UncheckedPart(Value):
    """Characters of the output that no verdict covers, and why."""

    span: Span
    reason: str


class Coverage(Value):
    """How much of the output was really looked at; the three counts add up to its length."""

    characters: int = Field(ge=0)
    checked: int = Field(ge=0)
    not_checkable: int = Field(ge=0)
    """Greetings, abstentions, markup and white space."""
    unchecked: int = Field(ge=0)
    parts: tuple[UncheckedPart, ...] = ()
    evidence_characters: int = Field(default=0, ge=0)
    evidence_read: int = Field(default=0, ge=0)
    """Characters of the evidence that the exact tier and the ranking read: all of them, or the reasons say why not."""
    claim_free: bool = False
    """Whether nothing in the output is a checkable claim."""
    reasons: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.checked + self.not_checkable + self.unchecked != self.characters:
            raise ValueError(
                f"checked {self.checked}, not checkable {self.not_checkable} and unchecked {self.unchecked} characters "
                f"must add up to the output's {self.characters}"
            )
        return self

    @property
    def complete(self) -> bool:
        """Whether nothing was left unchecked."""
        return self.unchecked == 0 and self.evidence_read == self.evidence_characters


class Conflict(Value):
    """Two sources that say different things of one claim."""

    claim: str
    supporting: EvidenceSpan
    contradicting: EvidenceSpan


class Retrieval(Value):
    """What the evidence was cut into and how much of it the network read."""

    evidence: int = Field(ge=0)
    windows: int = Field(ge=0)
    pairs: int = Field(ge=0)
    """Pairs of window and claim that the network judged."""
    pairs_possible: int = Field(ge=0)
    """Pairs there would be without ranking."""
    conflicts: tuple[Conflict, ...] = ()


class Metric(Value):
    """One metric of the output: its value, or why it has none."""

    value: float | None = Field(default=None, ge=0, le=1)
    undefined: str | None = None
    """Why it has no value; exactly one of the two is set."""

    @model_validator(mode="after")
    def _has_a_value_or_a_reason(self) -> Self:
        if (self.value is None) == (self.undefined is None):
            raise ValueError("a metric has either a value or the reason why it has none, never both and never neither")
        return self


class Decision(Value):
    """What the gate decided and why."""

    action: Action
    route: str
    """The finer route (docs/concepts.md#routing-table), such as `serve`, `serve_with_disclosure` or
    `withhold_closest_sources`."""
    reasons: tuple[str, ...]
    response: str | None = None
    """What to answer in place of an output that is withheld or waits for a person, or what to tell its reader behind
    one that may only be served with a disclosure, or that is emitted and leaves a part of the question untold."""


class Labels(Value):
    """The same decision in the vocabularies of others."""

    verdict: str
    """PASS, WARN or FAIL (docs/concepts.md#decision-labels)."""
    abstention: str
    """RESPOND, PARTIAL_WITH_CAVEATS or ABSTAIN (docs/concepts.md#decision-labels)."""
    routing: str
    """SERVE, FLAG or WITHHOLD (docs/concepts.md#decision-labels)."""
    escalation: str
    """auto_approve, flag_for_review, require_approval or block (docs/concepts.md#decision-labels)."""


class Identity(Value):
    """A name and the digest of the content behind it."""

    name: str
    digest: str
    overlays: tuple[str, ...] = ()
    """What was laid over a policy when it decided, such as `tighter_thresholds` while the error budget is spent
    (docs/monitoring.md#the-error-budget). Left out where there is none."""

    @model_serializer(mode="wrap")
    def _without_nothing(self, usual: SerializerFunctionWrapHandler) -> dict[str, object]:
        # Reports without an overlay are written, and digested, as they were before there were any.
        fields: dict[str, object] = usual(self)
        if not self.overlays:
            fields.pop("overlays", None)
        return fields

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        # The serializer above takes a member out and changes none.
        plain = {name: value for name, value in core.items() if name != "serialization"}
        return handler(plain)


class Timing(Value):
    """Milliseconds by stage; the only part of a report that differs between equal runs."""

    total_ms: float = Field(ge=0)
    stages_ms: dict[str, float] = Field(default_factory=dict)


class _Beside:
    """What goes along with a report and is no part of it: two reports are the same whatever it is."""

    __slots__ = ("tape",)

    def __init__(self, tape: Mapping[str, Any] | None = None) -> None:
        self.tape = tape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Beside)

    def __hash__(self) -> int:
        return 0


class HallucinationReport(Value):
    """The report of one output or one agent run (docs/concepts.md#agent-runs)."""

    run_id: str
    """Opaque; derived from the content checked unless the caller gives one."""
    version: str = SPEC_VERSION
    output: str
    """The text that was checked."""
    question: str | None = None
    stakes: Stakes = Stakes.MEDIUM
    claims: tuple[ClaimReport, ...] = ()
    issues: tuple[Issue, ...] = ()
    """Findings that belong to no single claim, structural ones among them."""
    categories: tuple[Category, ...] = ()
    """The categories of all that was found, of claims and of the output as a whole (docs/concepts.md#categories)."""
    tool_call_validations: tuple[ToolCallValidation, ...] = ()
    consistency_probes: tuple[ConsistencyProbe, ...] = ()
    omissions: tuple[Omission, ...] = ()
    """What the output leaves out of the evidence, where the policy has it looked for; each is an issue as well."""
    judge: JudgeReport | None = None
    """The judge's part in the check, where the policy has one asked."""
    knowledge: KnowledgeReport | None = None
    """The part of sources of knowledge, where any claim was put to them."""
    citations: tuple[CitationReport, ...] = ()
    retrieval: Retrieval
    coverage: Coverage
    untold: tuple[str, ...] = ()
    """What the question asks about beside other things, in its own words, and neither the evidence nor the output has a
    word of: the reader has to be told, where the output is emitted too."""
    metrics: dict[str, Metric] = Field(default_factory=dict)
    overall_score: float | None = Field(default=None, ge=0, le=1)
    """The gating score: minimum or weighted mean over claims, as the policy says; none where nothing was checked."""
    action: Action
    decision: Decision
    labels: Labels
    escalation: Escalated | None = None
    """How soon a person has to look: where the action is `escalate`, and at what is blocked where much depends on
    it."""
    digests: Digests | None = None
    """What it was made of; none where no text was checked, and in reports of versions before. A receipt is issued only
    for a report that still fits them."""
    policy: Identity
    verifier: Identity
    revision: Revision | None = None
    """How the output came to be, where it was revised."""
    causes: tuple[CauseReport, ...] = ()
    """The likely root causes of each finding (docs/concepts.md#root-causes): where to look first, not a part of the
    decision."""
    abstention: Abstention | None = None
    """Whether to give the output, where somebody asked for more than the gate's action
    (docs/concepts.md#abstention)."""
    generation: Generation | None = None
    """How the output came to be, where it was generated under control."""
    screening: Screening | None = None
    """What the retrieval gate said of the evidence, where the policy has passages screened."""
    spending: tuple[Spending, ...] = ()
    """What asking chat models cost, by purpose."""
    timing: Timing

    _beside: _Beside = PrivateAttr(default_factory=_Beside)

    @property
    def tape(self) -> Mapping[str, Any] | None:
        """What chat models said in the course of the check, as a JSON value (`assay.models.chat.tape`), for the store;
        it is no part of the report and is not written with it. None where nothing was said, and in a report that was
        read."""
        return self._beside.tape

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the gate decided so, then what is wrong, the gravest first; each as a sentence."""
        from assay.schema.views import report_reasons

        return report_reasons(self)

    def summary(self) -> str:
        """The report in one sentence: the decision, how many claims are supported, and the gravest problem."""
        from assay.schema.views import report_sentence

        return report_sentence(self)

    def to_dataframe(self, library: str | None = None) -> Any:
        """The claims as a data frame of polars or pandas, one row for each.

        Args:
            library: `polars` or `pandas`; by default the one that is loaded already, else the one that is installed.

        Raises:
            MissingPackageError: neither is installed.
        """
        from assay.schema.views import claim_frame

        return claim_frame(self, library)

    def __str__(self) -> str:
        from assay.schema.views import report_lines

        return "\n".join(report_lines(self))

    def _repr_html_(self) -> str:
        """The report as notebooks show it."""
        from assay.schema.views import notebook_html

        return notebook_html(self)

    def taped(self, tape: Mapping[str, Any] | None) -> Self:
        """The same report with a tape."""
        made = self.model_copy()
        made._beside = _Beside(tape)  # noqa: SLF001 of a copy of this very class
        return made
