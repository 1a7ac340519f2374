"""The results of knowledge sources, in the words of the text and HTML reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.schema import External, SourceWord

if TYPE_CHECKING:
    from assay.cli.terminal import Line
    from assay.schema import HallucinationReport

_TONE = {"verified": "good", "refuted": "bad", "unverifiable": ""}
_SAYS = {
    "verifies": "supports it",
    "refutes": "says otherwise",
    "neither": "mentions it, but neither supports nor denies it",
    "nothing": "has nothing on it",
    "failed": "failed",
    "skipped": "was not asked",
}


def knowledge_words(report: HallucinationReport) -> str:
    """The results of the knowledge sources in one sentence."""
    knowledge = report.knowledge
    if knowledge is None:
        return "not asked"
    claims = "1 claim" if knowledge.chosen == 1 else f"{knowledge.chosen} claims"
    verdict_text = (
        f"{claims}: {knowledge.verified} verified, {knowledge.refuted} refuted, {knowledge.unverifiable} unverifiable"
    )
    asked_sources = ", ".join(
        f"{one.source} {one.asked}" + (f" ({one.failed} failed)" if one.failed else "")
        for one in knowledge.sources
        if one.asked
    )
    note = "; only noted, as the policy says" if knowledge.mode == "note" else ""
    return f"{verdict_text}{note}" + (f"; asked: {asked_sources}" if asked_sources else "; no source was asked")


def knowledge_lines(report: HallucinationReport) -> Iterator[Line]:
    """The results claim by claim; no line if no source was asked."""
    from assay.cli.terminal import Line, one_line

    if report.knowledge is None:
        return
    yield Line((("Knowledge ", "strong"), (one_line(knowledge_words(report), 300), "")))
    for at, claim in enumerate(report.claims, start=1):
        external = claim.external
        if external is None:
            continue
        yield Line(
            ((f"{at}  {external.status}  ", _TONE[external.status]), (one_line(external.message, 300), "")), indent=2
        )
        for word in external.words:
            if external.disagreement or word.says in {"failed", "skipped"}:
                yield Line(((one_line(word_line(word), 200), "faint"),), indent=6)
    yield Line()


def word_line(word: SourceWord) -> str:
    """The result of one source in a line."""
    sure = "" if word.confidence is None else f" ({word.confidence:.2f})"
    age = "" if word.age_s is None else f", known for {word.age_s:.0f} s"
    took = "" if word.says == "skipped" else f", {word.elapsed_ms:.0f} ms{age}"
    why = f": {word.reason}" if word.reason and word.says in {"failed", "skipped"} else ""
    return f"{word.source} ({word.authority}) {_SAYS[word.says]}{sure}{took}{why}"


def external_words(external: External) -> str:
    """The heading of the results on one claim."""
    return f"Knowledge: {external.status}" + (
        f" (it was {external.before.value.replace('_', ' ')})" if external.changed else ""
    )
