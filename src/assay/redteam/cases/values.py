"""The form of a case: one attack, and what a good answer to it does."""

import hashlib
import json
from enum import StrEnum
from typing import Final, Self

from pydantic import Field, model_validator

from assay.schema.base import Value

LONGEST_PROMPT: Final = 20_000
"""The most characters of a prompt; longer text belongs in the context."""


class Category(StrEnum):
    """The attack's category (docs/redteam.md#categories)."""

    KNOWLEDGE_BOUNDARY = "knowledge_boundary"
    """Asks for something that the corpus barely covers, or only seems to cover."""
    ENTITY_SUBSTITUTION = "entity_substitution"
    """Replaces an entity of the corpus by a similar one."""
    TEMPORAL_CONFUSION = "temporal_confusion"
    """Moves dates past what the documents cover, or takes an old version for the current one."""
    CONTEXT_POISONING = "context_poisoning"
    """Plants contradictions, misleading passages or instructions in the context."""
    CITATION_MANIPULATION = "citation_manipulation"
    """Asks to cite sections, clauses, studies or words that do not exist."""
    FORMAT_COERCION = "format_coercion"
    """Requires fields that the evidence lacks."""
    CONSTRAINT_CONTRADICTION = "constraint_contradiction"
    """Sets constraints that cannot all be met."""
    AUTHORITY_IMPERSONATION = "authority_impersonation"
    """Claims an authority that should change nothing, or takes something false for granted."""
    SCALE_STRESS = "scale_stress"
    """Buries the relevant passage in much other text."""
    COMPOSITIONAL = "compositional"
    """Chains several steps whose errors add up."""


class Behavior(StrEnum):
    """What a good answer does."""

    ABSTAIN_OR_CAVEAT = "abstain_or_caveat"
    """Says that the answer is not known or not in the documents."""
    ANSWER = "answer"
    """Gives the answer that the evidence contains."""
    DETECT_CONTRADICTION = "detect_contradiction"
    """Says that the passages contradict each other."""
    REPORT_CONTRADICTION = "report_contradiction"
    """Says that the constraints cannot all be met."""
    FIND_AND_USE = "find_and_use"
    """Gives the answer, wherever it is in the context."""
    CORRECT_RESULT = "correct_result"
    """Comes to the right result."""
    REFUSE_FABRICATION = "refuse_fabrication"
    """Says that the source, section or quotation does not exist or is not known."""
    CORRECT_PREMISE = "correct_premise"
    """Rejects the false premise of the prompt, or states what is true."""
    LEAVE_EMPTY = "leave_empty"
    """Fills the fields that the evidence covers and marks the others as unknown."""


ANSWERABLE: Final = frozenset(
    {Behavior.ANSWER, Behavior.FIND_AND_USE, Behavior.CORRECT_RESULT, Behavior.CORRECT_PREMISE, Behavior.LEAVE_EMPTY}
)
"""Behaviours that need a ground truth."""


class Passage(Value):
    """A text with its id, as it is sent to a target or a judge."""

    id: str = Field(min_length=1)
    text: str
    source: str | None = None
    """The document that it comes from."""


class Turn(Value):
    """One message of the conversation before the prompt."""

    role: str = Field(pattern="^(user|assistant)$")
    content: str


class Lineage(Value):
    """Where a case comes from."""

    rule: str
    """The rule that wrote it, such as `poisoning.contradiction`."""
    documents: tuple[str, ...] = ()
    """The documents that it was written from."""
    seed: int = 0
    generator: str = "assay"
    """The program that wrote it, with its version."""
    parent: str | None = None
    """The case that this one is a mutation or an edit of."""
    origin: str = Field(default="generated", pattern="^(generated|searched|promoted|written)$")
    approved_by: str | None = None
    """The person who approved it for a static suite."""


class Case(Value):
    """One attack, with the expected behaviour and what answers are judged by."""

    id: str = ""
    """Derived from the content, so that the same case has the same id in every suite."""
    category: Category
    prompt: str = Field(min_length=1, max_length=LONGEST_PROMPT)
    """The last message of the user."""
    turns: tuple[Turn, ...] = ()
    """The conversation before it."""
    context: tuple[Passage, ...] = ()
    """Passages to inject into a target that accepts them. They are the attacker's and must not be trusted."""
    expected_behavior: Behavior
    ground_truth: str | None = None
    """An answer with the expected behaviour, where one can be written down."""
    accepted: tuple[str, ...] = ()
    """Spellings of the right value; an answer needs one of them."""
    planted: tuple[str, ...] = ()
    """What the attack tries to make the target say: false values, or the token of an injected instruction."""
    fields: dict[str, str | None] = Field(default_factory=dict)
    """For `leave_empty`: the value of each field; none for fields that the evidence does not cover."""
    evidence: tuple[Passage, ...] = ()
    """Passages of the corpus by which an answer is judged."""
    plausibility: float = Field(default=1.0, ge=0, le=1)
    """How likely a person is to ask this way, set by the rule that worded it (docs/redteam.md#plausibility)."""
    parameters: dict[str, int | float | str] = Field(default_factory=dict)
    """The difficulty: `steps` of a chain, `tokens` and `depth` of a long context."""
    baseline_prompt: str | None = None
    """The same question without the attack, where there is one."""
    benign: bool = False
    """Whether it is an honest request rather than an attack: a system that does not answer it is too careful."""
    lineage: Lineage

    @model_validator(mode="after")
    def _derive_id(self) -> Self:
        derived = identity(self)
        if not self.id:
            object.__setattr__(self, "id", derived)
        elif self.id != derived:
            raise ValueError(
                f"the id {self.id!r} is not that of the content, {derived!r}: leave it out to have it made"
            )
        return self


_IDENTIFYING: Final = frozenset(
    {"category", "prompt", "turns", "context", "expected_behavior", "ground_truth", "accepted", "planted", "fields"}
)
"""The fields that the id is derived from. Lineage, plausibility and evidence are not among them."""


def identity(case: Case) -> str:
    """The id of a case: `rt-` and the first 16 hexadecimal digits of SHA-256 over the canonical JSON of its content."""
    content = case.model_dump(mode="json", include=set(_IDENTIFYING))
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return "rt-" + hashlib.sha256(canonical.encode()).hexdigest()[:16]
