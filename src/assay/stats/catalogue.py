"""The definition of every metric as data: formula, source, range and undefined case, from which its page is rendered.

`docs/metrics.md` is the output of `render()`. A test compares the two and checks that every public function of the
metric modules is listed.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of one metric."""

    name: str
    """Its name in a report."""
    function: str
    """Its function, as module and name within `assay.stats`."""
    formula: str
    source: str
    """The publication or page of the documentation that defines it."""
    range: str
    undefined: str
    """The cases in which it has no value."""


OUTPUT: tuple[Definition, ...] = (
    Definition(
        "faithfulness",
        "metrics.faithfulness",
        "F = (1/N) Σ_j max_i P(entails | e_i, c_j)",
        "[concepts](concepts.md#metrics)",
        "0 to 1, 1 best",
        "no claims",
    ),
    Definition(
        "weighted_faithfulness",
        "metrics.weighted_faithfulness",
        "F_w = Σ_j w_j max_i P(entails | e_i, c_j) / Σ_j w_j, with w_j = sev(c_j)",
        "[concepts](concepts.md#metrics)",
        "0 to 1, 1 best",
        "no claims, or all weights 0",
    ),
    Definition(
        "groundedness",
        "metrics.groundedness",
        "G = #{c : max_i P(entails | e_i, c) ≥ θ} / N",
        "[concepts](concepts.md#metrics)",
        "0 to 1, 1 best",
        "no claims",
    ),
    Definition(
        "answer_support",
        "metrics.answer_support",
        "S = n m / (n m + 1 − m), m the least P(support) of a claim, n = min(N, 10)",
        "ADR 0028",
        "0 to 1, 1 best",
        "no claims",
    ),
    Definition(
        "attribution_precision",
        "metrics.attribution_precision",
        "AP = AP_existence · AP_accuracy · AP_entailment = valid / cited",
        "[concepts](concepts.md#citations)",
        "0 to 1, 1 best",
        "no citations, or one that could not be checked to the end",
    ),
    Definition(
        "attribution_existence",
        "metrics.attribution_precision",
        "source exists / cited",
        "[concepts](concepts.md#citations)",
        "0 to 1, 1 best",
        "no citations",
    ),
    Definition(
        "attribution_accuracy",
        "metrics.attribution_precision",
        "text matches / source exists",
        "[concepts](concepts.md#citations)",
        "0 to 1, 1 best",
        "no cited source exists, or a quotation could not be checked",
    ),
    Definition(
        "attribution_entailment",
        "metrics.attribution_precision",
        "source entails / text matches",
        "[concepts](concepts.md#citations)",
        "0 to 1, 1 best",
        "no citation is quoted rightly, or entailment could not be checked",
    ),
    Definition(
        "factual_accuracy_rate",
        "metrics.factual_accuracy_rate",
        "FAR = #{c factual : correct(c)} / #{c factual}",
        "[concepts](concepts.md#metrics)",
        "0 to 1, 1 best",
        "no factual claims",
    ),
    Definition(
        "factscore",
        "metrics.factscore",
        "supported atomic facts / atomic facts",
        "FActScore (Min et al. 2023)",
        "0 to 1, 1 best",
        "no facts",
    ),
    Definition(
        "hallucination_rate",
        "metrics.hallucination_rate",
        "claims without support / claims",
        "[concepts](concepts.md#unsupported-rate)",
        "0 to 1, 0 best",
        "no claims",
    ),
    Definition(
        "self_consistency",
        "metrics.self_consistency",
        "SC = mean agreement over probed claims",
        "[concepts](concepts.md#self-consistency)",
        "0 to 1, 1 best",
        "nothing was probed",
    ),
    Definition(
        "composite_hallucination_score",
        "metrics.composite_hallucination_score",
        "H = 1 − (w_F F + w_A AP + w_G G + w_S SC), weights rescaled over the metrics that have a value",
        "[concepts](concepts.md#metrics)",
        "0 to 1, 0 best",
        "none of its metrics has a value",
    ),
    Definition(
        "coverage_rate",
        "metrics.coverage_rate",
        "checked characters / checkable characters",
        "[concepts](concepts.md#coverage)",
        "0 to 1, 1 best",
        "nothing is checkable",
    ),
)
"""The metrics of one output."""

