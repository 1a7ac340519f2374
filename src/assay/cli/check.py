"""`assay check`: reads answers and evidence, checks them, and writes the reports."""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.formats.cases import Case, Outcome
from assay.cli.formats.check_cases import KNOWN, case_of
from assay.cli.formats.limits import limit_cases, read_limits
from assay.cli.formats.write import FORMATS, read_targets, rendered, write_targets
from assay.cli.inputs import (
    AnswerInput,
    Reading,
    Request,
    read_all_answers,
    read_evidence,
    read_question,
    read_schema,
    warn_skipped,
)
from assay.cli.options.check import CheckOptions
from assay.cli.receipts.check_receipt import with_receipt
from assay.cli.reports.judge_words import adjusted_policy
from assay.cli.reports.repair_words import chat_model
from assay.cli.terminal import clean, plain, write, write_text
from assay.errors import InputError
from assay.evaluation.rows import write_file
from assay.schema import Action, Evidence, HallucinationReport

if TYPE_CHECKING:
    from assay.guard import Guard, RunOptions
    from assay.models.chat import ChatModel
    from assay.policy import Policy


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """One answer with its report and the evidence that it was checked against."""

    request: Request
    evidence: tuple[Evidence, ...]
    report: HallucinationReport


def run_check(options: CheckOptions) -> bool:
    """Checks and writes.

    Returns:
        Whether there is a finding: a decision that is not harmless, or a limit that is not met.

    Raises:
        AssayError: an option or a file cannot be used.
    """
    targets = read_targets(options.write)
    limits = read_limits(options.fail_under, options.fail_over, KNOWN)
    stdin = sys.stdin.buffer.read() if "-" in options.answer else None
    schema = read_schema(options.schema)
    # With a schema the answer itself is JSON, so JSON is never read as a request.
    reading: Reading = "text" if schema is not None and options.reading == "auto" else options.reading.value
    answers = read_all_answers(options.answer, stdin, reading, evidence_given=bool(options.evidence))
    evidence, skipped = read_evidence(options.evidence)
    warn_skipped((*answers.skipped, *skipped))
    question = read_question(options.question)
    _refuse_unwritable(options, answers)
    if options.remove and not options.repair:
        raise InputError("--remove goes with --repair: a check alone changes nothing")
    cases: list[Case] = []
    with chat_model(options.llm, options.base_url) as llm:
        checked_answers = _check_all(options, answers.requests, evidence, question, schema, llm)
        if options.repair and answers.several:
            checked_answers = _reporting_convergence(checked_answers)
        if options.receipt is not None:
            checked_answers = with_receipt(checked_answers, options.receipt, options.keys)
        if targets or limits or options.format in FORMATS:
            checked_answers = _collecting_cases(checked_answers, cases, options.harmless)
        if options.format in FORMATS:
            actions = [item.report.action for item in checked_answers]
        else:
            actions = _write_all(options, answers, checked_answers)
    _warn_without_evidence(answers, evidence)
    limits_checked = limit_cases(limits, {case.name: case.metrics for case in cases})
    outcome = Outcome("assay check", [*cases, *limits_checked])
    if options.format in FORMATS:
        text = rendered(options.format, outcome)
        if options.out is None:
            write_text(text, sys.stdout)
        else:
            write_file(options.out, text)
    write_targets(targets, outcome)
    for case in limits_checked:
        if not case.passed:
            write_text(f"assay: below the limit: {clean(case.headline)}\n", sys.stderr)
    return not set(actions) <= options.harmless or any(not case.passed for case in limits_checked)


def _collecting_cases(
    checked: "Iterator[CheckedAnswer]", cases: list[Case], harmless: frozenset[Action]
) -> "Iterator[CheckedAnswer]":
    """Passes the answers on, and collects a case of each for the formats of other programs."""
    for item in checked:
        cases.append(case_of(item.request, item.evidence, item.report, harmless))
        yield item


def _warn_without_evidence(answers: AnswerInput, evidence: Sequence[Evidence]) -> None:
    """Warns if answers are checked without any evidence."""
    without = sum(not request.evidence and request.run is None for request in answers.requests)
    if not evidence and without:
        for_answers = (
            "" if len(answers.requests) == without == 1 else f" for {without} of {len(answers.requests)} answers"
        )
        write_text(
            f"assay: warning: no evidence{for_answers}: every claim that no knowledge source supports counts as "
            "unsupported; name files or folders with --evidence\n",
            sys.stderr,
        )


def _reporting_convergence(checked: "Iterator[CheckedAnswer]") -> "Iterator[CheckedAnswer]":
    """Passes the answers on; after the last it reports how many repairs converged."""
    from assay.rewrite.revise import convergence_of

    reports: list[HallucinationReport] = []
    for item in checked:
        reports.append(item.report)
        yield item
    write_text(f"assay: repair: {convergence_of(reports).words}\n", sys.stderr)


def _refuse_unwritable(options: CheckOptions, answers: AnswerInput) -> None:
    if options.format == "html" and answers.several and options.out is None:
        raise InputError("several answers make several HTML files; name a folder for them with --out")
    if options.format == "html" and answers.several and options.out is not None and options.out.is_file():
        raise InputError(f"--out {options.out} is a file; several HTML reports need a folder")
    if options.receipt is not None and answers.several:
        raise InputError("--receipt is for one answer; check several one by one, or sign their reports")


