"""The text of an output with its claims marked: rendered if it is Markdown, or as it was written."""

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
from assay.server.console.views.markdown import Element, TextSlice, read_markdown, text_slices
from assay.server.console.views.report_sections import MOST_CHARACTERS

_TOP_HEADING: Final = 3
"""The level of the first heading of an output: the page itself uses the first two."""


@dataclass(frozen=True, slots=True)
class TextView:
    """How a page shows the text of an output."""

    path: str | None = None
    """The address of the page, for the link to the other view; `None` where the page only has the text as written."""
    raw: bool = True
    """Whether the text is shown as it was written."""


def text_view(request: Request) -> TextView:
    """The view that a request asks for: rendered, unless the query has `text=raw`."""
    return TextView(request.url.path, request.query_params.get("text") == "raw")


def marked_text(report: HallucinationReport, with_card: set[int], view: TextView) -> Markup:
    """The text of an output with its claims marked, and the link to its other view.

    Args:
        report: the report on the output.
        with_card: the positions of the claims that have a card on the page, which their marks link to.
        view: how to show the text.
    """
    tree = read_markdown(report.output) if view.path is not None else None
    rendered = None if tree is None or view.raw else _Renderer(report, with_card).render(tree)
    switch = None
    if tree is not None and view.path is not None:
        links = (
            ("Rendered", f"{view.path}#output", not view.raw),
            ("As written", f"{address(view.path, text='raw')}#output", view.raw),
        )
        switch = tabs("How the output is shown", links)
    return group(switch, rendered if rendered is not None else _as_written(report, with_card))


# The text as it was written


def _as_written(report: HallucinationReport, with_card: set[int]) -> Markup:
    parts: list[Child] = []
    remaining = MOST_CHARACTERS
    for run in _runs(pieces(report)):
        if remaining <= 0:
            break
        parts.append(_marked_run(run, report.claims, remaining, with_card))
        remaining -= sum(len(piece.text) for piece in run)
    omitted = len(report.output) - MOST_CHARACTERS
    if omitted > 0:
        parts.append(tag("span", f" … {omitted:,} more characters", class_="soft"))
    return tag("div", parts, class_="answer text", dir=direction(report.output[:1_000]))


