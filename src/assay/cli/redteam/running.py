"""`assay redteam run`."""

import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs import read_text
from assay.cli.operations.engines import COMMAND, Crew, judging
from assay.cli.terminal import clean, write_text

if TYPE_CHECKING:
    from assay.redteam import Campaign
    from assay.redteam.cases import Case
    from assay.redteam.runs import Answer
    from assay.redteam.scores import Comparison, Scorecard
    from assay.redteam.targets import Target


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What the command line said."""

    suite: Path
    target: str
    baseline: Path | None
    out: Path | None
    format: str
    delta: float
    alpha: float
    fail_under: float | None
    target_model: str | None
    timeout: float
    concurrency: int
    rate: float | None
    most_calls: int | None
    most_seconds: float | None
    reruns: int
    retry_failed: bool
    at_most_once: bool
    policy: str | None
    verifier: Path | None
    crew: Crew = COMMAND
    """Who judges the answers; the target is always asked by this process."""


def run_run(settings: RunSettings) -> bool:
    """Runs, writes, compares.

    Returns:
        Whether there is a finding: a regression, a score below the one asked for, or nothing that could be judged.

    Raises:
        AssayError: anything that was given cannot be used.
    """
    from assay.redteam.cases import read_suite
    from assay.redteam.scores import read_card
    from assay.redteam.targets import load_target

    cases = read_suite(settings.suite)
    before: Scorecard | None = None
    if settings.baseline is not None:
        file = settings.baseline / "summary.json" if settings.baseline.is_dir() else settings.baseline
        before = read_card(read_text(file), str(file))
    target = load_target(settings.target, settings.target_model, settings.timeout, os.environ)
    with tempfile.TemporaryDirectory() as scratch:
        folder = settings.out or Path(scratch)
        campaign = _campaign(settings, cases, target, folder)
        comparison = _compared(settings, before, campaign.card)
        if settings.out is not None:
            _keep(settings.out, campaign, comparison)
    write_text(_written(settings.format, campaign, comparison), sys.stdout)
    return _finding(settings, campaign, comparison)


def _campaign(settings: RunSettings, cases: "Sequence[Case]", target: "Target", folder: Path) -> "Campaign":
    from assay.cli.check import open_guard
    from assay.config import knowledge_file
    from assay.redteam import run_campaign
    from assay.redteam.judging import JudgingAnswers
    from assay.redteam.runs import RunOptions

    options = RunOptions(
        concurrency=settings.concurrency, per_second=settings.rate, most_calls=settings.most_calls,
        most_seconds=settings.most_seconds, retry_failed=settings.retry_failed, at_most_once=settings.at_most_once,
    )  # fmt: skip
    guard = open_guard(settings.policy, settings.verifier)
    told = progress(len(cases))
    task = JudgingAnswers(guard.policy, knowledge_file(settings.policy, os.environ))
    with ending_gently(), judging(settings.crew, task, settings.verifier) as judged:
        campaign = run_campaign(
            cases, target, guard, folder, options, reruns=settings.reruns, told=told, judged=judged
        )  # fmt: skip
    spent = campaign.spent
    if spent.kept:
        write_text(f"assay: {spent.kept} cases had been asked before and were not asked again\n", sys.stderr)
    if spent.left:
        write_text(f"assay: {spent.left} cases were not asked: the budget is spent; run again to go on\n", sys.stderr)
    return campaign


@contextmanager
def ending_gently() -> Iterator[None]:
    """Within it a request to terminate ends a run as an interrupt does: calls under way are waited for and recorded."""

    def interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt(f"signal {number}")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def progress(cases: int) -> "Callable[[Answer], None]":
    """Says how far a run is: on a terminal with every answer, else with every tenth of the cases."""
    done = 0
    live = sys.stderr.isatty()
    step = max(1, cases // 10)

    def told(_: "Answer") -> None:
        nonlocal done
        done += 1
        if live:
            write_text(f"\r{done} answers{chr(10) if done == cases else ''}", sys.stderr)
        elif done % step == 0:
            write_text(f"assay: {done} answers\n", sys.stderr)

    return told


def _compared(settings: RunSettings, before: "Scorecard | None", card: "Scorecard") -> "Comparison | None":
    from assay.redteam.scores import compare

    return None if before is None else compare(before, card, settings.delta, settings.alpha)


def _keep(folder: Path, campaign: "Campaign", comparison: "Comparison | None") -> None:
    from assay.evaluation.rows import write_file

    for name, form in (("report.html", "html"), ("report.md", "markdown"), ("junit.xml", "junit")):
        write_file(folder / name, _written(form, campaign, comparison))


def _written(form: str, campaign: "Campaign", comparison: "Comparison | None") -> str:
    from assay.redteam.reports import html_report, junit, markdown, text_report

    card, cases, judgements = campaign.card, campaign.cases, campaign.judgements
    match form:
        case "json":
            value = card.model_dump(mode="json")
            if comparison is not None:
                value["comparison"] = {**comparison.model_dump(mode="json"), "regressed": comparison.regressed}
            return json.dumps(value) + "\n"
        case "markdown":
            return markdown(card, cases, judgements, comparison)
        case "junit":
            return junit(card, cases, judgements)
        case "html":
            return html_report(card, cases, judgements, comparison)
        case _:
            return text_report(card, comparison)


def _finding(settings: RunSettings, campaign: "Campaign", comparison: "Comparison | None") -> bool:
    card = campaign.card
    if card.ars is None:
        first = clean(campaign.judgements[0].rule)
        write_text(f"assay: no case could be judged; the first: {first}\n", sys.stderr)
        return True
    if comparison is not None and comparison.regressed:
        broken = ", ".join(one.id for one in comparison.broken[:50])
        write_text(f"assay: regression beyond {comparison.delta:g}; broken: {broken}\n", sys.stderr)
        return True
    judged = card.cases - card.unjudged
    if settings.fail_under is not None and card.ars * judged / card.cases < settings.fail_under:
        write_text(f"assay: below --fail-under {settings.fail_under:g} (what is unjudged counts as 0)\n", sys.stderr)
        return True
    return False
