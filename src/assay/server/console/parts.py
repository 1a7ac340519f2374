"""The parts that pages are made of: panels, tables, badges, times, facts, fields, pages of a list, empty states."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from assay.reporting import SIGNS, WORDS, Child, Markup, foreign, group, tag
from assay.schema import Action, Verdict
from assay.server.console.icons import icon
from assay.stats import shown_score

_NEAR: Final = timedelta(days=1)
LONGEST_LINE: Final = 240
"""Characters of foreign text that a line of a list shows."""

VERDICT_TONES: Final = {
    Verdict.SUPPORTED: "good",
    Verdict.CONTRADICTED: "bad",
    Verdict.UNSUPPORTED: "doubt",
    Verdict.UNCHECKED: "bad",
    Verdict.NOT_CHECKABLE: "quiet",
}
"""The tone of each verdict."""
ACTION_TONES: Final = {
    Action.EMIT: "good",
    Action.REVISE: "doubt",
    Action.BLOCK: "bad",
    Action.ESCALATE: "escalate",
}
"""The tone of each action."""
ACTION_SIGNS: Final = {Action.EMIT: "✓", Action.REVISE: "↻", Action.BLOCK: "✗", Action.ESCALATE: "↑"}
"""A sign for each action, so that no meaning hangs on colour."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    title: str
    kind: str = ""
    """`num` for figures, `main` for the text that may grow, `less` for what a narrow screen leaves out; several may be
    given, with spaces between them."""
    hidden: bool = False
    """Whether only screen readers are told the title."""


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Child]],
    *,
    empty: tuple[str, Child] | None = None,
    style: str | None = None,
) -> Markup:
    """A table, or what to say where it has no rows.

    Args:
        caption: what it lists, for screen readers.
        columns: its columns.
        rows: the cells of each row. The first cell names the row.
        empty: a title and a line for a table without rows; the bare head by default.
        style: a further class of the table.
    """
    drawn = [_row(columns, row) for row in rows]
    if not drawn and empty is not None:
        return empty_state(*empty)
    head = tag(
        "tr",
        (
            tag(
                "th",
                tag("span", one.title, class_="hidden" if one.hidden else None),
                scope="col",
                class_=one.kind or None,
            )
            for one in columns
        ),
    )
    return tag(
        "div",
        tag("table", tag("caption", caption, class_="hidden"), tag("thead", head), tag("tbody", drawn), class_=style),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=caption,
    )


def _row(columns: Sequence[Column], cells: Sequence[Child]) -> Markup:
    first, *others = zip(columns, cells, strict=True)
    named = tag("th", first[1], scope="row", class_=first[0].kind or None)
    return tag("tr", named, (tag("td", cell, class_=column.kind or None) for column, cell in others))


def panel(title: Child, *body: Child, actions: Child = None, style: str = "", id_: str | None = None) -> Markup:
    """A part of a page with a heading of its own, or without one."""
    head = None
    if title is not None:
        head = tag("header", tag("h2", title), tag("div", actions, class_="actions") if actions else None)
    return tag("section", head, body, class_=f"panel {style}".strip(), id=id_)


def empty_state(title: str, words: Child, action: Child = None) -> Markup:
    """What stands where there is nothing yet, and what to do about it."""
    return tag("div", tag("p", title, class_="title"), tag("p", words), action, class_="empty")


def badge(words: str, tone: str = "quiet", sign: str | None = None) -> Markup:
    """A word of ours with a tone: `good`, `bad`, `doubt`, `escalate`, `accent` or `quiet`."""
    mark = tag("span", sign, class_="sign", aria_hidden="true") if sign is not None else None
    return tag("span", mark, words, class_=f"badge {tone}")


def action_badge(action: Action | str) -> Markup:
    """The badge of what the gate or a person decided; of a word that is no action, that word."""
    try:
        known = Action(action)
    except ValueError:
        return tag("span", foreign(shorten(str(action), 40)), class_="badge quiet")
    return badge(known.value, ACTION_TONES[known], ACTION_SIGNS[known])


