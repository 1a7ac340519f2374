"""`/console/gaps`: the questions that the evidence could not answer, for the maintainers of the corpus."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from assay.reporting import Child, Markup, foreign, tag
from assay.schema import Permission
from assay.server.console.errors import page_router
from assay.server.console.layout import address, allowed, render, whole_number
from assay.server.console.parts import (
    badge,
    empty_state,
    joined,
    line,
    link_button,
    moment,
    note,
    pager,
    panel,
    share,
    stat,
    stats,
    tabs,
)
from assay.server.services import Services
from assay.store.db import Store
from assay.store.insights import Gap, GapReason, Gaps, UnansweredQuestion, find_gaps

PERIODS: Final = {"7": "7 days", "30": "30 days", "90": "90 days", "all": "All"}
"""The periods of which questions are shown, by days."""
PAGE_SIZE: Final = 20
"""Gaps of one page."""
MOST_LISTED: Final = 12
"""The most questions that are listed for a gap."""
LONGEST_TEXT: Final = 600
"""The most characters of a passage or claim that are shown."""

_WORDS: Final = {GapReason.ABSTAINED: "no answer", GapReason.WITHHELD: "withheld", GapReason.WAITED: "held up"}
_TONES: Final = {GapReason.ABSTAINED: "quiet", GapReason.WITHHELD: "bad", GapReason.WAITED: "doubt"}


def make_gap_pages(services: Services) -> APIRouter:
    """The page of evidence gaps."""
    router = page_router()

    @router.get("/console/gaps")
    def gaps(request: Request) -> Response:
        caller = allowed(request, Permission.READ)
        return _page(request, services.store, caller.tenant)

    return router


def _page(request: Request, store: Store, tenant: str) -> Response:
    query = request.query_params
    period = query.get("days", "30") if query.get("days", "30") in PERIODS else "30"
    page = whole_number(query.get("page"), 4) or 0
    since = None if period == "all" else store.now() - timedelta(days=int(period))
    gaps = find_gaps(store, tenant, since=since, first=page * PAGE_SIZE, shown=PAGE_SIZE)
    body: list[Child] = []
    if gaps.cut:
        body.append(note("quiet", f"Only the latest {gaps.questions:,} questions are grouped."))
    if not gaps.questions:
        body.append(_empty(period))
        return render(request, "Evidence gaps", *body, current="gaps", about=_ABOUT, actions=_periods(period))
    body.append(_figures(gaps))
    body.append(_gap_list(gaps.gaps, store, start=page * PAGE_SIZE + 1))
    more = gaps.total > (page + 1) * PAGE_SIZE
    pages = pager(
        address("/console/gaps", days=period, page=page + 1) if more else None,
        address("/console/gaps", days=period) if page else None,
        f"{min(len(gaps.gaps), gaps.total):,} of {gaps.total:,} gaps",
    )
    return render(request, "Evidence gaps", *body, pages, current="gaps", about=_ABOUT, actions=_periods(period))


_ABOUT: Final = "Questions whose answers had no support in the evidence. Those that ask for the same thing are grouped."


def _periods(period: str) -> Markup:
    return tabs(
        "Period", ((words, address("/console/gaps", days=key), key == period) for key, words in PERIODS.items())
    )


def _empty(period: str) -> Markup:
    wider = link_button("Look at all", address("/console/gaps", days="all")) if period != "all" else None
    return empty_state(
        "No gaps", "Every question of this period that was checked found its evidence, or none was recorded.", wider
    )


def _figures(gaps: Gaps) -> Markup:
    most = max((len(gap.questions) for gap in gaps.gaps), default=0)
    return stats(
        stat("Questions without support", f"{gaps.questions:,}"),
        stat("Different gaps", f"{gaps.total:,}"),
        stat("With nothing retrieved", f"{gaps.null_retrievals:,}"),
        stat("Asked most often", f"{most:,} times" if most != 1 else "once"),
        stat("Share of the largest", share(most, gaps.questions)),
    )


def _gap_list(gaps: Sequence[Gap], store: Store, *, start: int) -> Markup:
    """The gaps of one page, numbered from `start` on."""
    items = (_gap(gap, store, first=at == 0) for at, gap in enumerate(gaps))
    return panel("Asked most often", tag("ol", items, class_="gap-list", start=start))


def _gap(gap: Gap, store: Store, *, first: bool) -> Markup:
    times = len(gap.questions)
    reasons = [badge(f"{count} {_WORDS[reason]}", _TONES[reason]) for reason, count in gap.reasons.items()]
    if gap.null_retrievals:
        reasons.append(badge(f"{gap.null_retrievals:,} with nothing retrieved", "bad"))
    summary = tag(
        "summary",
        tag(
            "span",
            tag("b", f"{times:,}"),
            tag("span", "×", aria_hidden="true"),
            class_="times",
            aria_label=f"asked {times} times" if times > 1 else "asked once",
            role="img",
        ),
        tag("span", line(gap.question), class_="topic"),
        tag("span", tuple(reasons), class_="reasons"),
        moment(gap.last, store.now()),
    )
    return tag("li", tag("details", summary, tag("div", _sides(gap, store), class_="gap"), open=first))


def _sides(gap: Gap, store: Store) -> tuple[Markup, ...]:
    sources = (
        tag("li", foreign(one.text[:LONGEST_TEXT], "q"), tag("cite", foreign(one.evidence_id[:120])))
        for one in gap.sources
    )
    claims = (tag("li", foreign(text[:LONGEST_TEXT])) for text in gap.claims[:MOST_LISTED])
    wordings = _wordings(gap.questions)
    listed = tag("ul", (_wording(ones, store) for ones in wordings[:MOST_LISTED]), class_="plain asked")
    more = sum(map(len, wordings[MOST_LISTED:]))
    return (
        tag(
            "section",
            tag("h3", "Closest passages"),
            tag("ul", sources, class_="plain passages")
            if gap.sources
            else tag("p", "No passage comes close: the corpus does not cover this.", class_="soft"),
        ),
        tag(
            "section",
            tag("h3", "Said without support"),
            tag("ul", claims, class_="plain")
            if gap.claims
            else tag("p", "Nothing: the answers said that there is no answer.", class_="soft"),
        ),
        tag(
            "section",
            tag("h3", "Questions"),
            listed,
            tag("p", f"and {more:,} more", class_="soft") if more > 0 else None,
            class_="wide",
        ),
    )


def _wordings(questions: Sequence[UnansweredQuestion]) -> list[list[UnansweredQuestion]]:
    """The questions grouped by their words, the largest group first; within a group the latest comes first."""
    by_words: dict[str, list[UnansweredQuestion]] = {}
    for one in questions:
        by_words.setdefault(" ".join(one.question.casefold().split()), []).append(one)
    return sorted(by_words.values(), key=len, reverse=True)


def _wording(ones: Sequence[UnansweredQuestion], store: Store) -> Markup:
    """Questions with the same words: their outcomes, and a link to the latest run."""
    latest = ones[0]
    counts = Counter(one.reason for one in ones)
    signs = (badge(f"{counts[reason]:,} {_WORDS[reason]}", _TONES[reason]) for reason in GapReason if counts[reason])
    link = tag("a", line(latest.question, 160), href=f"/console/runs/{latest.run}")
    return tag("li", link, tag("span", joined(signs), " ", moment(latest.created, store.now()), class_="soft"))
