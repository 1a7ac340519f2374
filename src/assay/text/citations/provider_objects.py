"""Reads the citation objects of model providers as citations of the text that they came with.

The forms are Anthropic's (`char_location`, `page_location`, `content_block_location`, `search_result_location`,
`web_search_result_location`, alone or inside text blocks), Cohere's (`start`, `end`, `text` with `document_ids` or
`sources`), OpenAI's (`url_citation`, `file_citation`, `container_file_citation`, flat or nested), Gemini's
(`groundingMetadata` or single supports), those of Google check grounding (`claims` with `citationIndices`), and the
cited claims of docs/concepts.md#citations (`claim_text` with `citations`, or `source_id` with `source_text`).

Google counts bytes of UTF-8, the others characters. Where an object repeats the words of its span, the words decide:
offsets that match them only as bytes or UTF-16 units are read as such. Documents that an object names by index are the
evidence in the order given.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assay.errors import InputError
from assay.text.citations.detection import SHORTEST_CLAUSE, Citation, attach
from assay.text.citations.marks import Mark
from assay.text.sentences.splitting import Sentence, split_sentences

_ANTHROPIC: Final = {
    "char_location": ("characters", "start_char_index", "end_char_index"),
    "page_location": ("pages", "start_page_number", "end_page_number"),
    "content_block_location": ("blocks", "start_block_index", "end_block_index"),
    "search_result_location": ("blocks", "start_block_index", "end_block_index"),
    "web_search_result_location": ("", "", ""),
}
_OPENAI: Final = frozenset(("url_citation", "file_citation", "container_file_citation"))
_NO_CITATION: Final = frozenset(("file_path",))
"""Files that a model wrote, not sources that it read."""


def read_citation_objects(
    objects: Iterable[Mapping[str, Any]], output: str, evidence_ids: Sequence[str]
) -> list[Citation]:
    """The citations that the objects describe, in their order.

    Args:
        objects: the objects as in the provider's JSON; forms may be mixed.
        output: the text that they came with.
        evidence_ids: the ids of the evidence in the order in which the model received it.

    Raises:
        InputError: an object has no known form, or its span is outside of the output or covers other words.

    >>> [c.source_ids for c in read_citation_objects(
    ...     [{"start": 0, "end": 17, "text": "Leave is 16 weeks", "document_ids": ["hr-2"]}], "Leave is 16 weeks.", [])]
    [('hr-2',)]
    """
    reader = _Reader(output, evidence_ids)
    found: list[Citation] = []
    for position, item in enumerate(objects, start=1):
        if not isinstance(item, Mapping):
            raise InputError(f"citation object {position} must be a mapping, got {type(item).__name__}")
        found.extend(reader.read(item, f"citation object {position}"))
    return found


@dataclass(frozen=True, slots=True)
class _Source:
    """One source as an object names it."""

    names: tuple[str, ...]
    quote: str | None = None
    location: str | None = None


class _Reader:
    """Reads the objects one by one; text blocks move a cursor through the output."""

    def __init__(self, output: str, evidence_ids: Sequence[str]) -> None:
        self.output = output
        self.ids = evidence_ids
        self.cursor = 0
        self._sentences: list[Sentence] | None = None
        self._bytes: bytes | None = None

    @property
    def sentences(self) -> list[Sentence]:
        """The sentences of the output, split at first use."""
        if self._sentences is None:
            self._sentences = split_sentences(self.output)
        return self._sentences

    def read(self, item: Mapping[str, Any], what: str) -> list[Citation]:
        """The citations of one object, whose fields show its form; `what` names the object in errors."""
        kind = item.get("type")
        kind = kind if isinstance(kind, str) else ""
        if kind in _NO_CITATION:
            return []
        if kind in _ANTHROPIC:
            # Outside of a text block it has no place in the output, and so no statement.
            return [self.covering(0, 0, _anthropic(item, self, what), kind, whole=True)]
        if kind in _OPENAI:
            return [self.openai(item, kind, what)]
        if kind == "text" and isinstance(item.get("text"), str):
            return self.text_block(item, what)
        metadata = _first_value(item, "groundingMetadata", "grounding_metadata")
        if isinstance(metadata, Mapping):
            item = metadata
        if (supports := _first_value(item, "groundingSupports", "grounding_supports")) is not None:
            chunks = _first_value(item, "groundingChunks", "grounding_chunks") or ()
            return [c for support in _mappings(supports, what) for c in self.gemini(support, chunks, what)]
        if "segment" in item:
            return self.gemini(item, (), what)
        if isinstance(item.get("claims"), list | tuple):
            chunks = _first_value(item, "citedChunks", "cited_chunks") or ()
            return [c for claim in _mappings(item["claims"], what) for c in self.grounding_claim(claim, chunks, what)]
        if _first_value(item, "citationIndices", "citation_indices") is not None or "claimText" in item:
            return self.grounding_claim(item, (), what)
        if "document_ids" in item or "sources" in item:
            return self.cohere(item, what)
        if "claim_text" in item or "source_id" in item:
            return self.cited_claim(item, what)
        raise InputError(
            f"{what} is of no known form: got the fields {', '.join(map(str, list(item)[:8])) or 'none'}; expected a "
            "citation of Anthropic, Cohere, OpenAI or Google, or one with source_id and source_text"
        )

    def text_block(self, item: Mapping[str, Any], what: str) -> list[Citation]:
        """The citations of an Anthropic text block, which apply to its text."""
        start = self.output.find(item["text"], self.cursor)
        if start < 0:
            raise InputError(f"the text of {what} does not stand in the output behind character {self.cursor}")
        self.cursor = end = start + len(item["text"])
        found = []
        for citation in _mappings(item.get("citations") or (), what):
            kind = str(citation.get("type"))
            if kind not in _ANTHROPIC:
                raise InputError(f"{what} holds a citation of unknown type {kind!r}; expected {', '.join(_ANTHROPIC)}")
            found.append(self.covering(start, end, _anthropic(citation, self, what), kind, whole=True))
        return found

    def openai(self, item: Mapping[str, Any], kind: str, what: str) -> Citation:
        """An OpenAI annotation, whose span is the marker or the cited words."""
        nested = item.get(kind)
        inner = {**item, **nested} if isinstance(nested, Mapping) else item
        names = _name_values(inner, "url", "file_id", "filename", "title")
        source = _Source(names, inner.get("quote") if isinstance(inner.get("quote"), str) else None)
        if not names:
            raise InputError(f"{what} names no source: expected url, file_id, filename or title")
        first, last = inner.get("start_index"), inner.get("end_index")
        if first is None and last is None:
            at = inner.get("index", len(self.output))
            first = last = min(at, len(self.output)) if isinstance(at, int) else at
        start, end = self.span(first, last, inner.get("text"), what)
        words = self.output[start:end]
        is_marker = words[:1] in ("", "(", "[", "【") or any(name in words for name in names)
        if not is_marker:
            return self.covering(start, end, source, kind)
        mark = Mark(start, end, (self.preferred_name(names),), "object", source.location)
        return self.completed(attach(self.output, [mark], self.sentences)[0], source, kind)

    def cohere(self, item: Mapping[str, Any], what: str) -> list[Citation]:
        """A Cohere citation: a span of the answer with the documents that support it."""
        start, end = self.span(item.get("start"), item.get("end"), item.get("text"), what)
        sources = [_Source((str(name),)) for name in _list(item.get("document_ids") or (), what)]
        for source in _list(item.get("sources") or (), what):
            names: tuple[str, ...] = (str(source),)
            if isinstance(source, Mapping):
                document = source.get("document")
                inner = document if isinstance(document, Mapping) else {}
                names = _name_values(source, "id") + _name_values(inner, "id", "title", "url")
            sources.append(_Source(tuple(dict.fromkeys(names))))
        return [self.covering(start, end, source, "cohere") for source in self.require_named(sources, what)]

    def gemini(self, item: Mapping[str, Any], chunks: Sequence[Any], what: str) -> list[Citation]:
        """A Gemini grounding support: a segment in bytes with indices of chunks."""
        segment = item.get("segment")
        if not isinstance(segment, Mapping):
            raise InputError(f"{what} has no segment: expected startIndex, endIndex and text")
        first = _first_value(segment, "startIndex", "start_index") or 0
        start, end = self.byte_span(first, _first_value(segment, "endIndex", "end_index"), segment.get("text"), what)
        indices = _list(_first_value(item, "groundingChunkIndices", "grounding_chunk_indices") or (), what)
        sources = [self.chunk_source(chunks, index, what) for index in indices]
        return [self.covering(start, end, source, "grounding_support") for source in sources]

    def grounding_claim(self, item: Mapping[str, Any], chunks: Sequence[Any], what: str) -> list[Citation]:
        """A claim of Google check grounding: positions in bytes with indices of cited chunks."""
        first = _first_value(item, "startPos", "start_pos") or 0
        text = _first_value(item, "claimText", "claim_text")
        start, end = self.byte_span(first, _first_value(item, "endPos", "end_pos"), text, what)
        indices = _list(_first_value(item, "citationIndices", "citation_indices") or (), what)
        return [
            self.covering(start, end, self.chunk_source(chunks, index, what), "grounding_claim") for index in indices
        ]

    def cited_claim(self, item: Mapping[str, Any], what: str) -> list[Citation]:
        """A cited claim of docs/concepts.md#citations, or one citation of it."""
        claim = item.get("claim_text")
        citations = _mappings(item.get("citations") or ((item,) if "source_id" in item else ()), what)
        start = self.output.find(claim) if isinstance(claim, str) and claim else -1
        found = []
        for citation in citations:
            names = _name_values(citation, "source_id")
            quote, place = citation.get("source_text"), citation.get("page_or_location")
            source = _Source(names, quote if isinstance(quote, str) else None, None if place is None else str(place))
            if not names:
                raise InputError(f"{what} names no source: expected source_id")
            if start >= 0 and isinstance(claim, str):
                found.append(self.covering(start, start + len(claim), source, "cited_claim", whole=True))
            else:
                # A structured answer may word the claim differently from the text; then the claim is the statement.
                without_place = self.covering(0, 0, source, "cited_claim", whole=True)
                found.append(replace(without_place, cited_text=str(claim or "").strip()))
        return found

    def chunk_source(self, chunks: Sequence[Any], index: object, what: str) -> _Source:
        """The source at an index: the object's own chunk, or else the evidence at that position."""
        if not isinstance(index, int) or isinstance(index, bool):
            raise InputError(f"an index of {what} must be a whole number, got {index!r}")
        chunk = chunks[index] if isinstance(chunks, list | tuple) and 0 <= index < len(chunks) else None
        names: tuple[str, ...] = ()
        quote = None
        if isinstance(chunk, Mapping):
            inner = _first_value(chunk, "web", "retrievedContext", "retrieved_context", "maps") or chunk
            if isinstance(inner, Mapping):
                names = _name_values(inner, "source", "uri", "title", "documentName", "document_name")
                text = _first_value(inner, "chunkText", "chunk_text")
                quote = text if isinstance(text, str) else None
        return _Source(names, quote) if names else _Source((self.id_at(index),), quote)

    def id_at(self, index: object) -> str:
        """The id of the evidence at a position; past the end, a name that no evidence has."""
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(self.ids):
            return self.ids[index]
        return f"document {index} (counted from 0)"

    def preferred_name(self, names: Sequence[str]) -> str:
        """The first name that is the id of a piece of evidence, or else the first name."""
        return next((name for name in names if name in self.ids), names[0])

    def require_named(self, sources: list[_Source], what: str) -> list[_Source]:
        """The sources; raises `InputError` where there is none or one has no name."""
        if not sources or not all(source.names for source in sources):
            raise InputError(f"{what} names no source: expected document_ids, or sources with an id")
        return sources

    def span(self, start: object, end: object, text: object, what: str) -> tuple[int, int]:
        """A span in characters; the object's words, if any, decide between characters, UTF-16 units and bytes."""
        first, last = _bounds(start, end, what)
        if not isinstance(text, str) or self.output[first:last] == text:
            if last > len(self.output):
                raise InputError(_outside_message(what, first, last, len(self.output), "characters"))
            return first, last
        for encoding in ("utf-16-le", "utf-8"):
            width = 2 if encoding == "utf-16-le" else 1
            # A provider that counts UTF-16 units may cut a pair in two, and then its words hold half of it.
            raw = self.output.encode(encoding, "surrogatepass")
            if raw[first * width : last * width] == text.encode(encoding, "surrogatepass"):
                before = self.characters_within(encoding, first * width)
                return before, before + len(text)
        if last > len(self.output):
            raise InputError(_outside_message(what, first, last, len(self.output), "characters"))
        raise InputError(
            f"{what} covers characters {first} to {last}, which read {self.output[first:last][:60]!r}, but gives its "
            f"words as {text[:60]!r}; pass the output exactly as the model wrote it"
        )

    def characters_within(self, encoding: str, size: int) -> int:
        """How many characters of the output are whole within its first `size` bytes; half a pair counts as one."""
        sizes = range(len(self.output) + 1)
        return bisect_right(sizes, size, key=lambda end: len(self.output[:end].encode(encoding, "surrogatepass"))) - 1

    def byte_span(self, start: object, end: object, text: object, what: str) -> tuple[int, int]:
        """A span in bytes of UTF-8, as characters; read as characters where the object's words do not fit as bytes."""
        first, last = _bounds(start, end, what)
        if self._bytes is None:
            self._bytes = self.output.encode("utf-8", "surrogatepass")
        if last <= len(self._bytes):
            try:
                before = self._bytes[:first].decode("utf-8", "surrogatepass")
                words = self._bytes[first:last].decode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                before = words = ""
                if not isinstance(text, str):
                    raise InputError(f"{what} cuts a character in two: bytes {first} to {last} of UTF-8") from None
            if not isinstance(text, str) or words == text:
                return len(before), len(before) + len(words)
        elif not isinstance(text, str):
            raise InputError(_outside_message(what, first, last, len(self._bytes), "bytes of UTF-8"))
        return self.span(first, last, text, what)

    def covering(self, start: int, end: int, source: _Source, kind: str, *, whole: bool = False) -> Citation:
        """A citation whose statement is the span, or the sentence around a span of only a few words unless `whole`."""
        low, high = start, end
        if not whole and len(self.output[start:end].split()) < SHORTEST_CLAUSE:
            first = bisect_right(self.sentences, start, key=lambda s: s.start) - 1
            last = bisect_right(self.sentences, max(start, end - 1), key=lambda s: s.start) - 1
            if first >= 0:
                low, high = self.sentences[first].start, max(end, self.sentences[last].end)
        text = " ".join(self.output[low:high].split())
        name = self.preferred_name(source.names)
        without_place = Citation("", end, end, (name,), (), source.location, low, high, text)
        return self.completed(without_place, source, kind)

    def completed(self, citation: Citation, source: _Source, kind: str) -> Citation:
        """The citation with the kind, quote, location and aliases that the object gives."""
        name = citation.source_ids[0]
        return replace(
            citation,
            marker=citation.marker or f"{kind} {name}",
            kind="object",
            quotes=(source.quote,) if source.quote and source.quote.strip() else (),
            location=source.location,
            aliases=tuple(other for other in source.names if other != name),
        )


