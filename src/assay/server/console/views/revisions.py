"""The revisions of an output, as differences to the character."""

from collections.abc import Sequence
from typing import Final

from assay.reporting import Child, Markup, foreign, tag
from assay.schema import HallucinationReport, RevisionAttempt, TextChange
from assay.server.console.parts import badge, details, hidden, number, panel

_MOST_CHARACTERS: Final = 60_000
"""The most characters of one unchanged or changed part that are shown."""
_CONTEXT: Final = 160
"""Characters that are shown before and after a change where the rest is left out."""
_TONES: Final = {"better": "good", "no_better": "doubt", "refused": "bad", "unreadable": "bad"}
_STOPPED: Final = {
    "passed": "the output passes now",
    "not_revisable": "what fails cannot be revised",
    "exhausted": "no attempts were left",
    "no_improvement": "no version was better",
    "oscillation": "versions came round again",
    "unchanged": "the author changed nothing",
    "refused": "a version changed what had passed",
}


def diff(original: str, changes: Sequence[TextChange], *, whole: bool = True) -> Markup:
    """A text with its deletions and insertions.

    Args:
        original: the earlier version.
        changes: the changes that lead to the later version, in order.
        whole: whether to show all of the text, or only the text around the changes.
    """
    parts: list[Child] = []
    at = 0
    for change in changes[:500]:
        parts.append(_unchanged(original[at : change.start], whole))
        if change.before:
            parts.append(tag("del", hidden("removed: "), foreign(change.before[:_MOST_CHARACTERS])))
        if change.after:
            parts.append(tag("ins", hidden("added: "), foreign(change.after[:_MOST_CHARACTERS])))
        at = change.end
    parts.append(_unchanged(original[at:], whole))
    return tag("div", parts, class_="diff text", dir="auto")


def _unchanged(text: str, whole: bool) -> Child:
    if whole or len(text) <= 2 * _CONTEXT:
        return text[:_MOST_CHARACTERS] + ("…" if len(text) > _MOST_CHARACTERS else "")
    return [text[:_CONTEXT], tag("span", " … ", class_="soft"), text[-_CONTEXT:]]


def revision_view(report: HallucinationReport) -> Markup | None:
    """The history of revisions; `None` if the output was never revised."""
    revision = report.revision
    if revision is None:
        return None
    stopped = _STOPPED.get(revision.stopped, revision.stopped)
    words = f"{len(revision.attempts)} attempt{'' if len(revision.attempts) == 1 else 's'}; {stopped}"
    difference = (
        diff(revision.original, revision.changes)
        if revision.changes
        else tag("p", "The output is as it was first.", class_="soft")
    )
    return panel(
        "Repair history",
        difference,
        tag("ol", (_attempt(one) for one in revision.attempts[:50]), class_="attempts"),
        actions=tag("span", words, class_="soft"),
        style="repair",
    )


def _attempt(attempt: RevisionAttempt) -> Markup:
    figures = []
    if attempt.failed_claims is not None:
        figures.append(f"{attempt.failed_claims} failing")
    if attempt.overall_score is not None:
        figures.append(f"score {number(attempt.overall_score)}")
    if attempt.restored:
        figures.append(f"{attempt.restored} put back")
    changes = (
        tag(
            "li",
            tag("del", foreign(change.before[:400])) if change.before else None,
            " ",
            tag("ins", foreign(change.after[:400])) if change.after else None,
        )
        for change in attempt.changes[:50]
    )
    words = "1 change" if len(attempt.changes) == 1 else f"{len(attempt.changes)} changes"
    return tag(
        "li",
        tag("b", f"Attempt {attempt.number}"),
        " ",
        badge(attempt.outcome.replace("_", " "), _TONES.get(attempt.outcome, "quiet")),
        " ",
        tag("span", " · ".join(figures), class_="soft"),
        tag("p", foreign(attempt.reason[:1_000])),
        details(words, tag("ul", changes, class_="plainlist diff")) if attempt.changes else None,
    )
