"""A check of a whole corpus: 1. what changed is read; 2. repetitions; 3. versions and what is in force;
4. contradictions between what is in force; 5. what the record says of its use; 6. the report.

Every step is kept in small parts (`assay.corpus.state`): an interrupted check goes on where it was, and what has not
changed is not judged again. Memory does not grow with the number of documents but by a few numbers for each.
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
from assay.corpus.files import FoundFile, Walk, folder_at
from assay.corpus.formats import needs_package
from assay.corpus.lists import Use, lists_of
from assay.corpus.reader_pool import ReaderPool
from assay.corpus.record import match, moment
from assay.corpus.report import CorpusFiles, CorpusGap, CorpusReport, RecordUse
from assay.corpus.site import Scope, Site, SiteLimits
from assay.corpus.site.addresses import is_address
from assay.corpus.site.kept_pages import KeptPages
from assay.corpus.state import State
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.store.db import Store

MOST_LISTED: Final = 200
"""Entries of each list of a report, unless another number is asked for."""
MOST_GAPS: Final = 100
_BATCH: Final = 50


class Progress(Protocol):
    """Called with how far a check has come."""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """One step is so far.

        Args:
            step: in words, such as "reading".
            done: how much of it is done.
            total: how much there is; none where that is not known.
        """


@dataclass(frozen=True, slots=True)
class CorpusOptions:
    """What a check of a corpus does."""

    as_of: date | None = None
    """The day to be in force on; today, in UTC, by default."""
    contradictions: bool = True
    """Whether documents are checked against each other: what takes longest."""
    exclude: tuple[str, ...] = ()
    """Patterns of paths within the folder, or below the address, that are left out."""
    site: SiteLimits = field(default_factory=SiteLimits)
    """What fetching may cost, where the corpus is a site."""
    processes: int = field(default_factory=lambda: max(1, min(4, os.cpu_count() or 1)))
    """Processes that read files."""
    most: int = MOST_LISTED
    """Entries of each list of the report; `counts` are of everything."""
    days: int | None = 90
    """Days of the record that are looked at; none for all of it."""


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
            sitemap, `https://` or `http://`: what lies below its folder is fetched (docs/adr/0102).
        guard: judges contradictions.
        state: the file in which is kept what is known of the corpus; it is made where it is not there.
        options: what is done.
        store: the record of a server; without it nothing is said of what is retrieved.
        tenant: whose runs are looked at.
        progress: called with how far it has come.

    Raises:
        InputError: the folder, the address or the state cannot be used, or a package is missing that files need.
        VerifierError: the network failed: whether there are contradictions is not known then.
        StoreError: the record cannot be read.
    """
    chosen = options or CorpusOptions()
    report_progress = progress or _silent
    place = str(folder)
    root = Scope.of(place).start.encode() if is_address(place) else os.fsencode(folder_at(place))
    day = chosen.as_of or datetime.now(UTC).date()
    with State(state) as opened:
        if opened.about("root") not in (None, root.hex()):
            raise InputError(f"{state}: this is the state of another folder; name another with --state")
        opened.set_about("root", root.hex())
        notes: list[str] = []
        with _walk(place, state, chosen, report_progress) as walk:
            files = _read(opened, walk, chosen, report_progress)
            notes += walk.notes
        total = opened.count("text IS NOT NULL")
        duplicates.measure(
            opened, _step(report_progress, "measuring", opened.count("measured = 0 AND text IS NOT NULL"))
        )
        in_parts = versions.settle(opened, day, _step(report_progress, "versions", total))
        duplicates.mark_repeats(opened)
        notes += [
            f"{in_parts:,} groups of documents of one name are so large that they were compared in parts."
            for _ in range(bool(in_parts))
        ]
        if chosen.contradictions:
            _contradictions(opened, guard, report_progress)
        else:
            notes.append("Contradictions were not looked for.")
        use = None if store is None else _used(opened, store, tenant, chosen, report_progress)
        if use is not None and not use.record.matched:
            notes.append("No recorded passage is of this corpus: what is retrieved of it is not known.")
        found = lists_of(opened, chosen.most, contradictions=chosen.contradictions, use=use)
        return CorpusReport(
            corpus=str(folder),
            as_of=day,
            verifier=guard.verifier if chosen.contradictions else None,
            files=files,
            record=None if use is None else use.record,
            notes=tuple(notes),
            **found,
        )


