"""Outputs that are documents: checked against their schema and rules, their values read as claims."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from assay.guard.check.evidence_index import PreparedEvidence
from assay.guard.request import CheckRequest, structure_of
from assay.schema import ExtractedClaim, Issue
from assay.text.claims import ClaimExtractor

if TYPE_CHECKING:  # loaded with the first document
    from assay.schema import Structure
    from assay.verify.documents import DocumentFields, FieldMatch, Parsed


_FENCED: Final = re.compile(r"^[ \t]{0,3}(?:`{3,}|~{3,})[ \t]*(?:json)?[ \t]*\n\s*[{\[]", re.MULTILINE | re.IGNORECASE)
"""The beginning of JSON in a block of code."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that could be parsed, with its issues."""

    parsed: Parsed
    schema: Mapping[str, Any] | bool | None
    structure: Structure
    issues: tuple[Issue, ...]
    cited: tuple[Mapping[str, Any], ...]
    """The statements of the document with the sources that they name, as citation objects."""

    def fields(self, claims: Sequence[ExtractedClaim], known: DocumentFields) -> dict[int, FieldMatch]:
        """The fields of the evidence that claims of single values are compared with, by the claim's place."""
        from assay.verify.documents import pointer, walk

        places = {pointer(path): path for path, _ in walk(self.parsed)}
        found: dict[int, FieldMatch] = {}
        claims_at = Counter(claim.path for claim in claims)
        for at, claim in enumerate(claims):
            path = places.get(claim.path) if claim.path is not None else None
            if path is not None and claim.checkable and claims_at[claim.path] == 1:
                match = known.match(self.parsed.value, path)
                if match is not None:
                    found[at] = match
        return found

    def claims(self, text: str, extractor: ClaimExtractor, question: str | None) -> tuple[ExtractedClaim, ...]:
        """The values of the document as claims, and the claims of the text around it."""
        from assay.verify.documents import document_claims

        if not self.structure.leaves:
            return tuple(extractor.extract(text, question))
        return document_claims(text, self.parsed, self.schema, self.structure, extractor, question)


def cells_of(text: str, claims: Sequence[ExtractedClaim], known: DocumentFields) -> dict[int, FieldMatch]:
    """The fields of the evidence, or sums, that cells of tables are compared with, by the claim's place."""
    from assay.verify.documents import TableCells

    found: dict[int, FieldMatch] = {}
    places = TableCells(text, known)
    for at, claim in enumerate(claims):
        match = places.match(claim.span.start, claim.span.end) if claim.cell is not None and claim.checkable else None
        if match is not None:
            found[at] = match
    return found


def fields_of(
    text: str, form: Document | None, claims: Sequence[ExtractedClaim], evidence: PreparedEvidence
) -> dict[int, FieldMatch]:
    """The fields of the evidence that values of a document or a table are compared with, by the claim's place."""
    if not any(claim.path is not None or claim.cell is not None for claim in claims):
        return {}
    from assay.verify.documents import DocumentFields

    sources = tuple(passage.evidence_id for passage in evidence.index.passages)
    known = DocumentFields(evidence.evidence, evidence.index.records, sources)
    found = form.fields(claims, known) if form is not None else {}
    return {**cells_of(text, claims, known), **found}


def document_of(request: CheckRequest, text: str, read: int, evidence_ids: Collection[str]) -> Document | None:
    """The document that an output is; None if it is not to be one, cannot be parsed, or is longer than the limit.

    Raises:
        InputError: the schema or the structure cannot be read.
    """
    structure = structure_of(request)
    if structure is None and (text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") or _FENCED.search(text) is not None):
        from assay.schema import Structure

        structure = Structure()  # nobody asked for a document, and it is one
    if structure is None or read < len(text):
        return None
    from assay.verify.documents import JsonTextError, check_parsed, check_rules, cited_objects, compile_schema, parse

    validator = compile_schema(True if request.schema is None else request.schema)
    try:
        parsed = parse(text)
    except JsonTextError:
        return None
    issues = (*check_parsed(parsed, validator), *check_rules(parsed, structure, evidence_ids))
    cited = cited_objects(parsed, structure.cited, evidence_ids)
    return Document(parsed, request.schema, structure, issues, tuple(cited))
