"""The golden set: rows with known answers, checked repeatedly under the server's policy without any overlay.

Rows are checked in an order that differs from run to run but is the same on every replica: a set that is sorted by its
labels would otherwise look like a shift in its middle. An interrupted run is resumed at the next row.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, Final, TypeVar

from assay.errors import InputError
from assay.evaluation.rows import Row, read_rows
from assay.guard import Guard
from assay.monitor import GoldenSet, compare_rows
from assay.schema import Action, HallucinationReport
from assay.server.cadence.report_values import verdict_values
from assay.store.alerts import Alert, AlertState, Urgency, close_alert, list_alerts, raise_alert
from assay.store.db import Store
from assay.store.monitoring import (
    REGRESSED,
    GoldenResult,
    GoldenRun,
    begin_golden,
    complete_golden,
    golden_reference,
    keep_result,
    read_golden_runs,
    read_results,
)

T = TypeVar("T")
Runs = Callable[[Callable[[], Any]], Any]
"""Runs a check and returns its result: on the server's pool of checks, or directly."""

MOST_ROWS: Final = 20_000
"""The most rows of a set."""
COMPARED: Final = ("bad", "withheld", "misjudged")
"""The metrics in which a run is compared with its reference."""
_log = logging.getLogger("assay.server")


@dataclass(frozen=True, slots=True)
class GoldenOutcome:
    """The result of a run, or its progress."""

    run: GoldenRun
    checked: int
    """The rows that this call checked."""
    complete: bool
    """Whether all rows of the run are checked."""
    body: dict[str, Any]
    """The means by metric and the comparison with the reference; empty while it is incomplete."""


def run_golden(
    store: Store,
    golden: GoldenSet,
    guard: Guard,
    slot: int,
    *,
    runs: Runs = lambda work: work(),
    goes_on: Callable[[], bool] = lambda: True,
) -> GoldenOutcome:
    """Checks the set, or resumes an interrupted run.

    Args:
        store: the store of the results.
        golden: the set.
        guard: the guard that checks the rows.
        slot: the moment of the plan, in microseconds since 1970.
        runs: runs one check; checks are independent of each other.
        goes_on: called before each row: whether to continue.

    Raises:
        InputError: the set cannot be read.
        StoreError: the database cannot be read or written; results so far are kept.
        CheckFailedError: a row could not be checked; the run is resumed there the next time.
    """
    rows, digest = read_set(golden)
    run = begin_golden(store, golden.tenant, slot, digest, guard.policy.digest, guard.verifier.digest, len(rows))
    if run.state != "running":
        return GoldenOutcome(run, 0, True, dict(run.body))
    order = order_of(run.id, len(rows))
    with store.reading(golden.tenant) as connection:
        checked_before = {one.position for one in read_results(connection, golden.tenant, run.id)}
    checked = 0
    for place in order:
        if place in checked_before:
            continue
        if not goes_on():
            return GoldenOutcome(run, checked, False, {})
        row = rows[place]
        report = runs(partial(guard.check, row.text, row.evidence, question=row.question))
        keep_result(store, golden.tenant, run.id, GoldenResult(place, row.id, values_of(row, report)))
        checked += 1
    body = _summary(store, golden, run)
    if complete_golden(store, golden.tenant, run, order, body):
        tell_golden(store, golden.tenant)
    return GoldenOutcome(run, checked, True, body)


def read_set(golden: GoldenSet) -> tuple[list[Row], str]:
    """Reads the rows of a set, with the digest of its file.

    Raises:
        InputError: it cannot be read, or has too many rows.
    """
    rows = []
    for row in read_rows(golden.rows):
        rows.append(row)
        if len(rows) > MOST_ROWS:
            raise InputError(f"{golden.rows}: expected a golden set of at most {MOST_ROWS:,} rows, got more")
    return rows, sha256(golden.rows.read_bytes()).hexdigest()


def order_of(run: str, count: int) -> list[int]:
    """The order of the rows of a run: different for each run, the same everywhere.

    >>> sorted(order_of("a", 5)), order_of("a", 5) == order_of("a", 5)
    ([0, 1, 2, 3, 4], True)
    """
    return sorted(range(count), key=lambda place: sha256(f"{run}\0{place}".encode()).digest())


def values_of(row: Row, report: HallucinationReport) -> dict[str, float | None]:
    """The metrics of a report on a row, where larger is worse."""
    emitted = report.action is Action.EMIT
    return {
        **verdict_values(report),
        "withheld": float(not emitted),
        "misjudged": None if row.label is None else float(emitted == row.wrong),
    }


def _summary(store: Store, golden: GoldenSet, run: GoldenRun) -> dict[str, Any]:
    with store.reading(golden.tenant) as connection:
        results = read_results(connection, golden.tenant, run.id)
        reference, number = golden_reference(connection, golden.tenant, run.rows_digest)
        before = [] if reference is None else read_results(connection, golden.tenant, reference.id)
    summary: dict[str, Any] = {"means": {name: _mean(results, name) for name in (*COMPARED, "score")}}
    if reference is not None and before:
        summary |= {"reference": reference.id, "comparison": number + 1}
        # The metrics share one significance level.
        summary["against"] = {
            name: compare_rows(
                {one.position: one.values[name] for one in before},
                {one.position: one.values[name] for one in results},
                golden.alpha / len(COMPARED),
                number + 1,
            ).wire()
            for name in COMPARED
        }
    return summary


def _mean(results: Sequence[GoldenResult], name: str) -> float | None:
    values = [value for one in results if (value := one.values[name]) is not None]
    return sum(values) / len(values) if values else None


def regressed(body: dict[str, Any]) -> list[str]:
    """The metrics in which a run is significantly worse than its reference."""
    return [name for name, one in body.get("against", {}).items() if one["regressed"]]


def tell_golden(store: Store, tenant: str) -> None:
    """Raises or closes the alert of a regression, according to the last complete run.

    It is called in every turn of the monitor, so that no alert is lost if a process dies after the end of a run.
    """
    with store.reading(tenant) as connection:
        run = next((one for one in read_golden_runs(connection, tenant, 10) if one.state == "done"), None)
    if run is None:
        return
    body = dict(run.body)
    regressed_metrics = [] if body.get("accepted") else regressed(body)
    if regressed_metrics:
        figures = "; ".join(
            f"{name} {body['against'][name]['before']:.3f} before, {body['against'][name]['after']:.3f} now, "
            f"{body['against'][name]['worse']} rows worse and {body['against'][name]['better']} better"
            for name in regressed_metrics
        )
        raise_alert(
            store,
            tenant,
            Alert(
                REGRESSED,
                "golden.regression",
                f"The golden set is decided worse than in its reference run: {figures}.",
                Urgency.CRITICAL,
                {"run": run.id, "reference": str(body.get("reference", "")), "metrics": regressed_metrics},
            ),
        )
        return
    with store.reading(tenant) as connection:
        open_keys = {
            one.key for one in list_alerts(connection, tenant, store.now(), (AlertState.OPEN, AlertState.ACKNOWLEDGED))
        }
    if REGRESSED in open_keys:
        close_alert(store, tenant, REGRESSED)
