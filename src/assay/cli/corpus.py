"""`assay corpus check`: documents of a corpus that repeat, are out of force, contradict or are never retrieved."""

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from assay.cli.database import DEFAULT_TENANT
from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.options.completion import complete_policy
from assay.cli.options.shared import TextOrJson as Format
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.cli.terminal import Line
    from assay.corpus import CorpusReport
    from assay.corpus.check import Progress
    from assay.store.db import Store

app = typer.Typer(name="corpus", help="Care for a collection of documents.", no_args_is_help=True)


Place = Annotated[
    str,
    typer.Argument(
        metavar="DIR|URL",
        help="A folder of documents, searched to any depth; or the address of a page or a sitemap.",
    ),
]
Page = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the report as a page here, as HTML.")
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="DATE", help="The day on which versions must be in force. [default: today]"),
]
Pages = Annotated[int, typer.Option("--most-pages", min=1, metavar="N", help="Of a site: the most addresses to fetch.")]
Megabytes = Annotated[
    int, typer.Option("--most-megabytes", min=1, metavar="N", help="Of a site: the most to fetch, in megabytes.")
]
Minutes = Annotated[
    float, typer.Option("--most-minutes", min=0.01, metavar="N", help="Of a site: the most minutes to fetch for.")
]
Delay = Annotated[
    float,
    typer.Option(min=0, metavar="SECONDS", help="Of a site: between two requests; robots.txt may ask for more."),
]
AllowPrivate = Annotated[
    bool, typer.Option("--allow-private", help="Allow addresses of this machine and of private networks.")
]


class Kind(StrEnum):
    """The kinds of findings."""

    UNREADABLE = "unreadable"
    INJECTED = "injected_instructions"
    DUPLICATE = "duplicate"
    EXPIRED = "expired"
    NOT_YET = "not_yet_in_force"
    SUPERSEDED = "superseded"
    CONFLICT = "conflict"
    UNREAD_DATE = "unread_date"
    NOT_RETRIEVED = "not_retrieved"
    GAP = "gap"


PolicyChoice = Annotated[
    str | None,
    typer.Option("--policy", metavar="NAME|FILE", autocompletion=complete_policy, help="A preset or an assay.yaml."),
]


@dataclass(frozen=True, slots=True)
class CorpusCheckOptions:
    """The options of `assay corpus check`."""

    folder: str
    out: Path | None = None
    format: str = "text"
    state: Path | None = None
    as_of: str | None = None
    database: str | None = None
    tenant: str = DEFAULT_TENANT
    days: int | None = None
    contradictions: bool = True
    exclude: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    most: int = 200
    policy: str | None = None
    verifier: Path | None = None
    pages: int = 10_000
    megabytes: int = 1_000
    minutes: float = 60.0
    delay: float = 0.0
    allow_private: bool = False


@app.command("check")
def check(
    folder: Place,
    out: Page = None,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to write to standard output.")] = Format.TEXT,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What is known of the corpus. [default: in the user's cache folder]"),
    ] = None,
    as_of: AsOf = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL|FILE", help="The record of a server: what is never retrieved, and gaps."),
    ] = None,
    tenant: Annotated[str, typer.Option(metavar="NAME", help="Whose runs are looked at.")] = DEFAULT_TENANT,
    days: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many days of the record to read; 0 reads all of it.")
    ] = 90,
    contradictions: Annotated[
        bool, typer.Option("--contradictions/--no-contradictions", help="Compare documents with each other.")
    ] = True,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Paths to leave out, such as 'archive/*'.")
    ] = None,
    ignore: Annotated[
        list[Kind] | None, typer.Option(help="Findings that do not count for the exit status; may be repeated.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Entries of each list; all are counted.")] = 200,
    policy: PolicyChoice = None,
    verifier: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A cross-encoder's folder in place of the shipped network.")
    ] = None,
    pages: Pages = 10_000,
    megabytes: Megabytes = 1_000,
    minutes: Minutes = 60.0,
    delay: Delay = 0.0,
    allow_private: AllowPrivate = False,
) -> None:
    """Report on a corpus: duplicates, versions side by side, what is out of force, contradictions, unused documents.

    Reads Markdown, text, HTML, CSV, DOCX and PDF (extra `corpus`), of a folder or below an address. What has not
    changed since the check before is not fetched or judged again, and an interrupted check goes on where it was. Exit
    status 1: there are findings.
    """
    with reporting_errors():
        has_findings = run_corpus_check(
            CorpusCheckOptions(
                folder=folder,
                out=out,
                format=format_.value,
                state=state,
                as_of=as_of,
                database=database,
                tenant=tenant,
                days=days or None,
                contradictions=contradictions,
                exclude=tuple(exclude or ()),
                ignore=tuple(one.value for one in ignore or ()),
                most=most,
                policy=policy,
                verifier=verifier,
                pages=pages,
                megabytes=megabytes,
                minutes=minutes,
                delay=delay,
                allow_private=allow_private,
            )
        )
        raise typer.Exit(FINDINGS if has_findings else CLEAN)