EVALUATION: tuple[Definition, ...] = (
    Definition(
        "precision",
        "classification.precision",
        "TP / (TP + FP)",
        "textbook",
        "0 to 1, 1 best",
        "nothing predicted positive",
    ),
    Definition(
        "recall",
        "classification.recall",
        "TP / (TP + FN)",
        "textbook",
        "0 to 1, 1 best",
        "no positive row",
    ),
    Definition(
        "f1",
        "classification.f1",
        "2 TP / (2 TP + FP + FN)",
        "textbook",
        "0 to 1, 1 best",
        "nothing positive or predicted so",
    ),
    Definition(
        "false_positive_rate",
        "classification.false_positive_rate",
        "FP / (FP + TN)",
        "textbook",
        "0 to 1, 0 best",
        "no negative row",
    ),
    Definition(
        "false_negative_rate",
        "classification.false_negative_rate",
        "FN / (FN + TP)",
        "textbook",
        "0 to 1, 0 best",
        "no positive row",
    ),
    Definition(
        "balanced_accuracy",
        "classification.balanced_accuracy",
        "(TP / (TP + FN) + TN / (TN + FP)) / 2",
        "textbook",
        "0 to 1, 0.5 for chance",
        "a class without rows",
    ),
    Definition(
        "auroc",
        "classification.auroc",
        "(R − P(P + 1)/2) / (P N), R the sum of the positives' mean ranks",
        "Mann and Whitney 1947",
        "0 to 1, 0.5 for chance",
        "a class without rows",
    ),
    Definition(
        "auprc",
        "classification.auprc",
        "Σ_k (R_k − R_{k−1}) P_k over distinct thresholds",
        "average precision",
        "0 to 1, share of positives for chance",
        "no positive row",
    ),
    Definition(
        "span_f1",
        "classification.span_f1",
        "F1 over characters, pooled over texts",
        "RAGTruth",
        "0 to 1, 1 best",
        "no character predicted or expected",
    ),
    Definition(
        "ece",
        "calibration.ece",
        "Σ_b (n_b / n) · |frequency_b − mean probability_b|, bins of equal width",
        "Naeini et al. 2015",
        "0 to 1, 0 best",
        "no rows: an error",
    ),
    Definition(
        "adaptive_ece",
        "calibration.adaptive_ece",
        "the same, bins of equal count",
        "Nixon et al. 2019",
        "0 to 1, 0 best",
        "no rows: an error",
    ),
    Definition(
        "brier",
        "calibration.brier",
        "mean of (p − y)²",
        "Brier 1950",
        "0 to 1, 0 best",
        "no rows: an error",
    ),
    Definition(
        "log_loss",
        "calibration.log_loss",
        "mean of −log of the probability of what came about",
        "textbook",
        "0 or more, 0 best",
        "no rows: an error",
    ),
)
"""The figures of an evaluation over labelled rows."""

_HEAD = """\
# Metrics

This page is made from `src/assay/stats/catalogue.py`; a test keeps the two in step. A metric without a value says why
and is never counted as a number: not as 0, not as 1, and not in a mean. N is the number of checkable claims that were
checked. [concepts.md](concepts.md) says what the formulas mean.
"""


def render() -> str:
    """The text of `docs/metrics.md`."""
    parts = [_HEAD, "## Of one output\n", _table(OUTPUT), "## Of an evaluation\n", _table(EVALUATION)]
    return "\n".join(parts)


def _table(definitions: tuple[Definition, ...]) -> str:
    rows = ["| metric | formula | source | range | undefined when | function |", "|---|---|---|---|---|---|"]
    for entry in definitions:
        formula = entry.formula.replace("|", "\\|")
        cells = (f"`{entry.name}`", formula, entry.source, entry.range, entry.undefined, f"`stats.{entry.function}`")
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"
