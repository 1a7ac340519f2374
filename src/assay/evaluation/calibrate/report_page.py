"""The report of a fit as one self-contained page: what was promised, what it costs, and the curves."""

from collections.abc import Iterator
from typing import Final

from assay.evaluation.calibrate.abstention import AbstentionFit, Answers
from assay.evaluation.calibrate.thresholds import Fit
from assay.evaluation.report_page import STYLE
from assay.reporting import Markup, curve, foreign, page, reliability, tag
from assay.stats import Bin, Choice, TradeOff, upper_bound

_DELTA: Final = 0.1
"""The confidence of the upper curve where no delta was asked for is 1 minus this."""


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
            _outcomes(fit),
            _plots(fit),
            None if fit.abstention is None else _answering(fit.abstention),
            tag("ul", [tag("li", foreign(note)) for note in fit.notes], class_="small soft"),
        ),
        _footer(fit),
    )


def headline(fit: Fit) -> str:
    """What came of it, in a sentence."""
    if fit.calibration is not None:
        return fit.calibration.statement
    refused = fit.guarantee.refused if fit.guarantee else None
    return f"The data do not allow the guarantee: {refused}."


def shown_points(fit: Fit, most: int = 24) -> list[TradeOff]:
    """Points for a table: every so many thresholds, the first, the last and the chosen one among them.

    Raises:
        ValueError: never; a fit has at least one point.
    """
    last = len(fit.curve) - 1
    kept = {round(n * last / (most - 1)) for n in range(most)}
    chosen = fit.after.threshold if fit.after else None
    return [point for at, point in enumerate(fit.curve) if at in kept or point.threshold == chosen]


def share(value: float | None) -> str:
    """A share with three decimals, or a dash.

    >>> share(0.25), share(None)
    ('0.250', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def _outcomes(fit: Fit) -> Markup:
    names = ("", "passes from", "withheld below", "leaks", "false blocks", "abstentions", "mean loss")
    head = tag("tr", (tag("th", name, scope="col", class_="num" if name else None) for name in names))
    body = [_outcome("as it was", fit.before)]
    if fit.after is not None:
        body.append(_outcome("fitted", fit.after))
    title = f"On {fit.rows:,} rows, {fit.hallucinated:,} of them hallucinated"
    return tag("section", tag("h2", title), tag("table", tag("thead", head), tag("tbody", body)))


def _outcome(name: str, choice: Choice) -> Markup:
    cells = (
        f"{choice.threshold:g}",
        f"{choice.block_threshold:g}",
        f"{choice.leaks:,}",
        f"{choice.false_blocks:,}",
        f"{choice.abstentions:,}",
        f"{choice.loss:.4f}",
    )
    return tag("tr", tag("th", name, scope="row"), (tag("td", cell, class_="num") for cell in cells))


def _plots(fit: Fit) -> Markup:
    known = [(p.threshold, p.leak, p.false_abstention) for p in fit.curve]
    pairs = [(false, leak) for _, leak, false in known if leak is not None and false is not None]
    delta = fit.guarantee.delta if fit.guarantee and fit.guarantee.delta else _DELTA
    bounds = list(_bounds(fit, delta))
    alpha = fit.guarantee.alpha if fit.guarantee else None
    line = [] if alpha is None else [(0.0, alpha), (1.0, alpha)]
    traded = curve(
        "Leak against false abstention.",
        "Each point is a threshold. The dashed line is alpha." if line else "Each point is a threshold.",
        ("right outputs that do not pass", "hallucinated outputs that pass"),
        pairs,
        line,
    )
    bounded = curve(
        "Leak by threshold.",
        f"The dashed line is the largest leak compatible with the rows at confidence {1 - delta:.4g}.",
        ("threshold", "hallucinated outputs that pass"),
        [(min(1.0, t), leak) for t, leak, _ in known if leak is not None],
        bounds,
    )
    return tag("section", tag("h2", "Curves"), tag("div", traded, bounded, class_="plots"))


def _bounds(fit: Fit, delta: float) -> Iterator[tuple[float, float]]:
    for point in fit.curve:
        if point.leak is not None:
            leaks = round(point.leak * fit.hallucinated)
            yield min(1.0, point.threshold), upper_bound(leaks, fit.hallucinated, delta)


def _answering(found: AbstentionFit) -> Markup:
    """When an answer is given: what became of the rows, and whether the confidence means what it says."""
    sorts = [f"{sort} {outcome}" for sort in ("right", "wrong") for outcome in ("given", "caveated", "held")]
    head = ("", *sorts, "mean loss")
    rows = (("gate alone", found.gate), ("with confidence", found.answers))
    of = "held-out rows" if found.held_out else "the rows it was fitted on"
    limits = f"Answered from {found.block.high:g}, held back below {found.block.low:g}; figures of {of}."
    weights = found.block.weights.model_dump().items()
    measured = ", ".join(f"{name} {weight:g} ({found.measured[name]:,} rows)" for name, weight in weights if weight)
    pairs = [(p.false_abstention, p.leak) for p in found.curve if p.false_abstention is not None and p.leak is not None]
    return tag(
        "section",
        tag("h2", "Whether to answer"),
        tag("p", limits, f" Confidence of {measured}.", class_="small soft"),
        tag(
            "table",
            tag("thead", tag("tr", (tag("th", n, scope="col", class_="num" if n else None) for n in head))),
            tag("tbody", [_answers(name, made) for name, made in rows]),
        ),
        tag(
            "div",
            curve(
                "Leak against false abstention, by confidence.",
                "Each point is a confidence from which answers are given, without the gate.",
                ("right outputs that are not given", "hallucinated outputs that are given"),
                pairs,
            ),
            reliability(_marks(found.before), "Before.", f"The mean of the signals; ECE {found.ece_before:.3f}."),
            reliability(_marks(found.after), "After.", f"The fitted confidence; ECE {found.ece_after:.3f}."),
            class_="plots",
        ),
    )


def _answers(name: str, made: Answers) -> Markup:
    cells = (*(f"{count:,}" for count in (*made.right, *made.wrong)), f"{made.loss:.4f}")
    return tag("tr", tag("th", name, scope="row"), (tag("td", cell, class_="num") for cell in cells))


def _marks(bins: tuple[Bin, ...]) -> list[tuple[float, float, int]]:
    return [
        (one.mean_probability, one.frequency, one.count)
        for one in bins
        if one.mean_probability is not None and one.frequency is not None
    ]


def _footer(fit: Fit) -> Markup:
    if fit.calibration is None:
        return tag("footer", tag("p", f"{fit.documents:,} documents"))
    kept = fit.calibration
    facts = (
        f"data {kept.data_digest[:16]} · policy {kept.policy_digest[:16]} · verifier {kept.verifier_digest[:16]} · "
        f"seed {kept.seed} · {kept.documents:,} documents"
    )
    return tag("footer", tag("p", facts))
