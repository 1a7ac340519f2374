"""Renders the report on a corpus as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from assay.corpus.report import CorpusConflict, CorpusReport, Repetition, VersionGroup
from assay.reporting import BASE, Child, Markup, foreign, page, scrolled, tag
from assay.schema import Standing

_STYLE: Final = (
    BASE
    + """
.head{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.9rem 1.4rem;margin:1.2rem 0}
.head a{color:inherit;text-decoration:none;border-top:2px solid var(--line);padding-top:.4rem;display:block}
.head a.some{border-color:var(--bad)}.head b{display:block;font-size:1.5rem;font-weight:500;line-height:1.3;
font-variant-numeric:tabular-nums}.head span{font-size:.8125rem;color:var(--soft)}
code{font:.875em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.card{border:1px solid var(--line);border-radius:.5rem;padding:.7rem .9rem;margin:.6rem 0;break-inside:avoid}
.card h3{font-size:.95rem}.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(16rem,1fr));gap:.4rem 1.4rem}
blockquote{margin:.2rem 0;padding:.35rem .7rem;border-left:3px solid var(--line);background:var(--panel)}
.old{border-left-color:var(--bad)}.new{border-left-color:var(--good)}
ul{padding-left:1.1rem;margin:.3rem 0}li{margin:.15rem 0}td{overflow-wrap:anywhere}
td.word{overflow-wrap:normal}td.why{min-width:14rem}
td code{overflow-wrap:break-word;min-width:9rem;display:inline-block}
"""
)
_COUNTS: Final = (
    ("conflict", "conflicts", "contradictions"),
    ("superseded", "force", "superseded"),
    ("expired", "force", "expired"),
    ("not_yet_in_force", "force", "not yet in force"),
    ("duplicate", "duplicates", "repeat others"),
    ("injected_instructions", "orders", "give orders to a model"),
    ("unreadable", "unreadable", "cannot be read"),
    ("unread_date", "dates", "with unreadable dates"),
    ("not_retrieved", "unused", "never retrieved"),
    ("gap", "gaps", "questions in vain"),
)
_BY: Final = {
    "metadata": "by metadata",
    "title": "by their titles",
    "content": "by their wording",
    "reference": "one says that it replaces the other",
}
_TONE: Final = {
    Standing.IN_FORCE: "good",
    Standing.SUPERSEDED: "bad",
    Standing.EXPIRED: "bad",
    Standing.NOT_YET: "doubt",
}


def corpus_page(report: CorpusReport) -> str:
    """Render the page: it loads nothing from the network, and all text of documents is escaped."""
    files = report.files
    said = (
        f"{files.found:,} documents with {files.characters:,} characters; {files.read:,} read for this report, "
        f"{files.unchanged:,} unchanged since the one before, {files.gone:,} gone. In force on {report.as_of}."
    )
    return page(
        "assay: corpus",
        _STYLE,
        tag("header", tag("b", "assay"), foreign(report.verifier.name if report.verifier else ""), class_="brand"),
        tag(
            "main",
            tag("h1", "Corpus ", foreign(report.corpus)),
            tag("p", said, class_="soft"),
            (tag("p", note, class_="doubt") for note in report.notes),
            _head(report),
            _section("conflicts", "Contradictions", _conflicts(report.conflicts), report, "conflicts"),
            _section("force", "Out of force", _out_of_force(report), report, "out_of_force"),
            _section("versions", "Versions side by side", _versions(report.versions), report, "versions"),
            _section("duplicates", "Documents that say the same", _duplicates(report.duplicates), report, "duplicates"),
            _section(
                "orders",
                "Orders to a reading model",
                _pairs((one.document, foreign(one.text, "q")) for one in report.injected_instructions),
                report,
                "injected_instructions",
            ),
            _section(
                "unreadable",
                "Not readable",
                _pairs((one.document, foreign(one.reason)) for one in report.unreadable),
                report,
                "unreadable",
            ),
            _section(
                "dates",
                "Unreadable dates",
                _pairs((one.document, foreign(one.reason)) for one in report.unread_dates),
                report,
                "unread_dates",
            ),
            _section("unused", "Never retrieved", _listed(report.not_retrieved), report, "not_retrieved"),
            _section("gaps", "Asked in vain", _gaps(report), report, "gaps"),
            _passed_over(report),
        ),
        tag("footer", _footer(report)),
    )


def _head(report: CorpusReport) -> Markup:
    return tag(
        "nav",
        (
            tag(
                "a",
                tag("b", f"{report.counts[kind]:,}"),
                tag("span", words),
                href=f"#{place}",
                class_="some" if report.counts[kind] else None,
            )
            for kind, place, words in _COUNTS
            if report.counts[kind] or kind not in {"not_retrieved", "gap"} or report.record is not None
        ),
        class_="head",
        aria_label="Findings",
    )


def _section(place: str, title: str, body: Markup | None, report: CorpusReport, name: str) -> Markup | None:
    if body is None:
        return None
    cut = tag("p", "The list is cut; all are counted above.", class_="soft small") if name in report.cut else None
    return tag("section", tag("h2", title), cut, body, id=place)


def _path(path: str) -> Markup:
    return foreign(path, "code")


def _conflicts(found: tuple[CorpusConflict, ...]) -> Markup | None:
    if not found:
        return None
    cards = (
        tag(
            "div",
            tag(
                "div",
                (
                    tag("div", _path(path), tag("blockquote", foreign(text)))
                    for path, text in ((one.first, one.first_text), (one.second, one.second_text))
                ),
                class_="two",
            ),
            tag(
                "p",
                f"{'values compared' if one.found_by == 'exact' else 'read by the network'}, "
                f"probability {one.score:.2f}",
                class_="soft small",
            ),
            class_="card",
        )
        for one in found
    )
    return tag("div", cards)


def _out_of_force(report: CorpusReport) -> Markup | None:
    if not report.out_of_force:
        return None
    rows = (
        tag(
            "tr",
            tag("td", _path(one.document)),
            tag("td", one.standing.value.replace("_", " "), class_="bad word"),
            tag("td", foreign(one.why), class_="why"),
        )
        for one in report.out_of_force
    )
    return _table(("Document", "Standing", "Why"), rows)


def _versions(found: tuple[VersionGroup, ...]) -> Markup | None:
    return tag("div", map(_group, found)) if found else None


def _group(one: VersionGroup) -> Markup:
    rows = (
        tag(
            "tr",
            tag("td", _path(v.document)),
            tag("td", foreign(v.version or "")),
            tag("td", "" if v.effective_date is None else v.effective_date.isoformat()),
            tag("td", "" if v.expiry_date is None else v.expiry_date.isoformat()),
            tag("td", v.standing.value.replace("_", " "), class_=f"{_TONE[v.standing]} word"),
        )
        for v in one.versions
    )
    changes = tag(
        "div",
        (
            tag(
                "div",
                (
                    tag("blockquote", foreign(text), class_=style) if text else None
                    for text, style in ((change.older, "old"), (change.newer, "new"))
                ),
            )
            for change in one.changes
        ),
    )
    words = tag("p", "What the first two differ in, the older first:", class_="soft small") if one.changes else None
    heading = tag("h3", foreign(one.name), tag("span", f" {_BY[one.identified_by]}", class_="soft small"))
    columns = ("File", "Version", "From", "Until", "Standing")
    return tag("div", heading, _table(columns, rows), words, changes, class_="card")


def _duplicates(found: tuple[Repetition, ...]) -> Markup | None:
    if not found:
        return None
    cards = (
        tag(
            "div",
            tag("h3", _path(one.document)),
            tag(
                "ul",
                (
                    tag("li", _path(copy.document), f" {copy.how.replace('_', ' ')}, {copy.share:.0%}")
                    for copy in one.copies
                ),
            ),
            class_="card",
        )
        for one in found
    )
    return tag("div", cards)


def _pairs(found: Iterable[tuple[str, Child]]) -> Markup | None:
    rows = [tag("tr", tag("td", _path(path)), tag("td", said)) for path, said in found]
    return _table(("Document", "What"), rows) if rows else None


def _listed(paths: tuple[str, ...]) -> Markup | None:
    return tag("ul", (tag("li", _path(path)) for path in paths)) if paths else None


def _gaps(report: CorpusReport) -> Markup | None:
    if not report.gaps:
        return None
    rows = (
        tag(
            "tr",
            tag("td", foreign(one.question)),
            tag("td", f"{one.times:,}", class_="num"),
            tag("td", f"{one.nothing_retrieved:,}", class_="num"),
            tag("td", one.last[:10]),
        )
        for one in report.gaps
    )
    return _table(("Question", "Asked", "Nothing retrieved", "Last"), rows)


def _table(columns: tuple[str, ...], rows: Iterable[Markup]) -> Markup:
    head = tag("thead", tag("tr", (tag("th", name, scope="col") for name in columns)))
    return scrolled(", ".join(columns), tag("table", head, tag("tbody", rows)))


def _passed_over(report: CorpusReport) -> Markup | None:
    files = report.files
    parts = [f"{count:,} {ending or 'without ending'}" for ending, count in files.passed_over.items()]
    parts += [f"{files.links:,} links"] if files.links else []
    return tag("p", "Not read: ", foreign(", ".join(parts)), class_="soft small") if parts else None


def _footer(report: CorpusReport) -> Iterator[Child]:
    yield f"Form {report.form}. "
    if report.verifier is not None:
        yield foreign(f"{report.verifier.name}, {report.verifier.digest[:12]}. ")
    if report.record is not None:
        use = report.record
        since = "" if use.since is None else f" since {use.since[:10]}"
        yield (
            f"Record{since}: {use.passages:,} passages retrieved, {use.matched:,} of them of this corpus, "
            f"{use.retrieved:,} documents retrieved."
        )
