"""Which of several changes made outputs worse: a search that knows that evaluations are noise.

State i is the system after the first i changes. A hypothesis says which change, or which two, raised the mean, or that
none did. What is believed of each is worked out of all outcomes of all states together (`assay.stats.drift.steps`): a
state in the middle is held against all states before and behind it, row by row where they answered the same rows. So
the ends need not be known better than the search needs them, and no step has to be sure by itself. Each time that state
is evaluated from which most is expected to be learned. The search ends

- `found`, where "nothing rose" is refuted at half of the error rate (a test that holds however often one looks) and
  one answer has all probability but 0.9 of the error rate, where it is one cause, and 0.3 of it, where it is two; one
  cause is named where each two are less probable, each with the odds of `SECOND`;
- `no_regression`, where every rise by the shift that matters is refuted at a tenth of the error rate, wherever it is;
- `unsure`, where all that may be evaluated was, and neither is so.

Two causes are looked for as halves of the whole rise, each not less than the shift that matters; what is much smaller
beside a larger one is not told. The chance of naming a wrong cause is one in the mean over which change it is; for two
causes that are just as large as the shift that matters it is not kept for sure (benchmarks/RESULTS.md).

The search is a function of the outcomes so far: it asks for more of one state, or is done. So it can be stopped at any
moment and taken up again, and two who have the same outcomes come to the same.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.stats.drift import Believed, Evaluations, Places, believed, evaluations, gains, precision, sizes_of

NAMING: Final = 0.9
"""The part of the error rate for naming a wrong cause; the rest is for finding none where there is one."""
LEVEL: Final = 0.5
"""The part of it for finding a cause where there is none."""
SECOND: Final = 18.0
"""In error rates, how probable two causes that are just as large as the shift may make the data beside one cause, where
one is named. At 18 two causes are told in 95% and one costs 0.49 of a search of a fixed size, at 14 in 99% and 0.52
(docs/adr/0104)."""
TWO: Final = 0.3
"""The part of it for naming wrong ones where two are named: a pair has twice as many neighbours as one cause."""
PARTS: Final = (1 / 2,)
"""What part of the whole rise the first of two causes may have."""
_PRIOR: Final = (0.5, 0.25, 0.25)
"""How probable no cause, one and two are beforehand."""
_ALL: Final = 16
"""Of so many states every one is a candidate from the start; of more, those in the middle of what is not told apart."""
_EXACT: Final = 1e9
"""The precision of a mean that is known."""
_FIRST: Final = 3
"""Both ends are evaluated on so many over the shift rows before anything is concluded."""

Floats = NDArray[np.float64]
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
    """Evaluations of one state; a search that is not sure by then names what is most probable, and says so."""
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
    """What was found of one state."""

    state: int
    found: str
    """`lower` as the first state, `higher` as the last one, or `between`."""
    evaluations: int
    sure: bool
    """Whether the search as a whole is."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What the search came to."""

    verdict: str
    """`found`, or `no_regression` where the mean has not risen by the shift, or `unsure`."""
    causes: tuple[FoundCause, ...]
    steps: tuple[Step, ...]
    evaluations: int
    sure: bool
    """Whether it is at the error rate that was asked."""


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
    known = options.good is not None
    for state in () if known else (0, changes):
        wanted = min(options.most, max(options.batch, math.ceil(_FIRST / options.shift)))
        if (there := len(outcomes.get(state, ()))) < wanted:
            return Ask(state, min(options.batch, wanted - there), "is the last state worse than the first?")
    return _Search(changes, outcomes, options).next()


@dataclass(frozen=True, slots=True)
class _Answer:
    """Where causes may be: between two states that are next to each other among the candidates."""

    between: tuple[tuple[int, int], ...]
    """None, one or two stretches of changes, each from its first to before its last."""
    part: float = 1.0
    """What part of the whole rise the first has."""

    @property
    def names_changes(self) -> bool:
        """Whether it names changes."""
        return all(end - begin == 1 for begin, end in self.between)


@dataclass(frozen=True, slots=True, eq=False)
class _Hypotheses:
    answers: tuple[_Answer, ...]
    """The first is that nothing changed, unless both means are known."""
    places: Places
    partitions: dict[tuple[tuple[int, int], ...], tuple[int, ...]]
    """Those that name changes, with the numbers of their answers."""


