"""The report of a fit as one self-contained page: the guarantee, the costs, and the curves."""

from collections.abc import Iterator
from typing import Final

from assay.evaluation.calibrate.abstention import AbstentionFit, AnswerCounts
from assay.evaluation.calibrate.thresholds import Fit
from assay.evaluation.report_page import STYLE
from assay.reporting import Markup, curve, foreign, page, reliability, tag
from assay.stats import Bin, Choice, TradeOff, upper_bound

_DELTA: Final = 0.1
"""The delta of the upper curve where none is given; its confidence is 1 - delta."""


def calibration_page(fit: Fit) -> str:
    """The page of one fit."""
    return page(
        "assay: calibration",
        STYLE,
        tag("header", tag("b", "assay"), foreign(fit.calibration.verifier if fit.calibration else ""), class_="brand"),
        tag(
            "main",
            tag("h1", "Calibration"),
            tag("p", foreign(headline(fit)), class_="soft"),
            _outcome_section(fit),
            _curve_section(fit),
            None if fit.abstention is None else _abstention_section(fit.abstention),
            tag("ul", [tag("li", foreign(note)) for note in fit.notes], class_="small soft"),
        ),
        _footer(fit),
    )


def headline(fit: Fit) -> str:
    """The result of a fit in one sentence."""
    if fit.calibration is not None:
        return fit.calibration.statement
    refused = fit.guarantee.refused if fit.guarantee else None
    return f"The data do not allow the guarantee: {refused}."


def shown_points(fit: Fit, most: int = 24) -> list[TradeOff]:
    """Evenly spaced points of the curve for a table, among them the first, the last and the chosen one.

    Raises:
        ValueError: never; a fit has at least one point.
    """
    last = len(fit.curve) - 1
    shown_indices = {round(n * last / (most - 1)) for n in range(most)}
    chosen = fit.after.threshold if fit.after else None
    return [point for index, point in enumerate(fit.curve) if index in shown_indices or point.threshold == chosen]


def share_text(value: float | None) -> str:
    """A share with three decimals, or a dash.

    >>> share_text(0.25), share_text(None)
    ('0.250', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def _outcome_section(fit: Fit) -> Markup:
    names = ("", "passes from", "withheld below", "leaks", "false blocks", "abstentions", "mean loss")
    head = tag("tr", (tag("th", name, scope="col", class_="num" if name else None) for name in names))
    body = [_choice_row("as it was", fit.before)]
    if fit.after is not None:
        body.append(_choice_row("fitted", fit.after))
    title = f"On {fit.rows:,} rows, {fit.hallucinated:,} of them hallucinated"
    return tag("section", tag("h2", title), tag("table", tag("thead", head), tag("tbody", body)))


def _choice_row(name: str, choice: Choice) -> Markup:
    cells = (
        f"{choice.threshold:g}",
        f"{choice.block_threshold:g}",
        f"{choice.leaks:,}",
        f"{choice.false_blocks:,}",
        f"{choice.abstentions:,}",
        f"{choice.loss:.4f}",
    )
    return tag("tr", tag("th", name, scope="row"), (tag("td", cell, class_="num") for cell in cells))


def _curve_section(fit: Fit) -> Markup:
    points = [(p.threshold, p.leak, p.false_abstention) for p in fit.curve]
    pairs = [
        (false_abstention, leak)
        for _, leak, false_abstention in points
        if leak is not None and false_abstention is not None
    ]
    delta = fit.guarantee.delta if fit.guarantee and fit.guarantee.delta else _DELTA
    bounds = list(_bounds(fit, delta))
    alpha = fit.guarantee.alpha if fit.guarantee else None
    alpha_line = [] if alpha is None else [(0.0, alpha), (1.0, alpha)]
    trade_off = curve(
        "Leak against false abstention.",
        "Each point is a threshold. The dashed line is alpha." if alpha_line else "Each point is a threshold.",
        ("right outputs that do not pass", "hallucinated outputs that pass"),
        pairs,
        alpha_line,
    )
    leak_by_threshold = curve(
        "Leak by threshold.",
        f"The dashed line is the largest leak compatible with the rows at confidence {1 - delta:.4g}.",
        ("threshold", "hallucinated outputs that pass"),
        [(min(1.0, t), leak) for t, leak, _ in points if leak is not None],
        bounds,
    )
    return tag("section", tag("h2", "Curves"), tag("div", trade_off, leak_by_threshold, class_="plots"))


def _bounds(fit: Fit, delta: float) -> Iterator[tuple[float, float]]:
    for point in fit.curve:
        if point.leak is not None:
            leaks = round(point.leak * fit.hallucinated)
            yield min(1.0, point.threshold), upper_bound(leaks, fit.hallucinated, delta)


def _abstention_section(fitted: AbstentionFit) -> Markup:
    """The fitted abstention: the outcomes of the rows, and how well the confidence is calibrated."""
    columns = [f"{sort} {outcome}" for sort in ("right", "wrong") for outcome in ("given", "caveated", "held")]
    head = ("", *columns, "mean loss")
    rows = (("gate alone", fitted.gate), ("with confidence", fitted.answers))
    row_source = "held-out rows" if fitted.held_out else "the rows it was fitted on"
    limits = f"Answered from {fitted.block.high:g}, held back below {fitted.block.low:g}; figures of {row_source}."
    weights = fitted.block.weights.model_dump().items()
    measured = ", ".join(f"{name} {weight:g} ({fitted.measured[name]:,} rows)" for name, weight in weights if weight)
    pairs = [
        (p.false_abstention, p.leak) for p in fitted.curve if p.false_abstention is not None and p.leak is not None
    ]
    return tag(
        "section",
        tag("h2", "Whether to answer"),
        tag("p", limits, f" Confidence of {measured}.", class_="small soft"),
        tag(
            "table",
            tag("thead", tag("tr", (tag("th", name, scope="col", class_="num" if name else None) for name in head))),
            tag("tbody", [_answer_row(name, counts) for name, counts in rows]),
        ),
        tag(
            "div",
            curve(
                "Leak against false abstention, by confidence.",
                "Each point is a confidence from which answers are given, without the gate.",
                ("right outputs that are not given", "hallucinated outputs that are given"),
                pairs,
            ),
            reliability(
                _reliability_points(fitted.before), "Before.", f"The mean of the signals; ECE {fitted.ece_before:.3f}."
            ),
            reliability(
                _reliability_points(fitted.after), "After.", f"The fitted confidence; ECE {fitted.ece_after:.3f}."
            ),
            class_="plots",
        ),
    )


def _answer_row(name: str, counts: AnswerCounts) -> Markup:
    cells = (*(f"{count:,}" for count in (*counts.right, *counts.wrong)), f"{counts.loss:.4f}")
    return tag("tr", tag("th", name, scope="row"), (tag("td", cell, class_="num") for cell in cells))


def _reliability_points(bins: tuple[Bin, ...]) -> list[tuple[float, float, int]]:
    return [
        (one.mean_probability, one.frequency, one.count)
        for one in bins
        if one.mean_probability is not None and one.frequency is not None
    ]


def _footer(fit: Fit) -> Markup:
    if fit.calibration is None:
        return tag("footer", tag("p", f"{fit.documents:,} documents"))
    calibration = fit.calibration
    facts = (
        f"data {calibration.data_digest[:16]} · policy {calibration.policy_digest[:16]} · "
        f"verifier {calibration.verifier_digest[:16]} · seed {calibration.seed} · {calibration.documents:,} documents"
    )
    return tag("footer", tag("p", facts))