def _runs(parts: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Groups consecutive pieces of the same claims. A group is one mark, and so one stop when moving by keyboard."""
    run: list[Piece] = []
    for piece in parts:
        if run and (run[-1].ending or run[-1].claims != piece.claims or run[-1].verdict is not piece.verdict):
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


def _marked_run(run: Sequence[Piece], claims: Sequence[ClaimReport], most: int, with_card: set[int]) -> Markup:
    """The mark of consecutive pieces of the same claims, of which at most `most` characters are shown."""
    parts: list[Child] = []
    has_words = False
    for piece in run:
        text = piece.text[: max(most, 0)]
        most -= len(piece.text)
        has_words = has_words or bool(text.strip())
        parts.append(tag("span", text, class_="here") if piece.offending and text else text)
    first, last = run[0], run[-1]
    # A link that contains only spaces would have no name for screen readers.
    return group(_mark(parts, first, claims, with_card, may_link=has_words), [_end(at, claims) for at in last.ending])


def _mark(
    parts: Child,
    piece: Piece,
    claims: Sequence[ClaimReport],
    with_card: set[int],
    *,
    may_link: bool,
    focus: bool = True,
) -> Markup:
    """Marks words with the verdict of their claims, as a link to the card of the gravest claim.

    Args:
        parts: the words.
        piece: one of the pieces that the words are from.
        claims: all claims of the report.
        with_card: the positions of the claims that have a card.
        may_link: whether the mark may be a link.
        focus: whether the link can be reached with the keyboard.
    """
    if piece.verdict is None:
        return tag("span", parts, dir="auto", class_="plain")
    gravest = min(piece.claims, key=lambda at: GRAVITY.index(claims[at].verdict))
    target = f"#claim-{gravest + 1}" if gravest in with_card and may_link else None
    numbers = " ".join(str(at + 1) for at in piece.claims if at in with_card)
    return tag(
        "a" if target else "span",
        parts,
        dir="auto",
        class_=f"piece {piece.verdict.value}",
        href=target,
        data_claims=numbers if target else None,
        tabindex=-1 if target and not focus else None,
    )


def _end(at: int, claims: Sequence[ClaimReport]) -> Markup:
    """The sign and the number after the last words of a claim."""
    verdict = claims[at].verdict
    return tag(
        "sup",
        tag("span", f"{WORDS[verdict]} claim ", class_="hidden"),
        f"{SIGNS[verdict]}{at + 1}",
        class_=VERDICT_TONES[verdict],
        id=f"at-{at + 1}",
        dir="ltr",
    )


# The text as rendered Markdown


class _Renderer:
    """Renders a Markdown tree as HTML, with the marks of claims on its words."""

    def __init__(self, report: HallucinationReport, with_card: set[int]) -> None:
        self._report, self._with_card = report, with_card
        self._text, self._claims = report.output, report.claims
        self._pieces = list(pieces(report))
        self._starts, at = list[int](), 0
        for piece in self._pieces:
            self._starts.append(at)
            at += len(piece.text)
        self._ends: dict[int, list[int]] = {}
        """The positions of the claims whose last shown word ends at an offset."""
        self._boundaries: list[int] = []
        """Offsets at which the marks may change, sorted."""
        self._focused: set[tuple[int, ...]] = set()
        """The groups of claims that have a mark that can be reached with the keyboard."""

    def render(self, tree: Element) -> Markup | None:
        """The tree as HTML; `None` if a claim would have no words on the page, since then its mark would be missing."""
        shown = [words for words in text_slices(tree) if words.start < words.end]
        for at, claim in enumerate(self._claims):
            ends = [
                min(words.end, claim.span.end)
                for words in shown
                if words.start < claim.span.end and words.end > claim.span.start
            ]
            if not ends and claim.span.start < claim.span.end:
                return None
            if ends:
                self._ends.setdefault(ends[-1], []).append(at)
        self._boundaries = sorted({*self._starts, *self._ends})
        return tag(
            "div",
            [self._element(child) for child in tree.children],
            class_="answer rendered",
            dir=direction(self._text[:1_000]),
        )

    def _element(self, node: Element | TextSlice) -> Markup:
        if isinstance(node, TextSlice):
            return self._words(node)
        inside = [self._element(child) for child in node.children]
        match node.name, node.kind:
            case "heading", _:
                level = min(6, _TOP_HEADING + (node.value or 1) - 1)
                return tag(f"h{level}", inside, dir="auto")
            case "br" | "hr", _:
                return tag(node.name)
            case "table", _:
                return scrolled("Table of the output", tag("table", inside))
            case "pre", _:
                return tag("pre", inside, tabindex=0)
            case "li", _:
                # Its first child is its bullet or number.
                return tag("li", inside[0], tag("div", inside[1:]), dir="auto")
            case "span", "image":
                return tag("span", tag("span", "Image, not loaded: ", class_="soft"), inside, class_="image")
            case "span" | "code", kind:
                return tag(node.name, inside, class_=kind or None)
            case name, _:
                return tag(name, inside, dir="auto" if name in ("p", "td", "th", "blockquote") else None)

    def _words(self, words: TextSlice) -> Markup:
        if words.start == words.end:
            return group(words.white_space or "")
        first = bisect_right(self._boundaries, words.start)
        boundaries = [words.start, *self._boundaries[first : bisect_left(self._boundaries, words.end)], words.end]
        parts, run = list[Markup](), list[tuple[int, int]]()
        for start, end in pairwise(boundaries):
            if run and (run[-1][1] in self._ends or self._piece_at(run[-1][0]).claims != self._piece_at(start).claims):
                parts.append(self._marked_run(run))
                run = []
            run.append((start, end))
        parts += [self._marked_run(run)] if run else []
        return group(parts)

    def _piece_at(self, offset: int) -> Piece:
        return self._pieces[bisect_right(self._starts, offset) - 1]

    def _marked_run(self, run: Sequence[tuple[int, int]]) -> Markup:
        """The mark of consecutive spans of words of the same claims."""
        piece = self._piece_at(run[0][0])
        words = [(self._piece_at(start), self._text[start:end]) for start, end in run]
        shown = [tag("span", text, class_="here") if one.offending else text for one, text in words]
        may_link = any(text.strip() for _, text in words)
        focus = piece.claims not in self._focused and may_link
        if focus:
            self._focused.add(piece.claims)
        mark = _mark(shown, piece, self._claims, self._with_card, may_link=may_link, focus=focus)
        return group(mark, [_end(at, self._claims) for at in self._ends.get(run[-1][1], ())])
