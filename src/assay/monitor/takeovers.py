"""Detects when a part of the traffic is replaced by another: in prompts, declarations of tools, or models.

Traffic is described as sequences of parts. Each part is a digest: of a sentence of a prompt, say, in which whatever
differs from request to request is masked. A **slot** is the position after a given part. A slot keeps its followers
with weights that halve every `HALF_LIFE` sightings.

- A slot **learns** from its first `LEARNING_SIGHTINGS` sightings; its followers then are known and no changes.
- A slot **varies** while its followers beyond the three most frequent have a tenth of the weight or more: a user's
  name, a retrieved passage. Nothing in it is a change, and the parts after it are attributed to the part before it.
- A new follower in a slot that does not vary has **taken over** when it was seen `LEAST_SIGHTINGS` times and has a
  fifth of the weight: a prompt that is merely being tried out is no change, nor is one user among many.
- A follower that returns after it was **replaced** (another one appeared after it had gone) takes over again: a
  rollback. One that was merely rare does not.
- A slot that changed three times in a week counts as varying for the next week: that is not how deployments look.

The state is a function of the batches in their order, so that replicas and restarts agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

LEARNING_SIGHTINGS: Final = 30
"""Sightings of a slot whose followers are known from the start."""
LEAST_SIGHTINGS: Final = 20
"""The least sightings of a follower that has taken over."""
HALF_LIFE: Final = 100.0
"""Sightings of a slot in which the weight of a follower halves."""
TAKE_OVER_SHARE: Final = 0.2
"""The least share of a slot's weight of a follower that has taken over."""
FREQUENT: Final = 3
"""The number of most frequent followers that do not count as variation."""
VARYING_SHARE: Final = 0.1
"""The least share of the weight of the other followers in a slot that varies."""
GONE_AFTER: Final = 200
"""Sightings of a slot without a follower after which that has gone."""
MOST_CHANGES: Final = 3
"""The changes of a slot in a week after which it counts as varying."""
WEEK: Final = 7 * 86_400_000_000
"""A week, in microseconds."""
MOST_FOLLOWERS: Final = 16
"""The most followers that a slot keeps."""
MOST_SLOTS: Final = 1_000
"""The most slots that the state keeps."""
MOST_PARTS: Final = 400
"""The most parts of one sequence that are considered."""
MOST_VARYING: Final = 3
"""The most varying slots in a row; the rest of the sequence is ignored after more."""
START: Final = "^"
"""The slot at the start of a sequence."""
END: Final = "$"
"""The part at the end of a sequence."""


