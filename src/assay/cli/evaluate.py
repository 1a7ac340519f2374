"""`assay eval`: reads rows, judges them with progress and resume, and writes the figures."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.cli.check import open_guard
from assay.cli.formats import eval_cases
from assay.cli.formats.cases import Outcome
from assay.cli.formats.limits import Limit, read_limits
from assay.cli.formats.write import FORMATS, read_targets, rendered, write_targets
from assay.cli.operations.engines import worker_map
from assay.cli.options.evaluate import EvalOptions
from assay.cli.terminal import clean, write, write_text
from assay.config import knowledge_file, read_knowledge
from assay.errors import InputError
from assay.evaluation import EvaluationTask, comparison_page, eval_page, evaluate
from assay.evaluation.figures import Summary, baselines, compare, summarise, worst_errors
from assay.evaluation.rows import (
    Result,
    ResultLog,
    Row,
    keep_rows,
    kept_row,
    read_kept,
    read_results,
    read_rows,
    write_file,
)
from assay.evaluation.rows.elsewhere import read_translation

if TYPE_CHECKING:
    from assay.evaluation.figures.comparison import Comparison
    from assay.evaluation.rows.elsewhere import Translation
    from assay.guard import Guard

SHIPPED_THRESHOLDS: Final = {
    baselines.OVERLAP: 0.724,
    baselines.COSINE: 0.651,
    baselines.EXACT: 0.5,
    baselines.NETWORK: 0.5,
}
"""The thresholds without `--fit`. Overlap was fitted for balanced accuracy on the first 200 rows of each of 61 training
sets (11,981 rows), cosine on 320 short rows of the same sets; the threshold of the tiers is a probability of 0.5."""

FITTED_GUARD: Final = "assay, fitted"
"""The guard with a threshold that is fitted like those of the baselines; shown with `--fit`."""

Progress = Callable[[int], None]


def run_eval(options: EvalOptions) -> bool:
    """Evaluates, or compares two evaluations, and writes.

    With a folder, `results.jsonl` keeps the results, so that a run that was stopped resumes; `summary.json`,
    `report.html` and, if asked for, `worst.jsonl` are written at the end. With `report` the page is written there, with
    or without a folder.

    Returns:
        Whether a limit is not met.

    Raises:
        AssayError: an option or a file cannot be used.
    """
    if options.threshold is not None and not 0 <= options.threshold <= 1:
        raise InputError(f"--threshold should be within 0 and 1, got {options.threshold}")
    if options.worst and options.out is None:
        raise InputError("--worst writes its errors into the folder of --out; give one, such as --out results")
    targets = read_targets(options.write)
    limits = read_limits(
        options.fail_under,
        options.fail_over,
        eval_cases.KNOWN if options.compare is None else eval_cases.KNOWN_COMPARED,
    )
    if options.compare is not None:
        return _compare(options, options.compare, limits, targets)
    if not options.files:
        raise InputError("no FILE was given; name the files of the rows, or two finished runs with --compare")
    translation = read_translation(options.preset, options.mapped)
    rows = read_all(options.files, options.limit, translation)
    fitting = read_all(options.fit, options.limit, translation)
    guard = open_guard(options.policy, options.verifier)
    gates = other_gates(guard) if any(not row.whole for row in rows) else []
    knowledge = knowledge_file(options.policy, os.environ)
    identity = identity_of(guard, knowledge)
    identity["gates"] = " ".join(f"{one.policy.name}:{one.policy.digest[:16]}" for one in gates)
    path = None if options.out is None else options.out / "results.jsonl"
    task = EvaluationTask(guard.policy, tuple(one.policy.name for one in gates), knowledge)
    with (
        ResultLog(path, identity) as log,
        progress_bar("judging", len(rows) + len(fitting)) as progress,
        worker_map(options.worker_settings, task, options.verifier) as judged,
    ):
        results = evaluate(guard, rows, log, progress, gates, judged)
        fitted = evaluate(guard, fitting, log, progress, gates, judged)
    scored, notes = score_baselines(options, rows, results, fitting, fitted) if options.baselines else ([], [])
    summary = summarise(
        rows,
        results,
        identity,
        threshold=options.threshold,
        slice_keys=options.slices,
        baselines=scored,
        notes=notes,
    )
    if options.worst and options.out is not None:
        errors = worst_errors(rows, results, options.worst, options.threshold)
        lines = (json.dumps(error, ensure_ascii=True, allow_nan=False) + "\n" for error in errors)
        write_file(options.out / "worst.jsonl", "".join(lines))
    if options.out is not None:
        keep_rows(options.out, rows)
    cases = eval_cases.cases_of(rows, results, options.threshold, limits, summary)
    outcome = Outcome("assay eval", cases, eval_cases.notes_of(summary))
    _write(options, summary, outcome, lambda: eval_page(summary, rows, results, options.slices))
    write_targets(targets, outcome)
    return _report_missed_limits(outcome)


def _report_missed_limits(outcome: Outcome) -> bool:
    """Reports the limits that are not met, and returns whether there are any."""
    missed = [case for case in outcome.failed if case.group == "limits"]
    for case in missed:
        write_text(f"assay: limit not kept: {clean(case.headline)}\n", sys.stderr)
    return bool(missed)


def _compare(
    options: EvalOptions, folders: tuple[Path, Path], limits: Sequence[Limit], targets: Sequence[tuple[str, Path]]
) -> bool:
    """Compares two finished runs."""
    translation = read_translation(options.preset, options.mapped)
    runs = [folder if folder.is_dir() else folder.parent for folder in folders]
    first, second = (read_results(folder / "results.jsonl" if folder.is_dir() else folder) for folder in folders)
    rows_given = read_all(options.files, options.limit, translation)
    if rows_given:
        rows = [kept_row(row) for row in rows_given]
    else:
        rows = list({row.digest: row for folder in runs for row in read_kept(folder)}.values())
    comparison = compare((str(folders[0]), str(folders[1])), rows, first, second, options.threshold)
    outcome = Outcome(
        "assay eval --compare", eval_cases.compared_cases(comparison, limits), eval_cases.compared_notes(comparison)
    )
    as_json = json.dumps(comparison.to_json(), ensure_ascii=True, allow_nan=False, indent=2) + "\n"

    def page() -> str:
        evidence = {row.digest: row.evidence for row in rows_given}
        return comparison_page(comparison, rows, first, second, evidence=evidence, threshold=options.threshold)

    printing = partial(_print_comparison, comparison)
    _write_forms(options, ("comparison.json", "comparison.html"), as_json, page, printing, outcome)
    write_targets(targets, outcome)
    return _report_missed_limits(outcome)


def read_all(files: Sequence[Path], limit: int | None, translation: "Translation | None" = None) -> list[Row]:
    """The rows of all files, at most `limit` of each, translated if another tool wrote them."""
    rows: list[Row] = []
    for file in files:
        for index, row in enumerate(read_rows(file, translation)):
            if limit is not None and index >= limit:
                break
            rows.append(row)
    return rows


GATES: Final = ("general", "rag", "support-desk", "high-stakes", "monitor")
"""The presets whose two rates are shown whatever the policy."""


def other_gates(guard: "Guard") -> "list[Guard]":
    """The guard under each other preset of `GATES`."""
    return [guard.under(name) for name in GATES if name != guard.policy.name]


def identity_of(guard: "Guard", knowledge: Path | None = None) -> dict[str, str]:
    """The identity of a guard: names and digests of verifier and policy, the version of assay, and a digest of the
    sources of knowledge where it has any.

    Args:
        guard: the guard.
        knowledge: the file that lists its sources of knowledge. What they contain is in no digest, only how they are
            asked.

    Raises:
        PolicyError: the file cannot be read, or something in it is wrong.
        MissingPackageError: a kind of source needs a package that is not installed.
    """
    from assay._version import __version__

    identity = {
        "verifier": guard.verifier.name,
        "verifier_digest": guard.verifier.digest,
        "policy": guard.policy.name,
        "policy_digest": guard.policy.digest,
        "assay": __version__,
    }
    sources = read_knowledge(knowledge, os.environ)
    if sources is not None:
        if sources.profiles:
            identity["knowledge_digest"] = sources.digest
        sources.close()
    return identity


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Progress]:
    """Reports progress on standard error: a bar on a terminal, elsewhere a line at every tenth."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=total)
            yield lambda done: bar.advance(task, done)
        return
    total_done = 0

    def progress(done: int) -> None:
        nonlocal total_done
        before, total_done = total_done, total_done + done
        if total and before * 10 // total != total_done * 10 // total:
            write_text(f"assay: {label} {total_done:,} of {total:,}\n", sys.stderr)

    yield progress


