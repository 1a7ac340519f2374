"""`assay redteam watch`: runs suites by the schedules of `assay.yaml`."""

import json
import os
import secrets
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.redteam.run import interrupt_on_sigterm
from assay.cli.terminal import one_line, write_text
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.server.redteam.due_runs import Attacked
    from assay.store.db import Store


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """The options of `assay redteam watch`."""

    config: Path | None
    every: float
    once: bool
    policy: str | None
    verifier: Path | None
    format: str


def run_watch(store: "Store", settings: WatchSettings) -> bool:
    """Makes the runs that are due, once or until the process is stopped.

    Returns:
        Whether a run regressed or could not be made.

    Raises:
        AssayError: the schedules or the database cannot be read.
    """
    from assay.cli.check import open_guard
    from assay.config import read_settings
    from assay.server.redteam.due_runs import run_due
    from assay.server.redteam.schedules import read_schedules

    path = settings.config or read_settings(os.environ).config
    schedules = read_schedules(path)
    if not schedules:
        raise InputError("expected schedules in the section `redteam` of assay.yaml; name the file with --config")
    holder, stopping, has_findings = secrets.token_hex(8), threading.Event(), False
    with interrupt_on_sigterm():
        while True:
            attacked = run_due(
                store.now(),
                store,
                schedules,
                lambda: open_guard(settings.policy, settings.verifier),
                holder,
                os.environ,
                stopping,
            )
            for attack in attacked:
                write_text(_attack_text(attack, settings.format) + "\n", sys.stdout)
                has_findings = has_findings or attack.run is None or bool(attack.run.regressed)
            if settings.once:
                return has_findings
            time.sleep(settings.every)


def _attack_text(attack: "Attacked", form: str) -> str:
    run = attack.run
    if form == "json":
        summary = (
            None
            if run is None
            else {
                "id": run.id,
                "ars": run.ars,
                "low": run.low,
                "high": run.high,
                "cases": run.cases,
                "failed": run.failed,
                "unjudged": run.unjudged,
                "regressed": run.regressed,
            }
        )
        return json.dumps({"schedule": attack.schedule, "tenant": attack.tenant, "run": summary, "error": attack.error})
    if run is None:
        return f"{attack.schedule}: could not be run: {one_line(attack.error or '', 300)}"
    ars = "nothing judged" if run.ars is None else f"ARS {run.ars:.3f} ({run.low:.3f} to {run.high:.3f})"
    state = "REGRESSION" if run.regressed else "held" if run.regressed is False else "first run"
    return f"{attack.schedule}: {ars}, {run.failed:,} of {run.cases:,} failed, {run.unjudged:,} unjudged: {state}"
