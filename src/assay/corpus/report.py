"""What a check of a corpus found, as it is written out (docs/corpus.md)."""

from __future__ import annotations

from datetime import date
from typing import Final

from pydantic import Field

from assay.schema import Identity, Standing
from assay.schema.base import Value

FORM: Final = "1.0"
"""The version of the form: fields may be added within it."""

FINDINGS: Final = (
    "unreadable",
    "injected_instructions",
    "duplicate",
    "expired",
    "not_yet_in_force",
    "superseded",
    "conflict",
    "unread_date",
    "not_retrieved",
    "gap",
)
"""The kinds of findings, in the order in which they are reported."""


class CorpusFiles(Value):
    """What the folder or the site holds, and what became of it."""

    found: int = Field(ge=0)
    """Files of a kind that is read."""
    read: int = Field(ge=0)
    """Of those, files that were read again: new ones and changed ones."""
    unchanged: int = Field(ge=0)
    """Files that are as they were at the check before, and were not read again."""
    gone: int = Field(ge=0)
    """Files that were there at the check before."""
    unreadable: int = Field(ge=0)
    characters: int = Field(ge=0)
    """Characters of the text of all documents."""
    passed_over: dict[str, int] = Field(default_factory=dict)
    """Files of other kinds, by ending; pages of other kinds, by media type."""
    links: int = Field(default=0, ge=0)
    """Links that were not followed: of a folder all, of a site those that lead out of what was named."""


class UnreadableFile(Value):
    """A file that could not be read."""

    document: str
    reason: str


class InjectedDocument(Value):
    """A document that gives orders to whoever reads it by machine."""

    document: str
    text: str
    """The words that do: foreign text, shown and never followed."""


class Copy(Value):
    """A document that says what another one says."""

    document: str
    how: str = Field(pattern="^(same_words|nearly_same|contained)$")
    """Word for word; nearly so, with the same numbers and names; or a part of it."""
    share: float = Field(ge=0, le=1)
    """Of its wording, how much the other one has, as far as it was measured against that one."""


class Repetition(Value):
    """Documents that say the same."""

    document: str
    """The one of which most is known; it can stay."""
    copies: tuple[Copy, ...]


class Version(Value):
    """One version of a document."""

    document: str
    """The path of the file."""
    version: str | None = None
    effective_date: date | None = None
    """From when it holds, or of when it is."""
    expiry_date: date | None = None
    standing: Standing
    why: str | None = None
    """A sentence on why it is not in force."""


class Change(Value):
    """A sentence that an older version has in place of one of a newer."""

    older: str | None = None
    newer: str | None = None


class VersionGroup(Value):
    """The versions of one document, side by side: those in force first, then the newest."""

    name: str
    identified_by: str = Field(pattern="^(metadata|title|content|reference)$")
    """What tells that they are of one document: metadata, titles, wording, or that one says it replaces another."""
    versions: tuple[Version, ...]
    changes: tuple[Change, ...] = ()
    """Some of what the first two differ in."""


class OutOfForce(Value):
    """A document that does not hold on the day."""

    document: str
    standing: Standing
    why: str
    other: str | None = None
    """The document that takes its place, where one does."""


class CorpusConflict(Value):
    """Two documents in force of which at most one can be right."""

    first: str
    second: str
    first_text: str
    """The sentence of the first that the second contradicts."""
    first_start: int = Field(ge=0)
    """Where it begins in the text of the document, in Unicode code points."""
    second_text: str
    second_start: int = Field(ge=0)
    score: float = Field(ge=0, le=1)
    """How sure it is, as a probability."""
    found_by: str = Field(pattern="^(exact|network)$")


class UnreadDate(Value):
    """A date in the metadata of a document that nobody can read, so that whether it is in force is not known."""

    document: str
    reason: str


class CorpusGap(Value):
    """A question that the evidence could not answer, with those that ask for the same thing."""

    question: str
    times: int = Field(ge=1)
    nothing_retrieved: int = Field(default=0, ge=0)
    """How often nothing at all was retrieved, or nothing that may be used."""
    last: str
    """When it was asked last, in ISO 8601 and UTC."""


class RecordUse(Value):
    """What the record says of how the corpus is used."""

    since: str | None = None
    """From when on, in ISO 8601 and UTC; none for all of it."""
    passages: int = Field(ge=0)
    """Different passages that were retrieved."""
    matched: int = Field(ge=0)
    """Of those, passages that are of a document of the corpus."""
    retrieved: int = Field(ge=0)
    """Documents of the corpus that were retrieved."""
    questions: int = Field(ge=0)
    """Questions that the evidence could not answer."""


class CorpusReport(Value):
    """A report on a whole corpus. `counts` are of everything; lists that hold less are named in `cut`."""

    form: str = FORM
    corpus: str
    """The folder or the address, as it was named."""
    as_of: date
    """The day by which documents were judged to be in force."""
    verifier: Identity | None = None
    """Who judged contradictions; none where that was left out."""
    files: CorpusFiles
    counts: dict[str, int]
    """Findings by kind (`FINDINGS`)."""
    unreadable: tuple[UnreadableFile, ...] = ()
    injected_instructions: tuple[InjectedDocument, ...] = ()
    duplicates: tuple[Repetition, ...] = ()
    versions: tuple[VersionGroup, ...] = ()
    out_of_force: tuple[OutOfForce, ...] = ()
    conflicts: tuple[CorpusConflict, ...] = ()
    """The surest first."""
    unread_dates: tuple[UnreadDate, ...] = ()
    not_retrieved: tuple[str, ...] = ()
    """Documents in force that no recorded run had as evidence."""
    gaps: tuple[CorpusGap, ...] = ()
    """Those asked most often first."""
    record: RecordUse | None = None
    """None where no record was given: whether a document is retrieved is not known then."""
    cut: tuple[str, ...] = ()
    """Lists that do not hold everything."""
    notes: tuple[str, ...] = ()

    @property
    def findings(self) -> int:
        """How many there are."""
        return sum(self.counts.values())
