"""Records of other tools into the rows that are read here (docs/rows.md)."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.evaluation.rows.elsewhere.agent_traces import trace_rows
from assay.evaluation.rows.elsewhere.presets import PRESETS, Preset, Spans
from assay.evaluation.rows.elsewhere.values import as_evidence, as_text, find, opened
from assay.evaluation.rows.labels import LABELS, read_label

OURS: Final = ("answer", "claim", "evidence", "evidence_ids", "question", "id", "set", "label")
"""The fields that `--map` may name."""
_CONFLICT: Final = "conflict"
"""In the type of a span of RAGTruth: the answer says otherwise than the source."""
_LONGEST: Final = 200
"""Characters of a field that is carried in `meta`."""

Numbered = tuple[int, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Translation:
    """How the records of a file become rows: a preset, with what `--map` says in the place of its fields."""

    preset: Preset
    flipped: bool = False
    """Whether the label says the opposite: `label=!hallucinated`."""
    named: frozenset[str] = field(default_factory=frozenset)
    """The fields that `--map` named: a record that lacks one of them is an error."""

    def records(self, path: Path, values: Iterable[Numbered]) -> Iterator[Numbered]:
        """The records of a file as rows.

        Args:
            path: the file.
            values: its records with their line or number; one that is a whole file may hold many.

        Raises:
            InputError: a record has no answer, or a file beside this one is missing.
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
        gathered = [(n, r, ()) for n, r in records] if spans is None else _gather(records, spans, self._first)
        made = 0
        for number, record, documents in gathered:
            row = self._row(record, documents, number, f"{path}, {number}", strict=spans is None)
            if row is not None:
                made += 1
                yield number, row
        if not made:
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

    def _joined(self, path: Path, records: Sequence[Numbered]) -> list[Numbered]:
        """Each record with the object of the file beside it that has the same key."""
        from assay.evaluation.rows.reading import json_objects

        for name, key in self.preset.beside.items():
            other = path.with_name(name)
            if not other.is_file():
                raise InputError(f"{other}: no such file; {self.preset.name} reads {self.preset.reads}")
            known = {str(one[key]): one for _, one in json_objects(other) if key in one}
            records = [(number, {**known.get(str(record.get(key)), {}), **record}) for number, record in records]
        return list(records)

    def _first(self, record: Mapping[str, Any], name: str) -> Any:
        for path in self.preset.fields.get(name, ()):
            found = find(record, path)
            if found is not None and found not in ("", []):
                return found
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
                raise InputError(f"{where}: no {lacking}; looked for {paths or 'nothing'}; it has {_names(record)}")
            return None
        row: dict[str, Any] = {"id": self._id(record, number), kind: text, "evidence": _unique(evidence)}
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
        found = self._first(record, "id")
        return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else str(number)

    def _label(self, record: Mapping[str, Any], where: str) -> dict[str, Any]:
        given = self._first(record, "label")
        if given is not None:
            label = read_label(given, flipped=self.flipped)
            if label is None:
                raise InputError(f"{where}: the label is {given!r:.80}; {KNOWN_LABELS}")
            return {"label": label}
        marked = self._first(record, "labels") if "labels" in self.preset.fields else None
        if marked is None and "labels" in self.preset.fields and isinstance(record.get("labels"), list):
            return {"label": "supported", "spans": []}
        if not isinstance(marked, list):
            return {}
        spans = [
            [one["start"], one["end"]] for one in marked if isinstance(one, Mapping) and {"start", "end"} <= set(one)
        ]
        conflict = any(
            _CONFLICT in str(one.get("label_type", "")).lower() for one in marked if isinstance(one, Mapping)
        )
        return {"label": "contradicted" if conflict else "unsupported", "spans": spans}


KNOWN_LABELS: Final = f"known are {', '.join(LABELS)}, and 0, 1, true, false, pass and fail"
"""What a label may be, for messages."""


