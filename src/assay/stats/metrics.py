"""The metrics of one output: pure functions from numbers to a value in [0, 1], or to the reason why it is undefined.

`docs/metrics.md` lists all formulas with their sources. Sums are exact (`math.fsum`), so that the order of claims does
not change a report. Every function raises `InputError` for numbers outside [0, 1], including NaN.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from assay.errors import InputError
from assay.schema import Metric

NO_CLAIMS = "there is no claim to measure"
"""Why a metric over claims has no value."""


def faithfulness(scores: Sequence[float]) -> Metric:
    """The mean over claims of the best probability of entailment (docs/concepts.md#metrics).

    F = (1 / N) * sum over j of max over i of P(entails | e_i, c_j)

    Args:
        scores: for each claim the greatest probability with which some evidence entails it.

    Returns:
        A value in [0, 1], 1 if all claims are certainly entailed; undefined without claims.

    >>> faithfulness([1.0, 0.5]).value
    0.75
    >>> faithfulness([]).undefined
    'there is no claim to measure'
    """
    _require_probabilities("scores", scores)
    return _ratio(fsum(scores), len(scores), NO_CLAIMS)


def weighted_faithfulness(scores: Sequence[float], weights: Sequence[float]) -> Metric:
    """Faithfulness with claims weighted by their severity (docs/concepts.md#metrics).

    F_w = sum of w_j * s_j / sum of w_j, with w_j = sev(c_j)

    Args:
        scores: for each claim the greatest probability with which some evidence entails it.
        weights: for each claim its weight, in [0, 1].

    Returns:
        A value in [0, 1]; undefined without claims or if all weights are 0.

    Raises:
        InputError: the two differ in length.

    >>> weighted_faithfulness([1.0, 0.0], [0.25, 0.75]).value
    0.25
    """
    _require_probabilities("scores", scores)
    _require_probabilities("weights", weights)
    _require_same_length(scores=scores, weights=weights)
    if not scores:
        return Metric(undefined=NO_CLAIMS)
    total = fsum(weight * score for weight, score in zip(weights, scores, strict=True))
    return _ratio(total, fsum(weights), "all claims have the weight 0")


def groundedness(scores: Sequence[float], threshold: float) -> Metric:
    """The share of claims that some evidence entails with at least `threshold` (docs/concepts.md#metrics).

    G = |{c : max over i of P(entails | e_i, c) >= threshold}| / N

    Returns:
        A value in [0, 1]; undefined without claims.

    >>> groundedness([0.9, 0.5, 0.2, 0.1], threshold=0.5).value
    0.5
    """
    _require_probabilities("scores", scores)
    _require_probabilities("threshold", [threshold])
    return _share([score >= threshold for score in scores], NO_CLAIMS)


def attribution_precision(
    exists: Sequence[bool], matches: Sequence[bool | None], entails: Sequence[bool | None]
) -> dict[str, Metric]:
    """The share of valid citations, and of those that pass each of three steps (docs/concepts.md#citations).

    AP_existence = existing / cited, AP_accuracy = matching / existing, AP_entailment = entailing / matching, and
    AP = AP_existence * AP_accuracy * AP_entailment = valid / cited.

    Where a step could not be checked, the metrics that depend on it are undefined: a citation that was not verified is
    neither precise nor imprecise. Steps after a failed one are ignored.

    Args:
        exists: for each cited claim, whether the source is among the evidence.
        matches: whether the quoted words are in the source; none where that was not checked.
        entails: whether the source entails the claim; none where that was not checked.

    Returns:
        `attribution_precision`, `attribution_existence`, `attribution_accuracy`, `attribution_entailment`, each in
        [0, 1]; undefined where no citation reaches the step or some that do were not checked.

    Raises:
        InputError: the three differ in length.

    >>> result = attribution_precision([True, True, False], [True, True, None], [True, False, None])
    >>> {name: round(metric.value, 2) for name, metric in result.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'attribution_precision': 0.33, 'attribution_existence': 0.67, 'attribution_accuracy': 1.0,
     'attribution_entailment': 0.5}
    """
    _require_same_length(exists=exists, matches=matches, entails=entails)
    existing = [match for found, match in zip(exists, matches, strict=True) if found]
    matching = [entailed for found, match, entailed in zip(exists, matches, entails, strict=True) if found and match]
    open_steps = existing.count(None) + matching.count(None)
    if open_steps:
        overall = Metric(undefined=f"{open_steps} of {len(exists)} citations could not be checked to the end")
    else:
        overall = _ratio(matching.count(True), len(exists), "there is no citation")
    return {
        "attribution_precision": overall,
        "attribution_existence": _share(exists, "there is no citation"),
        "attribution_accuracy": _share(existing, "no citation names a source that exists"),
        "attribution_entailment": _share(matching, "no citation is quoted rightly"),
    }


def factual_accuracy_rate(correct: Sequence[bool]) -> Metric:
    """The share of verifiable factual claims that an authoritative reference supports (docs/concepts.md#metrics).

    FAR = |{c factual : correct(c)}| / |factual claims|. It needs ground truth, so it belongs to evaluations.

    Returns:
        A value in [0, 1]; undefined without factual claims.

    >>> factual_accuracy_rate([True, True, False, True]).value
    0.75
    """
    return _share(correct, "there is no verifiable factual claim")


def factscore(supported: Sequence[bool]) -> Metric:
    """The share of atomic facts that the evidence supports (FActScore, Min et al. 2023).

    Returns:
        A value in [0, 1]; undefined without facts.

    An answer about parental leave, five of seven facts supported:

    >>> round(factscore([True, True, True, False, True, True, False]).value, 2)
    0.71
    """
    return _share(supported, "there is no atomic fact")


def hallucination_rate(unsupported: Sequence[bool]) -> Metric:
    """The share of claims without support, the hallucination rate (docs/concepts.md#unsupported-rate).

    Returns:
        A value in [0, 1], 0 if no claim is a hallucination; undefined without claims.

    >>> round(hallucination_rate([False, True, True]).value, 2)
    0.67
    """
    return _share(unsupported, NO_CLAIMS)


def self_consistency(agreements: Sequence[float]) -> Metric:
    """The mean agreement of the model with itself over the claims that were probed (docs/concepts.md#metrics, SC).

    Returns:
        A value in [0, 1]; undefined where nothing was probed, rather than 1, which nobody measured.

    >>> self_consistency([1.0, 0.5]).value
    0.75
    """
    _require_probabilities("agreements", agreements)
    return _ratio(fsum(agreements), len(agreements), "no claim was probed")


MOST_COUNTED = 10
"""The most claims that count in an answer's support: there are no labelled answers with more to calibrate on."""


def answer_support(scores: Sequence[float]) -> Metric:
    """How well the evidence supports an answer as a whole: the score of its weakest claim, corrected for their number.

    S = n m / (n m + 1 - m), with m = min s_j and n = min(N, 10): the odds of the weakest claim, multiplied by n

    A right claim scores low now and then, so that the weakest of many claims has a low score even in right answers.
    With its odds multiplied by the number of claims, one threshold is suitable for answers of any length. For a single
    claim it is the claim's own score. It never falls when a claim's score rises.

    Args:
        scores: the calibrated probability of support of each claim.

    Returns:
        A value in [0, 1]; undefined without claims.

    >>> answer_support([0.4]).value
    0.4
    >>> answer_support([0.9, 0.95, 0.25]).value
    0.5
    """
    _require_probabilities("scores", scores)
    if not scores:
        return Metric(undefined=NO_CLAIMS)
    weakest = min(scores)
    grown = min(len(scores), MOST_COUNTED) * weakest
    # For a single claim exactly its score: 1 - m is rounded, and a score equal to a threshold has to meet it.
    return Metric(value=weakest if len(scores) == 1 else grown / (grown + 1 - weakest))


def coverage_rate(checked: int, unchecked: int) -> Metric:
    """The share of the checkable characters of an output that got a verdict.

    coverage = checked / (checked + unchecked)

    Returns:
        A value in [0, 1]; undefined where nothing is checkable.

    Raises:
        InputError: a count is negative.

    >>> coverage_rate(90, 10).value
    0.9
    """
    if checked < 0 or unchecked < 0:
        raise InputError(f"expected counts of characters of 0 or more, got {checked} and {unchecked}")
    return _ratio(checked, checked + unchecked, "nothing in the output is checkable")


def composite_hallucination_score(values: Mapping[str, Metric], weights: Mapping[str, float]) -> Metric:
    """One figure from several metrics: 0 for no sign of hallucination, near 1 for severe (docs/concepts.md#metrics).

    H = 1 - (w_F F + w_A AP + w_G G + w_S SC), with the weights of the metrics that have a value scaled to sum to 1.
    An undefined metric is left out: counting missing citations or probes as 1 would make an output look better for not
    being tested.

    Args:
        values: metrics by name; names without a weight are left out.
        weights: weights in [0, 1] by name.

    Returns:
        A value in [0, 1]; undefined where no metric with a weight above 0 has a value.

    >>> defined = {"faithfulness": Metric(value=0.5), "self_consistency": Metric(undefined="no claim was probed")}
    >>> composite_hallucination_score(defined, {"faithfulness": 0.6, "self_consistency": 0.4}).value
    0.5
    """
    _require_probabilities("weights", list(weights.values()))
    counted = [
        (weight, metric.value)
        for name, weight in weights.items()
        if (metric := values.get(name)) is not None and metric.value is not None
    ]
    good = _ratio(
        fsum(weight * value for weight, value in counted),
        fsum(weight for weight, _ in counted),
        "none of the metrics that it is made of has a value",
    )
    return good if good.value is None else Metric(value=1 - good.value)


def _share(flags: Sequence[bool | None], undefined: str) -> Metric:
    """The share of true flags; undefined if there are none or some are unknown."""
    if unknown := sum(flag is None for flag in flags):
        return Metric(undefined=f"{unknown} of {len(flags)} could not be checked")
    return _ratio(sum(map(bool, flags)), len(flags), undefined)


def _ratio(part: float, whole: float, undefined: str) -> Metric:
    if whole <= 0:
        return Metric(undefined=undefined)
    # Rounding may make a weighted mean of ones exceed 1 in the last bit.
    return Metric(value=min(1.0, part / whole))


def _require_probabilities(name: str, numbers: Iterable[float]) -> None:
    for number in numbers:
        if not 0 <= number <= 1:
            raise InputError(f"expected {name} from 0 to 1, got {number}")


def _require_same_length(**columns: Sequence[object]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"expected columns of one length, got {lengths}")
