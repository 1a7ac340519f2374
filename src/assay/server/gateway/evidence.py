"""What an answer is checked against: what the request itself carries, or what its body field `assay` says.

Evidence is what tools returned, the documents and search results of the request, and what the user and the system
prompt state. What the model said before is none. A question states nothing, so the sentences of a user that ask are
left out; a text that labels its passages (`[hr-2] ...`, `<document id="hr-2">`) is cut at the labels, so that a
citation finds the passage that it names.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import InputError
from assay.schema import Evidence, Stakes
from assay.schema.coerce import coerce_evidence, coerce_text
from assay.schema.run import Passage, Run, SystemPrompt, ToolResult, UserInput
from assay.text.sentences import split_sentences

SOURCES: Final = ("tools", "documents", "user", "system")
"""The kinds of content that may be evidence."""

_FIELDS: Final = frozenset({"evidence", "sources", "question", "stakes", "policy", "task", "claim_free"})
_LABEL: Final = re.compile(r"^[ \t]*\[([\w][\w.:#/-]{0,60})\][ \t:]*(?=\S)", re.MULTILINE)
_ELEMENT: Final = re.compile(
    r"<(document|doc|passage|source|chunk)\b([^<>]{0,200})>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE
)
_NAME: Final = re.compile(r"""\b(?:id|index|name)\s*=\s*["']?([\w.:#/-]{1,60})""", re.IGNORECASE)
_LISTS: Final = ("results", "documents", "passages", "chunks", "hits", "matches", "data", "items")
_MOST_PROSE: Final = 200_000
"""Characters of one user input in which questions are looked for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says of its own check, in its headers or in the body field `assay`."""

    policy: str | None = None
    stakes: Stakes | None = None
    evidence: tuple[Evidence, ...] | None = None
    """None where the request's own content is the evidence."""
    sources: tuple[str, ...] | None = None
    """The kinds of content that count; by default all, or `tools` and `documents` beside given evidence."""
    question: str | None = None
    task: str = "qa"
    claim_free: bool = False

    @property
    def counted(self) -> tuple[str, ...]:
        """The kinds of content that count as evidence."""
        if self.sources is not None:
            return self.sources
        return SOURCES if self.evidence is None else ("tools", "documents")


def read_asked(field: object, policy: str | None, stakes: str | None) -> Asked:
    """Reads the body field `assay`; what headers say of the policy and the stakes comes before it.

    Raises:
        InputError: the field, or a header, is not what it should be.
    """
    if field is None:
        field = {}
    if not isinstance(field, Mapping):
        raise InputError(f"the body field assay is an object, got {type(field).__name__}")
    unknown = sorted(set(field) - _FIELDS)
    if unknown:
        raise InputError(f"the body field assay has the members {', '.join(sorted(_FIELDS))}; got {', '.join(unknown)}")
    evidence = field.get("evidence")
    if evidence is not None and not isinstance(evidence, list | str):
        raise InputError("assay.evidence is a text or an array of texts and objects; see POST /v1/check")
    claim_free = field.get("claim_free", False)
    if not isinstance(claim_free, bool):
        raise InputError(f"assay.claim_free is true or false, got {claim_free!r}")
    return Asked(
        policy=policy or _text(field, "policy"),
        stakes=_stakes(stakes or _text(field, "stakes")),
        evidence=None if evidence is None else coerce_evidence(evidence),
        sources=_sources(field.get("sources")),
        question=_text(field, "question"),
        task=_text(field, "task") or "qa",
        claim_free=claim_free,
    )


def _text(field: Mapping[str, Any], name: str) -> str | None:
    value = field.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"assay.{name} is a text that is not blank, got {value!r}")
    return coerce_text(value, f"assay.{name}")


def _stakes(value: str | None) -> Stakes | None:
    try:
        return None if value is None else Stakes(value.strip().lower())
    except ValueError:
        raise InputError(f"stakes are low, medium or high; got {value!r}") from None


