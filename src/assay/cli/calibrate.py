"""`assay calibrate`: fits the thresholds of a policy on labelled rows and writes the policy with its guarantee."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.database import DEFAULT_TENANT, opened
from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.operations.engines import worker_map
from assay.cli.options.command import takes
from assay.cli.options.completion import complete_policy
from assay.cli.options.shared import GuardOptions, LimitOption, WorkerOptions
from assay.cli.options.shared import TextJsonOrHtml as Format
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.cli.terminal import Line
    from assay.evaluation.calibrate import AbstentionFit, Fit, FitGoal
    from assay.guard import Guard
    from assay.policy import Policy
    from assay.stats import Costs


class Loss(StrEnum):
    """How errors are summed."""

    ROWS = "rows"
    RATES = "rates"


class GuaranteeMethod(StrEnum):
    """The method of the guarantee."""

    LTT = "learn-then-test"
    CRC = "conformal-risk-control"


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions(GuardOptions, WorkerOptions):
    """The options of `assay calibrate`."""

    files: Annotated[tuple[Path, ...], typer.Argument(metavar="FILE...", help="Labelled rows, as for eval.")] = ()
    alpha: Annotated[
        float | None, typer.Option(metavar="A", help="At most this share of hallucinated outputs may pass.")
    ] = None
    delta: Annotated[float, typer.Option(metavar="D", help="How often that promise may fail.")] = 0.1
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the policy here, such as assay.yaml.")
    ] = None
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="NAME|FILE",
            autocompletion=complete_policy,
            help="The policy to start from. [default: general]",
        ),
    ] = None
    method: Annotated[
        GuaranteeMethod,
        typer.Option(help="learn-then-test holds with confidence 1 - D, conformal-risk-control in the mean only."),
    ] = GuaranteeMethod.LTT
    horizon: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Make the promise for the next N hallucinated outputs, not for a rate."),
    ] = None
    leak: Annotated[
        float | None, typer.Option("--cost-leak", min=0, help="The cost of a hallucination that passes.")
    ] = None
    false_block: Annotated[
        float | None, typer.Option("--cost-false-block", min=0, help="The cost of a correct output that is withheld.")
    ] = None
    abstain: Annotated[
        float | None,
        typer.Option("--cost-abstention", min=0, help="The cost of an output that is neither passed nor withheld."),
    ] = None
    loss: Annotated[
        Loss, typer.Option(help="Weigh every row alike, or correct and hallucinated rows one half each.")
    ] = Loss.ROWS
    one_per_document: Annotated[
        bool, typer.Option("--one-per-document", help="Keep one row for each set of evidence.")
    ] = False
    seed: Annotated[int, typer.Option(help="The seed of --one-per-document.")] = 0
    abstention: Annotated[
        bool, typer.Option("--abstention", help="Also fit the confidence below which no answer is given.")
    ] = False
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the page with the curves here.")] = None
    results: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep results here; a stopped run resumes from them.")
    ] = None
    format: Annotated[Format, typer.Option("--format", "-f", help="How to write the report.")] = Format.TEXT
    limit: LimitOption = None
    prior: Annotated[
        bool, typer.Option("--prior", help="Fit the expected share of supported claims alone; needs no labels.")
    ] = False
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="URL|FILE", help="With --prior: the recorded outputs in place of FILE."),
    ] = None
    verify: Annotated[
        Path | None, typer.Option(metavar="POLICY", help="Check whether the guarantee of a fitted policy still holds.")
    ] = None


@takes(CalibrateOptions)
def calibrate(options: CalibrateOptions) -> None:
    """Fit the thresholds of a policy on labelled rows: at the least cost, or with a guarantee.

    Exit status 1 where the data do not allow the guarantee; no policy is written then.
    """
    with reporting_errors():
        if options.prior:
            run_prior(options)
            raise typer.Exit(CLEAN)
        if options.database is not None:
            raise InputError("--database goes with --prior: thresholds are fitted on labelled rows")
        if options.verify is not None:
            raise typer.Exit(FINDINGS if run_verify(options.verify, options.verifier) else CLEAN)
        raise typer.Exit(CLEAN if run_calibrate(options) else FINDINGS)


def goal_of(options: CalibrateOptions) -> "FitGoal":
    """The goal of the fit.

    Raises:
        InputError: alpha or delta is not between 0 and 1.
    """
    from assay.evaluation.calibrate import FitGoal

    for name, share in (("--alpha", options.alpha), ("--delta", options.delta)):
        if share is not None and not 0 < share < 1:
            raise InputError(f"{name} should lie between 0 and 1, got {share}")
    return FitGoal(
        alpha=options.alpha,
        delta=options.delta,
        horizon=options.horizon,
        one_per_document=options.one_per_document,
        seed=options.seed,
        abstention=options.abstention,
        method="learn_then_test" if options.method is GuaranteeMethod.LTT else "conformal_risk_control",
        costs=_costs(options),
    )


def _costs(options: CalibrateOptions) -> "Costs | None":
    """The costs that the options name; none if they name none."""
    from assay.evaluation.calibrate import DEFAULT_COSTS
    from assay.stats import Costs

    options_given: dict[str, float | bool | None] = {
        "leak": options.leak,
        "false_block": options.false_block,
        "abstention": options.abstain,
    }
    chosen_costs = {name: value for name, value in options_given.items() if value is not None}
    if options.loss is Loss.RATES:
        chosen_costs["rates"] = True
    return Costs(**{**asdict(DEFAULT_COSTS), **chosen_costs}) if chosen_costs else None


def open_loosest(policy: "Policy", model: Path | None) -> "Guard":
    """A guard that emits everything that any stricter form of the policy may emit."""
    from assay.config import Guard
    from assay.policy.calibration import loosest

    return Guard(loosest(policy), model=model)


def run_calibrate(options: CalibrateOptions) -> bool:
    """Judge, fit and write.

    Returns:
        Whether a policy was fitted.

    Raises:
        AssayError: an option or a file cannot be used.
    """
    from assay.cli.evaluate import identity_of, progress_bar, read_all
    from assay.config import knowledge_file, read_policy
    from assay.evaluation.calibrate import CalibrationTask, calibration_key, fit, judge_rows, labelled_rows
    from assay.evaluation.rows import ResultLog, write_file
    from assay.policy.calibration import policy_text

    if not options.files:
        raise InputError("expected files of labelled rows, got none; see `assay calibrate --help`")
    goal = goal_of(options)
    base = read_policy(options.policy, os.environ)
    rows = labelled_rows(read_all(options.files, options.limit), goal)
    guard = open_loosest(base, options.verifier)
    # What is kept of a row depends on thresholds of the policy that its loosest form, under which it is judged, lacks.
    identity = identity_of(guard, knowledge_file(guard.policy, os.environ)) | {"base_policy_digest": base.digest}
    with (
        ResultLog(options.results, identity) as log,
        progress_bar("judging", len(rows)) as progress,
        worker_map(options.worker_settings, CalibrationTask(base), options.verifier) as judged,
    ):
        outcomes = judge_rows(guard, base, rows, log, progress, judged)
        results = [log.results[calibration_key(row)] for row in rows]
    result = fit(base, rows, outcomes, goal, (guard.verifier.name, guard.verifier.digest), results)
    if options.out is not None and result.policy is not None and result.calibration is not None:
        write_file(options.out, policy_text(result.policy, result.calibration))
    _write(result, options)
    return result.policy is not None


def open_guard(policy: "Policy", model: Path | None) -> "Guard":
    """A guard under the policy."""
    from assay.config import Guard

    return Guard(policy, model=model)


def run_prior(options: CalibrateOptions) -> None:
    """Estimate the share of supported claims in unlabelled outputs, and write the policy with it.

    Raises:
        AssayError: an option or a file cannot be used, or the outputs hold too few claims.
    """
    from contextlib import ExitStack

    from assay.cli.evaluate import progress_bar, read_all
    from assay.cli.terminal import write_text
    from assay.config import read_policy
    from assay.evaluation.calibrate import PriorTask, prior_of, recorded_requests
    from assay.evaluation.rows import write_file
    from assay.policy.calibration import policy_with_prior

    database, limit, out = options.database, options.limit, options.out
    if bool(options.files) == (database is not None):
        raise InputError("expected files of rows or --database, one of the two; see `assay calibrate --help`")
    if options.format is Format.HTML:
        raise InputError("--prior is reported as text or json")
    base = read_policy(options.policy, os.environ)
    guard = open_guard(base, options.verifier)
    with ExitStack() as stack:
        requests: Iterable[Mapping[str, Any]]
        if database is not None:
            most = limit or MOST_RECORDED
            requests = recorded_requests(stack.enter_context(opened(database)), DEFAULT_TENANT, most)
        else:
            rows = list(read_all(options.files, limit))
            most = len(rows)
            requests = [{"answer": row.text, "evidence": list(row.evidence), "question": row.question} for row in rows]
        progress = stack.enter_context(progress_bar("judging", most))
        scored = stack.enter_context(worker_map(options.worker_settings, PriorTask(base), options.verifier))
        estimate = prior_of(guard, requests, progress, scored)
    fitted = base.model_copy(update={"prior": round(estimate.prior, 4)})
    if out is not None:
        write_file(out, policy_with_prior(fitted, estimate.claims))
    if options.format is Format.JSON:
        write_text(
            json.dumps({"policy": base.name, "before": base.prior, **asdict(estimate)}, indent=2) + "\n", sys.stdout
        )
        return
    before = "none" if base.prior is None else f"{base.prior:g}"
    text = (
        f"prior {estimate.prior:.3f} ({estimate.low:.3f} to {estimate.high:.3f}, 95%), estimated from "
        f"{estimate.claims:,} claims; {base.name} had {before}\n"
    )
    write_text(text + (f"written: {out}\n" if out is not None else ""), sys.stdout)


MOST_RECORDED = 2_000
"""The most recorded outputs that are read without --limit."""


def run_verify(path: Path, model: Path | None) -> bool:
    """Say whether the guarantee of a policy file is still valid with the current verifier.

    Returns:
        Whether it is void.

    Raises:
        AssayError: the file cannot be read, or has no calibration block.
    """
    from assay.cli.terminal import write_text
    from assay.config import Guard, read_policy
    from assay.policy import parse_calibration
    from assay.policy.calibration import void_because

    policy = read_policy(path, os.environ)
    calibration = parse_calibration(path.read_text(encoding="utf-8-sig"), str(path))
    if calibration is None:
        raise InputError(f"{path}: has no calibration block; it was not written by `assay calibrate`")
    reasons = void_because(calibration, policy, Guard(policy, model=model).verifier.digest)
    text = "".join(f"void: {reason}\n" for reason in reasons) or f"stands: {calibration.statement}\n"
    write_text(text, sys.stdout)
    return bool(reasons)


def _write(fit: "Fit", options: CalibrateOptions) -> None:
    from assay.cli.terminal import write, write_text
    from assay.evaluation.calibrate import calibration_page
    from assay.evaluation.rows import write_file

    if options.report is not None:
        write_file(options.report, calibration_page(fit))
    if options.format == "json":
        write_text(json.dumps(fit_json(fit), ensure_ascii=True, allow_nan=False, indent=2) + "\n", sys.stdout)
    elif options.format == "html":
        write_text(calibration_page(fit), sys.stdout)
    else:
        write(fit_text(fit, options.out), sys.stdout)


def fit_json(fit: "Fit") -> dict[str, Any]:
    """The fit as JSON values."""
    return {
        "policy": None if fit.policy is None else fit.policy.model_dump(mode="json"),
        "calibration": None if fit.calibration is None else fit.calibration.model_dump(mode="json"),
        "guarantee": None if fit.guarantee is None else asdict(fit.guarantee),
        "before": asdict(fit.before),
        "after": None if fit.after is None else asdict(fit.after),
        "curve": [asdict(point) for point in fit.curve],
        "rows": fit.rows,
        "hallucinated": fit.hallucinated,
        "documents": fit.documents,
        "notes": list(fit.notes),
        "abstention": None if fit.abstention is None else abstention_json(fit.abstention),
    }


def abstention_json(abstention: "AbstentionFit") -> dict[str, Any]:
    """The fitted abstention as JSON values."""
    values = {name: getattr(abstention, name) for name in abstention.__slots__}
    block = abstention.block.model_dump(mode="json")
    nested = {name: [asdict(one) for one in values[name]] for name in ("before", "after", "curve")}
    decided = {name: asdict(values[name]) for name in ("gate", "answers")}
    return {**values, **nested, **decided, "measured": dict(abstention.measured), "block": block}


def fit_text(fit: "Fit", out: Path | None) -> "Iterator[Line]":
    """The report as lines: the guarantee, the costs, and the curve as a table with bars."""
    from assay.cli.terminal import Line, one_line
    from assay.evaluation.calibrate import headline, share_text, shown_points

    yield Line(((one_line(headline(fit)), "strong" if fit.policy else "bad"),))
    yield Line(((f"{fit.rows:,} rows, {fit.hallucinated:,} hallucinated, {fit.documents:,} documents", "faint"),))
    yield Line()
    yield Line(
        ((f"{'':<10} {'passes from':>11} {'leaks':>7} {'false blocks':>13} {'abstains':>9} {'loss':>8}", "faint"),)
    )
    for name, choice in (("as it was", fit.before), ("fitted", fit.after)):
        if choice is not None:
            cells = (
                f"{name:<10} {choice.threshold:>11g} {choice.leaks:>7,} {choice.false_blocks:>13,} "
                f"{choice.abstentions:>9,} {choice.loss:>8.4f}"
            )
            yield Line(((cells, ""),))
    yield Line()
    yield Line(((f"{'threshold':>9}  {'leak':>5}  {'false abstention':>16}", "faint"),))
    chosen = fit.after.threshold if fit.after else None
    for point in shown_points(fit):
        bars = f"{'#' * round(20 * (point.leak or 0)):<20} {'-' * round(20 * (point.false_abstention or 0)):<20}"
        mark = " <" if point.threshold == chosen else ""
        numbers = f"{point.threshold:>9g}  {share_text(point.leak):>5}  {share_text(point.false_abstention):>16}"
        yield Line(((f"{numbers}  {bars}{mark}", "strong" if mark else ""),))
    if fit.abstention is not None:
        yield Line()
        yield from _abstention_text(fit.abstention)
    for note in fit.notes:
        yield Line((("- " + one_line(note), "doubt"),))
    if out is not None and fit.policy is not None:
        yield Line(((f"written: {one_line(str(out))}", "good"),))


def _abstention_text(abstention: "AbstentionFit") -> "Iterator[Line]":
    from assay.cli.terminal import Line

    row_source = "held-out rows" if abstention.held_out else "the rows it was fitted on"
    limits = f"answered from {abstention.block.high:g}, held back below {abstention.block.low:g}"
    weights = ", ".join(
        f"{name} {weight:g}" for name, weight in abstention.block.weights.model_dump().items() if weight
    )
    errors = f"calibration error {abstention.ece_before:.3f} before, {abstention.ece_after:.3f} after"
    losses = f"log loss {abstention.log_loss_before:.3f} and {abstention.log_loss_after:.3f}"
    yield Line(((f"{limits}; figures of {row_source}", "faint"),))
    yield Line(((f"confidence of {weights}: {errors}, {losses}", ""),))
    head = f"{'':<18} {'given':>15} {'with a caveat':>15} {'held back':>15} {'loss':>8}"
    yield Line(((head, "faint"),))
    for name, counts in (("gate alone", abstention.gate), ("with confidence", abstention.answers)):
        cells = (f"{right:,} / {wrong:,}" for right, wrong in zip(counts.right, counts.wrong, strict=True))
        words = f"{name:<18} " + " ".join(f"{cell:>15}" for cell in cells) + f" {counts.loss:>8.4f}"
        yield Line(((words, ""),))
    yield Line((("right / hallucinated", "faint"),))
