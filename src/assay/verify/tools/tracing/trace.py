"""The result of tracing an entity."""

from dataclasses import dataclass

from assay.schema.report_parts import SourceKind, TraceStatus
from assay.verify.tools.tracing.sources import SourcePlace


@dataclass(frozen=True, slots=True)
class Trace:
    """Where an entity comes from, and how."""

    status: TraceStatus
    place: SourcePlace | None = None
    """The place of the entity in a source, or the first place from which it is derived."""
    how: str = ""
    """How it is derived, or why it is not, in words."""
    source: SourceKind | None = None
    """The kind of the source, where it is not a text of the run."""


def traced(place: SourcePlace, how: str = "verbatim") -> Trace:
    """An entity that is in a source."""
    return Trace(TraceStatus.TRACED, place, how)


def derived(how: str, place: SourcePlace | None = None, source: SourceKind | None = None) -> Trace:
    """An entity that is derived from sources."""
    return Trace(TraceStatus.DERIVED, place, how, source)


def declared(how: str) -> Trace:
    """An entity that the tool's own declaration gives."""
    return Trace(TraceStatus.DECLARED, None, how, SourceKind.DECLARATION)


def chosen(how: str) -> Trace:
    """A value that the caller may choose freely."""
    return Trace(TraceStatus.CHOSEN, None, how)


def untraced(how: str) -> Trace:
    """An entity without a source."""
    return Trace(TraceStatus.UNTRACED, None, how)
