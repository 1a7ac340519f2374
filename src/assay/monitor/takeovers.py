"""When a part of what passes through has become another one: a prompt, the declarations of tools, a model.

Traffic is described as sequences of parts, each a digest: the sentences of a prompt with what differs from request to
request masked. Each part has a **slot**: what it follows. A slot knows its followers with weights that halve every
`HALF_LIFE` sightings.

- A slot **learns** from its first `LEARNS` sightings; what follows then is known, and no change.
- A slot **varies** where its followers beyond the three most frequent make up a tenth or more: a user's name, a
  retrieved passage. Nothing in it is a change, and what comes behind it is told by the part before it.
- A new follower in a slot that does not vary has **taken over** when it was seen `RECURS` times and has a fifth of
  the weight: one who tries a prompt out changes nothing, and neither does one user among many.
- A follower that comes back after it was **replaced** (another one came after it went) takes over again: a rollback.
  One that was merely rare does not.
- A slot that changed three times in a week varies from then on, for a week: whatever it is, it is no deployment.

The state is a function of the batches in their order, so that replicas and restarts come to the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

LEARNS: Final = 30
RECURS: Final = 20
HALF_LIFE: Final = 100.0
SHARE: Final = 0.2
"""The share of a slot's weight from which a follower has taken over."""
FREQUENT: Final = 3
TAIL: Final = 0.1
"""The share of the weight beyond the `FREQUENT` from which a slot varies."""
GONE: Final = 200
"""Sightings of a slot without a follower after which it has gone."""
MOST_CHANGES: Final = 3
WEEK: Final = 7 * 86_400_000_000
MOST_FOLLOWERS: Final = 16
MOST_SLOTS: Final = 1_000
MOST_PARTS: Final = 400
"""Parts of one sequence that are looked at."""
MOST_VARIED: Final = 3
"""Slots in a row that vary, after which the rest of a sequence is passed over."""
START: Final = "^"
END: Final = "$"


@dataclass(frozen=True, slots=True)
class PassingBatch:
    """What passed through in a short while: sequences of parts, and how often each."""

    at: int
    """When it was counted, in microseconds since 1970."""
    sequences: Sequence[tuple[tuple[str, ...], int]]


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A change that showed."""

    at: int
    """When the new part was seen first."""
    parts: tuple[str, ...]
    """The parts that took over."""

    @property
    def ref(self) -> str:
        """A name for it: a digest of the parts."""
        return sha256("\0".join(self.parts).encode()).hexdigest()[:16]


@dataclass(slots=True)
class _Follower:
    first_at: int
    first_n: int
    last_n: int
    weight: float
    count: int
    known: bool


@dataclass(slots=True)
class _Slot:
    seen: int = 0
    last_at: int = 0
    varies_until: int = 0
    changed: list[int] = field(default_factory=list)
    followers: dict[str, _Follower] = field(default_factory=dict)


def advanced_passing(
    state: Mapping[str, Any], batches: Sequence[PassingBatch]
) -> tuple[dict[str, Any], list[TakeOver]]:
    """The state after further batches, and the changes that showed in each.

    Args:
        state: as this returned it before; empty at first.
        batches: in the order of their moments.
    """
    slots = {key: _read(slot) for key, slot in state.get("slots", {}).items()}
    found: list[TakeOver] = []
    for batch in batches:
        fresh: dict[str, int] = {}
        for parts, count in batch.sequences:
            _walk(slots, parts, count, batch.at, fresh)
        if fresh:
            found.append(TakeOver(min(fresh.values()), tuple(sorted(fresh))))
    if len(slots) > MOST_SLOTS:
        kept = sorted(slots, key=lambda key: (-slots[key].last_at, key))[:MOST_SLOTS]
        slots = {key: slots[key] for key in kept}
    return {"slots": {key: _slot_wire(slot) for key, slot in sorted(slots.items())}}, found


def _walk(slots: dict[str, _Slot], parts: Sequence[str], count: int, at: int, fresh: dict[str, int]) -> None:
    key, varied = START, 0
    for part in (*parts[:MOST_PARTS], END):
        slot = slots.get(key)
        if slot is None:
            if len(slots) >= 2 * MOST_SLOTS:
                return
            slot = slots[key] = _Slot()
        _see(slot, part, count, at, fresh)
        if slot.varies_until > at:
            varied += 1
            if varied > MOST_VARIED:
                return
            key += "~"
        else:
            key, varied = part, 0


def _see(slot: _Slot, part: str, count: int, at: int, fresh: dict[str, int]) -> None:
    if slot.varies_until and slot.varies_until <= at:
        slot.seen, slot.varies_until, slot.followers, slot.changed = 0, 0, {}, []
    before = slot.seen
    slot.seen += count
    slot.last_at = max(slot.last_at, at)
    decay = 2.0 ** (-count / HALF_LIFE)
    for other in slot.followers.values():
        other.weight *= decay
    one = slot.followers.get(part)
    if one is None:
        one = slot.followers[part] = _Follower(at, before, slot.seen, 0.0, 0, known=before < LEARNS)
    elif one.known and before - one.last_n >= GONE and _replaced(slot, part, one):
        one.first_at, one.first_n, one.count, one.known = at, before, 0, False
    # What a sighting weighs now, of `count` in a row.
    one.weight += (1 - decay) / (1 - 2.0 ** (-1 / HALF_LIFE))
    one.count += count
    one.last_n = slot.seen
    while len(slot.followers) > MOST_FOLLOWERS:
        del slot.followers[min(slot.followers, key=lambda name: (slot.followers[name].weight, name))]
    whole = sum(other.weight for other in slot.followers.values())
    heavy = sorted((other.weight for other in slot.followers.values()), reverse=True)
    if sum(heavy[FREQUENT:]) >= TAIL * whole:
        slot.varies_until = at + WEEK
    if one.known or slot.varies_until > at or one.count < RECURS or one.weight < SHARE * whole:
        return
    one.known = True
    slot.changed = [moment for moment in slot.changed if moment > at - WEEK]
    if len(slot.changed) >= MOST_CHANGES:
        slot.varies_until = at + WEEK
        return
    slot.changed.append(at)
    fresh[part] = one.first_at


def _replaced(slot: _Slot, part: str, one: _Follower) -> bool:
    """Whether another follower came first after this one was seen last, and after the slot had learned."""
    return any(other.first_n >= max(one.last_n, LEARNS) for name, other in slot.followers.items() if name != part)


def varying(state: Mapping[str, Any], now: int) -> int:
    """How many slots vary, so that no change in them is noticed."""
    return sum(slot["varies"] > now for slot in state.get("slots", {}).values())


def _slot_wire(slot: _Slot) -> dict[str, Any]:
    return {
        "seen": slot.seen,
        "at": slot.last_at,
        "varies": slot.varies_until,
        "changed": slot.changed,
        "followers": {
            name: [one.first_at, one.first_n, one.last_n, one.weight, one.count, one.known]
            for name, one in sorted(slot.followers.items())
        },
    }


def _read(wire: Mapping[str, Any]) -> _Slot:
    followers = {name: _Follower(*one) for name, one in wire["followers"].items()}
    return _Slot(wire["seen"], wire["at"], wire["varies"], list(wire["changed"]), followers)