# Baselines


def score_baselines(
    options: EvalOptions,
    rows: Sequence[Row],
    results: Sequence[Result],
    fitting: Sequence[Row],
    fitted: Sequence[Result],
) -> tuple[list[baselines.SystemScores], list[str]]:
    """The scores of every baseline on the rows, with notes on thresholds and on baselines that were left out."""
    all_rows = [*rows, *fitting]
    all_results = [*results, *fitted]
    columns: dict[str, Sequence[float | None]] = {baselines.OVERLAP: [baselines.token_overlap(row) for row in all_rows]}
    notes: list[str] = []
    if options.embedding_model is None:
        notes.append(f"{baselines.COSINE}: left out, no --embedding-model was given")
    else:
        columns[baselines.COSINE] = _cosines(options.embedding_model, all_rows)
    for name in baselines.SIGNALS:
        scores = baselines.signal_scores(name, all_results)
        if any(score is not None for score in scores):
            columns[name] = scores
        else:
            notes.append(f"{name}: left out, the guard's results carry no signal of it (answers carry none)")
    scored = [baselines.always_supported(len(rows))]
    for name, column in columns.items():
        threshold = _threshold(name, column[len(rows) :], fitting)
        scored.append(baselines.decide(name, column[: len(rows)], threshold))
        source = f"fitted on {len(fitting):,} rows of --fit" if fitting else "the shipped constant"
        notes.append(f"{name}: flagged below {threshold:g}, {source}")
    if fitting:
        threshold = _threshold(FITTED_GUARD, [result.score for result in fitted], fitting)
        scored.insert(0, baselines.decide(FITTED_GUARD, [result.score for result in results], threshold))
        notes.append(f"{FITTED_GUARD}: flagged below {threshold:g}, fitted in the same way; assay by the policy's own")
    return scored, notes


