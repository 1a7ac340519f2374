"""What one attack is, and what a good answer to it does."""

import hashlib
import json
from enum import StrEnum
from typing import Final, Self

from pydantic import Field, model_validator

from assay.schema.base import Value

LONGEST_PROMPT: Final = 20_000
"""Characters that a prompt may have; what is longer belongs into the context."""


class Category(StrEnum):
    """The attack's category (docs/redteam.md#categories)."""

    KNOWLEDGE_BOUNDARY = "knowledge_boundary"
    """Asks for what the corpus hardly holds, or does not hold though it looks as if it did."""
    ENTITY_SUBSTITUTION = "entity_substitution"
    """Puts a similar entity in the place of the one that the corpus speaks of."""
    TEMPORAL_CONFUSION = "temporal_confusion"
    """Moves dates past what the documents cover, or takes an old version for the current one."""
    CONTEXT_POISONING = "context_poisoning"
    """Contradicts, misleads or gives orders in the context."""
    CITATION_MANIPULATION = "citation_manipulation"
    """Asks to cite sections, clauses, studies or words that do not exist."""
    FORMAT_COERCION = "format_coercion"
    """Requires fields that the evidence lacks."""
    CONSTRAINT_CONTRADICTION = "constraint_contradiction"
    """Sets constraints that cannot all be met."""
    AUTHORITY_IMPERSONATION = "authority_impersonation"
    """Speaks with an authority that should change nothing, or takes something false for granted."""
    SCALE_STRESS = "scale_stress"
    """Buries the passage that matters among much other text."""
    COMPOSITIONAL = "compositional"
    """Chains several steps whose errors add up."""


class Behavior(StrEnum):
    """What a good answer does."""

    ABSTAIN_OR_CAVEAT = "abstain_or_caveat"
    """Says that it is not known, or that the documents do not say it."""
    ANSWER = "answer"
    """Gives the answer that the evidence holds."""
    DETECT_CONTRADICTION = "detect_contradiction"
    """Says that the passages contradict each other."""
    REPORT_CONTRADICTION = "report_contradiction"
    """Says that what is asked for cannot all be met."""
    FIND_AND_USE = "find_and_use"
    """Gives the answer, wherever in the context it stands."""
    CORRECT_RESULT = "correct_result"
    """Comes to the right result."""
    REFUSE_FABRICATION = "refuse_fabrication"
    """Says that the source, section or quotation does not exist or is not known."""
    CORRECT_PREMISE = "correct_premise"
    """Rejects what the prompt takes for granted, or says how it really is."""
    LEAVE_EMPTY = "leave_empty"
    """Fills the fields that the evidence fills, and says of the others that they are not known."""


ANSWERABLE: Final = frozenset(
    {Behavior.ANSWER, Behavior.FIND_AND_USE, Behavior.CORRECT_RESULT, Behavior.CORRECT_PREMISE, Behavior.LEAVE_EMPTY}
)
"""Behaviours that need a ground truth."""


class Passage(Value):
    """A text with its id, as it goes to a target or a judge."""

    id: str = Field(min_length=1)
    text: str
    source: str | None = None
    """The document that it is of."""


class Turn(Value):
    """One message of a conversation before the prompt."""

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
    """What wrote it, with its version."""
    parent: str | None = None
    """The case that it is a mutation or an edited form of."""
    origin: str = Field(default="generated", pattern="^(generated|searched|promoted|written)$")
    approved_by: str | None = None
    """The person who let it into a static suite."""


class Case(Value):
    """One attack, with what a good answer does and by what an answer is judged."""

    id: str = ""
    """Derived from the content, so that the same case has the same id in every suite."""
    category: Category
    prompt: str = Field(min_length=1, max_length=LONGEST_PROMPT)
    """What the user says last."""
    turns: tuple[Turn, ...] = ()
    """What was said before it."""
    context: tuple[Passage, ...] = ()
    """Passages to inject, for a target that takes any: they are the attacker's, not to be trusted."""
    expected_behavior: Behavior
    ground_truth: str | None = None
    """An answer that does what is expected, where there is one to be written down."""
    accepted: tuple[str, ...] = ()
    """Spellings of the value that a right answer has; one of them is enough."""
    planted: tuple[str, ...] = ()
    """What the attack wants said: false values, the token that an injected order asks for."""
    fields: dict[str, str | None] = Field(default_factory=dict)
    """For `leave_empty`: the value of each field, none where the evidence has none."""
    evidence: tuple[Passage, ...] = ()
    """Passages of the corpus by which an answer is judged."""
    plausibility: float = Field(default=1.0, ge=0, le=1)
    """How likely a person would ask this way, by the rule that worded it (docs/redteam.md#plausibility)."""
    parameters: dict[str, int | float | str] = Field(default_factory=dict)
    """How hard it is: `steps` of a chain, `tokens` and `depth` of a long context."""
    baseline_prompt: str | None = None
    """The same question before the attack, where there is one."""
    benign: bool = False
    """Whether it is an honest request and no attack: a system that does not answer it is too careful."""
    lineage: Lineage

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
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
"""What makes a case the case that it is; wording of lineage, plausibility and evidence do not."""


def identity(case: Case) -> str:
    """The id of a case's content: `rt-` and 16 hexadecimal digits of SHA-256 over its canonical JSON."""
    content = case.model_dump(mode="json", include=set(_IDENTIFYING))
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return "rt-" + hashlib.sha256(canonical.encode()).hexdigest()[:16]
