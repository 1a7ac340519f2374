"""Bisection with noisy evaluations: which of several changes made outputs worse.

State i is the system after the first i changes. A hypothesis says that one change, or two, raised the mean, or that
none did. The posterior of the hypotheses is computed from all outcomes of all states together
(`assay.stats.drift.steps`): a state in the middle is compared with all states before and after it, row by row where
they answered the same rows. So the end states need no more precision than the search requires, and no single step has
to be certain. The state evaluated next is the one with the most expected information. The search ends

- `found`, when "nothing rose" is refuted at half of the error rate (by a test that is valid however often one looks)
  and the best answer has all of the probability but 0.9 of the error rate if it is one cause, or 0.3 of it if it is
  two; one cause is named only where every pair is refuted, at the odds of `PAIR_ODDS`;
- `no_regression`, when a rise by the shift that matters is refuted at a tenth of the error rate, wherever it may be;
- `unsure`, when the evaluations are used up and neither of these holds.

Two causes are assumed to be halves of the whole rise, each at least as large as the shift that matters; a much smaller
cause beside a larger one is not found. The probability of naming a wrong cause is an average over which change it is;
for two causes that are just as large as the shift that matters it is not guaranteed (benchmarks/RESULTS.md).

The search is a function of the outcomes so far: it requests more evaluations of one state, or is done. So it can be
stopped and resumed at any time, and the same outcomes always give the same result.
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
from assay.stats.drift import (
    Evaluations,
    Posterior,
    RiseHypotheses,
    evaluations,
    expected_information,
    posterior,
    precision,
    sizes_of,
)

NAMING_PART: Final = 0.9
"""The part of the error rate for naming a wrong cause; the rest is for finding none where there is one."""
FALSE_FIND_PART: Final = 0.5
"""The part of the error rate for finding a cause where there is none."""
PAIR_ODDS: Final = 18.0
"""One cause is named only where the likelihood ratio of every pair of causes to one cause is at most this number times
the error rate. At 18, two causes that are just as large as the shift are found in 95% of searches and one cause costs
0.49 of a search of a fixed size; at 14 it is 99% and 0.52 (docs/adr/0104)."""
PAIR_NAMING_PART: Final = 0.3
"""The part of the error rate for naming a wrong pair, which has twice as many neighbours as one cause."""
PAIR_SPLITS: Final = (1 / 2,)
"""The parts of the whole rise that the first of two causes may have."""
_PRIOR: Final = (0.5, 0.25, 0.25)
"""The prior probabilities of no cause, one cause and two causes."""
_MOST_EXHAUSTIVE: Final = 16
"""With fewer changes than this every state is a candidate from the start; with more, only those that were evaluated and
the states midway between them."""
_KNOWN_PRECISION: Final = 1e9
"""The precision of a mean that is known."""
_FIRST_EVALUATIONS: Final = 3
"""Both end states are evaluated on this number divided by the shift rows before anything is concluded."""

Floats = NDArray[np.float64]
Outcomes = Mapping[int, Sequence[float]]
"""By state, the outcomes of its evaluations in order, from 0 (good) to 1 (bad). Evaluation k is of the same row in each
state."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The error rate and limits of a search.

    Raises:
        InputError: a number is out of range.
    """

    alpha: float = 0.05
    """The probability that the search as a whole names a wrong cause."""
    shift: float = 0.03
    """The rise of the mean that matters."""
    most: int = 20_000
    """The most evaluations of one state. A search that is still unsure then names the most probable cause as unsure."""
    batch: int = 50
    """Evaluations that are requested at a time."""
    good: float | None = None
    """The mean before the regression, if it is known; otherwise state 0 is evaluated."""
    bad: float | None = None
    """The mean after the regression; both means are given or neither."""

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1 or not 0 < self.shift < 1 or not 1 <= self.batch <= self.most:
            raise InputError("expected an error rate and a shift between 0 and 1, and a batch of 1 up to the most")
        if (self.good is None) != (self.bad is None):
            raise InputError("expected both means, before and after the regression, or neither")
        if self.good is not None and self.bad is not None and not 0 <= self.good < self.bad <= 1:
            raise InputError(f"expected a mean before below the one after, got {self.good} and {self.bad}")


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for more evaluations."""

    state: int
    """The state to evaluate."""
    count: int
    """How many more evaluations."""
    why: str
    """The question that they answer, for people."""