def _threshold(name: str, scores: Sequence[float | None], fitting: Sequence[Row]) -> float:
    if not fitting:
        return SHIPPED_THRESHOLDS[name]
    usable = [
        (score, row.wrong)
        for score, row in zip(scores, fitting, strict=True)
        if score is not None and row.label is not None
    ]
    return baselines.fit_threshold([score for score, _ in usable], [wrong for _, wrong in usable])


def _cosines(folder: Path, rows: Sequence[Row]) -> list[float]:
    from assay.evaluation.figures import SentenceEmbedder

    embedder = SentenceEmbedder(folder)
    with progress_bar("embedding", len(rows)) as progress:
        return baselines.cosines(rows, embedder, progress)


# Writing


def _write(options: EvalOptions, summary: Summary, outcome: Outcome, page: Callable[[], str]) -> None:
    as_json = json.dumps(summary.to_json(), ensure_ascii=True, allow_nan=False, indent=2) + "\n"
    printing = partial(_print_summary, options, summary)
    _write_forms(options, ("summary.json", "report.html"), as_json, page, printing, outcome)


def _write_forms(
    options: EvalOptions,
    names: tuple[str, str],
    as_json: str,
    page: Callable[[], str],
    print_text: Callable[[], object],
    outcome: Outcome,
) -> None:
    """Writes the JSON and HTML forms to the files that the options name, and one form to standard output."""
    if options.out is not None:
        write_file(options.out / names[0], as_json)
        write_file(options.out / names[1], page())
    if options.report is not None:
        write_file(options.report, page())
    if options.format == "json":
        write_text(as_json, sys.stdout)
    elif options.format == "html":
        write_text(page(), sys.stdout)
    elif options.format in FORMATS:
        write_text(rendered(options.format, outcome), sys.stdout)
    else:
        print_text()


def _print_comparison(comparison: "Comparison") -> None:
    from assay.cli.reports.comparison_text import comparison_text

    write(comparison_text(comparison), sys.stdout)


def _print_summary(options: EvalOptions, summary: Summary) -> None:
    from assay.cli.reports.evaluation_text import eval_text

    write(eval_text(summary), sys.stdout)
    if options.out is not None:
        names = "summary.json, report.html, worst.jsonl" if options.worst else "summary.json, report.html"
        write_text(f"\nwritten: {names}, rows.jsonl and results.jsonl in {options.out}\n", sys.stdout)
    if options.report is not None:
        write_text(f"\nwritten: {options.report}\n", sys.stdout)
