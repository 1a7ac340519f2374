"""A check of a whole corpus: 1. read what changed; 2. find duplicates; 3. group versions and determine which
are in force; 4. find contradictions between documents in force; 5. evaluate the record of use; 6. write the report.

The results of every step are stored in small parts (`assay.corpus.state`): an interrupted check continues where it
stopped, and what has not changed is not judged again. Memory grows only by a few numbers for each document.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from assay.corpus import contradictions, duplicates, versions
from assay.corpus.files import CorpusFile, FolderWalk, folder_at
from assay.corpus.formats import needs_package
from assay.corpus.lists import Usage, report_lists
from assay.corpus.reader_pool import ReaderPool
from assay.corpus.record import iso_time, match_passages
from assay.corpus.report import CorpusFiles, CorpusGap, CorpusReport, RecordUse
from assay.corpus.site import Scope, Site, SiteLimits
from assay.corpus.site.addresses import is_address
from assay.corpus.site.page_store import PageStore
from assay.corpus.state import State
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.store.db import Store

MAX_ENTRIES: Final = 200
"""Entries of each list in a report, by default."""
MAX_GAPS: Final = 100
_BATCH: Final = 50


class Progress(Protocol):
    """A callback that is told the progress of a check."""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """Report the progress of one step.

        Args:
            step: its name, such as "reading".
            done: the number of items done.
            total: the number of all items; None if it is not known.
        """


@dataclass(frozen=True, slots=True)
class CorpusOptions:
    """The options of a corpus check."""

    as_of: date | None = None
    """The day on which documents must be in force; today, in UTC, by default."""
    contradictions: bool = True
    """Whether documents are checked for contradictions, which takes longest."""
    exclude: tuple[str, ...] = ()
    """Patterns of paths to leave out, relative to the folder or the address."""
    site: SiteLimits = field(default_factory=SiteLimits)
    """Limits on fetching, if the corpus is a site."""
    processes: int = field(default_factory=lambda: max(1, min(4, os.cpu_count() or 1)))
    """Number of processes that read files."""
    most: int = MAX_ENTRIES
    """Entries of each list in the report; `counts` include everything."""
    days: int | None = 90
    """Days of the record that are evaluated; None for all of it."""


def check_corpus(
    folder: str | Path,
    guard: Guard,
    state: Path,
    options: CorpusOptions | None = None,
    *,
    store: Store | None = None,
    tenant: str = "default",
    progress: Progress | None = None,
) -> CorpusReport:
    """Report on a folder of documents, or on the pages of a site.

    Args:
        folder: Markdown, HTML, PDF, DOCX, CSV and text files, in folders of any depth; or the address of a page or a
            sitemap, `https://` or `http://`: the pages below its folder are fetched (docs/adr/0102).
        guard: judges contradictions.
        state: the file that stores what is known of the corpus; it is created if it does not exist.
        options: what to check.
        store: the record of a server; without it the report says nothing about retrieval.
        tenant: the tenant whose runs are evaluated.
        progress: called with the progress of each step.

    Raises:
        InputError: the folder, the address or the state cannot be used, or a package that files need is missing.
        VerifierError: the network failed, so whether there are contradictions is not known.
        StoreError: the record cannot be read.
    """
    settings = options or CorpusOptions()
    report_progress = progress or _silent
    place = str(folder)
    root = Scope.of(place).start.encode() if is_address(place) else os.fsencode(folder_at(place))
    day = settings.as_of or datetime.now(UTC).date()
    with State(state) as corpus_state:
        if corpus_state.about("root") not in (None, root.hex()):
            raise InputError(f"{state}: this is the state of another folder; name another with --state")
        corpus_state.set_about("root", root.hex())
        notes: list[str] = []
        with _documents(place, state, settings, report_progress) as walk:
            files = _read(corpus_state, walk, settings, report_progress)
            notes += walk.notes
        total = corpus_state.count("text IS NOT NULL")
        duplicates.measure(
            corpus_state, _step(report_progress, "measuring", corpus_state.count("measured = 0 AND text IS NOT NULL"))
        )
        in_parts = versions.settle_versions(corpus_state, day, _step(report_progress, "versions", total))
        duplicates.mark_repeats(corpus_state)
        notes += [
            f"{in_parts:,} groups of documents of one name are so large that they were compared in parts."
            for _ in range(bool(in_parts))
        ]
        if settings.contradictions:
            _contradictions(corpus_state, guard, report_progress)
        else:
            notes.append("Contradictions were not looked for.")
        use = None if store is None else _usage(corpus_state, store, tenant, settings, report_progress)
        if use is not None and not use.record.matched:
            notes.append("No recorded passage is of this corpus: what is retrieved of it is not known.")
        found = report_lists(corpus_state, settings.most, contradictions=settings.contradictions, use=use)
        return CorpusReport(
            corpus=str(folder),
            as_of=day,
            verifier=guard.verifier if settings.contradictions else None,
            files=files,
            record=None if use is None else use.record,
            notes=tuple(notes),
            **found,
        )


@contextmanager
def _documents(
    place: str, state: Path, options: CorpusOptions, report_progress: Progress
) -> Iterator[FolderWalk | Site]:
    """Open the corpus: the files of a folder, or the pages of a site, which are stored beside the state."""
    if not is_address(place):
        yield FolderWalk(folder_at(place), options.exclude, _own_files(state))
        return
    scope = Scope.of(place)
    with PageStore(state.with_name(f"{state.name}.pages"), scope.start) as pages:
        yield Site(scope, pages, options.site, options.exclude, _step(report_progress, "fetching", None))


def _silent(step: str, done: int, total: int | None) -> None:
    del step, done, total


def _own_files(state: Path) -> frozenset[Path]:
    path = state.resolve()
    return frozenset({path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))})


def _step(report_progress: Progress, words: str, total: int | None) -> Callable[[int], None]:
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        report_progress(words, done, total)

    report_progress(words, 0, total)
    return advance


def _read(state: State, walk: FolderWalk | Site, options: CorpusOptions, report_progress: Progress) -> CorpusFiles:
    """Read what changed since the previous check."""
    state.begin()
    found = unchanged = read = 0
    advance = _step(report_progress, "reading", None)

    def changed() -> Iterator[tuple[CorpusFile, Path, str]]:
        nonlocal found, unchanged
        for one in walk.files():
            found += 1
            missing = needs_package(one.path.suffix.lower())
            if missing is not None:
                raise InputError(f"{one.name}: {missing}")
            if state.is_known(one.name, one.changed, one.size):
                unchanged += 1
                if unchanged % _BATCH == 0:
                    advance(_BATCH)
                continue
            yield one, one.path, one.name

    with ReaderPool(options.processes) as pool:
        for file, result in pool.read(changed()):
            state.keep(file.name, file.changed, file.size, result.read, result.reason)
            read += 1
            if read % _BATCH == 0:
                state.db.commit()
                advance(_BATCH)
    for name, reason in walk.unreadable:
        state.keep(name, -1, -1, None, reason)
    state.db.commit()
    advance(read % _BATCH + unchanged % _BATCH)
    gone = state.forget_unseen()
    state.db.commit()
    characters = state.db.execute("SELECT coalesce(sum(characters), 0) FROM documents").fetchone()[0]
    return CorpusFiles(
        found=found,
        read=read,
        unchanged=unchanged,
        gone=gone,
        unreadable=state.count("reason IS NOT NULL"),
        characters=characters,
        passed_over=dict(sorted(walk.skipped.items())),
        links=walk.links,
    )


def _contradictions(state: State, guard: Guard, report_progress: Progress) -> None:
    judges = f"{guard.verifier.digest}/{guard.policy.digest}"
    if state.about("judges") != judges:
        state.db.execute("UPDATE pairs SET judged = NULL")
        state.set_about("judges", judges)
    pending = state.count(f"compared = 0 AND {contradictions.ACTIVE}")
    contradictions.find_pairs(state, _step(report_progress, "comparing", pending))
    pairs = int(state.db.execute("SELECT count(*) FROM pairs WHERE judged IS NULL").fetchone()[0])
    contradictions.judge_pairs(state, guard, _step(report_progress, "judging", pairs))


def _usage(state: State, store: Store, tenant: str, options: CorpusOptions, report_progress: Progress) -> Usage:
    from assay.store.insights import find_gaps, retrieved_passages

    since = None if options.days is None else store.now() - timedelta(days=options.days)
    passages, matched = match_passages(
        state, retrieved_passages(store, tenant, since=since), _step(report_progress, "reading the record", None)
    )
    found = find_gaps(store, tenant, since=since, shown=max(1, min(options.most, MAX_GAPS)))
    gaps = tuple(
        CorpusGap(
            question=one.question[:2_000],
            times=len(one.questions),
            nothing_retrieved=one.null_retrievals,
            last=iso_time(one.last),
        )
        for one in found.gaps
    )
    retrieved = int(state.db.execute("SELECT count(*) FROM used").fetchone()[0])
    record = RecordUse(
        since=None if since is None else iso_time(since),
        passages=passages,
        matched=matched,
        retrieved=retrieved,
        questions=found.questions,
    )
    return Usage(record, gaps, found.total)
