"""`assay redteam generate` and `lint`: writes a suite of attacks, and finds problems of one."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs import read_evidence, warn_skipped
from assay.cli.reports.repair_words import chat_model
from assay.cli.terminal import clean, write_text

if TYPE_CHECKING:
    from assay.redteam.scores import GoodSystems


def run_generate(
    evidence: tuple[str, ...],
    out: Path,
    per_category: int,
    seed: int,
    categories: tuple[str, ...],
    form: str,
    *,
    twins: bool = False,
    llm: str | None = None,
    base_url: str | None = None,
) -> None:
    """Writes a suite; a chat model rewords its attacks where that keeps their meaning.

    Raises:
        AssayError: the documents cannot be read, no attack can be written from them, or the model cannot be asked.
    """
    from assay.evaluation.rows import write_file
    from assay.redteam.cases import Category, suite_digest, suite_text
    from assay.redteam.generate import reword, write_suite

    documents, skipped = read_evidence(evidence)
    warn_skipped(skipped)
    categories_chosen = tuple(Category(name) for name in categories) or tuple(Category)
    cases = write_suite(documents, per_category, seed, categories_chosen, twins=twins)
    with chat_model(llm, base_url) as model:
        reworded = None if model is None or llm is None else reword(cases, model, llm, _progress(len(cases)))
    if reworded is not None:
        cases = reworded.cases
    write_file(out, suite_text(cases))
    count_by_category = Counter(case.category.value for case in cases)
    if form == "json":
        summary: dict[str, object] = {
            "suite": str(out),
            "digest": suite_digest(cases),
            "cases": len(cases),
            "benign": sum(case.benign for case in cases),
            "categories": {category.value: count_by_category[category.value] for category in categories_chosen},
        }
        if reworded is not None:
            summary["worded"] = {
                "model": llm,
                "taken": reworded.reworded,
                "kept": reworded.unchanged,
                "failed": reworded.failure,
            }
        write_text(json.dumps(summary) + "\n", sys.stdout)
        return
    lines = [f"{len(cases)} cases from {len(documents)} documents in {clean(str(out))}"]
    lines += [f"  {category.value:<26}{count_by_category[category.value]}" for category in categories_chosen]
    if twins:
        lines.append(f"{sum(case.benign for case in cases)} of them are benign: honest requests")
    if reworded is not None:
        by_model, by_rules = reworded.reworded, reworded.unchanged
        lines.append(f"{by_model} are worded by {clean(llm or '')}; {by_rules} stay as the rules word them")
        if reworded.failure is not None:
            lines.append(f"Some of its answers were of no use, the first: {clean(reworded.failure)[:300]}")
    incomplete = [category.value for category in categories_chosen if count_by_category[category.value] < per_category]
    if incomplete:
        lines.append(f"The documents hold too little for {per_category} of: {', '.join(incomplete)}")
    write_text("\n".join(lines) + "\n", sys.stdout)


def _progress(cases: int) -> Callable[[int], None]:
    """Reports how many prompts were sent to a model: on a terminal each time, elsewhere at every tenth."""
    live, tenths_reported = sys.stderr.isatty(), 0

    def report(sent: int) -> None:
        nonlocal tenths_reported
        if live:
            write_text(f"\r{sent} of {cases} worded{chr(10) if sent == cases else ''}", sys.stderr)
        elif 10 * sent // cases > tenths_reported:
            tenths_reported = 10 * sent // cases
            write_text(f"assay: {sent} of {cases} worded\n", sys.stderr)

    return report


def run_lint(suite: Path, good: tuple[Path, ...], form: str) -> bool:
    """Lints a suite and writes its problems; with runs of good systems, also the cases that these fail.

    Returns:
        Whether there is a problem.

    Raises:
        InputError: the suite or a run cannot be read.
    """
    from assay.redteam import read_campaign
    from assay.redteam.cases import Problem, lint, read_suite, suite_digest
    from assay.redteam.scores import failing_most, good_systems, keep_good_systems

    cases = read_suite(suite)
    problems = list(lint(cases))
    good_systems_found = None
    if good:
        good_systems_found = good_systems(cases, [(folder, read_campaign(folder)[1]) for folder in good])
        keep_good_systems(suite, good_systems_found)
        problems += [
            Problem(case, "good.fails", f"fails {count} of {good_systems_found.runs} runs of good systems")
            for case, count in failing_most(good_systems_found).items()
        ]
    if form == "json":
        listed = [{"case": one.case, "code": one.code, "message": one.message} for one in problems]
        summary: dict[str, object] = {"cases": len(cases), "digest": suite_digest(cases), "problems": listed}
        if good_systems_found is not None:
            summary["good_systems"] = good_systems_found.model_dump(mode="json")
        write_text(json.dumps(summary) + "\n", sys.stdout)
    else:
        lines = [f"{one.case}  {one.code}  {clean(one.message)}" for one in problems]
        lines.append(f"{len(cases)} cases, {len(problems)} problems")
        if good_systems_found is not None and good_systems_found.rate is not None:
            lines.append(f"{false_positive_text(good_systems_found)}; kept next to the suite")
        write_text("\n".join(lines) + "\n", sys.stdout)
    return bool(problems)


def false_positive_text(systems: "GoodSystems") -> str:
    """The false positive rate of a suite in words."""
    share = f"{systems.rate:.1%} ({systems.low:.1%} to {systems.high:.1%})" if systems.rate is not None else "nothing"
    counts = f"{systems.failed} of {systems.judged} cases in {systems.runs} runs"
    return f"false positive rate on good systems {share}: {counts}"
