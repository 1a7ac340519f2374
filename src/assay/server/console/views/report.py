"""A report drawn for a page: the answer with its claims marked, and what decides about each of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from assay.policy import told_with
from assay.reporting import (
    GRAVITY,
    SIGNS,
    WORDS,
    Child,
    Markup,
    Piece,
    deciding_spans,
    direction,
    foreign,
    group,
    pieces,
    tag,
)
from assay.schema import (
    Action,
    CitationReport,
    ClaimReport,
    Evidence,
    EvidenceSpan,
    External,
    HallucinationReport,
    Issue,
    SourceWord,
    Suggestion,
)
from assay.schema.report_parts import Cause, CauseReport, ClaimJudgement
from assay.server.console.charts import split_bar
from assay.server.console.parts import (
    VERDICT_TONES,
    Column,
    action_badge,
    badge,
    code,
    details,
    empty_state,
    facts,
    line,
    meter,
    millis,
    note,
    number,
    panel,
    shorten,
    table,
    verdict_badge,
)

MOST_CHARACTERS: Final = 120_000
"""Characters of an output that a page shows; the rest is in the report itself."""
MOST_CLAIMS: Final = 300
"""Claims that a page has cards of, the gravest first."""
MOST_PARTS: Final = 50
_FEWEST_LISTED: Final = 2
_MOST_SPANS: Final = 12
"""Deciding passages that a card shows."""
_WHOLE: Final = 1_200
"""An evidence text up to so many characters is shown whole around the deciding words."""
_AROUND: Final = 320
"""Characters on either side of the deciding words of a longer one."""
_LONGEST_QUOTE: Final = 4_000

_MEANING: Final = {
    Action.EMIT: "It may go downstream.",
    Action.REVISE: "It goes back to its author with the findings.",
    Action.BLOCK: "It is withheld, and a deliberate answer takes its place.",
    Action.ESCALATE: "It waits until a person has decided.",
}


# The decision


def decision_view(report: HallucinationReport) -> Markup:
    """What was decided, and why."""
    decision = report.decision
    pairs: list[tuple[str, Child]] = [
        ("Score", group(number(report.overall_score), " ", meter(report.overall_score))),
        ("Route", foreign(decision.route.replace("_", " "))),
        ("Stakes", report.stakes.value),
        ("Label", report.labels.verdict),
        ("Policy", group(foreign(shorten(report.policy.name, 60)), " ", tag("code", report.policy.digest[:8]))),
        ("Time", millis(report.timing.total_ms)),
        ("Verifier", group(foreign(shorten(report.verifier.name, 60)), " ", tag("code", report.verifier.digest[:8]))),
    ]
    escalation = report.escalation
    if escalation is not None:
        pairs.insert(3, ("Review", f"{escalation.tier.value}, risk {number(escalation.risk)}"))
    reasons = [tag("li", foreign(reason)) for reason in decision.reasons[:MOST_PARTS]]
    return tag(
        "section",
        tag("p", action_badge(report.action), tag("b", _MEANING[report.action]), class_="verdict"),
        tag("ul", reasons, class_="reasons") if reasons else None,
        facts(pairs),
        _instead(report),
        class_=f"decision is-{report.action.value}",
        aria_label="Decision",
    )


def _instead(report: HallucinationReport) -> Markup | None:
    response = report.decision.response
    if response is None:
        return None
    shown = foreign(response[:_LONGEST_QUOTE], "blockquote", class_="text")
    words = "Answered in its place" if told_with(report) is None else "Told to its reader behind it"
    return tag("div", tag("h2", words), shown, class_="instead")


# The answer and its claims


def answer_view(
    report: HallucinationReport, evidence: Mapping[str, Evidence], feedback: Mapping[int, Markup],
    question: str | None = None, below: Child = None,
) -> Markup:  # fmt: skip
    """The output with its claims marked, beside the card of the claim that one points at.

    Args:
        report: the report.
        evidence: the evidence by its id, as far as it is there.
        feedback: what stands below the card of a claim, by its position.
        question: the question, where it does not stand elsewhere on the page.
        below: what else stands below the output, or on a narrow screen below the card.
    """
    cards = claim_order(report)[:MOST_CLAIMS]
    return tag(
        "div",
        tag("section", tag("h2", "Output", id="output"), _question(question), _marked(report, set(cards)),
            _legend(report), _claim_list(report, cards), class_="output"),
        _inspector(report, cards, evidence, feedback),
        tag("div", below, class_="below-output") if below is not None else None,
        class_="reading",
    )  # fmt: skip


def _claim_list(report: HallucinationReport, cards: Sequence[int]) -> Markup | None:
    """Every claim in a line, the gravest first; one alone needs no list."""
    if len(cards) < _FEWEST_LISTED:
        return None
    rows = (_claim_line(at, report.claims[at]) for at in cards)
    return tag("ol", rows, class_="claim-list", aria_label="Claims, the gravest first")


def _claim_line(at: int, claim: ClaimReport) -> Markup:
    verdict = claim.verdict
    sign = tag("span", f"{SIGNS[verdict]}{at + 1}", class_=f"sign {VERDICT_TONES[verdict]}", aria_hidden="true")
    told = tag("span", f"Claim {at + 1}, {WORDS[verdict]}: ", class_="hidden")
    score = tag("span", number(claim.score), class_="num soft")
    words = foreign(shorten(claim.text, 200), class_="words")
    return tag("li", tag("a", sign, told, words, score, href=f"#claim-{at + 1}", data_claims=at + 1))


def claim_order(report: HallucinationReport) -> list[int]:
    """The positions of the claims, the gravest first."""
    claims = report.claims
    return sorted(range(len(claims)), key=lambda at: (GRAVITY.index(claims[at].verdict), -_weight(claims[at]), at))


def _weight(claim: ClaimReport) -> float:
    return claim.severity.score if claim.severity is not None else 0.0


def _question(question: str | None) -> Markup | None:
    if question is None:
        return None
    return tag("p", tag("span", "Question", class_="label"), foreign(question[:_LONGEST_QUOTE]), class_="question")


def _marked(report: HallucinationReport, with_card: set[int]) -> Markup:
    shown: list[Child] = []
    left = MOST_CHARACTERS
    for run in _runs(pieces(report)):
        if left <= 0:
            break
        shown.append(_piece(run, report.claims, left, with_card))
        left -= sum(len(piece.text) for piece in run)
    rest = len(report.output) - MOST_CHARACTERS
    if rest > 0:
        shown.append(tag("span", f" … {rest:,} more characters", class_="soft"))
    return tag("div", shown, class_="answer text", dir=direction(report.output[:1_000]))


def _runs(parts: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Pieces of the same claims that follow each other: one mark, so that who goes by keyboard stops there once."""
    run: list[Piece] = []
    for piece in parts:
        if run and (run[-1].ending or run[-1].claims != piece.claims or run[-1].verdict is not piece.verdict):
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


