"""Which of several changes made outputs worse: a binary search that knows that evaluations are noise.

State i is the system after the first i changes. State 0 is compared with the last one row by row until it is sure that
the mean has risen, or that it has not by the shift that matters. Then the state in the middle is evaluated until a
sequential test is sure on which side of the cause it stands, and so on. Each step stops as soon as it is sure at its
share of the error rate. Where the whole rise leaves room for two causes, a state in the middle may be neither as good
as the first nor as bad as the last; then both sides are searched. A cause is a rise by the shift that matters, or by
half of the whole rise where that is more.

The search is a function of the outcomes so far: it asks for more of one state, or is done. So it can be stopped at any
moment and taken up again, and two who have the same outcomes come to the same.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from assay.errors import InputError
from assay.stats.drift import Decided, Found, TwoMeans, compare, decide

KNOWN: Final = 5
"""The shift that matters is so many standard errors of the whole rise, before it is searched for causes."""

Outcomes = Mapping[int, Sequence[float]]
"""By state, the outcome of each evaluation in order, from 0 (good) to 1 (bad). Evaluation number k is of the same row
in every state."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How sure the search has to be.

    Raises:
        InputError: a number is out of range.
    """

    alpha: float = 0.05
    """The chance that the search as a whole names a wrong cause."""
    shift: float = 0.03
    """The rise of the mean that matters."""
    most: int = 20_000
    """Evaluations of one state; a step that is not sure by then goes where it leans, and the result says so."""
    batch: int = 50
    """Evaluations that are asked for at a time."""
    good: float | None = None
    """The mean before the regression, where it is known; else state 0 is evaluated."""
    bad: float | None = None
    """And the mean after it; both or neither."""

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1 or not 0 < self.shift < 1 or not 1 <= self.batch <= self.most:
            raise InputError("expected an error rate and a shift between 0 and 1, and a batch of 1 up to the most")
        if (self.good is None) != (self.bad is None):
            raise InputError("expected both means, before and after the regression, or neither")
        if self.good is not None and self.bad is not None and not 0 <= self.good < self.bad <= 1:
            raise InputError(f"expected a mean before below the one after, got {self.good} and {self.bad}")


@dataclass(frozen=True, slots=True)
class Ask:
    """More evaluations are needed."""

    state: int
    """Of this state."""
    count: int
    """So many more."""
    why: str


@dataclass(frozen=True, slots=True)
class FoundCause:
    """A change that made outputs worse."""

    change: int
    """Its number, from 0: it leads from the state of this number to the next."""
    probability: float
    """How probable it is that it is this one and none beside it, by what was seen of all states of its part of the
    search."""
    before: float
    """The mean of the states before it, in its part."""
    after: float


@dataclass(frozen=True, slots=True)
class Step:
    """One step, as it is told."""

    state: int
    found: str
    evaluations: int
    sure: bool


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What the search came to."""

    verdict: str
    """`found`, or `no_regression` where the mean has not risen by the shift, or `unsure`."""
    causes: tuple[FoundCause, ...]
    steps: tuple[Step, ...]
    evaluations: int
    sure: bool
    """Whether every step was sure at its share of the error rate."""


class _NeedsError(Exception):
    def __init__(self, ask: Ask) -> None:
        super().__init__(ask.why)
        self.ask = ask


def search(changes: int, outcomes: Outcomes, options: SearchOptions) -> Ask | SearchResult:
    """What to do next, given all outcomes so far.

    Args:
        changes: how many changes there are, 1 or more.
        outcomes: what was evaluated.
        options: how sure to be.

    Raises:
        InputError: there are no changes, or an outcome is outside [0, 1].
    """
    if changes < 1:
        raise InputError("expected at least one change to search")
    try:
        return _Search(changes, outcomes, options).run()
    except _NeedsError as need:
        return need.ask