def _sources(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or any(one not in SOURCES for one in value):
        raise InputError(f"assay.sources is an array of {', '.join(SOURCES)}; got {value!r}")
    return tuple(value)


def evidence_of(run: Run, asked: Asked) -> tuple[Evidence, ...]:
    """The evidence for the answer to a request, each piece with an id of its own.

    Raises:
        InputError: a text in the request cannot be read.
    """
    given = list(asked.evidence or ())
    found = [piece for kind, piece in _pieces(run) if kind in asked.counted and piece.text.strip()]
    return tuple(_named_apart([*given, *found]))


def question_of(run: Run, asked: Asked) -> str | None:
    """What the answer answers: what the request says, else the user's last words."""
    if asked.question is not None:
        return asked.question
    last = next((step.text for step in reversed(run.steps) if isinstance(step, UserInput)), "")
    return last if last.strip() else None


def _pieces(run: Run) -> Iterator[tuple[str, Evidence]]:
    for step in run.steps:
        name = (step.place or "").strip("/").replace("/", ".") or step.kind
        match step:
            case ToolResult():
                yield from (("tools", piece) for piece in _of_tool(step, name))
            case Passage():
                piece = Evidence(id=step.id or name, text=step.text, title=step.title or None, source=step.source)
                yield "documents", piece
            case UserInput():
                yield from (("user", piece) for piece in _of_prose(step.text, name, "user"))
            case SystemPrompt():
                yield from (("system", piece) for piece in _of_prose(step.text, name, "system"))
            case _:
                pass


def _of_tool(result: ToolResult, name: str) -> Iterator[Evidence]:
    """A result; one that is a list of records with texts of their own gives each record."""
    text = result.text
    records = _records(text)
    source = result.name or result.call_id
    if records is None:
        yield Evidence(id=name, text=text, source=source)
        return
    yield from records


def _records(text: str) -> tuple[Evidence, ...] | None:
    bare = text.lstrip()
    if not bare.startswith(("[", "{")):
        return None
    try:
        value = json.loads(bare)
        if isinstance(value, dict):
            lists = [value[key] for key in _LISTS if isinstance(value.get(key), list)]
            # Other members say something too: only a plain envelope is opened.
            value = lists[0] if len(lists) == 1 and len(value) == 1 else None
        if not isinstance(value, list) or not value or not all(_is_record(item) for item in value):
            return None
        return coerce_evidence(value)
    except (ValueError, RecursionError, InputError):
        return None


def _is_record(item: object) -> bool:
    """Whether it is a passage with an id, and nothing beside them that could be evidence too."""
    if not isinstance(item, dict):
        return False
    known = {"id", "doc_id", "chunk_id", "source_id", "document_id", "text", "content", "page_content", "title"}
    known |= {"source", "url", "score", "metadata", "effective_date", "expiry_date", "version"}
    words = [key for key in ("text", "content", "page_content") if isinstance(item.get(key), str)]
    return len(words) == 1 and set(item) <= known


def _of_prose(text: str, name: str, source: str) -> Iterator[Evidence]:
    """What a prompt states: its labelled passages each, and the rest without questions."""
    rest = text
    labelled = [(match.span(), _label(match), match.group(3)) for match in _ELEMENT.finditer(text)]
    if not labelled:
        labelled = list(_bracketed(text))
    for (start, end), label, words in reversed(labelled):
        rest = f"{rest[:start]}\n{rest[end:]}"
        if words.strip():
            yield Evidence(id=label or f"{name}@{start}", text=words.strip(), source=source)
    rest = _statements(rest) if source == "user" else rest
    if rest.strip():
        yield Evidence(id=name, text=rest, source=source)


def _label(match: re.Match[str]) -> str:
    named = _NAME.search(match.group(2))
    return named.group(1) if named else ""


def _bracketed(text: str) -> Iterator[tuple[tuple[int, int], str, str]]:
    """Passages that begin with a label in brackets; each goes on to the next label or an empty line."""
    marks = list(_LABEL.finditer(text))
    for number, mark in enumerate(marks):
        limit = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        blank = text.find("\n\n", mark.end(), limit)
        end = blank if blank >= 0 else limit
        yield (mark.start(), end), mark.group(1), text[mark.end() : end]


def _statements(text: str) -> str:
    """The text with the sentences that ask something blanked out."""
    if ("?" not in text and "？" not in text) or len(text) > _MOST_PROSE:
        return text
    kept = text
    for sentence in split_sentences(text):
        if text[sentence.start : sentence.end].rstrip("\"')]» ").endswith(("?", "？")):
            kept = kept[: sentence.start] + " " * (sentence.end - sentence.start) + kept[sentence.end :]
    return kept


def _named_apart(pieces: Iterable[Evidence]) -> Iterator[Evidence]:
    """The pieces with ids that differ; of two with the same id and text the second says nothing new."""
    seen: dict[str, str] = {}
    for piece in pieces:
        name, number = piece.id, 1
        while name in seen and seen[name] != piece.text:
            number += 1
            name = f"{piece.id}~{number}"
        if name not in seen:
            seen[name] = piece.text
            yield piece if name == piece.id else piece.model_copy(update={"id": name})