def open_guard(
    policy: "Policy | str | None",
    model: Path | None,
    llm: "ChatModel | None" = None,
    *,
    environ: Mapping[str, str] | None = None,
    knowledge: Path | None = None,
) -> "Guard":
    """The guard that the options and the environment name.

    Raises:
        PolicyError: there is no such preset or file, or settings contradict each other.
        ModelError: the network cannot be used.
    """
    from assay.config import build_guard

    return build_guard(policy, model, environ, llm, knowledge)


def _check_all(
    options: CheckOptions,
    requests: Sequence[Request],
    evidence: Sequence[Evidence],
    question: str | None,
    schema: Any,
    llm: "ChatModel | None",
) -> Iterator[CheckedAnswer]:
    environ = os.environ if options.config is None else {**os.environ, "ASSAY_CONFIG": str(options.config)}
    policy = adjusted_policy(options.policy, options.judge, options.omissions, options.llm, environ)
    sources = _sources(options, environ)
    chosen = (policy, options.verifier) if llm is None else (policy, options.verifier, llm)
    guard = open_guard(*chosen, **sources)
    check_one = partial(guard.repair, remove=options.remove) if options.repair else guard.check
    for request in requests:
        all_evidence = (*evidence, *request.evidence)
        settings: dict[str, Any] = {**request.options}
        if options.stakes is not None:
            settings["stakes"] = options.stakes.value
        if schema is not None:
            settings["schema"] = schema
        if options.as_of is not None or any(piece.expiry_date or piece.effective_date for piece in all_evidence):
            settings["as_of"] = options.as_of or date.today()  # noqa: DTZ011 the local day of the caller
        question_asked = question if question is not None else request.question
        try:
            if request.run is not None:
                report = guard.check_run(request.run, **_run_options(options, all_evidence, question))
                yield CheckedAnswer(request, all_evidence, report)
                continue
            report = check_one(request.answer, all_evidence, question=question_asked, **settings)
        except InputError as error:
            raise InputError(f"{request.name}: {error}") from error
        yield CheckedAnswer(request, all_evidence, report)


def _run_options(options: CheckOptions, evidence: Sequence[Evidence], question: str | None) -> "RunOptions":
    """The options of a check of a run.

    Raises:
        InputError: an option is given that applies only to a text.
    """
    for name, value in (("--schema", options.schema), ("--repair", options.repair), ("--as-of", options.as_of)):
        if value:
            raise InputError(f"{name} does not go with --as run: it is about an answer alone")
    run_options: RunOptions = {"evidence": evidence, "question": question}
    return run_options if options.stakes is None else {**run_options, "stakes": options.stakes.value}


def _sources(options: CheckOptions, environ: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of `open_guard` for knowledge sources, if the options or the environment name a file with them."""
    from assay.config import knowledge_file

    file = knowledge_file(options.policy, environ)
    return {} if file is None else {"environ": environ, "knowledge": file}


# Writing


def _write_all(options: CheckOptions, answers: AnswerInput, checked_answers: Iterator[CheckedAnswer]) -> list[Action]:
    if options.format == "html":
        return _write_html(options.out, answers.several, checked_answers)
    if options.out is None:
        return [_print(options.format, answers.several, item) for item in checked_answers]
    texts, actions = [], []
    for item in checked_answers:
        texts.append(_as_text(options.format, answers.several, item))
        actions.append(item.report.action)
    write_file(options.out, "".join(texts))
    return actions


def _print(format_: str, several: bool, item: CheckedAnswer) -> Action:
    """Writes one report as soon as it is ready."""
    if format_ == "json":
        write_text(_as_text(format_, several, item), sys.stdout)
    else:
        from assay.cli.reports.text_report import text_report

        write(text_report(item.request.name, item.report), sys.stdout)
        if several:
            write_text("\n", sys.stdout)
    return item.report.action


def _as_text(format_: str, several: bool, item: CheckedAnswer) -> str:
    if format_ == "json":
        return json_text(item.report, lines=several)
    from assay.cli.reports.text_report import text_report

    return plain(text_report(item.request.name, item.report)) + ("\n" if several else "")


def json_text(report: HallucinationReport, *, lines: bool) -> str:
    """The report as JSON in ASCII, which is safe for any terminal and any encoding.

    Args:
        report: the report.
        lines: whether it is one line, for several reports in one stream.
    """
    value = report.model_dump(mode="json")
    return json.dumps(value, ensure_ascii=True, allow_nan=False, indent=None if lines else 2) + "\n"


def _write_html(out: Path | None, several: bool, checked: Iterator[CheckedAnswer]) -> list[Action]:
    from assay.cli.reports.html_report import Entry, html_index, html_report

    if out is None or not several:
        item = next(checked)
        text = html_report(item.request.name, item.report, item.evidence)
        if out is None:
            write_text(text, sys.stdout)
        else:
            write_file(out / "report.html" if out.is_dir() else out, text)
        return [item.report.action]
    entries: list[Entry] = []
    names_taken: dict[str, int] = {"index": 1}
    for item in checked:
        file = _file_name(item.request.name, names_taken)
        write_file(out / file, html_report(item.request.name, item.report, item.evidence))
        entries.append(Entry(item.request.name, item.report, file))
    write_file(out / "index.html", html_index(entries))
    write_text(f"assay: {len(entries)} reports and index.html written to {clean(str(out))}\n", sys.stderr)
    return [entry.report.action for entry in entries]


def _file_name(name: str, names_taken: dict[str, int]) -> str:
    """A file name of safe characters that no earlier report has, even on a file system that ignores case."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:80].lower() or "answer"
    names_taken[slug] = names_taken.get(slug, 0) + 1
    if names_taken[slug] == 1:
        return f"{slug}.html"
    return _file_name(f"{slug}-{names_taken[slug]}", names_taken)