_ACTS: Final = {
    "open": ("asked for a person", "escalate"),
    "claim": ("took it", "quiet"),
    "release": ("gave it back", "quiet"),
    "assign": ("handed it on", "quiet"),
    "approve": ("approved it", "good"),
    "edit": ("put another text out", "good"),
    "reject": ("rejected it", "bad"),
    "ask_evidence": ("asked for evidence", "doubt"),
    "supply_evidence": ("gave evidence", "quiet"),
    "next_tier": ("went up a tier: the deadline passed", "doubt"),
    "remind": ("sent a reminder: the deadline passed", "doubt"),
    "expire": ("rejected it: the deadline passed", "bad"),
}
"""What is done to a review item, in words, with its tone."""


def act_badge(act: str) -> Markup | None:
    """The badge of what was done to a review item; none of a word that is no such act."""
    found = _ACTS.get(act)
    return None if found is None else badge(*found)


def verdict_badge(verdict: Verdict) -> Markup:
    """The badge of a verdict."""
    return badge(WORDS[verdict], VERDICT_TONES[verdict], SIGNS[verdict])


def moment(when: datetime, now: datetime | None = None) -> Markup:
    """A moment in UTC; where `now` is given, how long ago it is within a day, and its day and time beyond."""
    utc = when.astimezone(UTC)
    whole, at, shown = f"{utc:%Y-%m-%d %H:%M:%S} UTC", None, f"{utc:%Y-%m-%d %H:%M}"
    if now is not None and abs(now - utc) < _NEAR:
        shown, at = ago(utc, now), now.isoformat(timespec="seconds")
    elif now is not None and utc.year == now.year:
        shown = f"{utc.day} {utc:%b %H:%M}"
    return tag("time", shown, datetime=utc.isoformat(timespec="seconds"), title=whole, data_ago=at)


def ago(when: datetime, now: datetime) -> str:
    """How long ago a moment is, or how far ahead.

    >>> from datetime import timedelta
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> ago(start, start + timedelta(minutes=3)), ago(start + timedelta(hours=2), start)
    ('3 min ago', 'in 2 h')
    """
    seconds = (now - when).total_seconds()
    said = span_words(abs(seconds))
    if abs(seconds) < 1:
        return "now"
    return f"{said} ago" if seconds > 0 else f"in {said}"


def span_words(seconds: float) -> str:
    """A length of time in its largest unit.

    >>> span_words(59), span_words(7300), span_words(172800)
    ('59 s', '2 h', '2 d')
    """
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def millis(value: float | None) -> str:
    """A time that something took.

    >>> millis(0.4), millis(48.2), millis(2300), millis(None)
    ('0.4 ms', '48 ms', '2.3 s', '–')
    """
    if value is None:
        return "–"
    if value >= 1_000:
        return f"{value / 1_000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def number(value: float | None, digits: int = 2) -> str:
    """A score, or a dash where there is none.

    >>> number(0.5), number(None)
    ('0.50', '–')
    """
    if value is None:
        return "–"
    return shown_score(value) if digits == _OF_SCORES and 0 <= value <= 1 else f"{value:.{digits}f}"


_OF_SCORES = 2


def share(part: float, whole: float) -> str:
    """A share in percent; a dash of nothing.

    >>> share(1, 8), share(1, 3000), share(0, 0)
    ('12.5%', '<0.1%', '–')
    """
    if not whole:
        return "–"
    percent = 100 * part / whole
    return "<0.1%" if 0 < percent < 0.1 else f"{percent:.1f}%".replace(".0%", "%")


def score(value: float | None) -> Markup:
    """A score with a bar of its length."""
    return tag("span", meter(value), tag("span", number(value)), class_="score")


def meter(value: float | None, tone: str = "") -> Markup | None:
    """A bar as long as a value between 0 and 1."""
    if value is None:
        return None
    length = round(48 * min(max(value, 0.0), 1.0), 1)
    return tag(
        "svg",
        tag("rect", class_="track", width=48, height=4, rx=2),
        tag("rect", class_=f"fill {tone}".strip(), width=length, height=4, rx=2),
        class_="meter",
        width=48,
        height=4,
        viewBox="0 0 48 4",
        aria_hidden="true",
    )


def shorten(text: str, most: int = LONGEST_LINE) -> str:
    """A text in one line of at most so many characters.

    >>> shorten("one  line\\nof text", 9)
    'one line…'
    """
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else line[: most - 1].rstrip() + "…"


def line(text: str | None, most: int = LONGEST_LINE) -> Markup:
    """Foreign text in one line, isolated; a dash where there is none."""
    if text is None or not text.strip():
        return tag("span", "–", class_="soft")
    return foreign(shorten(text, most))


