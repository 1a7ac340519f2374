"""`assay batch`: checks any number of rows with many processes, and resumes where it was stopped."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from assay.cli.database import DEFAULT_TENANT
from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.operations.engines import AddressOption, Engine, WorkerSettings, WorkersOption, forwarded_environ
from assay.cli.options.completion import complete_policy
from assay.cli.options.shared import TextOrJson as Format
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.batch import Totals
    from assay.batch.values import RawRow

_EVERY_S: Final = 5.0
"""Seconds between two lines of progress."""


def batch(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder of the results.")],
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Files, folders or URLs of JSON Lines, CSV or Parquet."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy", metavar="NAME|FILE", autocompletion=complete_policy, help="A preset or an assay.yaml."
        ),
    ] = None,
    verifier: Annotated[
        str | None,
        typer.Option("--verifier", metavar="NAME|DIR", help="A shipped network, or a cross-encoder's folder."),
    ] = None,
    database: Annotated[str | None, typer.Option("--database", metavar="URL", help="The database of --query.")] = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="SQL", help="Rows of this query; name columns with AS.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Check the outputs recorded in --database, oldest first.")
    ] = False,
    tenant: Annotated[str, typer.Option("--tenant", metavar="NAME", help="Whose record.")] = DEFAULT_TENANT,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="With --record: only from this moment on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="With --record: only before this moment.")] = None,
    engine: Annotated[Engine, typer.Option("--engine", help="Processes of this machine, or actors of Ray.")] = (
        Engine.LOCAL
    ),
    workers: WorkersOption = None,
    address: AddressOption = None,
    partition: Annotated[int, typer.Option("--partition-rows", min=1, help="Rows that are committed together.")] = 500,
    reports: Annotated[bool, typer.Option("--reports", help="Keep whole reports, in the column `report`.")] = False,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to print the summary.")] = Format.TEXT,
) -> None:
    """Check any number of rows with many processes; the same command resumes where it was stopped.

    A row is one of `assay eval`: an id, evidence, an answer or a claim. Each has exactly one result in DIR/parts, as
    Parquet. Exit status 1: some rows were rejected, and DIR/rejected.jsonl says why.
    """
    from assay.batch import BatchSettings, open_engine, open_sources, run_batch
    from assay.batch.values import BatchWork

    with reporting_errors():
        work = BatchWork(policy, verifier, WorkerSettings(engine, workers).threads, reports, forwarded_environ())
        settings = BatchSettings(out, {**_identity(policy, verifier), "reports": str(reports).lower()}, partition)
        with ExitStack() as closing:
            if record:
                rows = closing.enter_context(_record_source(database, tenant, since, until))
                if paths or query is not None:
                    raise InputError("--record is a source of its own: name no files and no query beside it")
            else:
                if since is not None or until is not None:
                    raise InputError("--since and --until go with --record")
                rows = open_sources(paths or (), database=database, query=query)
            totals = run_batch(
                settings, rows, lambda: open_engine(engine.value, work, workers=workers, address=address), _progress()
            )
        _print(totals, out, format_)
        raise typer.Exit(FINDINGS if totals.rejected else CLEAN)


@contextmanager
def _record_source(
    database: str | None, tenant: str, since: str | None, until: str | None
) -> "Iterator[Iterator[RawRow]]":
    """The rows of a record, which stays open while they are read.

    Raises:
        InputError: no database is named, it does not exist, or a bound is not a moment.
    """
    from assay.batch import record_rows
    from assay.cli.database import opened_record
    from assay.cli.monitoring.monitor_run import parse_moment

    if database is None:
        raise InputError("--record reads the record of a server; name its database with --database")
    bounds = [None if text is None else parse_moment(text) for text in (since, until)]
    with opened_record(database) as store:
        yield record_rows(store, tenant, since=bounds[0], until=bounds[1])


def _identity(policy: str | None, verifier: str | None) -> dict[str, str]:
    from assay.cli.check import open_guard
    from assay.cli.evaluate import identity_of
    from assay.config import knowledge_file

    guard = open_guard(policy, None if verifier is None else Path(verifier))
    return identity_of(guard, knowledge_file(policy, os.environ))


def _progress() -> "Callable[[Totals], None]":
    from assay.cli.terminal import write_text

    started = last_shown = time.monotonic()
    rows = 0

    def add(totals: "Totals") -> None:
        nonlocal rows, last_shown
        rows += totals.rows
        now = time.monotonic()
        if now - last_shown >= _EVERY_S:
            last_shown = now
            write_text(f"assay: checked {rows:,} rows, {rows / (now - started):,.0f} a second\n", sys.stderr)

    return add


def _print(totals: "Totals", out: Path, format_: Format) -> None:
    from assay.batch.run import summary_of
    from assay.cli.terminal import write_text

    summary = summary_of(totals)
    if format_ is Format.JSON:
        write_text(json.dumps(summary, indent=2) + "\n", sys.stdout)
        return
    lines = [f"{totals.rows:,} rows, {totals.rejected:,} rejected"]
    lines += [f"  {name:<24}{count:>12,}" for name, count in {**totals.actions, **_verdicts(totals)}.items()]
    if totals.labelled:
        labelled = summary["labelled"]
        lines.append(f"  honest answers emitted  {labelled['honest_emitted']:>12,} of {labelled['honest']:,}")
        lines.append(f"  wrong answers stopped   {labelled['wrong_stopped']:>12,} of {labelled['wrong']:,}")
    lines.append(
        f"results: {out / 'parts'}" + (f", rejected rows: {out / 'rejected.jsonl'}" if totals.rejected else "")
    )
    write_text("\n".join(lines) + "\n", sys.stdout)


def _verdicts(totals: "Totals") -> dict[str, int]:
    """The verdicts, for a batch of claims, which have no action."""
    return {} if totals.actions else dict(totals.verdicts)