@dataclass(frozen=True, slots=True)
class PassingBatch:
    """The traffic of a short period: sequences of parts with their counts."""

    at: int
    """When it was counted, in microseconds since 1970."""
    sequences: Sequence[tuple[tuple[str, ...], int]]
    """Each sequence with the number of requests that had it."""


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A change that was detected."""

    at: int
    """When the first of the new parts was first seen, in microseconds since 1970."""
    parts: tuple[str, ...]
    """The parts that took over."""

    @property
    def ref(self) -> str:
        """A reference for it: a digest of the parts."""
        return sha256("\0".join(self.parts).encode()).hexdigest()[:16]


@dataclass(slots=True)
class _Follower:
    """A part that follows another one."""

    first_at: int
    """When it was first seen, in microseconds since 1970."""
    first_n: int
    """The sightings of the slot before it was first seen."""
    last_n: int
    """The sightings of the slot when it was last seen."""
    weight: float
    count: int
    """Its sightings."""
    known: bool
    """Whether it is no change any more: it was learned or has taken over."""


@dataclass(slots=True)
class _Slot:
    """A position in sequences: after a part."""

    seen: int = 0
    """Its sightings."""
    last_at: int = 0
    """When it was last seen, in microseconds since 1970."""
    varies_until: int = 0
    """The moment until which it counts as varying; 0 where it does not."""
    changed: list[int] = field(default_factory=list)
    """The moments of its changes in the last week."""
    followers: dict[str, _Follower] = field(default_factory=dict)


def advanced_passing(
    state: Mapping[str, Any], batches: Sequence[PassingBatch]
) -> tuple[dict[str, Any], list[TakeOver]]:
    """Advances the state by further batches of traffic.

    Args:
        state: the state that the last call returned; empty at first.
        batches: the batches, in the order of their moments.

    Returns:
        The new state and the changes that were detected.
    """
    slots = {key: _slot_of_wire(slot) for key, slot in state.get("slots", {}).items()}
    take_overs: list[TakeOver] = []
    for batch in batches:
        taken_over: dict[str, int] = {}
        for parts, count in batch.sequences:
            _walk(slots, parts, count, batch.at, taken_over)
        if taken_over:
            take_overs.append(TakeOver(min(taken_over.values()), tuple(sorted(taken_over))))
    if len(slots) > MOST_SLOTS:
        kept = sorted(slots, key=lambda key: (-slots[key].last_at, key))[:MOST_SLOTS]
        slots = {key: slots[key] for key in kept}
    return {"slots": {key: _slot_wire(slot) for key, slot in sorted(slots.items())}}, take_overs


def _walk(slots: dict[str, _Slot], parts: Sequence[str], count: int, at: int, taken_over: dict[str, int]) -> None:
    key, varying_in_row = START, 0
    for part in (*parts[:MOST_PARTS], END):
        slot = slots.get(key)
        if slot is None:
            if len(slots) >= 2 * MOST_SLOTS:
                return
            slot = slots[key] = _Slot()
        _record_sighting(slot, part, count, at, taken_over)
        if slot.varies_until > at:
            varying_in_row += 1
            if varying_in_row > MOST_VARYING:
                return
            key += "~"
        else:
            key, varying_in_row = part, 0


def _record_sighting(slot: _Slot, part: str, count: int, at: int, taken_over: dict[str, int]) -> None:
    if slot.varies_until and slot.varies_until <= at:
        slot.seen, slot.varies_until, slot.followers, slot.changed = 0, 0, {}, []
    before = slot.seen
    slot.seen += count
    slot.last_at = max(slot.last_at, at)
    decay = 2.0 ** (-count / HALF_LIFE)
    for other in slot.followers.values():
        other.weight *= decay
    follower = slot.followers.get(part)
    if follower is None:
        follower = slot.followers[part] = _Follower(at, before, slot.seen, 0.0, 0, known=before < LEARNING_SIGHTINGS)
    elif follower.known and before - follower.last_n >= GONE_AFTER and _replaced(slot, part, follower):
        follower.first_at, follower.first_n, follower.count, follower.known = at, before, 0, False
    # The present weight of `count` sightings in a row.
    follower.weight += (1 - decay) / (1 - 2.0 ** (-1 / HALF_LIFE))
    follower.count += count
    follower.last_n = slot.seen
    while len(slot.followers) > MOST_FOLLOWERS:
        del slot.followers[min(slot.followers, key=lambda name: (slot.followers[name].weight, name))]
    total = sum(other.weight for other in slot.followers.values())
    weights = sorted((other.weight for other in slot.followers.values()), reverse=True)
    if sum(weights[FREQUENT:]) >= VARYING_SHARE * total:
        slot.varies_until = at + WEEK
    if (
        follower.known
        or slot.varies_until > at
        or follower.count < LEAST_SIGHTINGS
        or follower.weight < TAKE_OVER_SHARE * total
    ):
        return
    follower.known = True
    slot.changed = [moment for moment in slot.changed if moment > at - WEEK]
    if len(slot.changed) >= MOST_CHANGES:
        slot.varies_until = at + WEEK
        return
    slot.changed.append(at)
    taken_over[part] = follower.first_at


def _replaced(slot: _Slot, part: str, follower: _Follower) -> bool:
    """Whether another follower first appeared after this one was last seen, and after the slot had learned."""
    return any(
        other.first_n >= max(follower.last_n, LEARNING_SIGHTINGS)
        for name, other in slot.followers.items()
        if name != part
    )


def varying(state: Mapping[str, Any], now: int) -> int:
    """The number of slots that vary at a moment, in which no change is detected."""
    return sum(slot["varies"] > now for slot in state.get("slots", {}).values())


def _slot_wire(slot: _Slot) -> dict[str, Any]:
    return {
        "seen": slot.seen,
        "at": slot.last_at,
        "varies": slot.varies_until,
        "changed": slot.changed,
        "followers": {
            name: [
                follower.first_at,
                follower.first_n,
                follower.last_n,
                follower.weight,
                follower.count,
                follower.known,
            ]
            for name, follower in sorted(slot.followers.items())
        },
    }


def _slot_of_wire(wire: Mapping[str, Any]) -> _Slot:
    followers = {name: _Follower(*one) for name, one in wire["followers"].items()}
    return _Slot(wire["seen"], wire["at"], wire["varies"], list(wire["changed"]), followers)
