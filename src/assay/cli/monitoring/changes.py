"""`assay changes`: the log of changes to the system whose outputs are checked."""

import json
import secrets
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.database import DEFAULT_TENANT, DatabaseOption, TenantOption, opened, opened_record
from assay.cli.exit_status import reporting_errors
from assay.cli.monitoring.monitor import FormatOption
from assay.cli.options.shared import TextOrJson as Format
from assay.cli.terminal import say

if TYPE_CHECKING:
    from assay.store.monitoring import ChangeRow

app = typer.Typer(
    name="changes",
    help="The log of what was changed: prompts, models, indexes, tools, policies, verifiers, code.",
    epilog="Exit status: 0 done, 2 misuse.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class ChangeKind(StrEnum):
    """What was changed."""

    PROMPT = "prompt"
    MODEL = "model"
    INDEX = "index"
    TOOLS = "tools"
    POLICY = "policy"
    VERIFIER = "verifier"
    CODE = "code"


@app.command()
def add(
    database: DatabaseOption,
    kind: Annotated[ChangeKind, typer.Option("--kind", help="What was changed.")],
    ref: Annotated[str, typer.Option("--ref", metavar="TEXT", help="What it is now: a version, a digest, a commit.")],
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="When, such as 2026-03-01T12:00:00Z. [default: now]")
    ] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="A sentence about it.")] = "",
    id_: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="Your own id, such as a deployment's; recorded twice, it counts once."),
    ] = None,
    tenant: TenantOption = DEFAULT_TENANT,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Record a change."""
    from assay.cli.monitoring.monitor_run import parse_moment
    from assay.monitor import SystemChange
    from assay.store.monitoring import ChangeRow, add_changes, checked_id
    from assay.store.records import micros

    with reporting_errors(), opened(database) as store:
        moment = micros(store.now() if at is None else parse_moment(at))
        change = SystemChange(kind.value, ref, moment, checked_id(id_ or secrets.token_hex(16)), note)
        is_new = add_changes(store, tenant, [ChangeRow(change.id, change.at, change.kind, change.ref, change.note)])
        described = {**change.wire(), "at": _moment_text(change.at), "new": bool(is_new)}
        say(
            json.dumps(described)
            if format_ is Format.JSON
            else f"{change.id} {'added' if is_new else 'is known already'}"
        )


@app.command("list")
def list_changes(
    database: DatabaseOption,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only from this moment on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only before this moment.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most this many, the newest ones.")] = 100,
    tenant: TenantOption = DEFAULT_TENANT,
    format_: FormatOption = Format.TEXT,
) -> None:
    """List changes, the newest first."""
    from assay.cli.monitoring.monitor_run import parse_moment
    from assay.cli.terminal import one_line
    from assay.store.monitoring import read_changes
    from assay.store.records import micros

    with reporting_errors(), opened_record(database) as store:
        bounds = [None if text is None else micros(parse_moment(text)) for text in (since, until)]
        with store.reading(tenant) as connection:
            rows = read_changes(connection, tenant, bounds[0], bounds[1], limit)
        if format_ is Format.JSON:
            say(json.dumps({"changes": [change_json(row) for row in rows]}, indent=2))
            return
        for row in rows:
            note = f"  {one_line(row.note, 60)}" if row.note else ""
            say(f"{_moment_text(row.at)} {row.kind:8} {one_line(row.ref, 60)} ({row.source}){note}")


def change_json(row: "ChangeRow") -> dict[str, Any]:
    """A change as a JSON value."""
    return {
        "id": row.id,
        "at": _moment_text(row.at),
        "kind": row.kind,
        "ref": row.ref,
        "note": row.note,
        "source": row.source,
    }


def _moment_text(micros: int) -> str:
    from assay.cli.monitoring.monitor_run import moment_text

    return moment_text(micros)
