"""`assay redteam search`."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs import read_evidence
from assay.cli.redteam.running import ending_gently, progress
from assay.cli.terminal import clean, write_text

if TYPE_CHECKING:
    from assay.redteam.search import Found


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What the command line said."""

    evidence: tuple[str, ...]
    target: str
    out: Path
    most_calls: int
    seed: int
    target_model: str | None
    timeout: float
    concurrency: int
    policy: str | None
    verifier: Path | None
    format: str


def run_search(settings: SearchSettings) -> None:
    """Searches, keeps what was asked, and says where the system breaks.

    Raises:
        AssayError: anything that was given cannot be used.
    """
    from assay.cli.check import open_guard
    from assay.redteam import keep
    from assay.redteam.campaigns import RECORD
    from assay.redteam.runs import RunOptions
    from assay.redteam.search import search
    from assay.redteam.targets import load_target

    documents, skipped = read_evidence(settings.evidence)
    for name in skipped:
        write_text(f"assay: skipped, not a text file: {clean(name)}\n", sys.stderr)
    target = load_target(settings.target, settings.target_model, settings.timeout, os.environ)
    guard = open_guard(settings.policy, settings.verifier)
    with ending_gently():
        found = search(
            documents,
            target,
            guard,
            settings.out / RECORD,
            settings.most_calls,
            seed=settings.seed,
            options=RunOptions(concurrency=settings.concurrency),
            told=progress(settings.most_calls),
        )
    keep(settings.out, found.cases, found.judgements, target, guard)
    write_text(_written(found, settings), sys.stdout)


def _written(found: "Found", settings: SearchSettings) -> str:
    tried = sorted((arm for arm in found.arms if arm.broken + arm.held), key=lambda arm: (-arm.broken, arm.name))
    if settings.format == "json":
        told = {
            "calls": len(found.cases),
            "broken": [case.id for case in found.broken],
            "rules": {arm.name: {"broken": arm.broken, "held": arm.held} for arm in tried},
        }
        return json.dumps(told) + "\n"
    lines = [f"{len(found.broken)} of {len(found.cases)} calls broke it; all are kept in {clean(str(settings.out))}"]
    lines += [f"  {arm.name:<44}{arm.broken:>4} broken {arm.held:>4} held" for arm in tried]
    return "\n".join(lines) + "\n"