@dataclass(frozen=True, slots=True)
class FoundCause:
    """A change that made outputs worse."""

    change: int
    """Its number, from 0: it leads from the state of this number to the next."""
    probability: float
    """The posterior probability that this change is a cause."""
    before: float
    """The estimated mean of the state before it."""
    after: float
    """The estimated mean of the state after it."""


@dataclass(frozen=True, slots=True)
class Step:
    """The result for one state."""

    state: int
    found: str
    """`lower` like the first state, `higher` like the last one, or `between`."""
    evaluations: int
    sure: bool
    """Whether the search as a whole is sure."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search."""

    verdict: str
    """`found`, `no_regression` where the mean has not risen by the shift, or `unsure`."""
    causes: tuple[FoundCause, ...]
    steps: tuple[Step, ...]
    """The states that were evaluated."""
    evaluations: int
    """The number of all evaluations."""
    sure: bool
    """Whether the verdict holds at the error rate that was asked for."""


def search(changes: int, outcomes: Outcomes, options: SearchOptions) -> Ask | SearchResult:
    """The next step of a search, given all outcomes so far.

    Args:
        changes: the number of changes, 1 or more.
        outcomes: the outcomes of all evaluations.
        options: the error rate and limits.

    Raises:
        InputError: there are no changes, or an outcome is outside [0, 1].
    """
    if changes < 1:
        raise InputError("expected at least one change to search")
    known = options.good is not None
    for state in () if known else (0, changes):
        wanted = min(options.most, max(options.batch, math.ceil(_FIRST_EVALUATIONS / options.shift)))
        if (evaluated := len(outcomes.get(state, ()))) < wanted:
            return Ask(state, min(options.batch, wanted - evaluated), "is the last state worse than the first?")
    return _Search(changes, outcomes, options).next()


@dataclass(frozen=True, slots=True)
class _Answer:
    """A hypothesis about causes: each lies between two neighbouring candidate states."""

    between: tuple[tuple[int, int], ...]
    """Up to two stretches, each given by the states before and after it."""
    part: float = 1.0
    """The part of the whole rise in the first stretch."""

    @property
    def names_changes(self) -> bool:
        """Whether each stretch is a single change."""
        return all(end - begin == 1 for begin, end in self.between)


@dataclass(frozen=True, slots=True, eq=False)
class _Hypotheses:
    answers: tuple[_Answer, ...]
    """The first is that nothing rose, unless both means are known."""
    places: RiseHypotheses
    partitions: dict[tuple[tuple[int, int], ...], tuple[int, ...]]
    """The stretches of answers that name changes, with the indexes of these answers."""


