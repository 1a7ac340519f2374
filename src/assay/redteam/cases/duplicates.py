"""Near-duplicates: cases whose texts hardly differ."""

from collections.abc import Iterator, Sequence
from typing import Final

from rapidfuzz import fuzz

from assay.redteam.cases.values import Case

NEAR_DUPLICATE: Final = 96.0
"""The least similarity, in percent (rapidfuzz's normalised edit similarity), at which two texts count as the same."""


def near_duplicates(cases: Sequence[Case]) -> Iterator[tuple[Case, Case]]:
    """Pairs of cases that share category, behaviour and values and whose prompts and turns hardly differ."""
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        for other in groups.setdefault(_group_key(case), []):
            if is_near_duplicate(other, case):
                yield other, case
                break
        else:
            groups[_group_key(case)].append(case)


def is_near_duplicate(first: Case, second: Case) -> bool:
    """Whether two cases are near-duplicates, so that a suite gains nothing from having both."""
    return (
        _group_key(first) == _group_key(second)
        and fuzz.ratio(_full_text(first), _full_text(second), score_cutoff=NEAR_DUPLICATE) >= NEAR_DUPLICATE
    )


def without_duplicates(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases without near-duplicates of an earlier one."""
    left_out = {second.id for _, second in near_duplicates(cases)}
    return tuple({case.id: case for case in cases if case.id not in left_out}.values())


def _group_key(case: Case) -> tuple[str, ...]:
    """What near-duplicates have in common: values distinguish cases that are worded alike."""
    sizes = tuple(f"{key}={value}" for key, value in sorted(case.parameters.items()))
    return case.category, case.expected_behavior, *case.accepted, *case.planted, *sizes


def _full_text(case: Case) -> str:
    return "\n".join((*(turn.content for turn in case.turns), case.prompt))
