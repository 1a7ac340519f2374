"""`assay screen`: which passages may be evidence for a question, and whether they are enough to answer it."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.options.command import takes
from assay.cli.options.shared import EvidenceOption, GuardOptions, OutOption, TextOrJson
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.cli.terminal import Line
    from assay.schema import Screening


@dataclass(frozen=True, kw_only=True)
class ScreenOptions(GuardOptions):
    """The options of `assay screen`."""

    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked, or @FILE.")]
    evidence: EvidenceOption
    historical: Annotated[
        bool | None,
        typer.Option(
            "--historical/--current",
            help="Keep versions that are not in force, marked. [default: if the question asks about the past]",
        ),
    ] = None
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="DATE", help="The day on which versions must be in force. [default: today]"),
    ] = None
    format: Annotated[TextOrJson, typer.Option("--format", "-f", help="How to write it.")] = TextOrJson.TEXT
    out: OutOption = None


@takes(ScreenOptions)
def screen(options: ScreenOptions) -> None:
    """Decide which passages may be evidence for a question: what is kept, what is dropped and why, and conflicts.

    A text file is one passage; a JSON file is a list of passages, and JSON Lines hold one a line, with metadata as
    retrievers write it. Exit status 1: the signal is not `retrieve`.
    """
    with reporting_errors():
        raise typer.Exit(CLEAN if run_screen(options) else FINDINGS)


def run_screen(options: ScreenOptions) -> bool:
    """Screens and writes.

    Returns:
        Whether the signal is `retrieve`.

    Raises:
        AssayError: an option or a file cannot be used.
    """
    from assay.cli.check import open_guard
    from assay.cli.inputs import read_question, warn_skipped
    from assay.cli.terminal import write, write_text

    passages, skipped = passages_at(options.evidence)
    warn_skipped(skipped)
    question = read_question(options.question) or ""
    guard = open_guard(options.policy, options.verifier)
    screening = guard.screen(question, passages, historical=options.historical, as_of=options.as_of)
    if options.format == "json" or options.out is not None:
        from assay.cli.terminal import plain
        from assay.evaluation.rows import write_file

        text = (
            f"{screening.model_dump_json(indent=2)}\n"
            if options.format == "json"
            else plain(screening_lines(screening))
        )
        if options.out is None:
            write_text(text, sys.stdout)
        else:
            write_file(options.out, text)
    else:
        write(screening_lines(screening), sys.stdout)
    return screening.signal == "retrieve"


def passages_at(paths: Sequence[str]) -> tuple[list[Any], tuple[str, ...]]:
    """The passages of files and folders, and the files that were skipped because they are not text.

    Raises:
        InputError: a path is missing or unreadable, or a JSON file holds no list of passages.
    """
    from assay.cli.inputs import walk_texts

    passages: list[Any] = []
    skipped: list[str] = []
    for path_text in paths:
        path = Path(path_text)
        if path.is_dir():
            texts, other_files = walk_texts(path)
            skipped += [str(text_file) for text_file in other_files]
            for text_file in texts:
                passages += _file_passages(text_file, text_file.relative_to(path).as_posix())
        elif path.exists():
            passages += _file_passages(path, path.name)
        else:
            raise InputError(f"{path_text}: no such file or folder; --evidence takes files and folders")
    names = [text_file["id"] for text_file in passages if isinstance(text_file.get("id"), str)]
    for text_file in passages:
        if names.count(text_file.get("id")) > 1 and "source" in text_file:
            text_file["id"] = text_file["source"]  # files of one name in two folders
    return passages, tuple(skipped)


def _file_passages(path: Path, source: str) -> list[dict[str, Any]]:
    from assay.cli.inputs import JSON_ENDINGS, parse_json, parse_json_lines, read_text, text_passage

    ending = path.suffix.lower()
    if ending not in JSON_ENDINGS:
        return [text_passage(path, source, path.stem)]
    text = read_text(path)
    if ending == ".jsonl":
        value: Any = parse_json_lines(text, str(path))
    else:
        value = parse_json(text, str(path))
        if isinstance(value, dict):
            value = next((value[name] for name in _LIST_FIELDS if isinstance(value.get(name), list)), [value])
    if not isinstance(value, list):
        raise InputError(f"{path}: expected a list of passages or an object with one, got {type(value).__name__}")
    passages = []
    for number, item in enumerate(value, 1):
        if not isinstance(item, str | dict):
            raise InputError(f"{path}: passage {number}: expected text or an object, got {type(item).__name__}")
        passages.append(
            {"id": f"{path.stem}-{number}", "text": item} if isinstance(item, str) else _with_id(item, path, number)
        )
    return passages


_LIST_FIELDS: Final = ("evidence", "passages", "documents", "nodes", "chunks", "results")
"""The fields in which the JSON of a retriever may hold its passages."""


def _with_id(passage: dict[str, Any], path: Path, number: int) -> dict[str, Any]:
    """A passage with an id: its own, else one of the file name and its number."""
    nested = passage.get("metadata", passage.get("meta"))
    ids = [layer.get(name) for layer in (passage, nested if isinstance(nested, dict) else {}) for name in _ID_FIELDS]
    return passage if any(value not in (None, "") for value in ids) else {"id": f"{path.stem}-{number}", **passage}


_ID_FIELDS: Final = ("id", "doc_id", "chunk_id", "source_id", "document_id")


def screening_lines(screening: "Screening") -> "Iterator[Line]":
    """A screening for people."""
    from assay.cli.terminal import Line, one_line

    style = {"retrieve": "good", "low_confidence": "doubt", "refuse": "bad"}[screening.signal.value]
    why = ", ".join(reason.value.replace("_", " ") for reason in screening.reasons)
    yield Line(((screening.signal.value.upper().replace("_", " "), style), (f"  {why}" if why else "", "")))
    passages = {one.id: one for one in screening.passages}
    for name in screening.kept:
        one = passages[name]
        facts = [f"relevance {one.relevance:.2f}"] if one.relevance is not None else []
        facts += [f"version {one.version}"] if one.version else []
        facts += [one.standing.value.replace("_", " ")] if one.standing != "in_force" else []
        yield Line((("kept     ", "good"), (one_line(name, 80), "strong"), (f"  {', '.join(facts)}", "faint")))
    for dropped in screening.dropped:
        detail = one_line(dropped.detail, 200)
        yield Line(
            (("dropped  ", "bad"), (one_line(dropped.id, 80), "strong"), (f"  {dropped.reason.value}: {detail}", ""))
        )
    for pair in screening.conflicts:
        yield Line((("conflict ", "doubt"), (f"{one_line(pair.first, 60)} and {one_line(pair.second, 60)}", "strong")))
        for name, text in ((pair.first, pair.first_text), (pair.second, pair.second_text)):
            yield Line((((f"{one_line(name, 60)}: "), "faint"), (one_line(text, 300), "")), indent=2, gutter=True)
    for inferred in screening.inferred:
        yield Line(((f"inferred: {one_line(inferred, 300)}", "faint"),))
