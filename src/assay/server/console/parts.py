"""The elements that pages are made of: panels, tables, badges, times, facts, form fields, pagers, empty states."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from assay.reporting import SIGNS, WORDS, Child, Markup, foreign, group, tag
from assay.schema import Action, Verdict
from assay.server.console.icons import icon
from assay.stats import shown_score

_RECENT: Final = timedelta(days=1)
"""How near a moment has to be to be shown relative to now."""
LONGEST_LINE: Final = 240
"""The most characters of foreign text that a line of a list shows."""

VERDICT_TONES: Final = {
    Verdict.SUPPORTED: "good",
    Verdict.CONTRADICTED: "bad",
    Verdict.UNSUPPORTED: "doubt",
    Verdict.UNCHECKED: "bad",
    Verdict.NOT_CHECKABLE: "quiet",
}
"""The tone of each verdict: the CSS class that colours it."""
ACTION_TONES: Final = {
    Action.EMIT: "good",
    Action.REVISE: "doubt",
    Action.BLOCK: "bad",
    Action.ESCALATE: "escalate",
}
"""The tone of each action: the CSS class that colours it."""
ACTION_SIGNS: Final = {Action.EMIT: "✓", Action.REVISE: "↻", Action.BLOCK: "✗", Action.ESCALATE: "↑"}
"""A sign for each action, so that no meaning depends on colour alone."""
ACTION_ORDER: Final = (Action.EMIT, Action.REVISE, Action.ESCALATE, Action.BLOCK)
"""The actions in the order in which charts and tables show them."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    title: str
    kind: str = ""
    """CSS classes, separated by spaces: `num` for figures, `main` for the text that takes the remaining width, `less`
    for a column that a narrow screen leaves out."""
    hidden: bool = False
    """Whether the title is for screen readers only."""


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Child]],
    *,
    empty: tuple[str, Child] | None = None,
    style: str | None = None,
) -> Markup:
    """A table, or an empty state where it has no rows.

    Args:
        caption: what the table lists, for screen readers.
        columns: its columns.
        rows: the cells of each row; the first cell is the heading of the row.
        empty: the title and the text of the empty state; a table without rows by default.
        style: further CSS classes of the table.
    """
    body = [_row(columns, row) for row in rows]
    if not body and empty is not None:
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
        tag("table", tag("caption", caption, class_="hidden"), tag("thead", head), tag("tbody", body), class_=style),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=caption,
    )


def _row(columns: Sequence[Column], cells: Sequence[Child]) -> Markup:
    (first, heading), *others = zip(columns, cells, strict=True)
    row_heading = tag("th", heading, scope="row", class_=first.kind or None)
    return tag("tr", row_heading, (tag("td", cell, class_=column.kind or None) for column, cell in others))


def panel(title: Child, *body: Child, actions: Child = None, style: str = "", id_: str | None = None) -> Markup:
    """A section of a page; `None` as the title leaves out its heading and its actions."""
    head = None
    if title is not None:
        head = tag("header", tag("h2", title), tag("div", actions, class_="actions") if actions else None)
    return tag("section", head, body, class_=f"panel {style}".strip(), id=id_)


def empty_state(title: str, words: Child, action: Child = None) -> Markup:
    """Shown in place of a list that has no entries yet: a title, an explanation, and a link to what can be done."""
    return tag("div", tag("p", title, class_="title"), tag("p", words), action, class_="empty")


def badge(words: str, tone: str = "quiet", sign: str | None = None) -> Markup:
    """A label with a tone (`good`, `bad`, `doubt`, `escalate`, `accent` or `quiet`); never for foreign text."""
    mark = tag("span", sign, class_="sign", aria_hidden="true") if sign is not None else None
    return tag("span", mark, words, class_=f"badge {tone}")


def action_badge(action: Action | str) -> Markup:
    """The badge of an action; any other word is shown as foreign text in a badge."""
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
"""What each act on a review item says in a history, and its tone."""


def act_badge(act: str) -> Markup | None:
    """The badge of an act on a review item; `None` for any other word."""
    words_and_tone = _ACTS.get(act)
    return None if words_and_tone is None else badge(*words_and_tone)


def verdict_badge(verdict: Verdict) -> Markup:
    """The badge of a verdict."""
    return badge(WORDS[verdict], VERDICT_TONES[verdict], SIGNS[verdict])


