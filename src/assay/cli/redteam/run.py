"""`assay redteam run`: runs a suite against a target, scores it, and compares it with a baseline."""

import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.database import opened
from assay.cli.inputs import read_text
from assay.cli.operations.engines import worker_map
from assay.cli.redteam.database import record
from assay.cli.redteam.generate import false_positive_text
from assay.cli.redteam.options import RunSettings
from assay.cli.reports.repair_words import chat_model
from assay.cli.terminal import clean, write_text
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.models.chat import ChatModel
    from assay.redteam import Campaign
    from assay.redteam.cases import Case
    from assay.redteam.judging import Judgement
    from assay.redteam.runs import Answer, RunUsage
    from assay.redteam.scores import Comparison, Scorecard
    from assay.redteam.targets import Target
    from assay.store.db import Store


def run_run(settings: RunSettings) -> bool:
    """Runs, writes, compares.

    Returns:
        Whether there is a finding: a regression, a score below --fail-under, or no case that could be judged.

    Raises:
        AssayError: an option or a file cannot be used.
    """
    from assay.redteam.cases import read_suite
    from assay.redteam.scores import known_good_systems, read_card
    from assay.redteam.targets import load_target

    cases = read_suite(settings.suite)
    good_systems = known_good_systems(settings.suite, cases)
    baseline: Scorecard | None = None
    if settings.baseline is not None:
        file = settings.baseline / "summary.json" if settings.baseline.is_dir() else settings.baseline
        baseline = read_card(read_text(file), str(file))
    target = load_target(settings.target, settings.target_model, settings.timeout, os.environ)
    # The database is opened first, so that it does not turn out to be unusable after the calls were made.
    with tempfile.TemporaryDirectory() as scratch, _record_of(settings) as store:
        folder = settings.out or Path(scratch)
        campaign = _campaign(settings, cases, target, folder)
        comparison = _compared(settings, baseline, campaign.card)
        if settings.out is not None:
            keep_reports(settings.out, campaign, comparison)
        if store is not None:
            record(
                store,
                settings.tenant,
                campaign,
                comparison,
                suite=settings.suite.stem,
                target_version=settings.target_version or None,
                propose=settings.propose,
            )
    write_text(_campaign_text(settings.format, campaign, comparison), sys.stdout)
    if good_systems is not None and good_systems.rate is not None:
        write_text(f"assay: this suite's {false_positive_text(good_systems)}\n", sys.stderr)
    return _report_finding(settings, campaign, comparison)


def _record_of(settings: RunSettings) -> "AbstractContextManager[Store | None]":
    if settings.database is None:
        if settings.propose:
            raise InputError("expected --database, where what failed is proposed")
        return nullcontext()
    return opened(settings.database)


def _campaign(settings: RunSettings, cases: "Sequence[Case]", target: "Target", folder: Path) -> "Campaign":
    from assay.cli.check import open_guard
    from assay.config import knowledge_file
    from assay.redteam import run_campaign
    from assay.redteam.judging import ChunkJudgeFactory

    guard = open_guard(settings.policy, settings.verifier)
    on_answer = progress(len(cases))
    task = ChunkJudgeFactory(guard.policy, knowledge_file(settings.policy, os.environ))
    with (
        interrupt_on_sigterm(),
        worker_map(settings.worker_settings, task, settings.verifier) as map_answers,
        chat_model(settings.llm, settings.base_url) as model,
    ):
        campaign = run_campaign(
            cases,
            target,
            guard,
            folder,
            settings.run_options(retry_failed=settings.retry_failed, at_most_once=settings.at_most_once),
            reruns=settings.reruns,
            version=settings.target_version,
            on_answer=on_answer,
            judged=map_answers,
            again=None if model is None else partial(_ask_again, model, settings.llm or ""),
        )
    report_spent(campaign.spent)
    unsure = sum(one.unsure for one in campaign.judgements)
    if unsure:
        write_text(f"assay: {unsure} judgements are not sure: the rules found no words to go by\n", sys.stderr)
    return campaign


def _ask_again(
    model: "ChatModel", name: str, cases: "Sequence[Case]", judgements: "Sequence[Judgement]"
) -> "Sequence[Judgement]":
    from assay.redteam.judging import second_look

    second = second_look(cases, judgements, model, name)
    write_text(
        f"assay: {clean(name)} was asked about {second.asked} answers and decided {second.settled}\n", sys.stderr
    )
    if second.failure is not None:
        first = clean(second.failure)[:300]
        write_text(f"assay: some of its verdicts were of no use, the first: {first}\n", sys.stderr)
    return second.judgements


def report_spent(spent: "RunUsage") -> None:
    """Reports what a run spent, and the cases that it did not ask."""
    about = "" if spent.counted else "about "
    cost = "" if spent.cost is None else f", cost {about}{spent.cost:.4f}"
    write_text(f"assay: {spent.calls} calls; {about}{spent.tokens.total:,} tokens in this record{cost}\n", sys.stderr)
    if spent.kept:
        write_text(f"assay: {spent.kept} cases had been asked before and were not asked again\n", sys.stderr)
    if spent.left:
        write_text(f"assay: {spent.left} cases were not asked: the budget is spent; run again to go on\n", sys.stderr)


@contextmanager
def interrupt_on_sigterm() -> Iterator[None]:
    """Makes SIGTERM end a run as an interrupt does: calls in flight are awaited and recorded."""

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
    """Reports the progress of a run: on a terminal at every answer, elsewhere at every tenth of the cases."""
    done = 0
    live = sys.stderr.isatty()
    step = max(1, cases // 10)

    def report(_: "Answer") -> None:
        nonlocal done
        done += 1
        if live:
            write_text(f"\r{done} answers{chr(10) if done == cases else ''}", sys.stderr)
        elif done % step == 0:
            write_text(f"assay: {done} answers\n", sys.stderr)

    return report


def _compared(settings: RunSettings, baseline: "Scorecard | None", card: "Scorecard") -> "Comparison | None":
    from assay.redteam.scores import compare

    return None if baseline is None else compare(baseline, card, settings.delta, settings.alpha)


def keep_reports(folder: Path, campaign: "Campaign", comparison: "Comparison | None") -> None:
    """Writes the reports of a run into its folder."""
    from assay.evaluation.rows import write_file

    for name, form in (("report.html", "html"), ("report.md", "markdown"), ("junit.xml", "junit")):
        write_file(folder / name, _campaign_text(form, campaign, comparison))


def _campaign_text(form: str, campaign: "Campaign", comparison: "Comparison | None") -> str:
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


def _report_finding(settings: RunSettings, campaign: "Campaign", comparison: "Comparison | None") -> bool:
    card = campaign.card
    if card.ars is None:
        first_rule = clean(campaign.judgements[0].rule)
        write_text(f"assay: no case could be judged; the first: {first_rule}\n", sys.stderr)
        return True
    if comparison is not None and comparison.regressed:
        broken_cases = ", ".join(one.id for one in comparison.broken[:50])
        write_text(f"assay: regression beyond {comparison.delta:g}; broken: {broken_cases}\n", sys.stderr)
        return True
    judged = card.cases - card.unjudged
    if settings.fail_under is not None and card.ars * judged / card.cases < settings.fail_under:
        write_text(f"assay: below --fail-under {settings.fail_under:g} (what is unjudged counts as 0)\n", sys.stderr)
        return True
    return False
