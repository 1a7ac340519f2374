"""The bodies of the check routes: one output, one agent run, or several outputs in one request."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from assay.guard import CheckRequest
from assay.guard.request import structure_of
from assay.guard.runs import DEFAULT_SOURCES
from assay.schema import Evidence, HallucinationReport, Stakes, Structure
from assay.server.http.days import OptionalDay
from assay.server.http.problems import Problem


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(f"expected a whole number, got {str(value).lower()}")  # noqa: TRY004 pydantic tells of this one
    return value


def _stakes_in_force(stakes: Stakes | None) -> str:
    """The stakes of a check; the route fills in the operator's where a request names none.

    Raises:
        ValueError: the route has not done so.
    """
    if stakes is None:
        raise ValueError("expected the stakes that are in force")
    return stakes.value


class CheckBody(BaseModel):
    """One output to be checked against its evidence."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    answer: str
    """The output."""
    evidence: list[str | dict[str, Any]] | str | None = None
    """Texts, or objects with `text` and where known `id`, `title`, `source`, `version`, dates and `metadata`."""
    question: str | None = None
    """What the output answers."""
    policy: str | None = None
    """A preset; the server's own policy by default."""
    stakes: Stakes | None = None
    """How much depends on the answer: `low`, `medium` or `high`, and not less than what the operator set; that by
    default."""
    task: str = "qa"
    """The kind of task. One that the policy holds to no evidence, such as `creative`, may be declared only where the
    operator lists it."""
    schema_: Annotated[dict[str, Any] | StrictBool | None, Field(alias="schema")] = None
    """A JSON Schema that the output has to satisfy. With one, each value of the output is a claim that is checked
    against the evidence."""
    structure: Structure | None = None
    """How an output in JSON is checked beside its schema: rules over several fields, references into the evidence,
    which values are no claims. A schema may carry it itself, under `x-assay`."""
    as_of: OptionalDay = None
    """The day that the output is to hold on: evidence that has expired by then is said to have. Without one no clock is
    read, and evidence is compared with evidence only."""
    citations: list[dict[str, Any]] | None = None
    """Citation objects as model providers give them."""
    claim_free: StrictBool = False
    """Whether the output is declared to contain no claims."""
    revisions_failed: Annotated[int, BeforeValidator(_number)] = Field(default=0, ge=0)
    """How many revisions of it have failed already."""
    run_id: str | None = Field(default=None, min_length=1)
    """A name for the run; derived from the content by default."""

    def asked(self) -> dict[str, Any]:
        """The options of the check, without its evidence, as they are recorded."""
        return {
            "answer": self.answer, "question": self.question, "stakes": _stakes_in_force(self.stakes),
            "task": self.task, "schema": self.schema_, "citations": self.citations, "claim_free": self.claim_free,
            "revisions_failed": self.revisions_failed, "run_id": self.run_id,
            "structure": None if self.structure is None else self.structure.model_dump(mode="json"),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
        }  # fmt: skip

    def held_to(self) -> Structure | None:
        """How a structured output is checked beside its schema, from `structure` or from the schema itself.

        Raises:
            InputError: `x-assay` in the schema is no such structure.
        """
        return structure_of(CheckRequest("", schema=self.schema_, structure=self.structure))

    def request(self, evidence: Sequence[Evidence]) -> CheckRequest:
        """The check as the guard takes it."""
        return CheckRequest(
            self.answer, evidence, self.question, _stakes_in_force(self.stakes), self.task, self.schema_,
            self.citations, self.claim_free, self.revisions_failed, self.run_id, structure=self.structure,
            as_of=self.as_of,
        )  # fmt: skip


class RunBody(BaseModel):
    """One agent run to be checked: its tool calls, and its final answer against what the run saw."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    run: dict[str, Any] | list[Any]
    """A transcript in any format that assay reads, or a run in its normal form."""
    format: str | None = None
    """The transcript's format, where it is known."""
    tools: list[dict[str, Any]] = Field(default_factory=list)
    """Declarations that the transcript does not carry."""
    sources: list[str] = Field(default_factory=lambda: list(DEFAULT_SOURCES))
    """What of the run may be evidence: `tools`, `passages`, `user`, `system`."""
    evidence: list[str | dict[str, Any]] | str | None = None
    """Evidence beside the run."""
    question: str | None = None
    policy: str | None = None
    """A preset; the server's own policy by default."""
    stakes: Stakes | None = None
    """How much depends on the answer; see `/v1/check`."""
    task: str = "qa"
    claim_free: StrictBool = False
    revisions_failed: Annotated[int, BeforeValidator(_number)] = Field(default=0, ge=0)
    run_id: str | None = Field(default=None, min_length=1)

    def options(self, now: datetime) -> dict[str, Any]:
        """The options of `Guard.check_run`, without the run and its evidence."""
        return {
            "format": self.format, "tools": self.tools, "now": now, "sources": self.sources, "question": self.question,
            "stakes": _stakes_in_force(self.stakes), "task": self.task, "claim_free": self.claim_free,
            "revisions_failed": self.revisions_failed, "run_id": self.run_id,
        }  # fmt: skip

    def asked(self, now: datetime) -> dict[str, Any]:
        """The options of the check, without its evidence, as they are recorded."""
        return {**self.options(now), "run": self.run, "now": now.isoformat()}


class BatchBody(BaseModel):
    """Several outputs, each with its own evidence."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    requests: list[CheckBody] = Field(min_length=1)
    """The checks, at most as many as the server's limit."""


class BatchItem(BaseModel):
    """What became of one check of a batch: its report, or why there is none."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    id: str | None = None
    """The id under which it is recorded; none where the server records nothing."""
    report: HallucinationReport | None = None
    receipt: str | None = None
    """Where the gate emits and the server has keys."""
    problem: Problem | None = None


class BatchAnswer(BaseModel):
    """One item for each request, in order."""

    results: list[BatchItem]
