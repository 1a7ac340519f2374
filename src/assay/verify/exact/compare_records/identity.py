"""Whether a statement is about the record that it was matched with, and how many others it fits as well."""

from typing import Final

from assay.verify.exact.compare_records.matching import Match
from assay.verify.exact.compare_records.vocabulary import FUNCTION_WORDS

MOST_ALIKE: Final = 1000
"""The most records of a group that are counted as fitting."""


def found_by_name(match: Match) -> bool:
    """Whether a value that names the record is in the statement: its first cell, an identifier, its title."""
    if not match.group.table:
        return True
    mentions = [(n, m) for n, ms in match.field_values.items() for m in ms] + [
        (m.cells[0], m) for m in match.nameless_values
    ]
    return any(
        any(cell < match.own_count and match.cells[cell].naming for cell in {n, *m.cells}) and m.whole
        for n, m in mentions
    )


def is_meant(match: Match) -> bool:
    """Whether the statement is about this record."""
    if not match.group.table:
        return _is_titled(match)
    mentions = [c for ms in match.field_values.values() for m in ms for c in m.cells] + [
        c for m in match.nameless_values for c in m.cells
    ]
    return any(c < match.own_count for c in mentions)


def _is_titled(match: Match) -> bool:
    """Whether the statement names the record by its title or can be about no other."""
    title = match.group.titled
    if not title:
        records = match.records
        roots = sum(record.parent is None for record in records.records[:MOST_ALIKE])
        only = len(records.records) < MOST_ALIKE and roots == 1 == len(match.index.passages)
        return (only and match.record.parent is None) or any(
            match.cells[c].naming
            for ms in [*match.field_values.values(), match.nameless_values]
            for m in ms
            for c in m.cells
        )
    named = {f for at, f in enumerate(match.folds) if match.roles[at] == "title"}
    if named & set(title) - FUNCTION_WORDS:
        return True
    return len(match.records.passages) == len(match.index.passages) == 1


def title_is_named(match: Match) -> bool:
    """Whether the statement has the title or another name of the record."""
    title = set(match.group.titled) - FUNCTION_WORDS
    named = {f for at, f in enumerate(match.folds) if match.roles[at] == "title"}
    return bool(named & title) or any(
        match.cells[c].naming
        for ms in [*match.field_values.values(), match.nameless_values]
        for m in ms
        for c in m.cells
    )


def count_alike(match: Match, wrong: int) -> int:
    """How many records of the group have the values that the statement has right."""
    group = match.group
    if not group.table:
        return 1
    right: list[tuple[frozenset[str], tuple[str, ...]]] = []
    for number, mentions in match.field_values.items():
        if number != wrong and number < match.own_count and any(m.whole for m in mentions):
            right.append((match.cells[number].stems, match.cells[number].words))
    for mention in match.nameless_values:
        number = mention.cells[0]
        if number != wrong and number < match.own_count and mention.whole and match.cells[number].naming:
            right.append((match.cells[number].stems, match.cells[number].words))
    if not right:
        return MOST_ALIKE
    records = match.records
    posted = [n for n in records.postings.get(right[0][1][0], ()) if group.first <= n < group.last]
    if len(posted) > MOST_ALIKE:
        return MOST_ALIKE
    return sum(
        all(any(c.stems == stems and c.words == words for c in records.records[n].cells) for stems, words in right)
        for n in posted
    )