def _piece(run: Sequence[Piece], claims: Sequence[ClaimReport], left: int, with_card: set[int]) -> Markup:
    parts: list[Child] = []
    words = False
    for piece in run:
        text = piece.text[: max(left, 0)]
        left -= len(piece.text)
        words = words or bool(text.strip())
        parts.append(tag("span", text, class_="here") if piece.offending and text else text)
    first, last = run[0], run[-1]
    if first.verdict is None:
        return tag("span", parts, dir="auto", class_="plain")
    gravest = min(first.claims, key=lambda at: GRAVITY.index(claims[at].verdict))
    # A link of spaces alone has no name.
    target = f"#claim-{gravest + 1}" if gravest in with_card and words else None
    ends = (
        tag("sup", tag("span", f"{WORDS[claims[at].verdict]} claim ", class_="hidden"),
            f"{SIGNS[claims[at].verdict]}{at + 1}", class_=VERDICT_TONES[claims[at].verdict],
            id=f"at-{at + 1}", dir="ltr")
        for at in last.ending
    )  # fmt: skip
    numbers = " ".join(str(at + 1) for at in first.claims if at in with_card)
    mark = tag("a" if target else "span", parts, dir="auto", class_=f"piece {first.verdict.value}", href=target,
               data_claims=numbers if target else None)  # fmt: skip
    return group(mark, ends)