def moment(when: datetime, now: datetime | None = None) -> Markup:
    """A moment in UTC. With `now`, a moment within a day of it is shown relative to it, such as `3 min ago`.

    The attribute `data-ago` has the value of `now`, from which `console.js` keeps the relative time up to date.
    """
    utc = when.astimezone(UTC)
    tooltip, relative_to, shown = f"{utc:%Y-%m-%d %H:%M:%S} UTC", None, f"{utc:%Y-%m-%d %H:%M}"
    if now is not None and abs(now - utc) < _RECENT:
        shown, relative_to = ago(utc, now), now.isoformat(timespec="seconds")
    elif now is not None and utc.year == now.year:
        shown = f"{utc.day} {utc:%b %H:%M}"
    return tag("time", shown, datetime=utc.isoformat(timespec="seconds"), title=tooltip, data_ago=relative_to)


def ago(when: datetime, now: datetime) -> str:
    """A moment relative to now, such as `3 min ago` or `in 2 h`.

    >>> from datetime import timedelta
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> ago(start, start + timedelta(minutes=3)), ago(start + timedelta(hours=2), start)
    ('3 min ago', 'in 2 h')
    """
    seconds = (now - when).total_seconds()
    duration = duration_words(abs(seconds))
    if abs(seconds) < 1:
        return "now"
    return f"{duration} ago" if seconds > 0 else f"in {duration}"


def duration_words(seconds: float) -> str:
    """A duration in whole units of the largest unit that fits into it.

    >>> duration_words(59), duration_words(7300), duration_words(172800)
    ('59 s', '2 h', '2 d')
    """
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def millis(value: float | None) -> str:
    """A duration in milliseconds or seconds, or a dash where it is unknown.

    >>> millis(0.4), millis(48.2), millis(2300), millis(None)
    ('0.4 ms', '48 ms', '2.3 s', '–')
    """
    if value is None:
        return "–"
    if value >= 1_000:
        return f"{value / 1_000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def number(value: float | None, digits: int = 2) -> str:
    """A number with a fixed count of decimals, or a dash where it is unknown.

    >>> number(0.5), number(None)
    ('0.50', '–')
    """
    if value is None:
        return "–"
    return shown_score(value) if digits == _SCORE_DIGITS and 0 <= value <= 1 else f"{value:.{digits}f}"


_SCORE_DIGITS: Final = 2
"""The digits of a score everywhere else; `shown_score` never rounds one up to 1 or down to 0."""


def share(part: float, whole: float) -> str:
    """A share in percent; a dash where the whole is 0.

    >>> share(1, 8), share(1, 3000), share(0, 0)
    ('12.5%', '<0.1%', '–')
    """
    if not whole:
        return "–"
    percent = 100 * part / whole
    return "<0.1%" if 0 < percent < 0.1 else f"{percent:.1f}%".replace(".0%", "%")


def score(value: float | None) -> Markup:
    """A score, next to a bar of that length."""
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
    """A text on one line, cut to a number of characters; runs of white space become one space.

    >>> shorten("one  line\\nof text", 9)
    'one line…'
    """
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else line[: most - 1].rstrip() + "…"


def capitalized(text: str) -> str:
    """A text with its first letter as a capital and the others as they are.

    >>> capitalized("p, corrected"), capitalized("FACTScore")
    ('P, corrected', 'FACTScore')
    """
    return text[:1].upper() + text[1:]


def title_words(name: str) -> str:
    """A name of assay, such as that of a category, as a title.

    >>> title_words("scale_stress")
    'Scale stress'
    """
    return capitalized(name.replace("_", " "))


DASH: Final = tag("span", "–", class_="soft")
"""What stands for a value that there is not."""


def line(text: str | None, most: int = LONGEST_LINE) -> Markup:
    """Foreign text on one line, with its direction isolated; a dash where there is none."""
    if text is None or not text.strip():
        return DASH
    return foreign(shorten(text, most))


def facts(pairs: Iterable[tuple[str, Child]], style: str = "") -> Markup:
    """A list of names and values."""
    rows = (tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs)
    return tag("dl", rows, class_=f"facts {style}".strip())


