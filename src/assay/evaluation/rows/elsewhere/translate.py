"""Translates records of other tools into rows (docs/rows.md)."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.evaluation.rows.elsewhere.agent_traces import trace_rows
from assay.evaluation.rows.elsewhere.presets import PRESETS, Preset, SpanFields
from assay.evaluation.rows.elsewhere.values import as_evidence, as_text, decoded, find
from assay.evaluation.rows.labels import LABELS, read_label

FIELDS: Final = ("answer", "claim", "evidence", "evidence_ids", "question", "id", "set", "label")
"""The fields that `--map` may name."""
_CONFLICT: Final = "conflict"
"""A part of the type of a RAGTruth span in which the answer contradicts the source."""
_LONGEST: Final = 200
"""The most characters of a field that is carried in `meta`."""

NumberedRecord = tuple[int, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Translation:
    """How the records of a file become rows: a preset whose fields `--map` may override."""

    preset: Preset
    flipped: bool = False
    """Whether the label means the opposite: `label=!hallucinated`."""
    named: frozenset[str] = field(default_factory=frozenset)
    """The fields that `--map` named: a record that lacks one of them is an error."""

    def records(self, path: Path, values: Iterable[NumberedRecord]) -> Iterator[NumberedRecord]:
        """The records of a file as rows.

        Args:
            path: the file.
            values: its records with their line or number; one that stands for a whole file may hold many.

        Raises:
            InputError: a record has no answer, or a companion file is missing.
        """
        if self.preset.agent_runs:
            if self.named or self.preset.fields:
                raise InputError(
                    f"--from {self.preset.name} reads answers and evidence out of spans: --map has no place"
                )
            yield from trace_rows(path, [record for _, record in values])
            return
        records = [(number, record) for number, value in values for record in self._rows(value)]
        if self.preset.beside:
            records = self._joined(path, records)
        spans = self.preset.spans
        with_documents = (
            [(n, r, ()) for n, r in records] if spans is None else _answers_with_documents(records, spans, self._first)
        )
        count = 0
        for number, record, documents in with_documents:
            row = self._row(record, documents, number, f"{path}, {number}", strict=spans is None)
            if row is not None:
                count += 1
                yield number, row
        if not count:
            raise InputError(
                f"{path}: no record with an answer and evidence; {self.preset.name} reads {self.preset.reads}. Say "
                "which fields they are with --map answer=FIELD,evidence=FIELD"
            )

    def _rows(self, value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        for path in self.preset.rows:
            inner = find(value, path)
            if isinstance(inner, list):
                return [one for one in inner if isinstance(one, Mapping)]
        return [value]

    def _joined(self, path: Path, records: Sequence[NumberedRecord]) -> list[NumberedRecord]:
        """Each record merged with the object of the companion file that has the same key."""
        from assay.evaluation.rows.reading import json_objects

        for name, key in self.preset.beside.items():
            other = path.with_name(name)
            if not other.is_file():
                raise InputError(f"{other}: no such file; {self.preset.name} reads {self.preset.reads}")
            joined_by_key = {str(joined[key]): joined for _, joined in json_objects(other) if key in joined}
            records = [
                (number, {**joined_by_key.get(str(record.get(key)), {}), **record}) for number, record in records
            ]
        return list(records)

    def _first(self, record: Mapping[str, Any], name: str) -> Any:
        for path in self.preset.fields.get(name, ()):
            value = find(record, path)
            if value is not None and value not in ("", []):
                return value
        return None

    def _row(
        self, record: Mapping[str, Any], documents: Sequence[Any], number: int, where: str, *, strict: bool
    ) -> dict[str, Any] | None:
        kind = "claim" if "claim" in self.preset.fields and self._first(record, "claim") is not None else "answer"
        text = as_text(self._first(record, kind))
        evidence = as_evidence(
            self._first(record, "evidence"), self._first(record, "evidence_ids"), self.preset.delimiter
        )
        evidence = [*evidence, *documents]
        if text is None or not evidence:
            if strict or self.named:
                paths = ", ".join(self.preset.fields.get(kind if text is None else "evidence", ()))
                lacking = "answer" if text is None else "evidence"
                raise InputError(
                    f"{where}: no {lacking}; looked for {paths or 'nothing'}; it has {_field_names(record)}"
                )
            return None
        row: dict[str, Any] = {"id": self._id(record, number), kind: text, "evidence": _deduplicated(evidence)}
        question = as_text(self._first(record, "question"))
        if question is not None:
            row["question"] = question
        group = self._first(record, "set")
        if isinstance(group, str):
            row["set"] = group
        row |= self._label(record, where)
        meta = _meta(record)
        return row | ({"meta": meta} if meta else {})

    def _id(self, record: Mapping[str, Any], number: int) -> str:
        row_id = self._first(record, "id")
        return str(row_id) if isinstance(row_id, str | int) and not isinstance(row_id, bool) else str(number)

    def _label(self, record: Mapping[str, Any], where: str) -> dict[str, Any]:
        stated = self._first(record, "label")
        if stated is not None:
            label = read_label(stated, flipped=self.flipped)
            if label is None:
                raise InputError(f"{where}: the label is {stated!r:.80}; {KNOWN_LABELS}")
            return {"label": label}
        wrong_spans = self._first(record, "labels") if "labels" in self.preset.fields else None
        if wrong_spans is None and "labels" in self.preset.fields and isinstance(record.get("labels"), list):
            return {"label": "supported", "spans": []}
        if not isinstance(wrong_spans, list):
            return {}
        spans = [
            [span["start"], span["end"]]
            for span in wrong_spans
            if isinstance(span, Mapping) and {"start", "end"} <= set(span)
        ]
        conflict = any(
            _CONFLICT in str(span.get("label_type", "")).lower() for span in wrong_spans if isinstance(span, Mapping)
        )
        return {"label": "contradicted" if conflict else "unsupported", "spans": spans}


KNOWN_LABELS: Final = f"known are {', '.join(LABELS)}, and 0, 1, true, false, pass and fail"
"""The possible labels, for messages."""


def read_translation(preset: str | None, mapped: Sequence[str]) -> Translation | None:
    """The translation that `--from` and `--map` name; none if neither is given.

    Args:
        preset: the name of a preset.
        mapped: texts `ours=theirs`, several of them separated by commas; `label=!field` if the field means the
            opposite.

    Raises:
        InputError: there is no such preset or field, or a text has another form.

    >>> read_translation("ragas", ["label=!hallucinated"]).flipped
    True
    """
    if preset is None and not mapped:
        return None
    if preset is not None and preset not in PRESETS:
        similar = get_close_matches(preset, PRESETS, 1)
        hint = f"did you mean {similar[0]}?" if similar else f"known are {', '.join(PRESETS)}"
        raise InputError(f"--from {preset}: there is no such preset; {hint}")
    chosen_preset = (
        PRESETS[preset] if preset is not None else Preset("--map", "the fields that it names", {"id": ("id",)})
    )
    paths, flipped, named = dict(chosen_preset.fields), False, set()
    for text in (part for one in mapped for part in one.split(",") if part.strip()):
        ours, sign, theirs = (piece.strip() for piece in text.partition("="))
        if not sign or not theirs.lstrip("!"):
            raise InputError(f"--map {text}: expected OURS=THEIRS, such as answer=response,evidence=contexts")
        if ours not in FIELDS:
            raise InputError(f"--map {text}: there is no field {ours!r}; known are {', '.join(FIELDS)}")
        if theirs.startswith("!"):
            if ours != "label":
                raise InputError(f"--map {text}: only a label can say the opposite")
            theirs, flipped = theirs[1:], True
        paths[ours] = (theirs,)
        named.add(ours)
    return Translation(
        replace(chosen_preset, fields=paths), flipped, frozenset(named & {"answer", "claim", "evidence"})
    )


def _answers_with_documents(
    records: Sequence[NumberedRecord], spans: SpanFields, first: Callable[[Mapping[str, Any], str], Any]
) -> Iterator[tuple[int, Mapping[str, Any], Sequence[Any]]]:
    """Each record that may hold an answer, with the documents that were retrieved in its trace.

    Of a trace with spans at several depths only those count whose parent is not in the export: a trace that begins in a
    service that reports elsewhere, or not at all, has no span without a parent. A record without a trace stands alone.
    """
    record_ids = {str(first(record, "id")) for _, record in records}
    traces_with_root = {str(_first_value(record, spans.trace)) for _, record in records if _is_marked(record, spans)}
    retrieved: dict[str, list[Any]] = {}
    for _, record in records:
        trace = _first_value(record, spans.trace)
        if trace is not None and _is_retriever(record, spans):
            documents = next((found for path in spans.documents if (found := find(record, path)) is not None), None)
            retrieved.setdefault(str(trace), []).extend(as_evidence(documents))
    for number, record in records:
        trace = _first_value(record, spans.trace)
        if trace is None:
            yield number, record, retrieved.get(str(record.get("id")), ())
        elif str(trace) in traces_with_root:
            if _is_marked(record, spans):
                yield number, record, retrieved.get(str(trace), ())
        elif not _is_retriever(record, spans) and str(_first_value(record, spans.parent)) not in record_ids:
            yield number, record, retrieved.get(str(trace), ())


def _first_value(record: Mapping[str, Any], paths: Sequence[str]) -> Any:
    return next((found for path in paths if (found := find(record, path)) not in (None, "")), None)


def _is_marked(record: Mapping[str, Any], spans: SpanFields) -> bool:
    return _first_value(record, spans.root) in (True, "true")


def _is_retriever(record: Mapping[str, Any], spans: SpanFields) -> bool:
    return str(_first_value(record, spans.kind) or "").lower() == spans.retriever


def _deduplicated(evidence: Sequence[Any]) -> list[Any]:
    """The evidence with each passage only once, and without ids that two passages share."""
    listed = [one for index, one in enumerate(evidence) if one not in evidence[:index]]
    ids = [one["id"] for one in listed if isinstance(one, dict) and "id" in one]
    twice = {name for name in ids if ids.count(name) > 1}
    return [
        {key: value for key, value in one.items() if key != "id"}
        if isinstance(one, dict) and one.get("id") in twice
        else one
        for one in listed
    ]


def _field_names(record: Mapping[str, Any]) -> str:
    return ", ".join(sorted(map(str, record))[:20])


def _meta(record: Mapping[str, Any]) -> dict[str, Any]:
    """The short fields of a record, for slicing."""
    values = {str(name): decoded(value) for name, value in record.items()}
    return {name: value for name, value in values.items() if _is_short(value)}


def _is_short(value: object) -> bool:
    """Whether a value is short enough for `meta`: a boolean, a finite number, or a short text."""
    if isinstance(value, str):
        return 0 < len(value) <= _LONGEST
    return isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))