def _legend(report: HallucinationReport) -> Markup | None:
    there = [one for one in GRAVITY if any(claim.verdict is one for claim in report.claims)]
    shown = (tag("li", tag("span", f"{SIGNS[one]} {WORDS[one]}", class_=f"piece {one.value}")) for one in there)
    return tag("ul", shown, class_="marks", aria_label="What the marks mean") if there else None


def _inspector(
    report: HallucinationReport, cards: Sequence[int], evidence: Mapping[str, Evidence], feedback: Mapping[int, Markup]
) -> Markup:
    if not report.claims:
        why = "; ".join(report.coverage.reasons) or "Nothing in the output is a checkable statement."
        body: Child = empty_state("No claim was found", foreign(why))
    else:
        causes = {one.claim: one for one in report.causes if one.claim is not None}
        body = [claim_card(at, report.claims[at], evidence, feedback.get(at), causes.get(at)) for at in cards]
    more = len(report.claims) - len(cards)
    rest = note("quiet", f"{more:,} more claims are in the report itself.") if more > 0 else None
    return tag(
        "section", tag("h2", "Claims and evidence", id="claims"), body, rest, class_="inspector", data_inspector=True
    )


def claim_card(
    at: int, claim: ClaimReport, evidence: Mapping[str, Evidence], feedback: Markup | None = None,
    cause: CauseReport | None = None,
) -> Markup:  # fmt: skip
    """What was found of one claim, with the passages that decide."""
    told = list(_claim_facts(claim))
    spans = list(deciding_spans(claim))
    return tag(
        "article",
        tag(
            "header",
            tag("h3", f"Claim {at + 1}"),
            verdict_badge(claim.verdict),
            _measure("support", claim.score, "good"),
            _measure("contradiction", claim.contradiction, "bad"),
            tag("a", "in the output", href=f"#at-{at + 1}", class_="back"),
        ),
        foreign(claim.text[:_LONGEST_QUOTE], "p", class_="said"),
        tag("p", " · ".join(told), class_="told") if told else None,
        tag("ul", (issue_view(issue) for issue in claim.issues[:MOST_PARTS]), class_="issues")
        if claim.issues
        else None,
        quotes(spans[:_MOST_SPANS], evidence),
        None if spans else tag("p", "No passage of the evidence decides about it.", class_="soft"),
        [_suggested(one) for one in claim.suggestions[:8]],
        _judged(claim.judgement),
        _looked_up(claim.external),
        cause_view(cause),
        feedback,
        class_="card",
        id=f"claim-{at + 1}",
        data_claim=at + 1,
        tabindex=-1,
    )


def cause_view(found: CauseReport | None) -> Markup | None:
    """The likely root cause of a finding, and the others that were weighed."""
    if found is None:
        return None
    first, *others = found.estimates
    rest = (
        tag("li", tag("b", words_of(one.cause)), f" {number(one.share)} ", foreign(one.reason[:1_000]))
        for one in others[:8]
    )
    return tag(
        "div",
        tag("p", tag("span", "Likely cause: ", class_="soft"), tag("b", words_of(first.cause)),
            f" {number(first.share)}. ", foreign(first.reason[:1_000])),
        details(f"Other causes weighed: {len(others)}", tag("ul", rest, class_="plainlist")) if others else None,
        class_="cause",
    )  # fmt: skip


def words_of(cause: Cause) -> str:
    """A cause in words."""
    return cause.value.replace("_", " ")


def _suggested(one: Suggestion) -> Markup:
    """A value that the evidence gives in place of the claim's; nothing has put it there."""
    return tag(
        "p", tag("span", "The evidence gives ", class_="soft"), tag("del", foreign(shorten(one.before, 200))), " ",
        tag("ins", foreign(shorten(one.after, 200))), tag("span", " from ", class_="soft"),
        foreign(shorten(one.evidence.evidence_id, 80)), class_="suggested",
    )  # fmt: skip


