"""`assay review`: the queue of outputs that wait for review. What a verb needs is imported when it runs."""

import json
import os
import sys
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.database import DEFAULT_TENANT, DatabaseOption, TenantOption, opened_record
from assay.cli.exit_status import reporting_errors
from assay.cli.options.shared import TextOrJson as Format
from assay.cli.terminal import one_line, say
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.schema import EscalationPackage, ReviewItem
    from assay.server.reviews.service import ReviewService
    from assay.store.db import Store
    from assay.store.reviews import Reviewer

app = typer.Typer(
    name="review",
    help="Outputs that wait for a person: list, show, claim, decide; and export decisions as labelled rows.",
    epilog="Exit status: 0 done; 2 misuse, or the item belongs to somebody else, has changed or is decided.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Act(StrEnum):
    """What a reviewer decides."""

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    ASK = "ask_evidence"


class Source(StrEnum):
    """The source of the labels of exported rows."""

    REVIEWS = "reviews"
    FEEDBACK = "feedback"
    ALL = "all"


class TierName(StrEnum):
    """How soon a person has to review."""

    ASYNC = "async"
    SYNC = "sync"
    BLOCKING = "blocking"


IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the item: that of its report.")]
AsOption = Annotated[str, typer.Option("--as", metavar="NAME", envvar="ASSAY_REVIEWER", help="Who acts.")]
VersionOption = Annotated[
    int | None, typer.Option("--version", metavar="N", help="The version that was seen; refused if it has changed.")
]
ReasonOption = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept in the record.")]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]


@app.command("list")
def list_reviews(
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    tier: Annotated[TierName | None, typer.Option("--tier", help="Only those of this tier.")] = None,
    mine: Annotated[
        str | None, typer.Option("--of", metavar="NAME", help="Only items that NAME has claimed or was assigned.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Those that were decided too, the newest first.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="At most this many.")] = 50,
    format_: FormatOption = Format.TEXT,
) -> None:
    """List what waits, the next deadline first."""
    from assay.schema.report_parts import Tier
    from assay.store.reviews import OPEN_STATES, ReviewFilter, list_items

    with reporting_errors(), opened_record(database) as store:
        review_filter = ReviewFilter(
            () if all_ else OPEN_STATES, None if tier is None else Tier(tier.value), holder=mine
        )
        with store.reading(tenant) as connection:
            items = list_items(connection, tenant, review_filter, limit=limit)
        if format_ is Format.JSON:
            say(json.dumps([item.wire() for item in items], indent=2))
            return
        for item in items:
            say(_line(item, store.now()))
        if not items:
            say("nothing waits" if not all_ else "there are no reviews")


@app.command()
def show(
    id_: IdArgument,
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Show an item with all that a reviewer needs."""
    from assay.store.reviews import read_events, read_item, read_package

    with reporting_errors(), opened_record(database) as store:
        with store.reading(tenant) as connection:
            item = read_item(connection, tenant, id_)
            package = read_package(connection, tenant, id_)
            events = read_events(connection, tenant, id_)
        if item is None:
            raise InputError(f"expected an item of {tenant}, and there is none with this id")
        if format_ is Format.JSON:
            package_json = None if package is None else package.model_dump(mode="json")
            fields = {
                "item": item.wire(),
                "package": package_json,
                "events": [one.model_dump(mode="json") for one in events],
            }
            say(json.dumps(fields, indent=2))
            return
        lines = [
            _line(item, store.now()),
            *(_package_lines(package) if package is not None else ["its content was erased"]),
        ]
        lines.append("")
        for event in events:
            reason = one_line(event.reason or "")
            lines.append(f"{event.at:%Y-%m-%d %H:%M} {one_line(event.actor)}: {event.act} {reason}".rstrip())
        say("\n".join(lines))


@app.command()
def claim(
    id_: IdArgument,
    database: DatabaseOption,
    who: AsOption,
    tenant: TenantOption = DEFAULT_TENANT,
    version: VersionOption = None,
) -> None:
    """Take an item for a while, so that nobody else decides it."""
    with reporting_errors(), opened_record(database) as store:
        item = _review_service(store).reviews.claim(tenant, id_, _reviewer(store, tenant, who), version)
        say(f"{item.holder} has it until {item.held_until:%Y-%m-%d %H:%M:%S} UTC; version {item.version}")


@app.command()
def release(
    id_: IdArgument,
    database: DatabaseOption,
    who: AsOption,
    tenant: TenantOption = DEFAULT_TENANT,
    reason: ReasonOption = None,
    version: VersionOption = None,
) -> None:
    """Give an item back."""
    with reporting_errors(), opened_record(database) as store:
        item = _review_service(store).reviews.release(tenant, id_, _reviewer(store, tenant, who), reason, version)
        say(f"given back; version {item.version}")


@app.command()
def decide(
    id_: IdArgument,
    act: Annotated[Act, typer.Argument(help="What is decided.")],
    database: DatabaseOption,
    who: AsOption,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept in the record.")],
    text: Annotated[
        Path | None,
        typer.Option(
            "--text", metavar="FILE", help="For edit: the file of the text to release; - reads standard input."
        ),
    ] = None,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept", help="For edit: release the text although the gate would not emit it; never what it blocks."
        ),
    ] = False,
    response: Annotated[
        str | None, typer.Option("--response", metavar="TEXT", help="For reject: what the caller gets in its place.")
    ] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    version: VersionOption = None,
) -> None:
    """Decide on an item, once and for all; or ask its caller for evidence."""
    with reporting_errors(), opened_record(database) as store:
        service, reviewer = _review_service(store), _reviewer(store, tenant, who)
        match act:
            case Act.APPROVE:
                item = service.approve(tenant, id_, reviewer, reason, version=version)
            case Act.REJECT:
                item = service.reject(tenant, id_, reviewer, reason, response=response, version=version)
            case Act.ASK:
                item = service.reviews.ask(tenant, id_, reviewer, reason, version)
            case Act.EDIT:
                edited_report = service.check_edit(tenant, id_, _read_text(text))
                item = service.edit(tenant, id_, reviewer, reason, edited_report, accept=accept, version=version)
        signed = item.outcome is not None and item.outcome.receipt is not None
        say(f"{item.state.value}; version {item.version}" + ("; a receipt was issued" if signed else ""))


@app.command()
def export(
    database: DatabaseOption,
    tenant: TenantOption = DEFAULT_TENANT,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write here.")] = None,
    source: Annotated[Source, typer.Option(help="What reviewers decided, what users said, or both.")] = Source.REVIEWS,
) -> None:
    """Write what reviewers decided as labelled rows: JSON Lines for `assay eval`, `assay calibrate` and training."""
    from assay.store.reviews import rows_by

    with reporting_errors(), opened_record(database) as store, store.reading(tenant) as connection:
        rows = rows_by(source.value, connection, tenant)
        if out is None:
            for row in rows:
                sys.stdout.write(json.dumps(row) + "\n")  # ASCII, for any terminal and any encoding
            return
        count = 0
        with out.open("w", encoding="utf-8", errors="backslashreplace") as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
        say(f"{count} rows")


@app.command()
def sweep(database: DatabaseOption) -> None:
    """Settle deadlines that have passed, as a running server does by itself."""
    from assay.store.reviews import Reviews
    from assay.store.reviews import sweep_deadlines as swept

    with reporting_errors(), opened_record(database) as store:
        done = swept(Reviews(store))
        say(f"{done.settled} deadlines settled, {done.assigned} items assigned")


def _review_service(store: "Store") -> "ReviewService":
    from assay.server.reviews.service import ReviewService
    from assay.store.reviews import Reviews

    return ReviewService(Reviews(store), _guards_by_policy())


def _guards_by_policy() -> "Callable[[str | None], Guard]":
    """Guards by policy, made on demand: most verbs need none, and loading the network takes time."""
    guards: dict[str | None, Guard] = {}

    def guard_of(name: str | None) -> "Guard":
        from assay.config import build_guard, read_policy
        from assay.policy import PRESETS

        default = read_policy(None, os.environ)
        key = name if name in PRESETS and name != default.name else None
        if key not in guards:
            guards[key] = build_guard(key, None, os.environ)
        return guards[key]

    return guard_of


def _reviewer(store: "Store", tenant: str, name: str) -> "Reviewer":
    """The acting reviewer, with the roles and expertise of the user of this name.

    A name without a user acts as an administrator, since anyone who can write to the database is trusted.
    """
    from sqlalchemy import select

    from assay.store.db import tables
    from assay.store.reviews import Reviewer

    table = tables.users.c
    with store.reading(tenant) as connection:
        row = connection.execute(
            select(table.expertise, table.roles).where(
                table.tenant == tenant, table.name == name, table.disabled.is_(None)
            )
        ).one_or_none()
    if row is None:
        return Reviewer(name, admin=True)
    return Reviewer(name, frozenset(row.expertise.split()), "admin" in row.roles.split())


def _read_text(path: Path | None) -> str:
    if path is None:
        raise InputError("expected the text to release: name its file with --text, or - for standard input")
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected UTF-8 text") from error


def _line(item: "ReviewItem", now: datetime) -> str:
    from assay.cli.terminal import clean

    holder_text = f" {clean(item.holder)} has it" if item.holder else ""
    holder_text = f" for {clean(item.assignee)}" if item.assignee and not holder_text else holder_text
    due_text = "" if item.deadline is None else f" due in {_span((item.deadline - now).total_seconds())}"
    risk = "" if item.risk is None else f" risk {item.risk:.2f}"
    return f"{item.id} {item.state.value:9} {item.tier.value:8}{risk}{due_text}{holder_text}"


def _span(seconds: float) -> str:
    if seconds < 0:
        return "no time: it has passed"
    return f"{seconds / 3600:.1f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"


def _package_lines(package: "EscalationPackage") -> list[str]:
    from assay.cli.terminal import clean

    context = package.task_context
    lines = ["", f"Question: {clean(context.question or 'none')}", "", clean(package.output), ""]
    lines += [f"Why: {clean(reason)}" for reason in context.reasons]
    for flagged in package.flagged_claims:
        lines.append(f"- {flagged.verdict.value}: {clean(flagged.text)}")
        lines += [f"    {clean(issue.message)}" for issue in flagged.issues]
        lines += [f"    evidence {clean(span.evidence_id)}: {clean(span.text)}" for span in flagged.evidence[:1]]
    lines += [f"Suggested: {package.suggested_action}. {package.suggested_because}"]
    return lines
