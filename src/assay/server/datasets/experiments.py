"""Runs experiments in the background, a few recorded runs at a time, so that any process can continue one."""

import asyncio
import logging
import secrets
import threading
from collections.abc import Callable
from typing import Any, Final

from assay.errors import AssayError, AuditError, InputError, StoreError
from assay.guard import Guard
from assay.policy import PRESETS, Policy
from assay.server.audit.replay import check_again
from assay.server.cadence.tasks import runner
from assay.server.services import Services
from assay.store.audit import run_content
from assay.store.datasets import (
    Experiment,
    ExperimentState,
    Fault,
    Outcome,
    end_experiment,
    keep_outcomes,
    read_experiment,
    running_experiments,
    runs_to_check,
)
from assay.store.db import Store, take_lease
from assay.store.insights import find_policy

LOOK_EVERY_S: Final = 1.0
"""Seconds between two looks for experiments to run."""
RUNS_PER_BATCH: Final = 10
"""Runs that are checked before their outcomes are stored."""
LEASE_S: Final = 180.0
"""Seconds for which a process holds an experiment before another may take it over."""
OWNER: Final = "experiments"
"""The owner of the checks, where callers share the server."""
_log = logging.getLogger("assay.server")

RunCheck = Callable[[Callable[[], Any]], Any]
"""Runs a check on the server's pool and returns its result."""


async def keep_experiments(services: Services) -> None:
    """Run experiments until the server stops."""
    stopping, holder = threading.Event(), secrets.token_hex(8)
    run_check = runner(services, asyncio.get_running_loop(), OWNER)
    while True:
        work = asyncio.ensure_future(
            asyncio.to_thread(
                run_experiments, services.store, lambda: services.guard_of(None), holder, run_check, stopping
            )
        )
        try:
            await asyncio.shield(work)
        except AssayError:
            _log.exception("experiments could not be run; it is tried again")
        except asyncio.CancelledError:
            # The check that is running is finished; another process continues after it.
            stopping.set()
            try:
                await asyncio.wait_for(work, services.settings.limits.check_s)
            except (AssayError, TimeoutError):
                _log.warning("an experiment was interrupted; it is continued later", exc_info=True)
            raise
        await asyncio.sleep(LOOK_EVERY_S)


def run_experiments(
    store: Store, guard_of: Callable[[], Guard], holder: str, run_check: RunCheck, stopping: threading.Event
) -> None:
    """Run the pending experiments whose lease this process gets.

    Args:
        store: the store.
        guard_of: returns the server's guard, with its network, judge and sources of knowledge.
        holder: the name of this process in leases.
        run_check: runs one check.
        stopping: set when the server stops.
    """
    with store.reading_across() as connection:
        waiting = running_experiments(connection)
    for tenant, id_ in waiting:
        if stopping.is_set():
            return
        if take_lease(store, tenant, f"experiment {id_}", holder, LEASE_S):
            _run(store, tenant, id_, guard_of(), holder, run_check, stopping)


def _run(
    store: Store, tenant: str, id_: str, guard: Guard, holder: str, run_check: RunCheck, stopping: threading.Event
) -> None:
    with store.reading(tenant) as connection:
        found = read_experiment(connection, tenant, id_)
    if found is None or found.state is not ExperimentState.RUNNING:
        return
    guard_of_policy = guard_for(store, tenant, guard, found)
    if guard_of_policy is None:
        end_experiment(store, tenant, id_, ExperimentState.FAILED, actor="the server")
        return
    while not stopping.is_set():
        with store.reading(tenant) as connection:
            pending = runs_to_check(connection, tenant, id_, RUNS_PER_BATCH)
        if not pending:
            return
        outcomes = [outcome_of(store, tenant, run, guard_of_policy, run_check) for run in pending]
        verifier = f"{guard_of_policy.verifier.name} {guard_of_policy.verifier.digest[:12]}"
        if not keep_outcomes(store, tenant, id_, outcomes, verifier=verifier):
            return
        if not take_lease(store, tenant, f"experiment {id_}", holder, LEASE_S):
            return


def guard_for(store: Store, tenant: str, guard: Guard, experiment: Experiment) -> Guard | None:
    """The guard of an experiment: the server's under the experiment's policy; none where that policy is unknown now."""
    policy = policy_by_name(store, tenant, experiment.policy)
    if policy is None:
        return None
    if experiment.judge == "all":
        policy = Policy.model_validate({**policy.model_dump(), "judge": "all"})
    return guard.under(policy).for_tenant(tenant)


def policy_by_name(store: Store, tenant: str, name: str) -> Policy | None:
    """The policy with the name of a preset or the digest of a recorded policy; none where there is none."""
    if name in PRESETS:
        return PRESETS[name]
    version = find_policy(store, tenant, name, 0)
    return None if version is None else version.policy


def outcome_of(store: Store, tenant: str, run: str, guard: Guard, run_check: RunCheck) -> Outcome:
    """The outcome of a recorded run under a guard.

    Raises:
        StoreError: the server is too busy to check it, or the database cannot be read.
    """
    try:
        with store.reading(tenant) as connection:
            content = run_content(connection, tenant, run)
        if content is None:
            return Outcome(run, fault=Fault.ERASED)
        report = run_check(lambda: check_again(content, guard))
    except InputError:
        return Outcome(run, fault=Fault.UNREPEATABLE)
    except AuditError:
        _log.exception("a run of an experiment is not whole: %s", run)
        return Outcome(run, fault=Fault.FAILED)
    except StoreError:
        # The server is busy or its database away: the caller tries again later.
        raise
    except AssayError:
        _log.exception("a run of an experiment could not be checked: %s", run)
        return Outcome(run, fault=Fault.FAILED)
    verdicts = tuple(claim.verdict.value for claim in report.claims)
    return Outcome(run, report.action.value, report.decision.route, report.overall_score, verdicts)
