"""Spans of agent runs as rows: one of each trace that ends with an answer and has seen something to hold it against.

What a run has seen is what `Guard.check_run` takes as evidence: results of tools, passages that were retrieved, what
users state; where a trace has none of these, passages that its prompts hold are not told from instructions, and it is
left out. So is one whose answer was cut off: the gate holds such an answer back whatever it says.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.guard.runs import is_cut_off, question_of, run_evidence
from assay.schema.run import ModelTurn, Run
from assay.schema.traces import read_run, spans_by_trace

_FACTS: Final = {"model": "gen_ai.request.model", "agent": "gen_ai.agent.name", "provider": "gen_ai.provider.name"}
"""What of the spans is carried in `meta`, to be sliced by."""


def trace_rows(path: Path, exports: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a file.

    Args:
        path: the file.
        exports: its JSON values: OTLP exports, or spans.

    Raises:
        InputError: no trace has both a whole answer and evidence.
    """
    made = answered = cut = 0
    traces = spans_by_trace(list(exports))
    for number, (name, spans) in enumerate(traces.items(), 1):
        run = read_run(spans, format="otel_genai", run_id=name or None)
        answer = run.final_answer
        if not answer:
            continue
        answered += 1
        if _is_cut_off(run):
            cut += 1
            continue
        evidence = [{"id": piece.id, "text": piece.text} for piece in run_evidence(run).evidence]
        if not evidence:
            continue
        made += 1
        question = question_of(run)
        row = {"id": name or str(number), "answer": answer, "evidence": evidence, "meta": _facts(spans)}
        yield number, row | ({} if question is None else {"question": question})
    if not made:
        note = f" ({cut} cut off, and left out)" if cut else ""
        raise InputError(
            f"{path}: {len(traces)} traces, {answered} with an answer, none with evidence besides{note}; answers are "
            "read from gen_ai.output.messages, evidence from tool results, gen_ai.retrieval.documents and users' "
            "statements (instrumentations write them where "
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for content)"
        )


def _is_cut_off(run: Run) -> bool:
    """Whether the model stopped before its answer ended."""
    turns = (run.steps[index] for index in run.final_turns)
    return any(
        isinstance(one, ModelTurn) and one.stop_reason is not None and is_cut_off(one.stop_reason) for one in turns
    )


def _facts(spans: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the spans of a trace say of who answered, the last one that says it."""
    found: dict[str, str] = {}
    for span in spans:
        attributes = span.get("attributes")
        for name, key in _FACTS.items():
            value = _attribute(attributes, key)
            if isinstance(value, str) and value:
                found[name] = value[:200]
    return found


def _attribute(attributes: Any, key: str) -> Any:
    if isinstance(attributes, Mapping):
        return attributes.get(key)
    for pair in attributes if isinstance(attributes, list) else ():
        if isinstance(pair, Mapping) and pair.get("key") == key and isinstance(pair.get("value"), Mapping):
            return pair["value"].get("stringValue")
    return None
