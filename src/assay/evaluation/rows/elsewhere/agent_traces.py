"""Rows from spans of agent runs: one for each trace that ends with an answer and has evidence to check it against.

The evidence of a run is that of `Guard.check_run`: results of tools, retrieved passages, and statements of users. A
trace without any of these is left out, because passages in its prompts cannot be distinguished from instructions. So is
a trace whose answer was cut off, since the gate holds such an answer back in any case.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.guard.runs import is_cut_off, question_of, run_evidence
from assay.schema.run import ModelTurn, Run
from assay.schema.traces import read_run, spans_by_trace

_META_ATTRIBUTES: Final = {
    "model": "gen_ai.request.model",
    "agent": "gen_ai.agent.name",
    "provider": "gen_ai.provider.name",
}
"""The attributes of spans that are carried in `meta`, for slicing."""


def trace_rows(path: Path, exports: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a file.

    Args:
        path: the file.
        exports: its JSON values: OTLP exports, or spans.

    Raises:
        InputError: no trace has both a whole answer and evidence.
    """
    rows_made = with_answer = cut_off = 0
    traces = spans_by_trace(list(exports))
    for number, (name, spans) in enumerate(traces.items(), 1):
        run = read_run(spans, format="otel_genai", run_id=name or None)
        answer = run.final_answer
        if not answer:
            continue
        with_answer += 1
        if _is_cut_off(run):
            cut_off += 1
            continue
        evidence = [{"id": piece.id, "text": piece.text} for piece in run_evidence(run).evidence]
        if not evidence:
            continue
        rows_made += 1
        question = question_of(run)
        row = {"id": name or str(number), "answer": answer, "evidence": evidence, "meta": _meta(spans)}
        yield number, row | ({} if question is None else {"question": question})
    if not rows_made:
        note = f" ({cut_off} cut off, and left out)" if cut_off else ""
        raise InputError(
            f"{path}: {len(traces)} traces, {with_answer} with an answer, none with evidence besides{note}; answers "
            "are read from gen_ai.output.messages, evidence from tool results, gen_ai.retrieval.documents and users' "
            "statements (instrumentations write them where "
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for content)"
        )


def _is_cut_off(run: Run) -> bool:
    """Whether the model stopped before its answer ended."""
    turns = (run.steps[index] for index in run.final_turns)
    return any(
        isinstance(one, ModelTurn) and one.stop_reason is not None and is_cut_off(one.stop_reason) for one in turns
    )


def _meta(spans: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The model, agent and provider that the spans of a trace name; a later span overrides an earlier one."""
    meta: dict[str, str] = {}
    for span in spans:
        attributes = span.get("attributes")
        for name, key in _META_ATTRIBUTES.items():
            value = _attribute(attributes, key)
            if isinstance(value, str) and value:
                meta[name] = value[:200]
    return meta


def _attribute(attributes: Any, key: str) -> Any:
    if isinstance(attributes, Mapping):
        return attributes.get(key)
    for pair in attributes if isinstance(attributes, list) else ():
        if isinstance(pair, Mapping) and pair.get("key") == key and isinstance(pair.get("value"), Mapping):
            return pair["value"].get("stringValue")
    return None
