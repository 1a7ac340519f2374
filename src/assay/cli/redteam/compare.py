"""`assay redteam compare`: runs a suite against a system without and with each of several guardrails."""

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.redteam.options import CompareSettings
from assay.cli.redteam.run import interrupt_on_sigterm, progress, report_spent
from assay.cli.terminal import write_text
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.redteam import Campaign
    from assay.redteam.guardrails import Guardrail, GuardrailComparison
    from assay.redteam.targets import Target


def run_compare(settings: CompareSettings) -> bool:
    """Runs all, writes the table and keeps it.

    Returns:
        Whether there is a finding: a guardrail under which no case could be judged.

    Raises:
        AssayError: an option or a file cannot be used.
    """
    from assay.cli.check import open_guard
    from assay.evaluation.rows import write_file
    from assay.redteam.cases import read_suite
    from assay.redteam.guardrails import compare_guardrails
    from assay.redteam.targets import load_target

    cases = read_suite(settings.suite)
    if all(case.benign for case in cases):
        raise InputError(f"{settings.suite}: holds no attack to be stopped")
    if not any(case.benign for case in cases):
        warning = "the suite has no benign cases, so that false positives are not seen: `generate --twins`"
        write_text(f"assay: {warning}\n", sys.stderr)
    target = load_target(settings.target, settings.target_model, settings.timeout, os.environ)
    guardrails = [_guardrail(name, settings) for name in settings.guardrails]
    guard = open_guard(settings.policy, settings.verifier)
    with tempfile.TemporaryDirectory() as scratch, interrupt_on_sigterm():
        folder = settings.out or Path(scratch)
        unguarded, compared = compare_guardrails(
            cases,
            target,
            guardrails,
            guard,
            folder,
            settings.run_options(),
            version=settings.target_version,
            on_answer=progress(len(cases) * (1 + len(guardrails))),
        )
    for campaign in (unguarded, *(one.campaign for one in compared)):
        report_spent(campaign.spent)
    if settings.out is not None:
        for name, form in (("comparison.json", "json"), ("comparison.md", "markdown")):
            write_file(settings.out / name, _table_text(form, unguarded, compared))
    write_text(_table_text(settings.format, unguarded, compared), sys.stdout)
    unknown = [one.name for one in compared if one.effect.unjudged == len(cases)]
    for name in unknown:
        write_text(f"assay: of the guardrail {name} nothing could be judged\n", sys.stderr)
    return bool(unknown)


def _guardrail(name: str, settings: CompareSettings) -> "Guardrail | Target":
    from assay.cli.check import open_guard
    from assay.redteam.guardrails import load_guardrail
    from assay.redteam.targets import load_target

    guardrail = load_guardrail(name, settings.timeout, lambda policy: open_guard(policy, settings.verifier))
    if guardrail is not None:
        return guardrail
    return load_target(name, settings.target_model, settings.timeout, os.environ)


def _table_text(form: str, unguarded: "Campaign", compared: "tuple[GuardrailComparison, ...]") -> str:
    from assay.redteam.guardrails import guardrail_json, guardrail_markdown, guardrail_text

    match form:
        case "json":
            return guardrail_json(unguarded.card, compared)
        case "markdown":
            return guardrail_markdown(compared) + "\n"
        case _:
            return guardrail_text(compared)
