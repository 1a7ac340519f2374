"""`assay redteam watch`."""

import json
import os
import secrets
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.redteam.run import ending_gently
from assay.cli.terminal import one_line, write_text
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.server.redteam.due_runs import Attacked
    from assay.store.db import Store


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """What the command line said."""

    config: Path | None
    every: float
    once: bool
    policy: str | None
    verifier: Path | None
    format: str


def run_watch(store: "Store", settings: WatchSettings) -> bool:
    """Makes the runs that are due, once or until somebody stops it.

    Returns:
        Whether a run regressed or could not be made.

    Raises:
        AssayError: the schedules cannot be read, or the database cannot be.
    """
    from assay.cli.check import open_guard
    from assay.config import read_settings
    from assay.server.redteam.due_runs import run_due
    from assay.server.redteam.schedules import read_schedules

    path = settings.config or read_settings(os.environ).config
    schedules = read_schedules(path)
    if not schedules:
        raise InputError("expected schedules in the section `redteam` of assay.yaml; name the file with --config")
    holder, stopping, found = secrets.token_hex(8), threading.Event(), False
    with ending_gently():
        while True:
            made = run_due(
                store.now(),
                store,
                schedules,
                lambda: open_guard(settings.policy, settings.verifier),
                holder,
                os.environ,
                stopping,
            )
            for one in made:
                write_text(_written(one, settings.format) + "\n", sys.stdout)
                found = found or one.run is None or bool(one.run.regressed)
            if settings.once:
                return found
            time.sleep(settings.every)


def _written(one: "Attacked", form: str) -> str:
    run = one.run
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
        return json.dumps({"schedule": one.schedule, "tenant": one.tenant, "run": summary, "error": one.error})
    if run is None:
        return f"{one.schedule}: could not be run: {one_line(one.error or '', 300)}"
    ars = "nothing judged" if run.ars is None else f"ARS {run.ars:.3f} ({run.low:.3f} to {run.high:.3f})"
    state = "REGRESSION" if run.regressed else "held" if run.regressed is False else "first run"
    return f"{one.schedule}: {ars}, {run.failed:,} of {run.cases:,} failed, {run.unjudged:,} unjudged: {state}"