def _anthropic(item: Mapping[str, Any], reader: _Reader, what: str) -> _Source:
    unit, first, last = _ANTHROPIC[str(item["type"])]
    start, end = item.get(first), item.get(last)
    location = f"{unit} {start} to {end}" if isinstance(start, int) and isinstance(end, int) else None
    names = _name_values(item, "url", "source", "document_title", "title")
    index = item.get("document_index", item.get("search_result_index"))
    if index is not None and item["type"] != "web_search_result_location":
        if not isinstance(index, int) or isinstance(index, bool) or index < 0:
            raise InputError(f"document_index of {what} must be a whole number from 0, got {index!r}")
        # The index is what the API guarantees; titles are free text and need not be unique.
        names = (reader.id_at(index),) if index < len(reader.ids) else (*names, reader.id_at(index))
    if not names:
        raise InputError(f"{what} names no source: expected document_index, document_title, source or url")
    quote = item.get("cited_text")
    return _Source(tuple(dict.fromkeys(names)), quote if isinstance(quote, str) else None, location)


def _first_value(item: Mapping[str, Any], *names: str) -> Any:
    return next((item[name] for name in names if item.get(name) is not None), None)


def _name_values(item: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    values = (item.get(name) for name in names)
    return tuple(str(v) for v in values if (isinstance(v, str) and v.strip()) or (type(v) is int))


def _list(value: object, what: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple | set | frozenset):
        raise InputError(f"{what} must hold a list here, got {type(value).__name__}")
    return sorted(value, key=str) if isinstance(value, set | frozenset) else list(value)


def _mappings(value: object, what: str) -> Sequence[Mapping[str, Any]]:
    items = _list(value, what)
    for item in items:
        if not isinstance(item, Mapping):
            raise InputError(f"{what} must hold a list of mappings here, got {type(item).__name__} in it")
    return items


def _bounds(start: object, end: object, what: str) -> tuple[int, int]:
    if not isinstance(start, int) or not isinstance(end, int) or isinstance(start, bool) or isinstance(end, bool):
        raise InputError(f"{what} must have whole numbers as its span, got {start!r} to {end!r}")
    if not 0 <= start <= end:
        raise InputError(f"the span of {what} must run forward from 0 or later, got {start} to {end}")
    return start, end


def _outside_message(what: str, start: int, end: int, length: int, unit: str) -> str:
    return (
        f"the span of {what} is {start} to {end}, but the output has {length} {unit}; pass the output exactly as the "
        "model wrote it"
    )
