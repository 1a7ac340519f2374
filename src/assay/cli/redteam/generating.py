"""`assay redteam generate` and `lint`."""

import json
import sys
from collections import Counter
from pathlib import Path

from assay.cli.inputs import read_evidence
from assay.cli.terminal import clean, write_text


def run_generate(
    evidence: tuple[str, ...], out: Path, per_category: int, seed: int, categories: tuple[str, ...], form: str,
    *, twins: bool = False,
) -> None:  # fmt: skip
    """Writes a suite.

    Raises:
        AssayError: the documents cannot be read, or nothing can be written from them.
    """
    from assay.evaluation.rows import write_file
    from assay.redteam.cases import Category, suite_digest, suite_text
    from assay.redteam.generate import write_suite

    documents, skipped = read_evidence(evidence)
    for name in skipped:
        write_text(f"assay: skipped, not a text file: {clean(name)}\n", sys.stderr)
    wanted = tuple(Category(name) for name in categories) or tuple(Category)
    cases = write_suite(documents, per_category, seed, wanted, twins=twins)
    write_file(out, suite_text(cases))
    counted = Counter(case.category.value for case in cases)
    if form == "json":
        told = {
            "suite": str(out), "digest": suite_digest(cases), "cases": len(cases),
            "benign": sum(case.benign for case in cases),
            "categories": {one.value: counted[one.value] for one in wanted},
        }  # fmt: skip
        write_text(json.dumps(told) + "\n", sys.stdout)
        return
    lines = [f"{len(cases)} cases from {len(documents)} documents in {clean(str(out))}"]
    lines += [f"  {one.value:<26}{counted[one.value]}" for one in wanted]
    if twins:
        lines.append(f"{sum(case.benign for case in cases)} of them are benign: honest requests")
    short = [one.value for one in wanted if counted[one.value] < per_category]
    if short:
        lines.append(f"The documents hold too little for {per_category} of: {', '.join(short)}")
    write_text("\n".join(lines) + "\n", sys.stdout)


def run_lint(suite: Path, form: str) -> bool:
    """Lints a suite and writes what was found.

    Returns:
        Whether anything was.

    Raises:
        InputError: it cannot be read.
    """
    from assay.redteam.cases import lint, read_suite, suite_digest

    cases = read_suite(suite)
    problems = lint(cases)
    if form == "json":
        listed = [{"case": one.case, "code": one.code, "message": one.message} for one in problems]
        told = {"cases": len(cases), "digest": suite_digest(cases), "problems": listed}
        write_text(json.dumps(told) + "\n", sys.stdout)
    else:
        lines = [f"{one.case}  {one.code}  {clean(one.message)}" for one in problems]
        lines.append(f"{len(cases)} cases, {len(problems)} problems")
        write_text("\n".join(lines) + "\n", sys.stdout)
    return bool(problems)
