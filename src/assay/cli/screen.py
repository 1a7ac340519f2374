"""`assay screen`: which passages may be evidence for a question, and whether there is anything to answer from."""

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
    """What the command line said of passages that may be evidence."""

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
        AssayError: anything that was given cannot be used.
    """
    from assay.cli.check import open_guard
    from assay.cli.inputs import read_question
    from assay.cli.terminal import clean, write, write_text

    passages, skipped = passages_at(options.evidence)
    for name in skipped:
        write_text(f"assay: skipped, not a text file: {clean(name)}\n", sys.stderr)
    question = read_question(options.question) or ""
    guard = open_guard(options.policy, options.verifier)
    found = guard.screen(question, passages, historical=options.historical, as_of=options.as_of)
    if options.format == "json" or options.out is not None:
        from assay.cli.terminal import plain
        from assay.evaluation.rows import write_file

        text = f"{found.model_dump_json(indent=2)}\n" if options.format == "json" else plain(lines_of(found))
        if options.out is None:
            write_text(text, sys.stdout)
        else:
            write_file(options.out, text)
    else:
        write(lines_of(found), sys.stdout)
    return found.signal == "retrieve"


def passages_at(paths: Sequence[str]) -> tuple[list[Any], tuple[str, ...]]:
    """The passages that files and folders hold, and the files that were passed over because they are not text.

    Raises:
        InputError: missing or unreadable, or no list of passages where JSON is.
    """
    from assay.cli.inputs import walk_texts

    found: list[Any] = []
    skipped: list[str] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            texts, passed = walk_texts(path)
            skipped += [str(one) for one in passed]
            for one in texts:
                found += _of_file(one, one.relative_to(path).as_posix())
        elif path.exists():
            found += _of_file(path, path.name)
        else:
            raise InputError(f"{given}: no such file or folder; --evidence takes files and folders")
    names = [one["id"] for one in found if isinstance(one.get("id"), str)]
    for one in found:
        if names.count(one.get("id")) > 1 and "source" in one:
            one["id"] = one["source"]  # files of one name in two folders
    return found, tuple(skipped)


def _of_file(path: Path, source: str) -> list[dict[str, Any]]:
    from assay.cli.inputs import JSON_ENDINGS, parse_json, read_text, text_passage

    ending = path.suffix.lower()
    if ending not in JSON_ENDINGS:
        return [text_passage(path, source, path.stem)]
    text = read_text(path)
    if ending == ".jsonl":
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        value: Any = [parse_json(line, f"{path}, line {number}") for number, line in lines]
    else:
        value = parse_json(text, str(path))
        if isinstance(value, dict):
            value = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), [value])
    if not isinstance(value, list):
        raise InputError(f"{path}: expected a list of passages or an object with one, got {type(value).__name__}")
    made = []
    for number, one in enumerate(value, 1):
        if not isinstance(one, str | dict):
            raise InputError(f"{path}: passage {number}: expected text or an object, got {type(one).__name__}")
        made.append({"id": f"{path.stem}-{number}", "text": one} if isinstance(one, str) else _named(one, path, number))
    return made


_LISTS: Final = ("evidence", "passages", "documents", "nodes", "chunks", "results")
"""Names under which a JSON file of a retriever holds its list."""


def _named(one: dict[str, Any], path: Path, number: int) -> dict[str, Any]:
    """A passage with an id: its own, or the file's name and its number."""
    nested = one.get("metadata", one.get("meta"))
    own = [layer.get(name) for layer in (one, nested if isinstance(nested, dict) else {}) for name in _IDS]
    return one if any(value not in (None, "") for value in own) else {"id": f"{path.stem}-{number}", **one}


_IDS: Final = ("id", "doc_id", "chunk_id", "source_id", "document_id")


def lines_of(found: "Screening") -> "Iterator[Line]":
    """A screening for people."""
    from assay.cli.terminal import Line, one_line

    style = {"retrieve": "good", "low_confidence": "doubt", "refuse": "bad"}[found.signal.value]
    why = ", ".join(reason.value.replace("_", " ") for reason in found.reasons)
    yield Line(((found.signal.value.upper().replace("_", " "), style), (f"  {why}" if why else "", "")))
    passages = {one.id: one for one in found.passages}
    for name in found.kept:
        one = passages[name]
        said = [f"relevance {one.relevance:.2f}"] if one.relevance is not None else []
        said += [f"version {one.version}"] if one.version else []
        said += [one.standing.value.replace("_", " ")] if one.standing != "in_force" else []
        yield Line((("kept     ", "good"), (one_line(name, 80), "strong"), (f"  {', '.join(said)}", "faint")))
    for gone in found.dropped:
        detail = one_line(gone.detail, 200)
        yield Line((("dropped  ", "bad"), (one_line(gone.id, 80), "strong"), (f"  {gone.reason.value}: {detail}", "")))
    for pair in found.conflicts:
        yield Line((("conflict ", "doubt"), (f"{one_line(pair.first, 60)} and {one_line(pair.second, 60)}", "strong")))
        for name, text in ((pair.first, pair.first_text), (pair.second, pair.second_text)):
            yield Line((((f"{one_line(name, 60)}: "), "faint"), (one_line(text, 300), "")), indent=2, gutter=True)
    for inferred in found.inferred:
        yield Line(((f"inferred: {one_line(inferred, 300)}", "faint"),))
