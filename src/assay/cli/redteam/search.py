"""`assay redteam search`: searches for attacks that break a target."""

import json
import os
import sys
from typing import TYPE_CHECKING

from assay.cli.database import opened_record
from assay.cli.inputs import read_evidence, warn_skipped
from assay.cli.redteam.options import SearchSettings
from assay.cli.redteam.run import interrupt_on_sigterm, progress
from assay.cli.terminal import clean, write_text
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.redteam.search import RecentChange, SearchResult


def run_search(settings: SearchSettings) -> None:
    """Searches, keeps the record of all calls, and prints which kinds of attack break the target.

    Raises:
        AssayError: an option or a file cannot be used.
    """
    from assay.cli.check import open_guard
    from assay.redteam import keep
    from assay.redteam.campaigns import RECORD
    from assay.redteam.search import search
    from assay.redteam.targets import load_target

    changes = _changes(settings)
    documents, skipped = read_evidence(tuple(settings.evidence))
    warn_skipped(skipped)
    target = load_target(settings.target, settings.target_model, settings.timeout, os.environ)
    guard = open_guard(settings.policy, settings.verifier)
    with interrupt_on_sigterm():
        result = search(
            documents,
            target,
            guard,
            settings.out / RECORD,
            settings.most_calls,
            seed=settings.seed,
            options=settings.run_options(),
            on_answer=progress(settings.most_calls),
            changes=changes,
            version=settings.target_version,
        )
    keep(settings.out, result.cases, result.judgements, target, guard, settings.target_version)
    write_text(_search_text(result, settings), sys.stdout)


def _changes(settings: SearchSettings) -> "list[RecentChange]":
    """The recent changes, from the command line and the change log."""
    from assay.redteam.search import RecentChange

    changes = []
    for text in settings.changes:
        kind, equals, words = text.partition("=")
        if not equals or not words.strip():
            raise InputError(
                f"--change: expected KIND=TEXT, such as index='annual-leave.md replaced'; got {text[:60]!r}"
            )
        changes.append(RecentChange(kind, words))
    if settings.changed_since is None:
        return changes
    if settings.database is None:
        raise InputError("--changed-since: expected --database, where the change log is")
    from assay.cli.monitoring.monitor_run import parse_moment
    from assay.store.monitoring import read_changes
    from assay.store.records import micros

    since = micros(parse_moment(settings.changed_since))
    with opened_record(settings.database) as store, store.reading(settings.tenant) as connection:
        rows = read_changes(connection, settings.tenant, since)
    write_text(f"assay: {len(rows)} changes since then in the change log\n", sys.stderr)
    return changes + [RecentChange(row.kind, f"{row.ref}\n{row.note}") for row in rows]


def _search_text(result: "SearchResult", settings: SearchSettings) -> str:
    arms_tried = sorted((arm for arm in result.arms if arm.broken + arm.held), key=lambda arm: (-arm.broken, arm.name))
    if settings.format == "json":
        summary = {
            "calls": len(result.cases),
            "broken": [case.id for case in result.broken],
            "rules": {arm.name: {"broken": arm.broken, "held": arm.held} for arm in arms_tried},
        }
        return json.dumps(summary) + "\n"
    lines = [f"{len(result.broken)} of {len(result.cases)} calls broke it; all are kept in {clean(str(settings.out))}"]
    lines += [f"  {arm.name:<44}{arm.broken:>4} broken {arm.held:>4} held" for arm in arms_tried]
    return "\n".join(lines) + "\n"