def _judged(one: ClaimJudgement | None) -> Markup | None:
    if one is None:
        return None
    answers = (
        tag("li", badge(said.verdict.lower(), _ANSWERS[said.verdict]), " ", foreign(said.justification[:1_000]),
            tag("small", " does not count: ", foreign(said.void)) if said.void else None)
        for said in one.answers
    )  # fmt: skip
    words = f"The judge: {one.outcome.replace('_', ' ')}"
    return details(
        words + (f", was {WORDS[one.before]}" if one.changed else ""), tag("p", foreign(one.reason[:1_000])),
        tag("ol", answers, class_="plainlist"),
    )  # fmt: skip


def _looked_up(told: External | None) -> Markup | None:
    """What sources of knowledge say of a claim: what each was asked, when, how long it took and what came back."""
    if told is None:
        return None
    words = f"Knowledge: {told.status}" + (f", was {WORDS[told.before]}" if told.changed else "")
    rows = (
        tag(
            "li", badge(word.says, _SAYS[word.says]), " ", foreign(word.source), f" ({word.authority}) ",
            None if word.passage is None else foreign(word.passage[:1_000], "q"),
            None if word.reason is None else foreign(word.reason[:500]),
            tag("small", " ", foreign(_asked(word))),
        )
        for word in told.words[:MOST_PARTS]
    )  # fmt: skip
    return details(words, tag("p", foreign(told.message[:1_000])), tag("ul", rows, class_="plainlist"))


def _asked(word: SourceWord) -> str:
    """What was asked, when and how long it took, in a line."""
    values = [str(value) for one in word.asked for name, value in one.items() if name in _BOUND]
    asked = f"asked with {', '.join(dict.fromkeys(values))}; " if values else ""
    age = "" if word.age_s is None else f", known for {word.age_s:.0f} s"
    digest = "" if word.digest is None else f", SHA-256 {word.digest[:12]}"
    return shorten(f"{asked}{word.at}, {word.elapsed_ms:.0f} ms{age}{digest}", 400)


_BOUND: Final = frozenset({"entity", "number", "year", "date", "terms", "claim", "search"})
_SAYS: Final = {
    "verifies": "good", "refutes": "bad", "neither": "quiet", "nothing": "quiet", "failed": "doubt", "skipped": "quiet",
}  # fmt: skip
_ANSWERS: Final = {"PASS": "good", "FAIL": "bad", "UNCERTAIN": "doubt"}


def _measure(words: str, value: float | None, tone: str) -> Markup | None:
    return None if value is None else tag("span", f"{words} {number(value)}", meter(value, tone), class_="measure")


def _claim_facts(claim: ClaimReport) -> Iterator[str]:
    if claim.severity is not None:
        yield f"severity {claim.severity.level.value} {number(claim.severity.score)}"
    if claim.category is not None:
        yield claim.category.value + (f", {claim.origin.value}" if claim.origin is not None else "")
    if claim.critical:
        yield "critical" + (f" ({', '.join(claim.critical_reasons)})" if claim.critical_reasons else "")
    if claim.conflict:
        yield "sources disagree"
    if claim.hedge >= 0.5:
        yield "hedged"
    if claim.decided_by is not None:
        yield f"decided by the {claim.decided_by} tier"


def issue_view(issue: Issue) -> Markup:
    """One finding as a list item."""
    where = None if issue.path is None else group(" at ", code(shorten(issue.path, 200)))
    return tag("li", foreign(issue.message[:_LONGEST_QUOTE]), " ", tag("code", issue.code), where)


_RELATIONS: Final = {
    "supports": ("supports", "good"),
    "contradicts": ("contradicts", "bad"),
    "related": ("related", "quiet"),
}