def run_corpus_check(options: CorpusCheckOptions) -> bool:
    """Checks and writes.

    Returns:
        Whether there are findings that count.

    Raises:
        AssayError: an option or a file cannot be used.
    """
    from assay.cli.check import open_guard
    from assay.cli.terminal import write, write_text
    from assay.corpus import CorpusOptions, SiteLimits, check_corpus, corpus_page
    from assay.evaluation.rows import write_file
    from assay.guard.request import read_day

    root = parse_place(options.folder)
    corpus_options = CorpusOptions(
        as_of=read_day(options.as_of),
        contradictions=options.contradictions,
        exclude=options.exclude,
        most=options.most,
        days=options.days,
        site=SiteLimits(
            pages=options.pages,
            megabytes=options.megabytes,
            seconds=60 * options.minutes,
            delay=options.delay,
            allow_private=options.allow_private,
        ),
    )
    guard = open_guard(options.policy, options.verifier)
    with _record(options.database) as store, progress_lines() as progress:
        report = check_corpus(
            str(root) if options.folder in {".", ""} else options.folder,
            guard,
            options.state or default_state(root),
            corpus_options,
            store=store,
            tenant=options.tenant,
            progress=progress,
        )
    if options.out is not None:
        write_file(options.out, corpus_page(report))
    if options.format == "json":
        write_text(f"{report.model_dump_json(indent=2)}\n", sys.stdout)
    else:
        write(corpus_lines(report), sys.stdout)
    return any(count for kind, count in report.counts.items() if kind not in options.ignore)


def parse_place(place: str) -> "Path | str":
    """The folder of a corpus, or its normalised address.

    Raises:
        InputError: there is no such folder, or the address is not one of HTTP.
    """
    from assay.corpus.files import folder_at
    from assay.corpus.site.addresses import Scope, is_address

    return Scope.of(place).start if is_address(place) else folder_at(place)


