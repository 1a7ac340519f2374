"""The direction of a change by its words, and which of two numbers it may have begun with.

A rise of 50% and a fall of 50% are other statements about the same two numbers, and each is a share of the number that
it began with.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from assay.text.lexicon import word_set
from assay.text.quantities import Quantity

_RISES: Final = word_set(
    """increase increased increases increasing rise rises rising rose risen grow grows growing grew grown growth gain
    gains gained jump jumps jumped climb climbs climbed"""
)
_FALLS: Final = word_set(
    """decrease decreased decreases decreasing fall falls falling fell fallen drop drops dropped dropping decline
    declines declined declining reduce reduces reduced reduction cut cuts shrink shrinks shrank shrunk"""
)
_MORE: Final = word_set("more higher dearer")
_LESS: Final = word_set("less lower cheaper fewer")
"""Comparatives, which say nothing of time."""
_ADDED: Final = word_set("added adds add plus surcharge surcharges extra")
_TAKEN: Final = word_set("off discount discounts discounted rebate rebates minus deducted save saves saved")


class Change(NamedTuple):
    """What some words say of a change or a difference."""

    direction: int
    """1 for a rise or for more, -1 for a fall or for less, 0 where the words have neither or both."""
    in_time: bool
    """Whether they name a change, which begins with the earlier number, and not a difference of two things."""


UNCHANGED: Final = Change(0, False)


def change_of(folds: frozenset[str]) -> Change:
    """The change that some folded words name: "fell by more than 20%" is a fall.

    >>> change_of(frozenset({"revenue", "rose"})), change_of(frozenset({"less", "than"}))
    (Change(direction=1, in_time=True), Change(direction=-1, in_time=False))
    """
    verbs = _direction(folds, _RISES, _FALLS)
    if verbs is not None:
        return Change(verbs, True)
    return Change(_direction(folds, _MORE, _LESS) or 0, False)


def is_added(folds: frozenset[str]) -> int:
    """1 where the words around a share say that it is added, -1 where they say that it is taken off, else 0."""
    return _direction(folds, _ADDED | _RISES | _MORE, _TAKEN | _FALLS | _LESS) or 0


def _direction(folds: frozenset[str], upward: frozenset[str], downward: frozenset[str]) -> int | None:
    """The direction of some words; 0 where they have both, none where they have neither."""
    up, down = not folds.isdisjoint(upward), not folds.isdisjoint(downward)
    return up - down if up or down else None


def _never(_first: Quantity, _second: Quantity) -> int:
    return 0


def _unsigned(_share: Quantity) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Course:
    """What the words around a claim's number and around its operands say of their order and of the change."""

    change: Change = UNCHANGED
    """The change that the claim states."""
    order: Callable[[Quantity, Quantity], int] = _never
    """-1 where the first of two numbers is known to be the earlier one, 1 where the second is, else 0."""
    sign: Callable[[Quantity], int] = _unsigned
    """1 for a share that is added to a number, -1 for one that is taken off, 0 where that is unknown."""

    def leads(self, old: Quantity, new: Quantity, difference: Decimal) -> bool:
        """Whether the claim's change may lead from one number to another, which is larger by `difference`."""
        if not self.change.direction:
            return True
        if difference * self.change.direction <= 0:
            return False
        return not self.change.in_time or self.order(old, new) <= 0


NO_COURSE: Final = Course()
"""Nothing is known, so every order and every sign is possible."""