@lru_cache(maxsize=64)
def _hypotheses(states: tuple[int, ...], shift: float, known: bool) -> _Hypotheses:
    """All answers that states can tell apart, with how probable each is beforehand: all changes alike."""
    changes, at, stretches = states[-1], np.array(states), list(pairwise(states))
    answers = [
        *([] if known else [_Answer(())]),
        *(_Answer((one,)) for one in stretches),
        *(_Answer(two, part) for two in combinations(stretches, 2) for part in PARTS),
    ]
    shapes, weights, least = [], [], []
    pairs = max(1.0, changes * (changes - 1) / 2)
    for answer in answers:
        length = math.prod(end - begin for begin, end in answer.between)
        shape: NDArray[np.floating[Any]] = np.zeros(at.size)
        match [(at >= end) * 1.0 for _, end in answer.between]:
            case []:
                weight, smallest = _PRIOR[0], 0.0
            case [one]:
                shape, weight, smallest = one, _PRIOR[1] * length / changes, shift
            case [one, two]:
                shape = one * answer.part + two * (1 - answer.part)
                weight = _PRIOR[2] * length / pairs / len(PARTS)
                smallest = shift / min(answer.part, 1 - answer.part)
            case _:
                raise AssertionError("an answer has at most two causes")
        shapes.append(shape)
        weights.append(weight)
        least.append(smallest)
    partitions: dict[tuple[tuple[int, int], ...], tuple[int, ...]] = {}
    for number, answer in enumerate(answers):
        if answer.between and answer.names_changes:
            partitions[answer.between] = (*partitions.get(answer.between, ()), number)
    total = np.array(weights)
    return _Hypotheses(tuple(answers), Places(np.stack(shapes), total / total.sum(), np.array(least)), partitions)


def _side(share: float) -> str:
    """Where a state stands between the first and the last one."""
    return "higher" if share > 3 / 4 else "lower" if share < 1 / 4 else "between"


