"""Reads the input of `assay check`: answers, evidence and the question, from files, folders and standard input.

A file is read exactly or refused with the reason; files of a folder that are not text are listed, never skipped
silently.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from assay.errors import InputError
from assay.evaluation.rows import make_evidence
from assay.schema import Evidence
from assay.schema.run import Run

TEXT_ENDINGS: Final = frozenset({".txt", ".text", ".md", ".markdown", ".rst", ".html", ".htm", ""})
"""Endings that are read as text, none included."""
JSON_ENDINGS: Final = frozenset({".json", ".jsonl"})
"""Endings that are read as JSON, one value or one a line."""

Reading = Literal["auto", "text", "request", "run"]
"""How the ANSWER argument is read: `run` for the transcript of an agent, `auto` to decide by the content."""

REQUEST_FIELDS: Final = frozenset(
    {"id", "answer", "evidence", "question", "stakes", "task", "schema", "citations", "claim_free", "run_id"}
)
"""The fields of a request object."""
ROW_FIELDS: Final = frozenset({"label", "spans", "meta", "set", "split", "response_id", "signals"})
"""Further fields of rows of `assay eval`; ignored if the caller declares them to be requests."""
_UNTRUSTED_FIELDS: Final = frozenset({"id", "answer", "question"})
_OPTION_FIELDS: Final = REQUEST_FIELDS - _UNTRUSTED_FIELDS - {"evidence"}


@dataclass(frozen=True, slots=True)
class Request:
    """One answer to check, with its origin."""

    name: str
    """For people: the file, with the number in it where it holds several."""
    answer: str
    evidence: tuple[Evidence, ...] = ()
    question: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """`stakes`, `task`, `schema`, `citations`, `claim_free` and `run_id`, those that the request object has."""
    file: str | None = None
    """The file from which it was read; none for standard input."""
    line: int = 1
    """The line of the file on which it begins; 1 if that is not known."""
    verbatim: bool = False
    """Whether the answer is exactly the text of the file."""
    run: Run | None = None
    """The agent's run that ends with the answer, if it was read from a transcript."""


@dataclass(frozen=True, slots=True)
class AnswerInput:
    """The requests of the ANSWER arguments."""

    requests: tuple[Request, ...]
    several: bool
    """Whether there may be more than one: a folder, a list, JSON Lines or several arguments."""
    skipped: tuple[str, ...] = ()
    """Files of the folder that are not text, in order."""


def decode(data: bytes, where: str) -> str:
    """Bytes as text.

    Raises:
        InputError: binary or not UTF-8; the message names the byte.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        nul = data.find(b"\0")
        if nul >= 0:
            raise InputError(f"{where}: binary data (a zero byte at offset {nul}); expected UTF-8 text") from error
        raise InputError(
            f"{where}: not UTF-8: byte 0x{byte:02x} at offset {error.start} ({error.reason}); convert the file to UTF-8"
        ) from error
    nul = text.find("\0")
    if nul >= 0:
        offset = len(text[:nul].encode())
        raise InputError(f"{where}: binary data (a zero byte at offset {offset}); expected UTF-8 text")
    return text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")


def read_text(path: Path) -> str:
    """The text of one file.

    Raises:
        InputError: missing, unreadable, binary or not UTF-8.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    return decode(data, str(path))