def quotes(spans: Sequence[EvidenceSpan], evidence: Mapping[str, Evidence]) -> list[Markup]:
    """The deciding passages: those of one text that stand close together are marked in one quotation."""
    groups: list[list[EvidenceSpan]] = []
    for span in spans:
        text = evidence.get(span.evidence_id)
        near = (one for one in groups if _is_near(one[0], span, text))
        found = next(near, None)
        if found is None:
            groups.append([span])
        else:
            found.append(span)
    return [quote(group_, evidence.get(group_[0].evidence_id)) for group_ in groups]


def _is_near(first: EvidenceSpan, other: EvidenceSpan, evidence: Evidence | None) -> bool:
    """Whether two passages are shown in one quotation: they say the same of the claim, and the first one's
    surroundings hold the other."""
    if evidence is None or (first.evidence_id, first.relation) != (other.evidence_id, other.relation):
        return False
    if not (_stands(first, evidence) and _stands(other, evidence)):
        return False
    return len(evidence.text) <= _WHOLE or (
        other.start >= first.start - _AROUND and other.end <= first.end + _AROUND and first.text != other.text
    )


def _stands(span: EvidenceSpan, evidence: Evidence) -> bool:
    return evidence.text[span.start : span.end] == span.text


def quote(spans: Sequence[EvidenceSpan], evidence: Evidence | None) -> Markup:
    """Deciding words of one text in their surroundings; alone where the evidence was erased or says something else.

    Args:
        spans: passages of one text with one relation; several only where the text holds them.
        evidence: the text, as far as it is there.
    """
    first = spans[0]
    words, tone = _RELATIONS[first.relation]
    about: list[Child] = []
    if evidence is not None:
        about = [foreign(shorten(one, 120)) for one in (evidence.title, evidence.source, evidence.version) if one]
    shown = _in_place(spans, evidence.text) if evidence is not None and _stands(first, evidence) else [
        foreign(first.text[:_LONGEST_QUOTE], "mark")]  # fmt: skip
    return tag(
        "figure",
        tag("figcaption", badge(f"{words} {number(max(one.score for one in spans))}", tone),
            foreign(shorten(first.evidence_id, 120), "b"), ([" · ", one] for one in about)),
        tag("blockquote", shown, dir="auto", class_="text"),
        class_="quote",
    )  # fmt: skip


def _in_place(spans: Sequence[EvidenceSpan], text: str) -> list[Child]:
    """A text around its passages. Words that stand in a longer passage too are those that it hangs on: they are marked
    twice as strong."""
    low, high = min(one.start for one in spans), max(one.end for one in spans)
    first, last = (0, len(text)) if len(text) <= _WHOLE else (max(low - _AROUND, 0), min(high + _AROUND, len(text)))
    cuts = sorted({first, last, *(one.start for one in spans), *(one.end for one in spans)})
    whole = {(one.start, one.end) for one in spans}
    parts: list[Child] = ["…" if first > 0 else ""]
    for start, end in pairwise(cuts):
        covers = sum(a <= start and end <= b for a, b in whole)
        piece = text[start:end] if covers == 0 else text[start:end][:_LONGEST_QUOTE]
        strong = "exact" if covers > 1 else None
        parts.append(piece if covers == 0 else foreign(piece, "mark", class_=strong))
    return [*parts, "…" if last < len(text) else ""]


# Everything else


def findings_view(report: HallucinationReport) -> Markup | None:
    """Findings that belong to no single claim."""
    if not report.issues:
        return None
    causes = [cause_view(one) for one in report.causes[:MOST_PARTS] if one.claim is None]
    return panel(
        "Findings on the whole", tag("ul", map(issue_view, report.issues[:MOST_PARTS]), class_="issues"), causes
    )