@lru_cache(maxsize=64)
def _hypotheses(states: tuple[int, ...], shift: float, known: bool) -> _Hypotheses:
    """All answers that the states can distinguish, with a prior under which all changes are equally probable."""
    changes, at, stretches = states[-1], np.array(states), list(pairwise(states))
    answers = [
        *([] if known else [_Answer(())]),
        *(_Answer((one,)) for one in stretches),
        *(_Answer(two, part) for two in combinations(stretches, 2) for part in PAIR_SPLITS),
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
                weight = _PRIOR[2] * length / pairs / len(PAIR_SPLITS)
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
    return _Hypotheses(
        tuple(answers), RiseHypotheses(np.stack(shapes), total / total.sum(), np.array(least)), partitions
    )


def _position_of(share: float) -> str:
    """The position of a state between the first and the last one, by its share of the whole rise."""
    return "higher" if share > 3 / 4 else "lower" if share < 1 / 4 else "between"


class _Search:
    """One evaluation of all outcomes so far."""

    def __init__(self, changes: int, outcomes: Outcomes, options: SearchOptions) -> None:
        self._changes, self._outcomes, self._options = changes, outcomes, options
        self._known = None if options.good is None or options.bad is None else (options.good, options.bad)
        self._states = self._candidate_states()
        hypotheses = _hypotheses(self._states, options.shift, self._known is not None)
        self._answers, self._places, self._partitions = hypotheses.answers, hypotheses.places, hypotheses.partitions

    def _candidate_states(self) -> tuple[int, ...]:
        """The states that were evaluated, and those that may be evaluated next."""
        if self._changes < _MOST_EXHAUSTIVE:
            return tuple(range(self._changes + 1))
        evaluated = sorted({0, self._changes, *(state for state, outcomes in self._outcomes.items() if outcomes)})
        return tuple(sorted({*evaluated, *((low + high) // 2 for low, high in pairwise(evaluated))}))

    def next(self) -> Ask | SearchResult:
        """The next step."""
        options, places = self._options, self._places
        evaluated = evaluations(self._outcomes, self._states)
        known = self._known
        sizes = sizes_of(options.shift) if known is None else np.array([known[1] - known[0]])
        # Variances depend on the means, whose estimates depend on variances: two passes.
        flat_variances = self._variances(evaluated, None)
        variances, row_variance = self._variances(evaluated, self._posterior(evaluated, *flat_variances, sizes))
        beliefs = self._posterior(evaluated, variances, row_variance, sizes)
        probabilities = beliefs.weights.sum(axis=1)
        if known is None:
            # If nothing rose, all states have the same variance: to refute that, the larger of its estimates is used.
            flat_beliefs = self._posterior(
                evaluated, np.maximum(flat_variances[0], variances.mean()), min(flat_variances[1], row_variance), sizes
            )
            rise_evidence = flat_beliefs.evidence[1:] + np.log(places.weights[1:] / places.weights[1:].sum())
            refuted = float(np.logaddexp.reduce(rise_evidence)) - flat_beliefs.evidence[0] >= math.log(
                1 / (FALSE_FIND_PART * options.alpha)
            )
            if float(flat_beliefs.likelihoods[1:].max()) <= math.log((1 - NAMING_PART) * options.alpha):
                return self._result("no_regression", evaluated, beliefs, None, True)
        else:
            refuted = True
        first = 0 if known is not None else 1
        probabilities = probabilities / probabilities[first:].sum()
        candidates = {one: float(probabilities[list(numbers)].sum()) for one, numbers in self._partitions.items()}
        best = max(candidates, key=lambda one: candidates[one]) if candidates else None
        rival = None
        if refuted and best is not None and self._is_sure(best, candidates[best]):
            rival = self._rival(best, beliefs)
            if rival is None:
                return self._result("found", evaluated, beliefs, best, True)
        left = [options.most - len(self._outcomes.get(state, ())) for state in self._states]
        at_stake = beliefs if rival is None or best is None else self._against_rival(best, rival, beliefs)
        expected = expected_information(at_stake, evaluated, places, variances, row_variance, options.batch)
        if known is not None:
            expected[[0, -1]] = 0.0
        expected[[number for number, rest in enumerate(left) if rest <= 0]] = -1.0
        number = int(expected.argmax())
        if expected[number] <= 0:
            if refuted and best is not None:
                return self._result("found", evaluated, beliefs, best, False)
            return self._result("unsure", evaluated, beliefs, None, False)
        return Ask(self._states[number], min(options.batch, left[number]), self._why(number))

    def _is_sure(self, best: tuple[tuple[int, int], ...], probability: float) -> bool:
        """Whether an answer is probable enough to be named."""
        return probability >= 1 - (NAMING_PART if len(best) == 1 else PAIR_NAMING_PART) * self._options.alpha

    def _rival(self, best: tuple[tuple[int, int], ...], beliefs: Posterior) -> int | None:
        """The index of the best-fitting pair of causes that is not refuted, where one cause would be named.

        Two causes that are near each other look like one. So one cause is named only where every pair is refuted: if a
        pair is true, the averaged likelihood of one cause divided by the likelihood of that pair is a martingale.
        """
        counts = np.array([len(answer.between) for answer in self._answers])
        if len(best) > 1 or not bool(np.any(counts == 2)):
            return None
        weights = self._places.weights[counts == 1]
        averaged = float(np.logaddexp.reduce(beliefs.evidence[counts == 1] + np.log(weights / weights.sum())))
        fits = np.where(counts == 2, beliefs.likelihoods.max(axis=1), -np.inf)
        number = int(fits.argmax())
        return None if fits[number] <= averaged + math.log(PAIR_ODDS * self._options.alpha) else number

    def _against_rival(self, best: tuple[tuple[int, int], ...], rival: int, beliefs: Posterior) -> Posterior:
        """The posterior as if only an answer and its rival were possible, both equally probable."""
        weights = np.zeros_like(beliefs.weights)
        answers = list(self._partitions[best])
        weights[answers] = beliefs.weights[answers] / (2 * beliefs.weights[answers].sum())
        fits = np.exp(beliefs.likelihoods[rival] - beliefs.likelihoods[rival].max())
        weights[rival] = fits / (2 * fits.sum())
        return replace(beliefs, weights=weights)

    def _posterior(self, evaluated: Evaluations, variances: Floats, row_variance: float, sizes: Floats) -> Posterior:
        matrix, vector = precision(evaluated, variances, row_variance)
        if self._known is not None:
            matrix[0, 0] += _KNOWN_PRECISION
            vector[0] += _KNOWN_PRECISION * self._known[0]
        return posterior(matrix, vector, self._places, sizes)

    def _variances(self, evaluated: Evaluations, beliefs: Posterior | None) -> tuple[Floats, float]:
        """For each state the variance of an observation given its row, and the variance of rows."""
        shift, states = self._options.shift, len(self._states)
        if beliefs is None:
            means, rise = np.full(states, evaluated.mean), shift
        else:
            first = 0 if self._known is not None else 1
            weights = beliefs.weights[first:] / beliefs.weights[first:].sum()
            rises = weights @ beliefs.sizes
            means = beliefs.level - float(beliefs.fall[first:] @ rises) + rises @ self._places.shapes[first:]
            rise = float(rises.sum())
        half = min(rise / 2, 0.5)
        if evaluated.binary:
            # The variance of a rate grows with it: states with more bad outcomes say less about their mean. If the mean
            # rises by some amount, the outcome of at least that share of rows changes, and half of it midway. However
            # similar the outcomes are, that is a lower bound of the variance.
            clipped = np.clip(means, half / 2, 1 - half / 2)
            variances, floor = clipped * (1 - clipped), half * (1 - half)
        else:
            variances, floor = np.full(states, max(evaluated.variance, half**2)), half**2
        row_variance = max(0.0, min(evaluated.covariance, float(variances.min()) - floor))
        return np.maximum(variances - row_variance, floor), row_variance

    def _why(self, number: int) -> str:
        state = self._states[number]
        if state in (0, self._changes):
            return "how much worse is the last state than the first?"
        return f"is state {state} as good as the states before it, or as bad as those after?"

    def _result(
        self,
        verdict: str,
        evaluated: Evaluations,
        beliefs: Posterior,
        best: tuple[tuple[int, int], ...] | None,
        sure: bool,
    ) -> SearchResult:
        places, probabilities = self._places, beliefs.weights.sum(axis=1)
        if self._known is None and verdict == "found":
            probabilities = np.concatenate([[0.0], probabilities[1:] / probabilities[1:].sum()])
        weights = beliefs.weights / np.maximum(beliefs.weights.sum(axis=1), 1e-300)[:, None] * probabilities[:, None]
        rises = weights @ beliefs.sizes
        means = beliefs.level - float(beliefs.fall @ rises) + rises @ places.shapes
        share = probabilities @ places.shapes
        causes = []
        for begin, end in best or ():
            probability = sum(
                float(one)
                for one, answer in zip(probabilities, self._answers, strict=True)
                if (begin, end) in answer.between
            )
            at = self._states.index(end)
            causes.append(FoundCause(begin, min(1.0, probability), float(means[at - 1]), float(means[at])))
        steps = [
            Step(state, _position_of(float(share[number])), int(evaluated.counts[number]), sure)
            for number, state in enumerate(self._states)
            if evaluated.counts[number] > 0
        ]
        return SearchResult(verdict, tuple(causes), tuple(steps), int(evaluated.counts.sum()), sure)