def parse_json(text: str, where: str) -> Any:
    """A JSON value; NaN and infinities are refused.

    Raises:
        InputError: not JSON.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where}: not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON: {error}") from error


def parse_json_lines(text: str, where: str) -> list[Any]:
    """The values of JSON Lines, one for each line that is not blank.

    Raises:
        InputError: a line is not JSON; the message names it.
    """
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [parse_json(line, f"{where}, line {number}") for number, line in lines]


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def read_question(value: str | None) -> str | None:
    """The question itself, or the text of the file named after an `@`."""
    if value is None or not value.startswith("@"):
        return value
    return read_text(Path(value[1:])).strip()


def read_schema(path: Path | None) -> Any:
    """The JSON Schema of a structured output, or none."""
    return None if path is None else parse_json(read_text(path), str(path))


# Answers


def read_answers(answer: str, stdin: bytes | None, reading: Reading, *, evidence_given: bool) -> AnswerInput:
    """Reads the ANSWER argument.

    A JSON object with an `answer` and no field but those of a request, or a list of such objects, is a request in
    `auto`; any other text is the answer itself. Where evidence was given on the command line, `auto` refuses a
    request that brings its own evidence or settings: a model's output must not be able to vouch for itself.

    Args:
        answer: a file, a folder or `-`.
        stdin: the content of standard input, for `-`.
        reading: `auto`, `text` or `request`.
        evidence_given: whether the command line names evidence.

    Raises:
        InputError: the path is missing, unreadable or an empty folder, or holds no request where `reading` requires
            one.
    """
    if answer == "-":
        return _read_answer("-", "standard input", "", decode(stdin or b"", "standard input"), reading, evidence_given)
    path = Path(answer)
    if path.is_dir():
        return _folder_of_answers(path, reading, evidence_given)
    if not path.exists():
        raise InputError(f"{answer}: no such file or folder; ANSWER is a file, a folder, or - for standard input")
    return _read_answer(answer, answer, path.suffix.lower(), read_text(path), reading, evidence_given)


def read_all_answers(
    answers: Sequence[str], stdin: bytes | None, reading: Reading, *, evidence_given: bool
) -> AnswerInput:
    """Reads several ANSWER arguments as `read_answers` reads one."""
    if len(answers) == 1:
        return read_answers(answers[0], stdin, reading, evidence_given=evidence_given)
    parts = [read_answers(one, stdin, reading, evidence_given=evidence_given) for one in answers]
    requests = tuple(request for part in parts for request in part.requests)
    return AnswerInput(requests, several=True, skipped=tuple(name for part in parts for name in part.skipped))


def _folder_of_answers(folder: Path, reading: Reading, evidence_given: bool) -> AnswerInput:
    texts, skipped = walk_texts(folder)
    if not texts:
        raise InputError(f"{folder}: holds no text file; {_skipped_words(skipped)}")
    requests: list[Request] = []
    for path in texts:
        name = path.relative_to(folder).as_posix()
        found = _read_answer(name, str(path), path.suffix.lower(), read_text(path), reading, evidence_given)
        requests.extend(found.requests)
    return AnswerInput(tuple(requests), several=True, skipped=tuple(str(path) for path in skipped))


def _read_answer(name: str, where: str, ending: str, text: str, reading: Reading, evidence_given: bool) -> AnswerInput:
    if reading == "text":
        return AnswerInput((_verbatim_request(name, where, text),), several=False)
    if reading == "run":
        return _read_transcripts(name, where, ending, text)
    values = _request_values(where, ending, text, reading)
    if values is None:
        return AnswerInput((_verbatim_request(name, where, text),), several=False)
    several = isinstance(values, list)
    listed = values if isinstance(values, list) else [values]
    if not listed:
        raise InputError(f"{where}: an empty list; expected at least one request object with an answer")
    requests = []
    numbers = [number for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for number, value in enumerate(listed, 1):
        place = f"{where}, request {number}" if several else where
        request = _request(f"{name}#{number}" if several else name, place, value)
        line = numbers[number - 1] if ending == ".jsonl" else 1
        requests.append(replace(request, file=None if name == "-" else where, line=line))
        if reading == "auto" and evidence_given and set(value) - _UNTRUSTED_FIELDS:
            own = ", ".join(sorted(set(value) - _UNTRUSTED_FIELDS))
            raise InputError(
                f"{place}: brings its own {own} while --evidence is given; say --as request if it is a request of "
                "yours, or --as text if it is the output of a model"
            )
    return AnswerInput(tuple(requests), several=several)


def _read_transcripts(name: str, where: str, ending: str, text: str) -> AnswerInput:
    """The runs in a file: one, or one for each trace if it holds spans of OpenTelemetry."""
    from assay.schema.traces import read_run, spans_by_trace

    try:
        if ending == ".jsonl":
            value: Any = parse_json_lines(text, where)
        else:
            value = parse_json(text, where)
        runs = [read_run(value)]
        if runs[0].format == "otel_genai":
            traces = spans_by_trace(value)
            if len(traces) > 1:
                runs = [read_run(spans, format="otel_genai", run_id=one or None) for one, spans in traces.items()]
    except InputError as error:
        raise InputError(f"{where}: {error}; expected the transcript of an agent's run (see --as)") from error
    several = len(runs) > 1
    file = None if name == "-" else where
    return AnswerInput(
        tuple(
            Request(f"{name}#{run.run_id}" if several else name, run.final_answer or "", file=file, run=run)
            for run in runs
        ),
        several=several,
    )


def _verbatim_request(name: str, where: str, text: str) -> Request:
    return Request(name, text, file=None if name == "-" else where, verbatim=True)


def _request_values(where: str, ending: str, text: str, reading: Reading) -> Any:
    """The request object or a list of them; none if the text is the answer itself."""
    if ending == ".jsonl":
        values = parse_json_lines(text, where)
        if reading == "request" or all(_is_request(value) for value in values):
            return values
        raise InputError(
            f"{where}: expected one request object with an answer a line; say --as text to check it as text"
        )
    looks = text.lstrip()[:1] in {"{", "["}
    if not looks and ending != ".json" and reading == "auto":
        return None
    if ending == ".json" or reading == "request":
        value = parse_json(text, where)
    else:
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return None
    if reading == "request" or _is_request(value):
        return value
    if isinstance(value, list) and any(_is_request(item) for item in value):
        if all(_is_request(item) for item in value):
            return value
        raise InputError(f"{where}: a list of which only some are request objects; every one needs an answer")
    return None


def _is_request(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("answer"), str) and set(value) <= REQUEST_FIELDS


def _request(name: str, where: str, value: object) -> Request:
    if not isinstance(value, dict) or not isinstance(value.get("answer"), str):
        raise InputError(
            f"{where}: expected an object with an answer (text), such as {{'answer': ..., 'evidence': [...]}}"
        )
    unknown = sorted(set(value) - REQUEST_FIELDS - ROW_FIELDS)
    if unknown:
        raise InputError(f"{where}: unknown field {unknown[0]!r}; known are {', '.join(sorted(REQUEST_FIELDS))}")
    question = value.get("question")
    if question is not None and not isinstance(question, str):
        raise InputError(f"{where}: question should be text")
    options = {key: value[key] for key in sorted(_OPTION_FIELDS & set(value))}
    if not isinstance(options.get("claim_free", False), bool):
        raise InputError(f"{where}: claim_free should be true or false")
    if options.get("stakes", "medium") not in ("low", "medium", "high"):
        raise InputError(f"{where}: stakes should be low, medium or high, got {options['stakes']!r}")
    for key in ("run_id", "task"):
        if not isinstance(options.get(key, ""), str):
            raise InputError(f"{where}: {key} should be text")
    request_id = value.get("id")
    request_name = f"{name} ({request_id})" if isinstance(request_id, str) else name
    return Request(
        request_name, value["answer"], _listed_evidence(value.get("evidence", []), "e", where), question, options
    )


# Evidence


def read_evidence(paths: Sequence[str]) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
    """Reads the evidence that the command line names.

    A text file is one piece with its name without the ending as id, as `text_passage` reads it; a JSON file is a list
    (JSON Lines: one a line) of texts or evidence objects; a folder is all of these in it. Files of one folder that
    share a name get their path as id.

    Returns:
        The evidence in order, and the files that were passed over because they are not text.

    Raises:
        InputError: missing, unreadable, an empty folder, or an id that two files share.
    """
    pieces: list[tuple[str, Evidence]] = []
    skipped: list[str] = []
    for path_text in paths:
        path = Path(path_text)
        if path.is_dir():
            evidence_found, other_files = _folder_of_evidence(path)
            pieces.extend(evidence_found)
            skipped.extend(other_files)
        elif path.exists():
            pieces.extend((path_text, piece) for piece in _evidence_file(path, path.name, path.stem))
        else:
            raise InputError(f"{path_text}: no such file or folder; --evidence takes files and folders")
    origin: dict[str, str] = {}
    for where, piece in pieces:
        if piece.id in origin:
            raise InputError(
                f"evidence id {piece.id!r} is given twice, by {origin[piece.id]} and {where}; ids must be unique, "
                "since citations name them: rename a file, or give the ids in a JSON file"
            )
        origin[piece.id] = where
    return tuple(piece for _, piece in pieces), tuple(skipped)


def _folder_of_evidence(folder: Path) -> tuple[list[tuple[str, Evidence]], list[str]]:
    texts, skipped = walk_texts(folder)
    if not texts:
        raise InputError(f"{folder}: holds no text file; {_skipped_words(skipped)}")
    stems = [path.stem for path in texts]
    pieces: list[tuple[str, Evidence]] = []
    for path in texts:
        relative = path.relative_to(folder)
        name = path.stem if stems.count(path.stem) == 1 else relative.with_suffix("").as_posix()
        pieces.extend((str(path), piece) for piece in _evidence_file(path, relative.as_posix(), name))
    return pieces, [str(path) for path in skipped]


def _evidence_file(path: Path, source: str, name: str) -> list[Evidence]:
    ending = path.suffix.lower()
    if ending not in JSON_ENDINGS:
        from assay.retrieve import read_passages

        return [one.item for one in read_passages([text_passage(path, source, name)])]
    text = read_text(path)
    if ending == ".jsonl":
        value: Any = parse_json_lines(text, str(path))
    else:
        value = parse_json(text, str(path))
        if isinstance(value, dict) and "evidence" in value:
            value = value["evidence"]
    pieces = _listed_evidence([value] if isinstance(value, dict) else value, f"{name}-", str(path))
    if not pieces:
        raise InputError(f"{path}: holds no evidence; expected a list of texts or of objects with id and text")
    return list(pieces)


def text_passage(path: Path, source: str, name: str) -> dict[str, Any]:
    """A text file as one passage, as every command reads it: its head is metadata, and a page is what it shows.

    Args:
        path: where it is.
        source: its name within the folder.
        name: the id that it has.

    Raises:
        InputError: missing, unreadable, binary or not UTF-8.
    """
    from assay.guard import passage_of_file
    from assay.text.files import read_file_text

    text = read_text(path)
    try:
        read = read_file_text(text, path.suffix.lower())
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return passage_of_file(read, source, name)


def _listed_evidence(value: object, prefix: str, where: str) -> tuple[Evidence, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        raise InputError(f"{where}: evidence should be a list of texts or of objects with id and text")
    numbered = enumerate(listed, 1)
    return tuple(make_evidence(piece, f"{prefix}{number}", f"{where}, evidence {number}") for number, piece in numbered)


# Folders


def walk_texts(folder: Path) -> tuple[list[Path], list[Path]]:
    """The text files below a folder in order, and the other files."""
    try:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
    except OSError as error:
        raise InputError(f"{folder}: cannot be listed: {error.strerror or error}") from error
    hidden = {path for path in files if any(part.startswith(".") for part in path.relative_to(folder).parts)}
    readable = TEXT_ENDINGS | JSON_ENDINGS
    texts = [path for path in files if path.suffix.lower() in readable and path not in hidden]
    return texts, [path for path in files if path not in set(texts)]


def warn_skipped(skipped: Sequence[str]) -> None:
    """Lists on standard error the files that were passed over because they are not text."""
    from assay.cli.terminal import one_line, write_text

    for name in skipped:
        write_text(f"assay: skipped, not a text file: {one_line(name)}\n", sys.stderr)


def _skipped_words(skipped: Sequence[Path]) -> str:
    if not skipped:
        return "it is empty"
    names = ", ".join(path.name for path in skipped[:5])
    return (
        f"found only {names}{' and others' if len(skipped) > 5 else ''}; text files end in .txt, .md, .json or .jsonl"
    )
