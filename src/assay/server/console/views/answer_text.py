"""The text of an output with its claims marked: rendered where it is Markdown, or as it was written."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from starlette.requests import Request

from assay.reporting import GRAVITY, SIGNS, WORDS, Child, Markup, Piece, direction, group, pieces, scrolled, tag
from assay.schema import ClaimReport, HallucinationReport
from assay.server.console.layout import address
from assay.server.console.parts import VERDICT_TONES, tabs
from assay.server.console.views.markdown import Element, Words, read_markdown, words_of
from assay.server.console.views.report_sections import MOST_CHARACTERS

_LOWEST_HEADING: Final = 3
"""A page and its parts have the first two levels."""


@dataclass(frozen=True, slots=True)
class TextView:
    """How the text of an output is shown on a page."""

    path: str | None = None
    """The page's own address, for the way to the other view; none where there is one view alone, as it was written."""
    raw: bool = True


def text_view(request: Request) -> TextView:
    """Rendered, unless the address says `text=raw`."""
    return TextView(request.url.path, request.query_params.get("text") == "raw")


def marked_text(report: HallucinationReport, with_card: set[int], view: TextView) -> Markup:
    """The text with its claims marked, and the way to its other view.

    Args:
        report: the report.
        with_card: the positions of claims that have a card to lead to.
        view: how it is shown.
    """
    tree = read_markdown(report.output) if view.path is not None else None
    drawn = None if tree is None or view.raw else _Drawing(report, with_card).draw(tree)
    switch = None
    if tree is not None and view.path is not None:
        links = (
            ("Rendered", f"{view.path}#output", not view.raw),
            ("As written", f"{address(view.path, text='raw')}#output", view.raw),
        )
        switch = tabs("How the output is shown", links)
    return group(switch, drawn if drawn is not None else _as_written(report, with_card))


# As it was written


def _as_written(report: HallucinationReport, with_card: set[int]) -> Markup:
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
    # A link of spaces alone has no name.
    return group(_mark(parts, first, claims, with_card, links=words), [_end(at, claims) for at in last.ending])


def _mark(
    parts: Child, piece: Piece, claims: Sequence[ClaimReport], with_card: set[int], *, links: bool, stops: bool = True
) -> Markup:
    """Words of the claims of a piece, marked; a link to the card of the gravest.

    Args:
        parts: the words.
        piece: one of the pieces that they are of.
        claims: all claims.
        with_card: those that have a card.
        links: whether they may be a link.
        stops: whether who goes by keyboard stops there.
    """
    if piece.verdict is None:
        return tag("span", parts, dir="auto", class_="plain")
    gravest = min(piece.claims, key=lambda at: GRAVITY.index(claims[at].verdict))
    target = f"#claim-{gravest + 1}" if gravest in with_card and links else None
    numbers = " ".join(str(at + 1) for at in piece.claims if at in with_card)
    return tag(
        "a" if target else "span",
        parts,
        dir="auto",
        class_=f"piece {piece.verdict.value}",
        href=target,
        data_claims=numbers if target else None,
        tabindex=-1 if target and not stops else None,
    )


def _end(at: int, claims: Sequence[ClaimReport]) -> Markup:
    """The sign and number behind the last words of a claim."""
    verdict = claims[at].verdict
    return tag(
        "sup",
        tag("span", f"{WORDS[verdict]} claim ", class_="hidden"),
        f"{SIGNS[verdict]}{at + 1}",
        class_=VERDICT_TONES[verdict],
        id=f"at-{at + 1}",
        dir="ltr",
    )


# Rendered


class _Drawing:
    """Draws a tree with the marks of claims on its words."""

    def __init__(self, report: HallucinationReport, with_card: set[int]) -> None:
        self._report, self._with_card = report, with_card
        self._text, self._claims = report.output, report.claims
        self._pieces = list(pieces(report))
        self._starts, at = list[int](), 0
        for piece in self._pieces:
            self._starts.append(at)
            at += len(piece.text)
        self._ends: dict[int, list[int]] = {}
        self._borders: list[int] = []
        self._stopped: set[tuple[int, ...]] = set()

    def draw(self, tree: Element) -> Markup | None:
        """The tree as HTML; none where a claim would have no words on the page."""
        shown = [words for words in words_of(tree) if words.start < words.end]
        for at, claim in enumerate(self._claims):
            parts = [
                min(words.end, claim.span.end)
                for words in shown
                if words.start < claim.span.end and words.end > claim.span.start
            ]
            if not parts and claim.span.start < claim.span.end:
                return None
            if parts:
                self._ends.setdefault(parts[-1], []).append(at)
        self._borders = sorted({*self._starts, *self._ends})
        return tag(
            "div",
            [self._element(child) for child in tree.children],
            class_="answer rendered",
            dir=direction(self._text[:1_000]),
        )

    def _element(self, node: Element | Words) -> Markup:
        if isinstance(node, Words):
            return self._words(node)
        inside = [self._element(child) for child in node.children]
        match node.name, node.kind:
            case "heading", _:
                level = min(6, _LOWEST_HEADING + (node.value or 1) - 1)
                return tag(f"h{level}", inside, dir="auto")
            case "br" | "hr", _:
                return tag(node.name)
            case "table", _:
                return scrolled("Table of the output", tag("table", inside))
            case "pre", _:
                return tag("pre", inside, tabindex=0)
            case "li", _:
                # Its sign is its first child, and stands before all that is in it.
                return tag("li", inside[0], tag("div", inside[1:]), dir="auto")
            case "span", "image":
                return tag("span", tag("span", "Image, not loaded: ", class_="soft"), inside, class_="image")
            case "span" | "code", kind:
                return tag(node.name, inside, class_=kind or None)
            case name, _:
                return tag(name, inside, dir="auto" if name in ("p", "td", "th", "blockquote") else None)

    def _words(self, words: Words) -> Markup:
        if words.start == words.end:
            return group(words.said or "")
        inside = self._borders[bisect_right(self._borders, words.start) : bisect_left(self._borders, words.end)]
        borders = [words.start, *inside, words.end]
        parts, run = list[Markup](), list[tuple[int, int]]()
        for begin, end in pairwise(borders):
            if run and (run[-1][1] in self._ends or self._at(run[-1][0]).claims != self._at(begin).claims):
                parts.append(self._part(run))
                run = []
            run.append((begin, end))
        parts += [self._part(run)] if run else []
        return group(parts)

    def _at(self, place: int) -> Piece:
        return self._pieces[bisect_right(self._starts, place) - 1]

    def _part(self, run: Sequence[tuple[int, int]]) -> Markup:
        """Words of the same claims that follow each other: one mark."""
        piece, words = self._at(run[0][0]), [(self._at(begin), self._text[begin:end]) for begin, end in run]
        shown = [tag("span", text, class_="here") if one.offending else text for one, text in words]
        links = any(text.strip() for _, text in words)
        first = piece.claims not in self._stopped and links
        if first:
            self._stopped.add(piece.claims)
        mark = _mark(shown, piece, self._claims, self._with_card, links=links, stops=first)
        return group(mark, [_end(at, self._claims) for at in self._ends.get(run[-1][1], ())])
