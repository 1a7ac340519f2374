"""Experiments are run beside requests: one run after another, each kept, so that any process can go on."""

import asyncio
import contextlib
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

TICK_S: Final = 1.0
"""Seconds between two looks at what is to be run."""
PART: Final = 10
"""Runs that are checked before their outcomes are kept."""
LEASE_S: Final = 180.0
"""For how long a process has an experiment before another may take it over."""
OWNER: Final = "experiments"
"""Whose the checks are, where callers share the server."""
JUDGED: Final = ("policy", "all")
"""Which claims the judge is asked of: those that the policy says, or all."""
_log = logging.getLogger("assay.server")

Runs = Callable[[Callable[[], Any]], Any]


async def keep_experiments(services: Services) -> None:
    """Runs what is to be run, until the server stops."""
    stopping, holder = threading.Event(), secrets.token_hex(8)
    runs = runner(services, asyncio.get_running_loop(), OWNER)
    while True:
        work = asyncio.ensure_future(
            asyncio.to_thread(run_experiments, services.store, lambda: services.guard_of(None), holder, runs, stopping)
        )
        try:
            await asyncio.shield(work)
        except AssayError:
            _log.exception("experiments could not be run; it is tried again")
        except asyncio.CancelledError:
            # A run that is being checked is finished; the next process goes on behind it.
            stopping.set()
            with contextlib.suppress(Exception):
                await asyncio.wait_for(work, services.settings.limits.check_s)
            raise
        await asyncio.sleep(TICK_S)


def run_experiments(
    store: Store, guard_of: Callable[[], Guard], holder: str, runs: Runs, stopping: threading.Event
) -> None:
    """Run the experiments that are to be run, as far as they are this process's turn.

    Args:
        store: the store.
        guard_of: the server's guard: its network, judge and sources of knowledge.
        holder: the name of this process.
        runs: runs one check.
        stopping: set when the server stops.
    """
    with store.reading_across() as connection:
        waiting = running_experiments(connection)
    for tenant, id_ in waiting:
        if stopping.is_set():
            return
        if take_lease(store, tenant, f"experiment {id_}", holder, LEASE_S):
            _run(store, tenant, id_, guard_of(), holder, runs, stopping)


def _run(store: Store, tenant: str, id_: str, guard: Guard, holder: str, runs: Runs, stopping: threading.Event) -> None:
    with store.reading(tenant) as connection:
        found = read_experiment(connection, tenant, id_)
    if found is None or found.state is not ExperimentState.RUNNING:
        return
    judging = guard_for(store, tenant, guard, found)
    if judging is None:
        end_experiment(store, tenant, id_, ExperimentState.FAILED, actor="the server")
        return
    while not stopping.is_set():
        with store.reading(tenant) as connection:
            wanted = runs_to_check(connection, tenant, id_, PART)
        if not wanted:
            return
        outcomes = [outcome_of(store, tenant, run, judging, runs) for run in wanted]
        verifier = f"{judging.verifier.name} {judging.verifier.digest[:12]}"
        if not keep_outcomes(store, tenant, id_, outcomes, verifier=verifier):
            return
        if not take_lease(store, tenant, f"experiment {id_}", holder, LEASE_S):
            return


def guard_for(store: Store, tenant: str, guard: Guard, experiment: Experiment) -> Guard | None:
    """The guard of an experiment: the server's under another policy; none where that policy is not known any more."""
    policy = policy_called(store, tenant, experiment.policy)
    if policy is None:
        return None
    if experiment.judge == "all":
        policy = Policy.model_validate({**policy.model_dump(), "judge": "all"})
    return guard.under(policy).for_tenant(tenant)


def policy_called(store: Store, tenant: str, name: str) -> Policy | None:
    """A policy by the name of a preset or by the digest of one that decided; none where there is none such."""
    if name in PRESETS:
        return PRESETS[name]
    version = find_policy(store, tenant, name, 0)
    return None if version is None else version.policy


def outcome_of(store: Store, tenant: str, run: str, guard: Guard, runs: Runs) -> Outcome:
    """What a guard says of a recorded run.

    Raises:
        StoreError: the server is too busy to check it, or the database cannot be read.
    """
    try:
        with store.reading(tenant) as connection:
            content = run_content(connection, tenant, run)
        if content is None:
            return Outcome(run, fault=Fault.ERASED)
        report = runs(lambda: check_again(content, guard))
    except InputError:
        return Outcome(run, fault=Fault.UNREPEATABLE)
    except AuditError:
        _log.exception("a run of an experiment is not whole: %s", run)
        return Outcome(run, fault=Fault.FAILED)
    except StoreError:
        # The server is busy, or its database away: it is tried again.
        raise
    except AssayError:
        _log.exception("a run of an experiment could not be checked: %s", run)
        return Outcome(run, fault=Fault.FAILED)
    verdicts = tuple(claim.verdict.value for claim in report.claims)
    return Outcome(run, report.action.value, report.decision.route, report.overall_score, verdicts)