def stat(name: str, value: Child, detail: Child = None, href: str | None = None) -> Markup:
    """One figure for `stats`: its name, its value and a detail; with an address, all of it is a link."""
    label = tag("a", name, icon("arrow"), href=href) if href is not None else name
    figure = tag("dd", value, tag("small", detail) if detail is not None else None)
    return tag("div", tag("dt", label), figure, class_="leads" if href is not None else None)


def stats(*figures: Markup) -> Markup:
    """A row of figures, each made by `stat`."""
    return tag("dl", figures, class_="stats")


def digest(text: str) -> Markup:
    """The beginning of a digest or an id, with all of it as the tooltip."""
    return tag("code", text[:12], title=text, class_="digest")


def code(text: str) -> Markup:
    """Foreign text as code."""
    return tag("code", foreign(text))


def tabs(label: str, entries: Iterable[tuple[str, str, bool]]) -> Markup:
    """Links of which one is current: for each its words, its address, and whether it is the current one."""
    links = (tag("a", words, href=href, aria_current="true" if current else None) for words, href, current in entries)
    return tag("nav", links, class_="tabs", aria_label=label)


def pager(older: str | None, newest: str | None, words: str = "") -> Markup | None:
    """Links to the next page of a list and back to the first one.

    Args:
        older: the address of the next page, if there is one.
        newest: the address of the first page, if this is not it.
        words: how much this page shows, such as `50 runs`.
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
    """A control of a form with its label and an explanation."""
    explanation = tag("small", hint) if hint is not None else None
    return tag("label", tag("span", label), control, explanation, class_=f"field {style}".strip())


def text_input(name: str, value: str | None = None, **attributes: str | float | bool | None) -> Markup:
    """A text field of one line."""
    type_ = attributes.pop("type_", "text")
    return tag(
        "input", type_=type_, name_=name, value=value, autocomplete=attributes.pop("autocomplete", "off"), **attributes
    )


def text_area(name: str, value: str = "", **attributes: str | float | bool | None) -> Markup:
    """A text field of several lines."""
    # Browsers drop a line break right after the start tag: without this one they would drop the text's own.
    return tag("textarea", "\n", value, name_=name, **attributes)


def select(
    name: str, options: Iterable[tuple[str, str]], chosen: str | None = None, **attributes: str | None
) -> Markup:
    """A list to choose from.

    Args:
        name: the name of the field.
        options: the values and what is shown for them.
        chosen: the value that is selected at first.
        attributes: further attributes.
    """
    entries = (tag("option", words, value=value, selected=value == (chosen or "")) for value, words in options)
    return tag("select", entries, name_=name, **attributes)


def row_box(name: str, value: str, label: str) -> Markup:
    """The checkbox that chooses a row of a list for `bulk_actions`."""
    return tag("input", type_="checkbox", name_=name, value=value, aria_label=label, class_="choose")


def bulk_actions(title: str, *groups: Child) -> Markup:
    """The actions for the chosen rows of a list; `choose.js` replaces the title by the number of chosen rows."""
    return tag(
        "div",
        tag("p", title, class_="label", data_chosen=True, role="status"),
        (tag("div", group_, class_="actions") for group_ in groups),
        class_="bulk",
        role="group",
        aria_label=title,
    )


def button(words: Child, style: str = "", **attributes: str | float | bool | None) -> Markup:
    """A button; it submits its form unless `type_` says otherwise."""
    return tag("button", words, class_=f"button {style}".strip(), **{"type_": "submit", **attributes})


def link_button(words: Child, href: str, style: str = "") -> Markup:
    """A link that looks like a button."""
    return tag("a", words, href=href, class_=f"button {style}".strip())


def details(summary: Child, *body: Child, open_: bool = False) -> Markup:
    """Content that is hidden until the reader opens its summary."""
    return tag("details", tag("summary", summary), body, open=open_, class_="more")


def note(tone: str, *words: Child) -> Markup:
    """A highlighted line, with the tone `bad`, `doubt`, `good` or `quiet`; `bad` is announced to screen readers."""
    return tag("p", words, class_=f"note {tone}", role="alert" if tone == "bad" else None)


def hidden(words: str) -> Markup:
    """Words for screen readers only."""
    return tag("span", words, class_="hidden")


def joined(children: Iterable[Child], between: Child = " ") -> Markup:
    """Children with a separator between them."""
    parts: list[Child] = []
    for child in children:
        parts += [between, child] if parts else [child]
    return group(parts)
