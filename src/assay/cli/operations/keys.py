"""`assay keys`: makes, lists, rotates and revokes the API keys of a server, in a file or in its database.

What a verb needs is imported when it runs.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.database import DEFAULT_TENANT, TenantOption, opened
from assay.cli.exit_status import reporting_errors
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.schema import Permission
    from assay.store.access import ApiKey

app = typer.Typer(name="keys", help="The API keys of a server.", no_args_is_help=True, rich_markup_mode=None)

KeysOption = Annotated[
    Path | None, typer.Option("--keys", metavar="FILE", envvar="ASSAY_KEYS", help="The file of the keys.")
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL|FILE",
        envvar="ASSAY_DATABASE_URL",
        help="The database of the server, in place of a file.",
    ),
]


@app.command()
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    file: KeysOption = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            help="check or gateway; in a database read, feedback, review, audit and administer too. "
            "[default: check and gateway; in a database read and feedback too]"
        ),
    ] = None,
    days: Annotated[float | None, typer.Option(help="For how many days it is valid. [default: until revoked]")] = None,
    database: DatabaseOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """Make a key and print it; it is never shown again."""
    from assay.server.access.key_file import DEFAULT_SCOPES, KeyFile

    with reporting_errors():
        if (path := _key_file(context, file, database)) is not None:
            typer.echo(KeyFile(path).create(name, tuple(scope or DEFAULT_SCOPES), days=days))
            return
        from assay.store.access import create_key

        lasts = None if days is None else timedelta(days=days)
        with opened(database) as store:
            typer.echo(create_key(store, name, _permissions(scope), tenant=tenant, lasts=lasts)[0])


@app.command("list")
def list_all(
    context: typer.Context,
    file: KeysOption = None,
    database: DatabaseOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """List the keys, without their secrets."""
    with reporting_errors():
        if (path := _key_file(context, file, database)) is not None:
            lines = list(_file_key_lines(path, datetime.now(UTC)))
        else:
            from assay.store.access import list_keys

            with opened(database) as store:
                lines = [_key_line(key, store.now()) for key in list_keys(store, tenant, limit=1_000)]
        for line in lines:
            typer.echo(line)


@app.command()
def rotate(
    context: typer.Context,
    id_: Annotated[str, typer.Argument(metavar="ID")],
    file: KeysOption = None,
    hours: Annotated[float, typer.Option(min=0, help="For how long the old key stays valid.")] = 24.0,
    database: DatabaseOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """Make a key in place of another one, and print it."""
    from assay.server.access.key_file import KeyFile

    with reporting_errors():
        if (path := _key_file(context, file, database)) is not None:
            typer.echo(KeyFile(path).rotate(id_, hours=hours))
            return
        from assay.store.access import COMMAND, rotate_key

        with opened(database) as store:
            rotated = rotate_key(store, id_, tenant, actor=COMMAND, overlap=timedelta(hours=hours))
        if rotated is None:
            raise InputError(f"there is no key {id_!r} of {tenant}; `assay keys list` shows those that there are")
        typer.echo(rotated[0])


@app.command()
def revoke(
    context: typer.Context,
    id_: Annotated[str, typer.Argument(metavar="ID")],
    file: KeysOption = None,
    database: DatabaseOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """End a key at once."""
    from assay.server.access.key_file import KeyFile

    with reporting_errors():
        if (path := _key_file(context, file, database)) is not None:
            KeyFile(path).revoke(id_)
            return
        from assay.store.access import COMMAND, revoke_key

        with opened(database) as store:
            revoked = revoke_key(store, id_, tenant, actor=COMMAND)
        if not revoked:
            raise InputError(f"there is no key {id_!r} of {tenant}; `assay keys list` shows those that there are")


def _key_file(context: typer.Context, file: Path | None, database: str | None) -> Path | None:
    """The file of keys; none if the keys are in the database.

    The command line takes precedence over the environment; in the environment the file does over the database.
    """
    if file is None and database is None:
        raise InputError(
            "expected where the keys are: a file with --keys (or ASSAY_KEYS), or a database with --database "
            "(or ASSAY_DATABASE_URL)"
        )
    typed = {name for name in ("file", "database") if _is_typed(context, name)}
    if typed == {"file", "database"}:
        raise InputError("expected either --keys or --database, got both")
    if file is None or "database" in typed:
        return None
    return file


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _permissions(scopes: list[str] | None) -> "list[Permission]":
    from assay.schema import Permission

    if not scopes:
        return [Permission.CHECK, Permission.GATEWAY, Permission.READ, Permission.FEEDBACK]
    unknown = sorted(set(scopes) - set(Permission))
    if unknown:
        raise InputError(f"the scopes of a key are {', '.join(Permission)}; got {', '.join(unknown)}")
    return [Permission(one) for one in scopes]


def _file_key_lines(path: Path, now: datetime) -> Iterator[str]:
    """The keys of a file as lines: id, state, scopes, the day each was made, and its name."""
    from assay.cli.terminal import clean
    from assay.server.access.key_file import KeyFile

    for key in KeyFile(path).all_keys():
        state = "good" if key.holds(now) else "revoked" if key.revoked else "ended"
        if state == "good" and key.expires:
            state = f"good until {key.expires[:16]}"
        yield f"{key.id}  {state:<28}  {'+'.join(key.scopes):<14}  {key.created[:10]}  {clean(key.name)}"


def _key_line(key: "ApiKey", now: datetime) -> str:
    """A key of a database as a line: id, state, permissions, when it was made and used last, and its name."""
    from assay.cli.terminal import clean

    state = "good" if key.holds(now) else "revoked" if key.revoked else "ended"
    if state == "good" and key.expires:
        state = f"good until {key.expires:%Y-%m-%dT%H:%M}"
    used = "never used" if key.used is None else f"used {key.used:%Y-%m-%d}"
    return (
        f"{key.id}  {state:<28}  {'+'.join(key.permissions):<14}  {key.created:%Y-%m-%d}  {used:<15}  {clean(key.name)}"
    )