def facts(pairs: Iterable[tuple[str, Child]], style: str = "") -> Markup:
    """Names and values."""
    rows = (tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs)
    return tag("dl", rows, class_=f"facts {style}".strip())


def stat(name: str, value: Child, detail: Child = None, href: str | None = None) -> Markup:
    """One figure of a row of figures; with an address all of it leads there."""
    label = tag("a", name, icon("arrow"), href=href) if href is not None else name
    shown = tag("dd", value, tag("small", detail) if detail is not None else None)
    return tag("div", tag("dt", label), shown, class_="leads" if href is not None else None)


def stats(*figures: Markup) -> Markup:
    """A row of figures."""
    return tag("dl", figures, class_="stats")


def digest(text: str) -> Markup:
    """The beginning of a digest or an id, whole for who points at it."""
    return tag("code", text[:12], title=text, class_="digest")


def code(text: str) -> Markup:
    """Foreign text as code."""
    return tag("code", foreign(text))


def tabs(label: str, entries: Iterable[tuple[str, str, bool]]) -> Markup:
    """Links of which one is current: words, address, and whether it is the one."""
    links = (tag("a", words, href=href, aria_current="true" if here else None) for words, href, here in entries)
    return tag("nav", links, class_="tabs", aria_label=label)


def pager(older: str | None, newest: str | None, words: str = "") -> Markup | None:
    """Leads to the page after this one, and back to the first.

    Args:
        older: the address of the next page, if there is one.
        newest: the address of the first page, if this is another.
        words: how much is shown, such as `50 runs`.
    """
    if older is None and newest is None and not words:
        return None
    first = tag("a", "Newest", href=newest, class_="button", rel="first") if newest is not None else None
    following = tag("a", "Older", href=older, class_="button", rel="next") if older is not None else None
    return tag(
        "nav", tag("span", words, class_="soft"), first, following, class_="pager", aria_label="Pages of the list"
    )


# Fields


def field(label: str, control: Markup, hint: Child = None, style: str = "") -> Markup:
    """A control with its label around it."""
    hint_tag = tag("small", hint) if hint is not None else None
    return tag("label", tag("span", label), control, hint_tag, class_=f"field {style}".strip())


def text_input(name: str, value: str | None = None, **attributes: str | float | bool | None) -> Markup:
    """A line to write in."""
    kind = attributes.pop("type_", "text")
    return tag(
        "input", type_=kind, name_=name, value=value, autocomplete=attributes.pop("autocomplete", "off"), **attributes
    )


def text_area(name: str, value: str = "", **attributes: str | float | bool | None) -> Markup:
    """Several lines to write in."""
    # A line break after the start tag is dropped by every browser; without it, one of the text would be.
    return tag("textarea", "\n", value, name_=name, **attributes)


def select(
    name: str, options: Iterable[tuple[str, str]], chosen: str | None = None, **attributes: str | None
) -> Markup:
    """A list to choose from: values and words."""
    drawn = (tag("option", words, value=value, selected=value == (chosen or "")) for value, words in options)
    return tag("select", drawn, name_=name, **attributes)


def button(words: Child, style: str = "", **attributes: str | float | bool | None) -> Markup:
    """A button; of the form's kind unless told otherwise."""
    return tag("button", words, class_=f"button {style}".strip(), **{"type_": "submit", **attributes})


def link_button(words: Child, href: str, style: str = "") -> Markup:
    """A link that looks like a button."""
    return tag("a", words, href=href, class_=f"button {style}".strip())


def details(summary: Child, *body: Child, open_: bool = False) -> Markup:
    """What is shown when asked for."""
    return tag("details", tag("summary", summary), body, open=open_, class_="more")


def note(tone: str, *words: Child) -> Markup:
    """A line that must be seen: `bad`, `doubt`, `good` or `quiet`."""
    return tag("p", words, class_=f"note {tone}", role="alert" if tone == "bad" else None)


def hidden(words: str) -> Markup:
    """Words for screen readers alone."""
    return tag("span", words, class_="hidden")


def joined(children: Iterable[Child], between: Child = " ") -> Markup:
    """Children with something between them."""
    made: list[Child] = []
    for child in children:
        made += [between, child] if made else [child]
    return group(made)
