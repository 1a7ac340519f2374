"""`assay users` and `assay tenants`: the people who may sign in, and their tenants.

What a verb needs is imported when it runs.
"""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.database import DEFAULT_TENANT, DatabaseOption, TenantOption, opened
from assay.cli.exit_status import reporting_errors
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.server.access.sign_in import SignInService
    from assay.store.access import User
    from assay.store.db import Store

app = typer.Typer(name="users", help="The people of a server.", no_args_is_help=True, rich_markup_mode=None)
tenants_app = typer.Typer(
    name="tenants",
    help="Tenants share a server and never see each other's records.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class RoleName(StrEnum):
    """The roles of a user."""

    VIEWER = "viewer"
    REVIEWER = "reviewer"
    AUDITOR = "auditor"
    ADMIN = "admin"


NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What the person signs in with.")]
RolesOption = Annotated[list[RoleName] | None, typer.Option("--role", help="May be repeated.")]
ExpertiseOption = Annotated[
    list[str] | None, typer.Option("--expertise", metavar="WORD", help="What the person reviews; may be repeated.")
]


@app.command()
def create(
    name: NameArgument,
    database: DatabaseOption,
    role: RolesOption = None,
    expertise: ExpertiseOption = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """Make a user; without a password, print a token with which the person sets one."""
    from assay.schema import Role

    with reporting_errors(), opened(database) as store:
        service = _sign_in_service(store)
        password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
        if password is None and sys.stdin.isatty():
            password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
        roles = tuple(Role(one.value) for one in role or [RoleName.VIEWER])
        user = service.make_user(
            name, roles, tenant=tenant, actor="command", password=password, expertise=tuple(expertise or ())
        )
        if password is None:
            typer.echo(service.make_reset(user.id, tenant, "command"))
        typer.echo(f"made {user.name} of {tenant}: {', '.join(user.roles)}", err=True)


@app.command("list")
def list_all(database: DatabaseOption, tenant: TenantOption = DEFAULT_TENANT) -> None:
    """List the users."""
    from assay.cli.terminal import clean
    from assay.store.access import list_users

    with reporting_errors(), opened(database) as store:
        for user in list_users(store, tenant, limit=1_000):
            state = "kept out" if user.disabled else "good" if user.password else "no password yet"
            typer.echo(
                f"{user.id}  {state:<15}  {'+'.join(user.roles):<24}  {user.created:%Y-%m-%d}  {clean(user.name or '')}"
                + (f"  [{clean(' '.join(user.expertise))}]" if user.expertise else "")
            )


@app.command()
def change(
    name: NameArgument,
    database: DatabaseOption,
    role: RolesOption = None,
    expertise: ExpertiseOption = None,
    disable: Annotated[
        bool | None, typer.Option("--disable/--enable", help="Disable the account, or enable it again.")
    ] = None,
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """Change a user's roles or expertise, or disable the user; takes effect at once."""
    from assay.schema import Role
    from assay.store.access import change_user

    with reporting_errors(), opened(database) as store:
        roles = None if role is None else [Role(one.value) for one in role]
        change_user(
            store,
            _user(store, name, tenant).id,
            tenant,
            actor="command",
            roles=roles,
            expertise=expertise,
            disabled=disable,
        )


@app.command()
def reset(name: NameArgument, database: DatabaseOption, tenant: TenantOption = DEFAULT_TENANT) -> None:
    """Print a token with which the person sets the password again, at /console/reset."""
    with reporting_errors(), opened(database) as store:
        typer.echo(_sign_in_service(store).make_reset(_user(store, name, tenant).id, tenant, "command"))


@app.command()
def forget(name: NameArgument, database: DatabaseOption, tenant: TenantOption = DEFAULT_TENANT) -> None:
    """Remove a user; the id stays in the log."""
    from assay.store.access import forget_user

    with reporting_errors(), opened(database) as store:
        forget_user(store, _user(store, name, tenant).id, tenant, actor="command")


@app.command("sign-out")
def sign_out(name: NameArgument, database: DatabaseOption, tenant: TenantOption = DEFAULT_TENANT) -> None:
    """End all sessions of a user at once."""
    from assay.store.access import end_session, list_sessions

    with reporting_errors(), opened(database) as store:
        user = _user(store, name, tenant).id
        for session in list_sessions(store, tenant, user=user, limit=1_000):
            end_session(store, session.id, tenant, actor="command")


@tenants_app.command("create")
def create_one(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Lower-case letters, digits, dots and dashes.")],
    database: DatabaseOption,
    title: Annotated[str | None, typer.Option(help="Its display name.")] = None,
) -> None:
    """Make a tenant."""
    from assay.store.access import create_tenant

    with reporting_errors(), opened(database) as store:
        create_tenant(store, name, title)


@tenants_app.command("list")
def list_tenants(database: DatabaseOption) -> None:
    """List the tenants."""
    from assay.cli.terminal import clean
    from assay.store.access import tenants

    with reporting_errors(), opened(database) as store:
        for tenant in tenants.list_tenants(store):
            typer.echo(f"{tenant.name:<20}  {tenant.created:%Y-%m-%d}  {clean(tenant.title)}")


def _user(store: "Store", name: str, tenant: str) -> "User":
    from assay.store.access import find_user

    user = find_user(store, name, tenant)
    if user is None:
        raise InputError(f"there is no user {name!r} of {tenant}; `assay users list` shows those that there are")
    return user


def _sign_in_service(store: "Store") -> "SignInService":
    try:
        from assay.server.access.passwords import Passwords
        from assay.server.access.rate_limits import Buckets
        from assay.server.access.settings import AccessSettings
        from assay.server.access.sign_in import SignInService
    except ImportError as error:
        raise InputError("passwords need argon2-cffi; install it with: pip install 'assay-ai[server]'") from error
    return SignInService(store, Passwords(), AccessSettings(), Buckets(1.0, 1_000.0))