def coverage_view(report: HallucinationReport) -> Markup:
    """How much of the output and of the evidence was looked at."""
    cover = report.coverage
    parts = [("checked", cover.checked, "good"), ("not checkable", cover.not_checkable, "quiet"),
             ("unchecked", cover.unchecked, "bad")]  # fmt: skip
    pairs: list[tuple[str, Child]] = [
        ("Characters checked", f"{cover.checked:,} of {cover.characters:,}"),
        ("Not checkable", f"{cover.not_checkable:,}"),
        ("Unchecked", tag("span", f"{cover.unchecked:,}", class_="bad" if cover.unchecked else None)),
        ("Evidence read", f"{cover.evidence_read:,} of {cover.evidence_characters:,}"),
        ("Pairs judged", f"{report.retrieval.pairs:,}"),
    ]
    reasons = [tag("li", foreign(reason)) for reason in cover.reasons[:MOST_PARTS]]
    reasons += [
        tag(
            "li",
            tag("q", foreign(shorten(report.output[one.span.start : one.span.end], 160))),
            " ",
            foreign(one.reason),
        )
        for one in cover.parts[:MOST_PARTS]
    ]
    return panel(
        "Coverage", split_bar(parts, "Characters of the output by what was done with them"), facts(pairs),
        tag("ul", reasons, class_="reasons") if reasons else None,
    )  # fmt: skip


def citations_view(citations: Sequence[CitationReport]) -> Markup | None:
    """The citations of the output and how far each holds."""
    if not citations:
        return None
    columns = (Column("Citation"), Column("Source"), Column("Status"), Column("What was found", "wide"))
    rows = ([line(one.marker, 80), line(one.evidence_id, 80), _status(one.status), line(one.message)]
            for one in citations[:MOST_CLAIMS])  # fmt: skip
    return panel("Citations", table("Citations", columns, rows))


def _status(status: str) -> Markup:
    good = status == "verified"
    sign = "✓" if good else "!" if status == "unchecked" else "✗"
    return badge(status.replace("_", " "), "good" if good else "bad", sign)


def probes_view(report: HallucinationReport) -> Markup | None:
    """What the model said when it was asked again."""
    if not report.consistency_probes:
        return None
    columns = (Column("Claim"), Column("Agreement", "num"), Column("Asked again", "wide"))
    rows = (
        [line(one.claim), group(number(one.agreement), " ", meter(one.agreement)),
         tag("ol", (tag("li", line(answer)) for answer in one.probe_answers[:12]), class_="plainlist")]
        for one in report.consistency_probes[:MOST_PARTS]
    )  # fmt: skip
    return panel("Asked again", table("Consistency probes", columns, rows))


def metrics_view(report: HallucinationReport) -> Markup | None:
    """The metrics of the output; one that is undefined says why."""
    if not report.metrics:
        return None
    rows = (
        [
            name.replace("_", " "),
            group(number(one.value), " ", meter(one.value)),
            line(one.undefined) if one.undefined else "",
        ]
        for name, one in report.metrics.items()
    )
    shown = table("Metrics", (Column("Metric"), Column("Value", "num"), Column("Note", "wide")), rows)
    return panel(None, details(f"All {len(report.metrics)} metrics", shown))


def evidence_view(evidence: Sequence[tuple[str, str, Evidence | None]], *, run: bool = False) -> Markup | None:
    """All evidence, as it was given; an agent's run is evidence itself."""
    if not evidence and run:
        return None
    if not evidence:
        return panel("Evidence", note("doubt", "The check was given no evidence."))
    cards = (
        details(
            group(foreign(shorten(name, 120), "b"), " ", tag("span", _about(one), class_="soft")),
            tag("p", "Its content was erased.", class_="soft") if one is None
            else foreign(one.text[:MOST_CHARACTERS // 4], "blockquote", class_="text"),
        )
        for name, _, one in evidence[:MOST_CLAIMS]
    )  # fmt: skip
    more = len(evidence) - MOST_CLAIMS
    rest = note("quiet", f"{more:,} more pieces are not shown.") if more > 0 else None
    return panel(f"Evidence ({len(evidence):,})", cards, rest)


def _about(evidence: Evidence | None) -> Child:
    if evidence is None:
        return "erased"
    told = [shorten(one, 80) for one in (evidence.title, evidence.source, evidence.version) if one]
    dates = [f"from {evidence.effective_date}"] if evidence.effective_date is not None else []
    dates += [f"until {evidence.expiry_date}"] if evidence.expiry_date is not None else []
    return foreign(" · ".join([*told, *dates, f"{len(evidence.text):,} characters"]))