class _Search:
    """One look at all outcomes."""

    def __init__(self, changes: int, outcomes: Outcomes, options: SearchOptions) -> None:
        self._changes, self._outcomes, self._options = changes, outcomes, options
        self._known = None if options.good is None or options.bad is None else (options.good, options.bad)
        self._states = self._looked_at()
        found = _hypotheses(self._states, options.shift, self._known is not None)
        self._answers, self._places, self._partitions = found.answers, found.places, found.partitions

    def _looked_at(self) -> tuple[int, ...]:
        """The states that were evaluated, and those from which more could be learned."""
        if self._changes < _ALL:
            return tuple(range(self._changes + 1))
        there = sorted({0, self._changes, *(state for state, seen in self._outcomes.items() if seen)})
        return tuple(sorted({*there, *((low + high) // 2 for low, high in pairwise(there))}))

    def next(self) -> Ask | SearchResult:
        """What comes next."""
        options, places = self._options, self._places
        seen = evaluations(self._outcomes, self._states)
        known = self._known
        sizes = sizes_of(options.shift) if known is None else np.array([known[1] - known[0]])
        # Variances follow from means, which are known only when they are.
        alike = self._variances(seen, None)
        own, shared = self._variances(seen, self._believed(seen, *alike, sizes))
        now = self._believed(seen, own, shared, sizes)
        by_answer = now.weights.sum(axis=1)
        if known is None:
            # Where nothing rose all states have one variance: that is refuted with the larger of both estimates of it.
            flat = self._believed(seen, np.maximum(alike[0], own.mean()), min(alike[1], shared), sizes)
            some = flat.evidence[1:] + np.log(places.weights[1:] / places.weights[1:].sum())
            refuted = float(np.logaddexp.reduce(some)) - flat.evidence[0] >= math.log(1 / (LEVEL * options.alpha))
            if float(flat.likelihoods[1:].max()) <= math.log((1 - NAMING) * options.alpha):
                return self._result("no_regression", seen, now, None, True)
        else:
            refuted = True
        first = 0 if known is not None else 1
        by_answer = by_answer / by_answer[first:].sum()
        sets = {one: float(by_answer[list(numbers)].sum()) for one, numbers in self._partitions.items()}
        best = max(sets, key=lambda one: sets[one]) if sets else None
        rival = None
        if refuted and best is not None and self._is_sure(best, sets[best]):
            rival = self._rival(best, now)
            if rival is None:
                return self._result("found", seen, now, best, True)
        left = [options.most - len(self._outcomes.get(state, ())) for state in self._states]
        at_stake = now if rival is None or best is None else self._beside(best, rival, now)
        expected = gains(at_stake, seen, places, own, shared, options.batch)
        if known is not None:
            expected[[0, -1]] = 0.0
        expected[[number for number, rest in enumerate(left) if rest <= 0]] = -1.0
        number = int(expected.argmax())
        if expected[number] <= 0:
            if refuted and best is not None:
                return self._result("found", seen, now, best, False)
            return self._result("unsure", seen, now, None, False)
        return Ask(self._states[number], min(options.batch, left[number]), self._why(number))

    def _is_sure(self, best: tuple[tuple[int, int], ...], probability: float) -> bool:
        """Whether an answer is probable enough to be named."""
        return probability >= 1 - (NAMING if len(best) == 1 else TWO) * self._options.alpha

    def _rival(self, best: tuple[tuple[int, int], ...], now: Believed) -> int | None:
        """Where one cause would be named, the number of the two that are not refuted and fit best; none where all are.

        Two causes that are near to each other look like one. So one is named where each two are refuted, each by
        itself: the likelihood of one cause, averaged over all, over that of those two is a martingale if it is they.
        """
        counts = np.array([len(answer.between) for answer in self._answers])
        if len(best) > 1 or not bool(np.any(counts == 2)):
            return None
        weights = self._places.weights[counts == 1]
        averaged = float(np.logaddexp.reduce(now.evidence[counts == 1] + np.log(weights / weights.sum())))
        fits = np.where(counts == 2, now.likelihoods.max(axis=1), -np.inf)
        number = int(fits.argmax())
        return None if fits[number] <= averaged + math.log(SECOND * self._options.alpha) else number

    def _beside(self, best: tuple[tuple[int, int], ...], rival: int, now: Believed) -> Believed:
        """As if an answer and its rival were equally probable, and no other."""
        weights = np.zeros_like(now.weights)
        own = list(self._partitions[best])
        weights[own] = now.weights[own] / (2 * now.weights[own].sum())
        fits = np.exp(now.likelihoods[rival] - now.likelihoods[rival].max())
        weights[rival] = fits / (2 * fits.sum())
        return replace(now, weights=weights)

    def _believed(self, seen: Evaluations, own: Floats, shared: float, sizes: Floats) -> Believed:
        matrix, vector = precision(seen, own, shared)
        if self._known is not None:
            matrix[0, 0] += _EXACT
            vector[0] += _EXACT * self._known[0]
        return believed(matrix, vector, self._places, sizes)

    def _variances(self, seen: Evaluations, now: Believed | None) -> tuple[Floats, float]:
        """Of an observation of each state given its row, and of rows."""
        shift, states = self._options.shift, len(self._states)
        if now is None:
            means, rise = np.full(states, seen.mean), shift
        else:
            first = 0 if self._known is not None else 1
            weights = now.weights[first:] / now.weights[first:].sum()
            rises = weights @ now.sizes
            means = now.level - float(now.fall[first:] @ rises) + rises @ self._places.shapes[first:]
            rise = float(rises.sum())
        half = min(rise / 2, 0.5)
        if seen.binary:
            # The variance of a rate grows with it: states with more bad outcomes tell less of their mean. Where the
            # mean rises by so much, at least that share of rows answers otherwise, halfway half of it: however alike
            # outcomes are, no less is left to chance.
            inside = np.clip(means, half / 2, 1 - half / 2)
            variances, least = inside * (1 - inside), half * (1 - half)
        else:
            variances, least = np.full(states, max(seen.variance, half**2)), half**2
        shared = max(0.0, min(seen.covariance, float(variances.min()) - least))
        return np.maximum(variances - shared, least), shared

    def _why(self, number: int) -> str:
        state = self._states[number]
        if state in (0, self._changes):
            return "how much worse is the last state than the first?"
        return f"is state {state} as good as the states before it, or as bad as those after?"

    def _result(
        self, verdict: str, seen: Evaluations, now: Believed, best: tuple[tuple[int, int], ...] | None, sure: bool
    ) -> SearchResult:
        places, by_answer = self._places, now.weights.sum(axis=1)
        if self._known is None and verdict == "found":
            by_answer = np.concatenate([[0.0], by_answer[1:] / by_answer[1:].sum()])
        weights = now.weights / np.maximum(now.weights.sum(axis=1), 1e-300)[:, None] * by_answer[:, None]
        rises = weights @ now.sizes
        means = now.level - float(now.fall @ rises) + rises @ places.shapes
        share = by_answer @ places.shapes
        causes = []
        for begin, end in best or ():
            probability = sum(
                float(one)
                for one, answer in zip(by_answer, self._answers, strict=True)
                if (begin, end) in answer.between
            )
            at = self._states.index(end)
            causes.append(FoundCause(begin, min(1.0, probability), float(means[at - 1]), float(means[at])))
        steps = [
            Step(state, _side(float(share[number])), int(seen.counts[number]), sure)
            for number, state in enumerate(self._states)
            if seen.counts[number] > 0
        ]
        return SearchResult(verdict, tuple(causes), tuple(steps), int(seen.counts.sum()), sure)