@contextmanager
def _walk(place: str, state: Path, options: CorpusOptions, report_progress: Progress) -> Iterator[Walk | Site]:
    """What there is to be read: the files of a folder, or the pages of a site, which are kept beside the state."""
    if not is_address(place):
        yield Walk(folder_at(place), options.exclude, _own_files(state))
        return
    scope = Scope.of(place)
    with KeptPages(state.with_name(f"{state.name}.pages"), scope.start) as pages:
        yield Site(scope, pages, options.site, options.exclude, _step(report_progress, "fetching", None))


def _silent(step: str, done: int, total: int | None) -> None:
    del step, done, total


def _own_files(state: Path) -> frozenset[Path]:
    path = state.resolve()
    return frozenset({path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))})


def _step(report_progress: Progress, words: str, total: int | None) -> Callable[[int], None]:
    done = 0

    def more(count: int) -> None:
        nonlocal done
        done += count
        report_progress(words, done, total)

    report_progress(words, 0, total)
    return more


def _read(state: State, walk: Walk | Site, options: CorpusOptions, report_progress: Progress) -> CorpusFiles:
    """Reads what changed since the check before."""
    state.begin()
    found = unchanged = read = 0
    more = _step(report_progress, "reading", None)

    def changed() -> Iterator[tuple[FoundFile, Path, str]]:
        nonlocal found, unchanged
        for one in walk.files():
            found += 1
            missing = needs_package(one.path.suffix.lower())
            if missing is not None:
                raise InputError(f"{one.name}: {missing}")
            if state.is_known(one.name, one.changed, one.size):
                unchanged += 1
                if unchanged % _BATCH == 0:
                    more(_BATCH)
                continue
            yield one, one.path, one.name

    with ReaderPool(options.processes) as pool:
        for file, result in pool.read(changed()):
            state.keep(file.name, file.changed, file.size, result.read, result.reason)
            read += 1
            if read % _BATCH == 0:
                state.db.commit()
                more(_BATCH)
    for name, reason in walk.unreadable:
        state.keep(name, -1, -1, None, reason)
    state.db.commit()
    more(read % _BATCH + unchanged % _BATCH)
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
        passed_over=dict(sorted(walk.other.items())),
        links=walk.links,
    )


def _contradictions(state: State, guard: Guard, report_progress: Progress) -> None:
    judges = f"{guard.verifier.digest}/{guard.policy.digest}"
    if state.about("judges") != judges:
        state.db.execute("UPDATE pairs SET judged = NULL")
        state.set_about("judges", judges)
    open_ = state.count(f"compared = 0 AND {contradictions.ACTIVE}")
    contradictions.find_pairs(state, _step(report_progress, "comparing", open_))
    pairs = int(state.db.execute("SELECT count(*) FROM pairs WHERE judged IS NULL").fetchone()[0])
    contradictions.judge_pairs(state, guard, _step(report_progress, "judging", pairs))


def _used(state: State, store: Store, tenant: str, options: CorpusOptions, report_progress: Progress) -> Use:
    from assay.store.insights import find_gaps, retrieved_passages

    since = None if options.days is None else store.now() - timedelta(days=options.days)
    passages, matched = match(
        state, retrieved_passages(store, tenant, since=since), _step(report_progress, "reading the record", None)
    )
    found = find_gaps(store, tenant, since=since, shown=max(1, min(options.most, MOST_GAPS)))
    gaps = tuple(
        CorpusGap(
            question=one.question[:2_000],
            times=len(one.questions),
            nothing_retrieved=one.null_retrievals,
            last=moment(one.last),
        )
        for one in found.gaps
    )
    retrieved = int(state.db.execute("SELECT count(*) FROM used").fetchone()[0])
    record = RecordUse(
        since=None if since is None else moment(since),
        passages=passages,
        matched=matched,
        retrieved=retrieved,
        questions=found.questions,
    )
    return Use(record, gaps, found.total)
