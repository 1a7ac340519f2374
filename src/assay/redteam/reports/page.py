"""A run as one self-contained page: the scores, and each conversation with its wrong claims marked."""

from collections.abc import Iterator, Sequence
from typing import Final

from assay.redteam.cases import Case
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.reports.texts import comparison_lines, figure
from assay.redteam.scores import Comparison, Scorecard
from assay.reporting import BASE, Child, Markup, foreign, page, scrolled, tag

MOST_CASES: Final = 500
"""The most conversations on the page; those that did not pass come first."""
_LONGEST_TEXT: Final = 4_000
"""The most characters that are shown of a text."""
_PASSAGES: Final = 3
"""The most passages of a context that are shown; the page says how many there are."""

STYLE: Final = (
    BASE
    + """
.turn{border-left:3px solid var(--line);padding:.2rem .8rem;margin:.4rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
.answer{border-color:var(--accent)}.who{color:var(--soft);font-size:.8125rem;display:block}
article{border-top:1px solid var(--line);padding:.8rem 0}summary{cursor:pointer}
td.num,th.num{text-align:right;font-variant-numeric:tabular-nums}td.num{white-space:nowrap}
tbody th{color:var(--ink);font-weight:500}
"""
)


def html_report(
    card: Scorecard, cases: Sequence[Case], judgements: Sequence[Judgement], comparison: Comparison | None
) -> str:
    """The HTML page of a run."""
    order = {Outcome.FAILED: 0, Outcome.UNJUDGED: 1, Outcome.PASSED: 2}
    pairs = sorted(zip(cases, judgements, strict=True), key=lambda pair: order[pair[1].outcome])
    interval = f"95% interval {figure(card.low)} to {figure(card.high)}"
    counted = f"{card.passed} passed, {card.cases - card.passed - card.unjudged} failed, {card.unjudged} unjudged"
    return page(
        "assay: red team",
        STYLE,
        tag("header", tag("b", "assay"), foreign(card.target), class_="brand"),
        tag(
            "main",
            tag("h1", "Red team"),
            tag("p", tag("b", f"ARS {figure(card.ars)}"), f" ({interval}); {card.cases} cases: {counted}."),
            _table(card),
            _compared(comparison),
            tag("h2", "Conversations"),
            tag("p", f"The first {MOST_CASES} of {len(pairs)} are shown.") if len(pairs) > MOST_CASES else None,
            (_conversation(case, judgement) for case, judgement in pairs[:MOST_CASES]),
        ),
    )


def _table(card: Scorecard) -> Markup:
    head = ("Category", "ARS", "95% interval", "Passed", "Unjudged")
    rows = (
        tag(
            "tr",
            tag("th", name.replace("_", " "), scope="row"),
            tag("td", figure(mean.ars), class_="num"),
            tag("td", f"{figure(mean.low)} to {figure(mean.high)}", class_="num"),
            tag("td", f"{mean.passed} of {mean.cases}", class_="num"),
            tag("td", str(mean.unjudged), class_="num"),
        )
        for name, mean in card.categories.items()
    )
    dimensions = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in card.dimensions.items())
    return tag(
        "section",
        tag("h2", "By category"),
        scrolled(
            "By category",
            tag("table", tag("thead", tag("tr", (tag("th", mean, scope="col") for mean in head))), tag("tbody", rows)),
        ),
        tag("p", f"Dimensions: {dimensions}.") if dimensions else None,
    )


def _compared(comparison: Comparison | None) -> Child:
    if comparison is None:
        return None
    return tag(
        "section",
        tag("h2", "Against the baseline"),
        scrolled("Against the baseline", tag("pre", "\n".join(comparison_lines(comparison)))),
    )


def _conversation(case: Case, judgement: Judgement) -> Markup:
    title = f"{case.category.value}: {judgement.outcome.value}, match {figure(judgement.behavior_match)}"
    flaky = " (flaky)" if judgement.flaky else ""
    caption = f"{judgement.rule}. Written by {case.lineage.rule}."
    scores = (
        tag("li", f"{name.value}: {score.value:.2f}. ", foreign(score.because))
        for name, score in judgement.dimensions.items()
    )
    return tag(
        "article",
        tag("h3", f"{title}{flaky}", id=case.id),
        tag("p", f"Expected {case.expected_behavior.value}. ", foreign(caption), class_="soft"),
        _context(case),
        (_turn(turn.role, turn.content) for turn in case.turns),
        _turn("user", case.prompt),
        tag("div", tag("span", "answer", class_="who"), *_marked(judgement), class_="turn answer", dir="auto"),
        tag("p", "A good answer: ", foreign(case.ground_truth[:_LONGEST_TEXT])) if case.ground_truth else None,
        tag("ul", scores),
    )


def _context(case: Case) -> Child:
    if not case.context:
        return None
    return tag(
        "details",
        tag("summary", f"Context: {len(case.context)} passages"),
        (_turn(passage.id, passage.text) for passage in case.context[:_PASSAGES]),
    )


def _turn(who: str, text: str) -> Markup:
    cut = text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
    return tag("div", tag("span", foreign(who), class_="who"), cut, class_="turn", dir="auto")


def _marked(judgement: Judgement) -> Iterator[Child]:
    """The answer with its wrong claims marked, where they occur in it verbatim."""
    text = judgement.answer if judgement.answer is not None else f"(none: {judgement.rule})"
    text = text[:_LONGEST_TEXT]
    at = 0
    places = sorted((text.find(claim), claim) for claim in judgement.wrong_claims if claim in text)
    for start, claim in places:
        if start >= at:
            yield text[at:start]
            yield tag("mark", claim)
            at = start + len(claim)
    yield text[at:]
