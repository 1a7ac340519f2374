"""Builds the lists of a report from the state of a corpus: lists are cut at a maximum length, counts are complete."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from typing import Any, Final

from assay.corpus.contradictions import ACTIVE
from assay.corpus.duplicates import EITHER_STAYS
from assay.corpus.report import (
    FINDINGS,
    Change,
    Copy,
    CorpusConflict,
    CorpusGap,
    InjectedDocument,
    OutOfForce,
    RecordUse,
    Repetition,
    UnreadableFile,
    UnreadDate,
    Version,
    VersionGroup,
)
from assay.corpus.state import STATEMENTS_PER_DOCUMENT, State, without_line_breaks
from assay.schema import Standing

MAX_GROUP_ENTRIES: Final = 50
"""Copies or versions of one document that are listed at most."""
MAX_CHANGES: Final = 6
_MAX_COMPARED_SENTENCES: Final = 400
"""Sentences of two versions that are compared at most."""
_MAX_SENTENCE_LENGTH: Final = 600


@dataclass(frozen=True, slots=True)
class Usage:
    """The use of the corpus according to the record."""

    record: RecordUse
    gaps: tuple[CorpusGap, ...]
    found: int
    """Number of all gaps."""


def report_lists(state: State, most: int, *, contradictions: bool, use: Usage | None) -> dict[str, Any]:
    """Build the lists, `counts` and `cut` of a report.

    Args:
        state: the corpus, after all steps.
        most: the maximum length of each list.
        contradictions: whether contradictions were searched for.
        use: the use according to the record, if there is one.
    """
    count = state.count
    counts = dict.fromkeys(FINDINGS, 0)
    counts["unreadable"] = count("reason IS NOT NULL")
    counts["injected_instructions"] = count("json_extract(told, '$.orders') IS NOT NULL")
    counts["duplicate"] = count("repeats IS NOT NULL")
    counts |= {one.value: count("standing = ?", one.value) for one in Standing if one is not Standing.IN_FORCE}
    counts["unread_date"] = count("json_array_length(told, '$.unread') > 0")
    found: dict[str, Any] = {
        "unreadable": tuple(_unreadable(state, most)),
        "injected_instructions": tuple(_injected(state, most)),
        "duplicates": tuple(_duplicates(state, most)),
        "versions": tuple(_versions(state, most)),
        "out_of_force": tuple(_out_of_force(state, most)),
        "unread_dates": tuple(_unread_dates(state, most)),
    }
    cut = {
        "unreadable": counts["unreadable"] > most,
        "injected_instructions": counts["injected_instructions"] > most,
        "duplicates": counts["duplicate"] > sum(len(one.copies) for one in found["duplicates"]),
        "versions": len(found["versions"]) == most
        or any(len(g.versions) == MAX_GROUP_ENTRIES for g in found["versions"]),
        "out_of_force": count("standing <> 'in_force'") > most,
        "unread_dates": counts["unread_date"] > most,
    }
    if contradictions:
        counts["conflict"] = state.db.execute(f"SELECT count(*) {_CONFLICTS}").fetchone()[0]
        found["conflicts"] = tuple(_conflicts(state, most))
        cut["conflicts"] = counts["conflict"] > most
    if use is not None:
        counts["gap"], found["gaps"], cut["gaps"] = use.found, use.gaps, use.found > len(use.gaps)
        if use.record.matched:
            counts["not_retrieved"] = count(_NOT_USED)
            rows = state.db.execute(f"SELECT path FROM documents WHERE {_NOT_USED} ORDER BY path LIMIT ?", (most,))  # noqa: S608
            found["not_retrieved"] = tuple(row[0] for row in rows)
            cut["not_retrieved"] = counts["not_retrieved"] > most
    return {**found, "counts": counts, "cut": tuple(name for name, is_cut in cut.items() if is_cut)}


_NOT_USED: Final = (
    f"{ACTIVE} AND NOT EXISTS (SELECT 1 FROM used WHERE used.document = documents.id) "  # noqa: S608 constants
    "AND NOT EXISTS (SELECT 1 FROM documents copies JOIN used ON used.document = copies.id "
    "WHERE copies.repeats = documents.id)"
)
_CONFLICTS: Final = (
    f"FROM pairs JOIN judgements ON key = judged JOIN documents a ON a.id = first / {STATEMENTS_PER_DOCUMENT} "
    f"JOIN documents b ON b.id = second / {STATEMENTS_PER_DOCUMENT} WHERE found IS NOT NULL "
    "AND a.standing = 'in_force' AND b.standing = 'in_force' AND a.repeats IS NULL AND b.repeats IS NULL"
)


def _unreadable(state: State, most: int) -> Iterator[UnreadableFile]:
    for row in state.rows("SELECT path, reason FROM documents WHERE reason NOTNULL ORDER BY path LIMIT ?", most):
        yield UnreadableFile(document=row["path"], reason=row["reason"])


def _injected(state: State, most: int) -> Iterator[InjectedDocument]:
    sql = "SELECT path, json_extract(told, '$.orders') AS said FROM documents WHERE said NOTNULL ORDER BY path LIMIT ?"
    for row in state.rows(sql, most):
        yield InjectedDocument(document=row["path"], text=row["said"])


def _unread_dates(state: State, most: int) -> Iterator[UnreadDate]:
    sql = "SELECT path, told FROM documents WHERE json_array_length(told, '$.unread') > 0 ORDER BY path LIMIT ?"
    for row in state.rows(sql, most):
        said = " ".join(json.loads(row["told"])["unread"])
        yield UnreadDate(document=row["path"], reason=said.replace(f"{row['path']}: ", ""))


def _duplicates(state: State, most: int) -> Iterator[Repetition]:
    roots = (
        "SELECT repeats AS id, count(*) AS copies FROM documents WHERE repeats NOTNULL GROUP BY repeats "
        "ORDER BY copies DESC, repeats LIMIT ?"
    )
    for root in state.db.execute(roots, (most,)).fetchall():
        rows = state.db.execute(
            "SELECT d.path, d.wording, max(a.share) AS share, a.contained, max(a.same) FROM documents d JOIN alike a "
            "ON (a.first = d.id OR a.second = d.id) AND a.same > 0 WHERE d.repeats = ? GROUP BY d.id ORDER BY d.path "
            "LIMIT ?",
            (root[0], MAX_GROUP_ENTRIES),
        ).fetchall()
        own = state.db.execute("SELECT path, wording FROM documents WHERE id = ?", (root[0],)).fetchone()
        copies = [
            Copy(document=path, how=_copy_kind(wording == own[1], same), share=round(max(share, contained), 4))
            for path, wording, share, contained, same in rows
        ]
        yield Repetition(document=own[0], copies=tuple(copies))


def _copy_kind(same_words: bool, same: int) -> str:
    if same_words:
        return "same_words"
    return "nearly_same" if same == EITHER_STAYS else "contained"


def _out_of_force(state: State, most: int) -> Iterator[OutOfForce]:
    sql = (
        "SELECT path, standing, why, other FROM documents WHERE standing <> 'in_force' ORDER BY standing, path LIMIT ?"
    )
    for row in state.rows(sql, most):
        yield OutOfForce(
            document=row["path"], standing=Standing(row["standing"]), why=row["why"] or "", other=row["other"]
        )


def _conflicts(state: State, most: int) -> Iterator[CorpusConflict]:
    sql = (
        f"SELECT first, second, found {_CONFLICTS} ORDER BY json_extract(found, '$.score') DESC, first, second LIMIT ?"
    )
    for first, second, found in state.db.execute(sql, (most,)).fetchall():
        sides = [(state.path_of(one // STATEMENTS_PER_DOCUMENT), *_sentence(state, one)) for one in (first, second)]
        (path, text, start), (other, other_text, other_start) = sorted(sides)
        yield CorpusConflict(
            first=path,
            first_text=text,
            first_start=start,
            second=other,
            second_text=other_text,
            second_start=other_start,
            **json.loads(found),
        )


def _sentence(state: State, number: int) -> tuple[str, int]:
    one = state.statement(number)
    start = one.begins + one.start
    return without_line_breaks(state.text(one.document), start, one.length), start


def _versions(state: State, most: int) -> Iterator[VersionGroup]:
    """Documents with one name that differ in version, date or standing, or of which one states it replaces another."""
    names = (
        "SELECT name, known_by FROM documents WHERE name NOTNULL AND repeats IS NULL GROUP BY name, known_by "
        "HAVING count(*) > 1 AND (count(DISTINCT standing) > 1 OR "
        "count(DISTINCT coalesce(version, '') || '/' || coalesce(day, '')) > 1) ORDER BY name LIMIT ?"
    )
    count = 0
    for name, by in state.db.execute(names, (most,)).fetchall():
        count += 1
        rows = state.db.execute(
            f"SELECT id, {_VERSION} FROM documents WHERE name = ? AND known_by = ? AND repeats IS NULL "  # noqa: S608
            "ORDER BY standing = 'in_force' DESC, day DESC, version DESC, path LIMIT ?",
            (name, by, MAX_GROUP_ENTRIES),
        ).fetchall()
        yield _group(state, name, by, rows)
    references = (
        "SELECT o.id, d.id FROM documents d JOIN documents o ON o.path = d.other WHERE d.standing = 'superseded' "
        "AND (d.name IS NOT o.name OR d.known_by IS NOT o.known_by) ORDER BY d.path LIMIT ?"
    )
    for newer, older in state.db.execute(references, (most - count,)).fetchall():
        rows = [
            state.db.execute(f"SELECT id, {_VERSION} FROM documents WHERE id = ?", (one,)).fetchone()  # noqa: S608
            for one in (newer, older)
        ]
        yield _group(state, rows[0][7] or rows[0][1], "reference", rows)


_VERSION: Final = "path, version, day, standing, why, json_extract(told, '$.item.expiry_date'), name"


def _group(state: State, name: str, by: str, rows: list[Any]) -> VersionGroup:
    versions = [
        Version(
            document=path,
            version=version,
            effective_date=None if day is None else date.fromisoformat(day),
            expiry_date=None if expiry is None else date.fromisoformat(expiry),
            standing=Standing(standing),
            why=why,
        )
        for _, path, version, day, standing, why, expiry, _ in rows
    ]
    changes = tuple(_changes(state, rows[1][0], rows[0][0])) if len(rows) > 1 else ()
    return VersionGroup(name=name, identified_by=by, versions=tuple(versions), changes=changes)


def _changes(state: State, older: int, newer: int) -> Iterator[Change]:
    """The first sentences in which two versions differ."""
    old_ones, new_ones = _sentences(state, older), _sentences(state, newer)
    found = 0
    for kind, a, b, c, d in SequenceMatcher(None, old_ones, new_ones, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        for place in range(max(b - a, d - c)):
            old = old_ones[a + place] if a + place < b else None
            new = new_ones[c + place] if c + place < d else None
            yield Change(older=old, newer=new)
            found += 1
            if found >= MAX_CHANGES:
                return


def _sentences(state: State, document: int) -> list[str]:
    from assay.text.sentences import split_sentences

    text = state.text(document)[:60_000]
    spans = split_sentences(text)[:_MAX_COMPARED_SENTENCES]
    said = (" ".join(text[one.start : one.end].split())[:_MAX_SENTENCE_LENGTH] for one in spans)
    return [one for one in said if not one.startswith("#")]
