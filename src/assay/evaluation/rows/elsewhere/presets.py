"""Presets: which fields of other tools' exports are the answer, the evidence and the question.

A path is a field, or fields joined by dots; a field whose own name has dots in it takes precedence. `name[]` stands for
the items of a list. Of several paths the first that holds a value counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class SpanFields:
    """The fields by which the spans of one trace belong together: the answer is in one, the documents in others."""

    trace: tuple[str, ...]
    parent: tuple[str, ...]
    kind: tuple[str, ...]
    retriever: str
    """The kind of a span that retrieves, in lower case."""
    documents: tuple[str, ...]
    """The paths to the documents in a span that retrieves."""
    root: tuple[str, ...] = ()
    """The flag of the span that gave the answer, where the tool has one."""


@dataclass(frozen=True, slots=True)
class Preset:
    """How the export of one tool is read."""

    name: str
    reads: str
    """The export, for people."""
    fields: Mapping[str, tuple[str, ...]]
    """The paths that may hold each field of a row."""
    rows: tuple[str, ...] = ()
    """The paths to the rows in a file that is one JSON object."""
    spans: SpanFields | None = None
    delimiter: str | None = None
    """The separator of passages that were joined into one text."""
    source: str = ""
    """Where the format is described."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Companion files in the same folder: the file name, and the field by which its objects are joined."""
    agent_runs: bool = False
    """Whether the file holds spans of agent runs, which have no fields of their own for answer and evidence."""


PRESETS: Final[Mapping[str, Preset]] = {
    preset.name: preset
    for preset in (
        Preset(
            "ragas",
            "`EvaluationDataset.to_jsonl`, `to_csv` and `to_pandas`; also the columns of versions before 0.2",
            {
                "answer": ("response", "answer"),
                "evidence": ("retrieved_contexts", "contexts", "reference_contexts"),
                "evidence_ids": ("retrieved_context_ids",),
                "question": ("user_input", "question"),
            },
            source="ragas.dataset_schema.SingleTurnSample",
        ),
        Preset(
            "deepeval",
            "`EvaluationDataset.save_as` in JSON, JSON Lines and CSV (goldens and test cases)",
            {
                "answer": ("actual_output",),
                "evidence": ("retrieval_context", "context"),
                "question": ("input",),
                "id": ("name",),
            },
            delimiter="|",
            source="deepeval.dataset.utils: lists are joined by `|` in cells",
        ),
        Preset(
            "trulens",
            "the data frame of `get_records_and_feedback`, saved as CSV, JSON or Parquet",
            {
                "answer": ("output",),
                "evidence": ("contexts", "Groundedness_calls[].args.source", "groundedness_calls[].args.source"),
                "question": ("input",),
                "id": ("record_id",),
            },
            source="the sources that the groundedness feedback was called with",
        ),
        Preset(
            "langfuse",
            "traces and observations exported from the tables or as one trace, and experiment items",
            {
                "answer": ("output",),
                "evidence": (
                    "metadata.contexts",
                    "metadata.context",
                    "input.contexts",
                    "input.context",
                    "input.documents",
                ),
                "question": ("input.question", "input.query", "input.messages", "input"),
                "id": ("id",),
            },
            rows=("observations", "data"),
            spans=SpanFields(
                ("traceId", "trace_id"),
                ("parentObservationId", "parent_observation_id"),
                ("type",),
                "retriever",
                ("output.documents", "output"),
                root=("isRootObservation", "is_root_observation"),
            ),
            source="langfuse.com: export from the UI; observations of type RETRIEVER",
        ),
        Preset(
            "phoenix",
            "the data frame of `get_spans_dataframe` or of `get_qa_with_reference`, saved as JSON, CSV or Parquet",
            {
                "answer": ("attributes.output.value", "output"),
                "evidence": ("reference", "attributes.retrieval.documents"),
                "question": ("attributes.input.value", "input"),
                "id": ("context.span_id", "span_id"),
            },
            rows=("spans", "data"),
            spans=SpanFields(
                ("context.trace_id", "trace_id"),
                ("parent_id",),
                ("span_kind", "attributes.openinference.span.kind"),
                "retriever",
                ("attributes.retrieval.documents",),
            ),
            source="OpenInference: input.value, output.value, retrieval.documents",
        ),
        Preset(
            "promptfoo",
            "`promptfoo eval --output results.json` (versions 2 and 3) and `results.jsonl`",
            {
                "answer": ("response.output",),
                "evidence": ("vars.context", "vars.contexts", "vars.documents", "vars.passages", "vars.evidence"),
                "question": ("vars.question", "vars.query", "vars.input", "vars.prompt"),
                "id": ("id",),
            },
            rows=("results.results", "results"),
            source="promptfoo: EvaluateSummaryV3",
        ),
        Preset(
            "langsmith",
            "runs as JSON Lines or Parquet, and examples with `inputs` and `outputs`",
            {
                "answer": (
                    "outputs.answer",
                    "outputs.output",
                    "outputs.response",
                    "outputs.generations",
                    "outputs.messages",
                    "outputs",
                ),
                "evidence": (
                    "inputs.contexts",
                    "inputs.context",
                    "inputs.documents",
                    "outputs.documents",
                    "outputs.contexts",
                ),
                "question": ("inputs.question", "inputs.query", "inputs.input", "inputs.messages"),
                "id": ("id",),
            },
            rows=("runs", "examples"),
            spans=SpanFields(
                ("trace_id",),
                ("parent_run_id",),
                ("run_type",),
                "retriever",
                ("outputs.documents", "outputs.output"),
            ),
            source="LangSmith: run data format, example data format",
        ),
        Preset(
            "ragtruth",
            "`response.jsonl` with `source_info.jsonl` beside it",
            {
                "answer": ("response",),
                "evidence": ("source_info",),
                "question": ("source_info.question",),
                "id": ("id",),
                "labels": ("labels",),
            },
            source="ParticleMedia/RAGTruth, README",
            beside={"source_info.jsonl": "source_id"},
        ),
        Preset(
            "otel",
            "spans with `gen_ai.*` attributes as OTLP JSON (one export, or one a line), or as the Python SDK has them",
            {},
            source="OpenTelemetry: semantic conventions for generative AI 1.42, OTLP 1.9 in JSON",
            agent_runs=True,
        ),
    )
}
"""The presets by name."""
