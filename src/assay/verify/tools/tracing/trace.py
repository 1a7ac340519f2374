"""What following an entity back leads to."""

from dataclasses import dataclass

from assay.schema.report_parts import SourceKind, TraceStatus
from assay.verify.tools.tracing.sources import Found


@dataclass(frozen=True, slots=True)
class Trace:
    """Where an entity comes from, and how it follows."""

    status: TraceStatus
    found: Found | None = None
    """The place that it is in, or the first of those that it follows from."""
    how: str = ""
    """How it follows, in words."""
    source: SourceKind | None = None
    """Who said it, where that is no text of the run."""


def traced(found: Found, how: str = "verbatim") -> Trace:
    """An entity that is in a source."""
    return Trace(TraceStatus.TRACED, found, how)


def derived(how: str, found: Found | None = None, source: SourceKind | None = None) -> Trace:
    """An entity that follows from what is in sources."""
    return Trace(TraceStatus.DERIVED, found, how, source)


def declared(how: str) -> Trace:
    """An entity that the tool's own declaration offers."""
    return Trace(TraceStatus.DECLARED, None, how, SourceKind.DECLARATION)


def chosen(how: str) -> Trace:
    """A value that refers to nothing."""
    return Trace(TraceStatus.CHOSEN, None, how)


def untraced(how: str) -> Trace:
    """An entity that nothing leads to."""
    return Trace(TraceStatus.UNTRACED, None, how)