def default_state(root: "Path | str") -> Path:
    """The default state file of a corpus: in the user's cache folder, named by the corpus and a digest of its place."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        cache_home = Path(os.environ.get("XDG_CACHE_HOME") or "")
        base = cache_home if cache_home.is_absolute() else Path.home() / ".cache"
    label = root.partition("://")[2] if isinstance(root, str) else root.name
    name = "".join(sign if sign.isalnum() else "-" for sign in label)[:40]
    return base / "assay" / "corpus" / f"{name}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:12]}.sqlite"


@contextmanager
def _record(database: str | None) -> "Iterator[Store | None]":
    if database is None:
        yield None
        return
    from assay.cli.database import opened

    if "://" not in database and not Path(database).exists():
        raise InputError(f"{database}: there is no such record; name the database of the server")
    with opened(database) as store:
        yield store


@contextmanager
def progress_lines() -> "Iterator[Progress]":
    """Reports progress on standard error: on a terminal one line that is rewritten, elsewhere a line at every tenth."""
    from assay.cli.terminal import write_text

    live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    last: tuple[str, int] | None = None

    def progress(step: str, done: int, total: int | None) -> None:
        nonlocal last
        if total == 0:
            return
        mark = (step, done // 1_000 if total is None else done * 10 // total)
        of = "" if total is None else f" of {total:,}"
        if live:
            write_text(f"\r\x1b[Kassay: {step} {done:,}{of}", sys.stderr)
        elif mark != last:
            write_text(f"assay: {step} {done:,}{of}\n", sys.stderr)
        last = mark

    try:
        yield progress
    finally:
        if live and last is not None:
            write_text("\r\x1b[K", sys.stderr)


_WORDS: Final = {
    Kind.UNREADABLE: "cannot be read",
    Kind.INJECTED: "give orders to a reading model",
    Kind.DUPLICATE: "repeat others",
    Kind.EXPIRED: "expired",
    Kind.NOT_YET: "not yet in force",
    Kind.SUPERSEDED: "superseded",
    Kind.CONFLICT: "contradictions",
    Kind.UNREAD_DATE: "with an unreadable date",
    Kind.NOT_RETRIEVED: "never retrieved",
    Kind.GAP: "questions without an answer",
}
_SHOWN: Final = 20
"""Entries of each list on a terminal; the page and JSON have more."""


def corpus_lines(report: "CorpusReport") -> "Iterator[Line]":
    """A report for people."""
    from assay.cli.terminal import Line, one_line

    def name(path: str) -> str:
        return one_line(path, 100)

    files = report.files
    counts_text = f"{files.found:,} documents, {files.read:,} read, {files.unchanged:,} unchanged, {files.gone:,} gone"
    yield Line(((f"CORPUS {name(report.corpus)}", "strong"), (f"  {counts_text}; in force on {report.as_of}", "faint")))
    counted = [f"{count:,} {_WORDS[Kind(kind)]}" for kind, count in report.counts.items() if count]
    yield Line(((", ".join(counted) or "nothing found", "bad" if counted else "good"),))
    for document in report.unreadable[:_SHOWN]:
        yield Line(
            (("unreadable ", "bad"), (name(document.document), "strong"), (f"  {one_line(document.reason, 200)}", ""))
        )
    for order in report.injected_instructions[:_SHOWN]:
        yield Line((("orders     ", "bad"), (name(order.document), "strong")))
        yield Line(((one_line(order.text, 200), ""),), indent=2, gutter=True)
    for group in report.duplicates[:_SHOWN]:
        yield Line((("repeated   ", "doubt"), (name(group.document), "strong")))
        for copy in group.copies[:_SHOWN]:
            yield Line(((f"{name(copy.document)}  {copy.how.replace('_', ' ')}, {copy.share:.0%}", ""),), indent=2)
    for old in report.out_of_force[:_SHOWN]:
        standing = old.standing.value.replace("_", " ")
        yield Line(((f"{standing:<11}", "doubt"), (name(old.document), "strong"), (f"  {one_line(old.why, 200)}", "")))
    for pair in report.conflicts[:_SHOWN]:
        yield Line((("conflict   ", "bad"), (f"{name(pair.first)} and {name(pair.second)}", "strong")))
        for path, text in ((pair.first, pair.first_text), (pair.second, pair.second_text)):
            yield Line(((f"{name(path)}: ", "faint"), (one_line(text, 300), "")), indent=2, gutter=True)
    for undated in report.unread_dates[:_SHOWN]:
        yield Line(
            (("date       ", "doubt"), (name(undated.document), "strong"), (f"  {one_line(undated.reason)}", ""))
        )
    for path in report.not_retrieved[:_SHOWN]:
        yield Line((("unused     ", "doubt"), (name(path), "strong")))
    for gap in report.gaps[:_SHOWN]:
        empty = f", {gap.nothing_retrieved:,} times with nothing retrieved" if gap.nothing_retrieved else ""
        yield Line(
            (
                ("gap        ", "doubt"),
                (f"asked {gap.times:,} times{empty}: ", ""),
                (one_line(gap.question, 200), "strong"),
            )
        )
    for note in report.notes:
        yield Line(((one_line(note), "faint"),))
    if any(count > _SHOWN for count in report.counts.values()):
        yield Line((("more in --out FILE and --format json", "faint"),))
