"""`assay monitor rescore`: judges recorded outputs again under another policy or verifier.

Each is run again as by `assay audit replay`. An output that cannot be run again exactly is counted with the
reason, never guessed.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.cli.operations.engines import NO_WORKERS, WorkerSettings, worker_map
from assay.errors import AssayError

if TYPE_CHECKING:
    from assay.models import PairScorer
    from assay.policy import Policy
    from assay.store.db import Store

LISTED: Final = 20
"""The most changed outputs that are listed in text."""
_CHUNK: Final = 4
"""Outputs of a chunk, which are judged and kept together."""


@dataclass(frozen=True, slots=True)
class RescoreOptions:
    """The options of `assay monitor rescore`."""

    tenant: str
    policy: str | None
    model: Path | None
    limit: int
    fraction: float
    out: Path | None
    worker_settings: WorkerSettings = NO_WORKERS
    """Which workers judge."""


def run_rescore(store: "Store", options: RescoreOptions) -> dict[str, Any]:
    """Judge outputs again.

    Raises:
        AssayError: the policy or the network cannot be used, or the record cannot be read.
    """
    from assay.config import read_policy, scorer_of

    policy = None if options.policy is None else read_policy(options.policy, os.environ)
    identity = _identity(policy, options.model)
    done = _read_results(options.out, identity)
    task = RescoreTask(policy)
    ids = list(_ids(store, options))
    contents = (_recorded_content(store, options.tenant, id_) for id_ in ids if id_ not in done)
    with worker_map(options.worker_settings, task, options.model) as judged:
        judge_chunks = judged or partial(map, task(scorer_of(options.model, os.environ)))  # one network for all of them
        for rows in judge_chunks(iter(lambda: list(islice(contents, _CHUNK)), [])):
            for row in rows:
                done[row["id"]] = row
                _keep(options.out, {**row, "under": identity})
    return _summary([done[id_] for id_ in ids])


def _ids(store: "Store", options: RescoreOptions) -> Iterator[str]:
    """The ids of the chosen outputs, the latest first."""
    from assay.monitor import place

    before: str | None = None
    count = 0
    while count < options.limit:
        page = store.page(options.tenant, before=before, limit=min(200, options.limit - count))
        if not page:
            break
        before = page[-1].id
        count += len(page)
        yield from (line.id for line in page if line.id == line.run and place(line.id) < options.fraction)


def _recorded_content(store: "Store", tenant: str, id_: str) -> tuple[str, dict[str, Any] | str]:
    """The recorded content of an output, or the reason why it cannot be judged."""
    from assay.store.audit import run_content

    try:
        with store.reading(tenant) as connection:
            return id_, run_content(connection, tenant, id_) or "its content was erased"
    except AssayError as error:
        return id_, str(error)


@dataclass(frozen=True, slots=True)
class RescoreTask:
    """The task of workers: called once with the network, it gives the function that judges recorded outputs again."""

    policy: "Policy | None"
    """The policy of the new decision; without one that of the recorded decision."""

    def __call__(self, scorer: "PairScorer") -> Callable[[Sequence[tuple[str, Any]]], list[dict[str, Any]]]:
        """Keeps the network; each output gets a guard of its own."""
        from assay.guard import Guard

        def guard_of(policy: "Policy", **options: Any) -> Guard:
            return Guard(policy, scorer=scorer, **options)

        return lambda chunk: [_rescore_output(id_, content, guard_of, self.policy) for id_, content in chunk]


def _rescore_output(id_: str, content: Any, guard_of: Any, policy: "Policy | None") -> dict[str, Any]:
    from assay.server.audit.replay import replay

    if isinstance(content, str):
        return {"id": id_, "skipped": content}
    try:
        replayed = replay(content, guard_of, policy, other_verifier=True)
    except AssayError as error:
        return {"id": id_, "skipped": str(error)}
    then, now = replayed.then, replayed.now
    return {
        "id": id_,
        "then": {"action": then.action.value, "route": then.decision.route, "score": then.overall_score},
        "now": {"action": now.action.value, "route": now.decision.route, "score": now.overall_score},
        "same_decision": replayed.same_decision,
        "same_verifier": replayed.same_verifier,
    }


def _identity(policy: "Policy | None", model: Path | None) -> str:
    """The identity of policy and network; results under another identity are not reused."""
    return f"{'as recorded' if policy is None else policy.digest} {'default' if model is None else model}"


def _read_results(out: Path | None, identity: str) -> dict[str, dict[str, Any]]:
    if out is None or not out.exists():
        return {}
    rows = {}
    for line in out.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # a line that was cut off: its output is judged again
        if isinstance(row, dict) and isinstance(row.get("id"), str) and row.get("under") == identity:
            rows[row["id"]] = row
    return rows


def _keep(out: Path | None, row: Mapping[str, Any]) -> None:
    if out is not None:
        # After a line that was cut off, a new line.
        needs_newline = out.exists() and out.stat().st_size > 0 and not out.read_bytes().endswith(b"\n")
        with out.open("a", encoding="utf-8") as file:
            file.write(("\n" if needs_newline else "") + json.dumps(row) + "\n")


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    judged = [row for row in rows if "skipped" not in row]
    moved = Counter((row["then"]["action"], row["now"]["action"]) for row in judged if not row["same_decision"])
    return {
        "looked_at": len(rows),
        "judged": len(judged),
        "changed": sum(not row["same_decision"] for row in judged),
        "other_verifier": sum(not row["same_verifier"] for row in judged),
        "moves": [{"then": then, "now": now, "count": count} for (then, now), count in sorted(moved.items())],
        "skipped": dict(Counter(row["skipped"] for row in rows if "skipped" in row).most_common(20)),
        "outputs": [row for row in judged if not row["same_decision"]],
    }


def rescore_lines(summary: Mapping[str, Any]) -> list[str]:
    """The result for people."""
    from assay.cli.terminal import one_line

    lines = ["{judged:,} of {looked_at:,} outputs judged again; {changed:,} decisions would change".format_map(summary)]
    lines += [f"  {one['then']:9} -> {one['now']:9} {one['count']:,}" for one in summary["moves"]]
    lines += [f"  {row['id']}  {row['then']['route']} -> {row['now']['route']}" for row in summary["outputs"][:LISTED]]
    if summary["other_verifier"]:
        lines.append(f"{summary['other_verifier']:,} were judged by another verifier than then")
    lines += [f"not judged ({count:,}): {one_line(why, 160)}" for why, count in summary["skipped"].items()]
    return lines
