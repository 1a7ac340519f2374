"""Cases that say nearly the same."""

from collections.abc import Iterator, Sequence
from typing import Final

from rapidfuzz import fuzz

from assay.redteam.cases.values import Case

SAME: Final = 96.0
"""From this likeness of two prompts on, in percent (the normalised edit distance of rapidfuzz), they are one."""


def near_duplicates(cases: Sequence[Case]) -> Iterator[tuple[Case, Case]]:
    """Pairs of cases of one category and behaviour whose prompts, turns and values hardly differ."""
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        for other in groups.setdefault(_group(case), []):
            if is_same(other, case):
                yield other, case
                break
        else:
            groups[_group(case)].append(case)


def is_same(first: Case, second: Case) -> bool:
    """Whether a suite gains nothing by having both."""
    return _group(first) == _group(second) and fuzz.ratio(_said(first), _said(second), score_cutoff=SAME) >= SAME


def without_duplicates(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases without those that say nearly the same as one before them."""
    left_out = {second.id for _, second in near_duplicates(cases)}
    return tuple({case.id: case for case in cases if case.id not in left_out}.values())


def _group(case: Case) -> tuple[str, ...]:
    """What two cases have to share to be one: the values tell apart what is worded alike."""
    sizes = tuple(f"{key}={value}" for key, value in sorted(case.parameters.items()))
    return case.category, case.expected_behavior, *case.accepted, *case.planted, *sizes


def _said(case: Case) -> str:
    return "\n".join((*(turn.content for turn in case.turns), case.prompt))