def read_translation(preset: str | None, mapped: Sequence[str]) -> Translation | None:
    """What `--from` and `--map` ask for; none where they ask for nothing.

    Args:
        preset: the name of a preset.
        mapped: texts `ours=theirs`, several of them with commas between; `label=!field` where the field says the
            opposite.

    Raises:
        InputError: there is no such preset or field, or a text is of another form.

    >>> read_translation("ragas", ["label=!hallucinated"]).flipped
    True
    """
    if preset is None and not mapped:
        return None
    if preset is not None and preset not in PRESETS:
        near = get_close_matches(preset, PRESETS, 1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(PRESETS)}"
        raise InputError(f"--from {preset}: there is no such preset; {hint}")
    base = PRESETS[preset] if preset is not None else Preset("--map", "the fields that it names", {"id": ("id",)})
    fields, flipped, named = dict(base.fields), False, set()
    for text in (part for one in mapped for part in one.split(",") if part.strip()):
        ours, sign, theirs = (piece.strip() for piece in text.partition("="))
        if not sign or not theirs.lstrip("!"):
            raise InputError(f"--map {text}: expected OURS=THEIRS, such as answer=response,evidence=contexts")
        if ours not in OURS:
            raise InputError(f"--map {text}: there is no field {ours!r}; known are {', '.join(OURS)}")
        if theirs.startswith("!"):
            if ours != "label":
                raise InputError(f"--map {text}: only a label can say the opposite")
            theirs, flipped = theirs[1:], True
        fields[ours] = (theirs,)
        named.add(ours)
    return Translation(replace(base, fields=fields), flipped, frozenset(named & {"answer", "claim", "evidence"}))


def _gather(
    records: Sequence[Numbered], spans: Spans, first: Callable[[Mapping[str, Any], str], Any]
) -> Iterator[tuple[int, Mapping[str, Any], Sequence[Any]]]:
    """Each record that may hold an answer, with the documents that were retrieved in its trace.

    Of a trace with spans of several depths only the ones count whose parent is not among them: a trace that begins in
    a service which tells another tool, or tells nobody, has no span without a parent. A record without a trace stands
    alone.
    """
    known = {str(first(record, "id")) for _, record in records}
    marked = {str(_first_of(record, spans.trace)) for _, record in records if _is_marked(record, spans)}
    retrieved: dict[str, list[Any]] = {}
    for _, record in records:
        trace = _first_of(record, spans.trace)
        if trace is not None and _is_retriever(record, spans):
            documents = next((found for path in spans.documents if (found := find(record, path)) is not None), None)
            retrieved.setdefault(str(trace), []).extend(as_evidence(documents))
    for number, record in records:
        trace = _first_of(record, spans.trace)
        if trace is None:
            yield number, record, retrieved.get(str(record.get("id")), ())
        elif str(trace) in marked:
            if _is_marked(record, spans):
                yield number, record, retrieved.get(str(trace), ())
        elif not _is_retriever(record, spans) and str(_first_of(record, spans.parent)) not in known:
            yield number, record, retrieved.get(str(trace), ())


def _first_of(record: Mapping[str, Any], paths: Sequence[str]) -> Any:
    return next((found for path in paths if (found := find(record, path)) not in (None, "")), None)


def _is_marked(record: Mapping[str, Any], spans: Spans) -> bool:
    return _first_of(record, spans.root) in (True, "true")


def _is_retriever(record: Mapping[str, Any], spans: Spans) -> bool:
    return str(_first_of(record, spans.kind) or "").lower() == spans.retriever


def _unique(evidence: Sequence[Any]) -> list[Any]:
    """Evidence with each passage once, and without ids that two passages share."""
    listed = [one for index, one in enumerate(evidence) if one not in evidence[:index]]
    ids = [one["id"] for one in listed if isinstance(one, dict) and "id" in one]
    twice = {name for name in ids if ids.count(name) > 1}
    return [
        {key: value for key, value in one.items() if key != "id"}
        if isinstance(one, dict) and one.get("id") in twice
        else one
        for one in listed
    ]


def _names(record: Mapping[str, Any]) -> str:
    return ", ".join(sorted(map(str, record))[:20])


def _meta(record: Mapping[str, Any]) -> dict[str, Any]:
    """Short fields of the record, to be sliced by."""
    values = {str(name): opened(value) for name, value in record.items()}
    return {name: value for name, value in values.items() if _short(value)}


def _short(value: object) -> bool:
    """Whether a value can be carried: a flag, a finite number, or a text that is not long."""
    if isinstance(value, str):
        return 0 < len(value) <= _LONGEST
    return isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))
