"""`assay redteam generate` and `lint`."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs import read_evidence
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
    """Writes a suite; with a chat model in its words, where they keep what is asked.

    Raises:
        AssayError: the documents cannot be read, nothing can be written from them, or the model cannot be asked.
    """
    from assay.evaluation.rows import write_file
    from assay.redteam.cases import Category, suite_digest, suite_text
    from assay.redteam.generate import reword, write_suite

    documents, skipped = read_evidence(evidence)
    for name in skipped:
        write_text(f"assay: skipped, not a text file: {clean(name)}\n", sys.stderr)
    wanted = tuple(Category(name) for name in categories) or tuple(Category)
    cases = write_suite(documents, per_category, seed, wanted, twins=twins)
    with chat_model(llm, base_url) as model:
        worded = None if model is None or llm is None else reword(cases, model, llm, _progress(len(cases)))
    if worded is not None:
        cases = worded.cases
    write_file(out, suite_text(cases))
    counted = Counter(case.category.value for case in cases)
    if form == "json":
        summary: dict[str, object] = {
            "suite": str(out),
            "digest": suite_digest(cases),
            "cases": len(cases),
            "benign": sum(case.benign for case in cases),
            "categories": {one.value: counted[one.value] for one in wanted},
        }
        if worded is not None:
            summary["worded"] = {"model": llm, "taken": worded.taken, "kept": worded.kept, "failed": worded.failed}
        write_text(json.dumps(summary) + "\n", sys.stdout)
        return
    lines = [f"{len(cases)} cases from {len(documents)} documents in {clean(str(out))}"]
    lines += [f"  {one.value:<26}{counted[one.value]}" for one in wanted]
    if twins:
        lines.append(f"{sum(case.benign for case in cases)} of them are benign: honest requests")
    if worded is not None:
        lines.append(f"{worded.taken} are worded by {clean(llm or '')}; {worded.kept} stay as the rules word them")
        if worded.failed is not None:
            lines.append(f"Some of its answers were of no use, the first: {clean(worded.failed)[:300]}")
    short = [one.value for one in wanted if counted[one.value] < per_category]
    if short:
        lines.append(f"The documents hold too little for {per_category} of: {', '.join(short)}")
    write_text("\n".join(lines) + "\n", sys.stdout)


def _progress(cases: int) -> Callable[[int], None]:
    """Says how many prompts a model has been sent: on a terminal each time, else at each tenth."""
    live, told = sys.stderr.isatty(), 0

    def tell(sent: int) -> None:
        nonlocal told
        if live:
            write_text(f"\r{sent} of {cases} worded{chr(10) if sent == cases else ''}", sys.stderr)
        elif 10 * sent // cases > told:
            told = 10 * sent // cases
            write_text(f"assay: {sent} of {cases} worded\n", sys.stderr)

    return tell


def run_lint(suite: Path, good: tuple[Path, ...], form: str) -> bool:
    """Lints a suite and writes what was found; with runs of good systems, also the cases that these fail.

    Returns:
        Whether anything was.

    Raises:
        InputError: it cannot be read.
    """
    from assay.redteam import read_campaign
    from assay.redteam.cases import Problem, lint, read_suite, suite_digest
    from assay.redteam.scores import failing_most, good_systems, keep_good_systems

    cases = read_suite(suite)
    problems = list(lint(cases))
    found = None
    if good:
        found = good_systems(cases, [(folder, read_campaign(folder)[1]) for folder in good])
        keep_good_systems(suite, found)
        problems += [
            Problem(case, "good.fails", f"fails {count} of {found.runs} runs of good systems")
            for case, count in failing_most(found).items()
        ]
    if form == "json":
        listed = [{"case": one.case, "code": one.code, "message": one.message} for one in problems]
        summary: dict[str, object] = {"cases": len(cases), "digest": suite_digest(cases), "problems": listed}
        if found is not None:
            summary["good_systems"] = found.model_dump(mode="json")
        write_text(json.dumps(summary) + "\n", sys.stdout)
    else:
        lines = [f"{one.case}  {one.code}  {clean(one.message)}" for one in problems]
        lines.append(f"{len(cases)} cases, {len(problems)} problems")
        if found is not None and found.rate is not None:
            lines.append(f"{rate_words(found)}; kept next to the suite")
        write_text("\n".join(lines) + "\n", sys.stdout)
    return bool(problems)


def rate_words(found: "GoodSystems") -> str:
    """The false positive rate of a suite in words."""
    share = f"{found.rate:.1%} ({found.low:.1%} to {found.high:.1%})" if found.rate is not None else "nothing"
    return f"false positive rate on good systems {share}: {found.failed} of {found.judged} cases in {found.runs} runs"