@dataclass(slots=True)
class _Search:
    changes: int
    outcomes: Outcomes
    options: SearchOptions
    steps: list[Step] = field(default_factory=list)
    levels: dict[int, float] = field(default_factory=dict)
    """Means of states that are known."""
    jump: float = 0.0
    """The smallest rise that is taken for a cause."""
    used: dict[int, int] = field(default_factory=dict)
    """How many outcomes of each state the decision about it was made on: what came later changes it no more."""

    def run(self) -> SearchResult:
        options = self.options
        ends = (0, self.changes)
        levels = None if options.good is None or options.bad is None else {0: options.good, self.changes: options.bad}
        if levels is None:
            compared = self._compared(*ends, options.alpha / 4)
            if compared is not Found.HIGH:
                return self._result("no_regression" if compared is Found.LOW else "unsure", [])
            self._sharpen(*ends)
        self.levels = levels or {}
        low, high = self._mean([0]), self._mean([self.changes])
        self.jump = max(options.shift, (high - low) / 2)
        found = self._causes(0, self.changes, [0], [self.changes])
        return self._result("found", sorted(found, key=lambda cause: cause.change))

    def _sharpen(self, first: int, last: int) -> None:
        """Evaluate both ends until the rise is known well: what stopped early stopped where it looked too large."""
        begun = [self._seen(state) for state in (first, last)]
        variances = [max(sum(one) / len(one) * (1 - sum(one) / len(one)), 1e-4) for one in begun]
        wanted = math.ceil(KNOWN**2 * sum(variances) / self.options.shift**2)
        wanted = min(max(wanted, len(begun[0])), self.options.most)
        for state in (first, last):
            there = len(self.outcomes.get(state, ()))
            if there < wanted:
                count = min(self.options.batch, wanted - there)
                raise _NeedsError(Ask(state, count, "how much worse is the last state than the first?"))
            self.used[state] = wanted

    def _result(self, verdict: str, causes: Sequence[FoundCause]) -> SearchResult:
        count = sum(len(one) for one in self.outcomes.values())
        return SearchResult(verdict, tuple(causes), tuple(self.steps), count, all(step.sure for step in self.steps))

    def _causes(self, low: int, high: int, goods: Sequence[int], bads: Sequence[int]) -> list[FoundCause]:
        """The causes between two states, of which the later is known to be worse.

        Args:
            low: the earlier state.
            high: the later one.
            goods: the states with the mean of the earlier one, as far as that was found.
            bads: and with that of the later one.
        """
        if high - low == 1:
            return [self._described(low, goods, bads)]
        middle = (low + high) // 2
        rises = self._sides(middle, goods, bads)
        found = []
        if rises[0]:
            found += self._causes(low, middle, goods, [middle] if rises[1] else [*bads, middle])
        if rises[1]:
            found += self._causes(middle, high, [middle] if rises[0] else [*goods, middle], bads)
        return found

    def _sides(self, state: int, goods: Sequence[int], bads: Sequence[int]) -> tuple[bool, bool]:
        """Whether the mean rises between the good states and one, and between that one and the bad states."""
        low, high, half = self._mean(goods), self._mean(bads), self.jump / 2
        why = f"is state {state} as good as the states before it, or as bad as those after?"
        if high - low < 1.5 * self.jump:
            # One cause: the middle of both levels is known better than either.
            worse = self._told(state, (low + high) / 2 - half, (low + high) / 2 + half, [*goods, *bads], why)
            return worse, not worse
        risen = self._told(state, low, low + self.jump, [*goods, *bads], why)
        rises = not self._told(state, high - self.jump, high, [*goods, *bads], why)
        if not risen and not rises:
            # Not possible, as the later states are worse: one of both tests erred, the larger step is believed.
            risen = self._mean([state]) - low > high - self._mean([state])
            rises = not risen
        return risen, rises

    def _share(self) -> float:
        """The error rate of one test, so that all together keep that of the search."""
        return self.options.alpha / (2 * (math.ceil(math.log2(max(2, self.changes))) + 1))

    def _seen(self, state: int) -> list[float]:
        """The outcomes of a state that decisions may look at."""
        all_ = list(self.outcomes.get(state, ()))
        return all_[: self.used.get(state, len(all_))]

    def _mean(self, states: Sequence[int]) -> float:
        """The mean of states that have the same one: as it is known, else over all that was seen of them."""
        if (known := next((self.levels[state] for state in states if state in self.levels), None)) is not None:
            return known
        values = [value for state in states for value in self._seen(state)]
        return (sum(values) + 0.5) / (len(values) + 1)

    def _told(self, state: int, low: float, high: float, known: Sequence[int], why: str) -> bool:
        """Whether the mean of a state is the higher one of two."""
        low, high = max(0.0, low), min(1.0, high)
        flat = [value for one in (*known, state) for value in self.outcomes.get(one, ())]
        spread = None if all(value in (0.0, 1.0) for value in flat) else self._spread(known)
        values = list(self.outcomes.get(state, ()))
        test = TwoMeans(low, high, self._share(), spread)
        found = decide(test, values) if values else Decided(Found.OPEN, 0)
        if found.found is Found.OPEN and len(values) < self.options.most:
            raise _NeedsError(Ask(state, min(self.options.batch, self.options.most - len(values)), why))
        self.used[state] = max(self.used.get(state, 0), found.seen)
        worse = found.found is Found.HIGH
        if found.found is Found.OPEN:
            worse = sum(values) / len(values) > (low + high) / 2
        self.steps.append(Step(state, "higher" if worse else "lower", found.seen, found.found is not Found.OPEN))
        return worse

    def _spread(self, states: Sequence[int]) -> float:
        values = [value for state in states for value in self._seen(state)]
        if len(values) < 2:
            return 0.3
        mean = sum(values) / len(values)
        return max(0.02, math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)))

    def _compared(self, first: int, last: int, alpha: float, note: str = "a regression") -> Found:
        """Whether the later of two states is worse."""
        before, after = self.outcomes.get(first, ()), self.outcomes.get(last, ())
        found = compare(before, after, self.options.shift, alpha)
        if found.found is Found.OPEN and found.seen < self.options.most:
            wanted = min(found.seen + self.options.batch, self.options.most)
            for state, values in ((first, before), (last, after)):
                if len(values) < wanted:
                    why = f"is there {note} between states {first} and {last}?"
                    raise _NeedsError(Ask(state, wanted - len(values), why))
        for state in (first, last):
            self.used.setdefault(state, found.seen)
        said = {Found.HIGH: "worse", Found.LOW: "not worse", Found.OPEN: "unsure"}[found.found]
        self.steps.append(Step(last, said, found.seen, found.found is not Found.OPEN))
        return found.found

    def _described(self, change: int, goods: Sequence[int], bads: Sequence[int]) -> FoundCause:
        """The cause with how probable it is, by the likelihood of all outcomes beside it for each place."""
        before, after = self._mean(goods), self._mean(bads)
        states = sorted({state for state in (*goods, *bads) if self._seen(state)})
        if not before < after or not states:
            return FoundCause(change, 0.0 if states else 1.0, before, after)
        low, high = max(before, 1e-6), min(max(after, 2e-6), 1 - 1e-6)
        flat = [value for state in states for value in self._seen(state)]
        if all(value in (0.0, 1.0) for value in flat):
            up, down = math.log(high / low), math.log((1 - high) / (1 - low))
            gain = {state: sum(up if value else down for value in self._seen(state)) for state in states}
        else:
            spread, middle = self._spread(states), (low + high) / 2
            gain = {
                state: sum((value - middle) * (high - low) / spread**2 for value in self._seen(state))
                for state in states
            }
        # With the cause at k, states after k have the higher mean.
        places = range(min((*goods, change)), max((*bads, change + 1)))
        logs = [sum(gain[state] for state in states if state > place) for place in places]
        top = max(logs)
        weights = [math.exp(one - top) for one in logs]
        return FoundCause(change, weights[change - places.start] / sum(weights), before, after)
