"""Verbs of the red team on the database of a server: recorded runs, proposals, and decisions on them."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay.cli.inputs import read_text
from assay.cli.terminal import one_line, write_text
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.cli.redteam.promote import ReviewSettings
    from assay.redteam import Campaign
    from assay.redteam.cases import Case
    from assay.redteam.scores import Comparison
    from assay.store.db import Store
    from assay.store.redteam import ProposedCase

ACTOR: Final = "command"
"""The actor that the audit log names for the command."""


def record(
    store: "Store",
    tenant: str,
    campaign: "Campaign",
    comparison: "Comparison | None",
    *,
    suite: str,
    target_version: str | None,
    propose: bool,
) -> None:
    """Records a run, and proposes its failures if `propose` is set.

    Raises:
        StoreError: the run cannot be stored.
    """
    from assay.server.redteam.proposals import propose_failures
    from assay.server.redteam.rows import About, record_campaign
    from assay.store.records import micros

    context = About("command", micros(store.now()), suite, target_version, ACTOR)
    cases, judgements, card = campaign.cases, campaign.judgements, campaign.card
    compared = None if comparison is None else {"baseline": comparison}
    run = record_campaign(store, tenant, cases, judgements, card, context, compared)
    message = f"assay: recorded as {run.id}"
    if propose:
        proposed = propose_failures(store, tenant, cases, judgements, card.target, ACTOR, run=run.id)
        message += f"; {len(proposed)} cases proposed for the approved suite"
    write_text(f"{message}\n", sys.stderr)


def promote_recorded(store: "Store", tenant: str, folder: Path, form: str, *, flaky: bool) -> None:
    """Proposes the failures of a run in a folder for the approved suite of a tenant.

    Raises:
        AssayError: the run cannot be read, or the proposals cannot be stored.
    """
    from assay.redteam import read_campaign
    from assay.redteam.scores import read_card
    from assay.server.redteam.proposals import propose_failures

    cases, judgements = read_campaign(folder)
    card = read_card(read_text(folder / "summary.json"), str(folder / "summary.json"))
    proposed = propose_failures(store, tenant, cases, judgements, card.target, ACTOR, flaky_too=flaky)
    if form == "json":
        write_text(json.dumps({"proposed": proposed}) + "\n", sys.stdout)
        return
    write_text("\n".join([f"{len(proposed)} proposed", *(f"  {one}" for one in proposed)]) + "\n", sys.stdout)


def review_recorded(store: "Store", tenant: str, settings: "ReviewSettings") -> None:
    """Lists the proposals of a tenant, or decides on them.

    Raises:
        AssayError: a decision cannot be made; those named before it have been made.
    """
    from assay.cli.redteam.promote import edited_case
    from assay.server.redteam.proposals import decide_on
    from assay.store.redteam import list_proposals

    if not settings.by.strip() and (settings.approve or settings.reject or settings.edit):
        raise InputError("expected --by, the name of the person who decides")
    edited = None if settings.edit is None else edited_case(settings.case)
    decisions: Sequence[tuple[str, str, Case | None]] = (
        *((one, "reject", None) for one in settings.reject),
        *((one, "approve", None) for one in settings.approve),
        *(((settings.edit, "edit", edited),) if settings.edit is not None else ()),
    )
    for id_, act, case in decisions:
        decide_on(store, tenant, id_, act, settings.by, ACTOR, settings.reason, edited=case)
    with store.reading(tenant) as connection:
        rows = list_proposals(connection, tenant, limit=500)
    if settings.format == "json":
        write_text(json.dumps({"proposals": [_as_json(row) for row in rows]}) + "\n", sys.stdout)
        return
    waiting = sum(row.state == "open" for row in rows)
    write_text("\n".join([*map(_line, rows), f"{waiting} open of {len(rows)}"]) + "\n", sys.stdout)


def _as_json(row: "ProposedCase") -> dict[str, object]:
    return {
        "id": row.id,
        "state": row.state,
        "by": row.decider,
        "reason": row.reason,
        "match": row.match,
        "rule": row.rule,
        "flaky": row.flaky,
        "target": row.target,
        "kept": row.kept,
        "case": row.body.get("approved") or row.body.get("case"),
    }


def _line(row: "ProposedCase") -> str:
    who = f" by {one_line(row.decider, 40)}" if row.decider else ""
    prompt = one_line(str((row.body.get("case") or {}).get("prompt", "")), 80)
    return f"  {row.id}  {row.state}{who}  {row.category}  {prompt}"
