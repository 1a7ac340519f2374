"""The checks of `assay doctor`: each gives notes, and none changes anything."""

import importlib.util
import os
import platform
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assay._version import __version__
from assay.config import DEFAULT_POLICY, Guard, read_policy, read_settings
from assay.errors import AssayError, MissingPackageError, ReceiptError
from assay.policy import PRESETS, Mode, Policy, requirements
from assay.receipt import open_keys

if TYPE_CHECKING:
    from assay.server.settings import ServerSettings
    from assay.store.db import Store

MOST_ANCHOR_AGE: Final = timedelta(days=1)
"""The greatest age of the newest checkpoint outside of this host."""
MOST_CLOCK_SKEW: Final = timedelta(minutes=2)
"""The greatest difference between two clocks."""
MOST_COMMIT_TIME: Final = timedelta(minutes=5)
"""The longest time that a commit may take before it is reported."""
ONLINE_TIMEOUT_S: Final = 5.0
"""Seconds that a server gets to answer."""
_RIGHT_CLAIM: Final = "Partners are entitled to 2 weeks of paid leave."
_WRONG_CLAIM: Final = "Partners are entitled to 4 weeks of paid leave."
_DIGEST_SHOWN: Final = 8


class Level(StrEnum):
    """Whether a note calls for action."""

    OK = "ok"
    """No action."""
    NOTE = "note"
    """No action, but operators should know."""
    OPEN = "open"
    """Somebody has to act."""


@dataclass(frozen=True, slots=True)
class Note:
    """The result of one check."""

    level: Level
    area: str
    """`verifier`, `policy`, `keys`, `server`, `database`, `audit` or `clock`."""
    said: str
    """What was found."""
    todo: str | None = None
    """What to do about it."""


def verifier(environ: Mapping[str, str], policy: Policy, model: Path | None) -> Iterator[Note]:
    """Whether the network can be loaded and distinguishes a right claim from a wrong one."""
    python = f"assay {__version__}, Python {platform.python_version()} on {sys.platform}"
    yield Note(Level.OK, "verifier", python)
    started = time.perf_counter()
    try:
        guard = Guard(policy, model=model, environ=environ)
        loaded = time.perf_counter()
        right, wrong = (guard.check(text, [_RIGHT_CLAIM]) for text in (_RIGHT_CLAIM, _WRONG_CLAIM))
    except AssayError as error:
        yield Note(
            Level.OPEN,
            "verifier",
            f"the network cannot judge: {error}",
            "Reinstall the package, or name a network that is there (--verifier, ASSAY_VERIFIER).",
        )
        return
    ended = time.perf_counter()
    name = f"{guard.verifier.name} ({guard.verifier.digest[:_DIGEST_SHOWN]})"
    description = f"{name}, loaded in {loaded - started:.1f} s, two checks in {(ended - loaded) * 1000:.0f} ms"
    verdicts = right.claims[0].verdict.value, wrong.claims[0].verdict.value
    if verdicts == ("supported", "contradicted"):
        yield Note(Level.OK, "verifier", description)
    else:
        yield Note(
            Level.OPEN,
            "verifier",
            f"{description}: a right and a wrong claim were called {verdicts[0]} and {verdicts[1]}",
            "Under this policy and network even the simplest pair is not distinguished: measure it with `assay eval`.",
        )


def policies(environ: Mapping[str, str], used: Mapping[str, Policy], *, judge: bool, upstream: bool) -> Iterator[Note]:
    """What each policy requires of a chat model, and whether one is configured.

    Args:
        environ: the environment.
        used: the policies in use, by their place.
        judge: whether a chat model is configured for checks.
        upstream: whether the gateway has an upstream, which answers consistency probes.
    """
    config = read_settings(environ).config
    source = f"ASSAY_CONFIG, {config}" if config is not None else f"the default, {DEFAULT_POLICY}"
    yield Note(Level.OK, "policy", f"where nothing names a policy: {source}")
    for where, policy in used.items():
        yield _policy_note(f"{policy.name} ({where})", policy, judge=judge, upstream=upstream, used=True)
    for policy in PRESETS.values():
        if policy.name not in {one.name for one in used.values()}:
            yield _policy_note(f"{policy.name} (not in use)", policy, judge=judge, upstream=upstream, used=False)


def _policy_note(name: str, policy: Policy, *, judge: bool, upstream: bool, used: bool) -> Note:
    required = requirements(policy)
    if not required:
        return Note(Level.OK, "policy", f"{name}: needs nothing but the network")
    missing = [one for one in required if not judge and not (one.setting == "consistency_probes" and upstream)]
    mandatory = [one for one in missing if one.mandatory]
    missing_names = ", ".join(f"{one.what} ({one.setting})" for one in mandatory or missing or required)
    if not missing:
        return Note(Level.OK, "policy", f"{name}: {missing_names}; a chat model is configured")
    if not mandatory:
        said = f"{name}: {missing_names}; no chat model is configured, so the network decides alone"
        return Note(Level.NOTE, "policy", said)
    said = f"{name}: requires {missing_names}; no chat model is configured, so answers are kept back that need it"
    todo = "Name a chat model: --llm NAME and --base-url URL, or `judge` in the gateway file."
    return Note(Level.OPEN if used else Level.NOTE, "policy", said, todo)


def keys(environ: Mapping[str, str], now: datetime, *, records: bool) -> Iterator[Note]:
    """The keys that sign receipts and the audit log.

    Args:
        environ: the environment.
        now: the current time.
        records: whether there is an audit log.
    """
    folder = read_settings(environ).receipt_keys
    if folder is None:
        said = "ASSAY_RECEIPT_KEYS is not set: nothing is signed, no receipts and no audit log"
        todo = "Set ASSAY_RECEIPT_KEYS to a folder, and make a key in it: assay receipt create-key"
        yield Note(Level.OPEN if records else Level.NOTE, "keys", said, todo if records else None)
        return
    try:
        ring = open_keys(folder).ring()
        signer = open_keys(folder).signer()
    except ReceiptError as error:
        yield Note(Level.OPEN, "keys", str(error), "Make a key in that folder: assay receipt create-key --keys DIR")
        return
    yield Note(Level.OK, "keys", f"receipts are signed with the key {signer.key_id}; the ring has {len(ring.keys)}")
    for path in sorted((folder, *folder.glob("*.key"))):
        yield from permission_notes(path, "keys")
    ahead = [key.key_id for key in ring.keys if datetime.fromisoformat(key.created) > now + MOST_CLOCK_SKEW]
    if ahead:
        yield _clock_note(f"the key {ahead[0]} was made in the future of this machine's clock")


def permission_notes(path: Path, area: str) -> Iterator[Note]:
    """Whether anyone but the owner may read a file, or change a folder."""
    if sys.platform == "win32":
        return
    try:
        mode = path.stat().st_mode
    except OSError as error:
        yield Note(Level.OPEN, area, f"{path} cannot be looked at: {error.strerror or error}")
        return
    folder = stat.S_ISDIR(mode)
    others_mode = mode & (stat.S_IWGRP | stat.S_IWOTH if folder else stat.S_IRWXG | stat.S_IRWXO)
    if others_mode:
        action = "change what stands in" if folder else "read or change"
        todo = f"chmod {'go-w' if folder else '600'} {path}"
        yield Note(Level.OPEN, area, f"others than its owner may {action} {path} (mode {stat.S_IMODE(mode):04o})", todo)


def server(settings: "ServerSettings") -> Iterator[Note]:
    """Who can reach the server, and which routes pass on answers that are not checked."""
    from assay.server.settings import ROUTES, is_loopback

    missing = [name for name in ("fastapi", "uvicorn", "aiohttp") if importlib.util.find_spec(name) is None]
    if missing:
        said = f"the packages of the server are not installed ({', '.join(missing)})"
        yield Note(Level.NOTE, "server", said, "pip install 'assay-ai[server]'")
    reach = "this machine alone" if is_loopback(settings.host) else "whoever reaches this machine"
    yield Note(Level.OK, "server", f"listens on {settings.host}:{settings.port}, for {reach}")
    if settings.keys is not None:
        yield from permission_notes(settings.keys, "server")
    if settings.keys is None and settings.database is None:
        yield Note(Level.NOTE, "server", "no API keys: every program on this machine may ask, and nothing is recorded")
    for name in ROUTES if settings.upstreams else ():
        route = settings.route(name)
        if route.mode is not Mode.ENFORCE:
            said = f"the route {name} is in the mode {route.mode.value}: nothing is withheld there"
            yield Note(Level.NOTE, "server", said)
        elif route.fail_on == "block":
            yield Note(Level.NOTE, "server", f"the route {name} lets answers through that the gate would revise")
        if route.reasoning == "pass":
            yield Note(Level.NOTE, "server", f"the route {name} passes on a model's reasoning, which is not checked")
        if route.policies or route.tasks:
            listed = ", ".join((*(route.policies or ()), *route.tasks))
            yield Note(Level.NOTE, "server", f"callers of the route {name} may choose among {listed}")


def database(url: str, host: str, now: datetime) -> Iterator[Note]:
    """The record: whether it can be written, whether there are users, and whether its log can be proved."""
    from assay.server.settings import is_loopback
    from assay.store.db import database_url

    try:
        url_parsed = database_url(url)
    except AssayError as error:
        yield Note(Level.OPEN, "database", str(error))
        return
    address = url_parsed.render_as_string(hide_password=True)
    file = Path(str(url_parsed.database)) if url_parsed.get_backend_name() == "sqlite" else None
    if file is not None and not file.exists():
        yield Note(Level.NOTE, "database", f"{address} is not there yet; the server makes it when it starts")
        yield _no_users(loopback=is_loopback(host))
        return
    if file is not None:
        yield from permission_notes(file, "database")
    try:
        yield from _store_notes(url, address, loopback=is_loopback(host), now=now)
    except MissingPackageError as error:
        yield Note(Level.OPEN, "database", str(error))
    except AssayError as error:
        yield Note(Level.OPEN, "database", f"{address}: {error}")


def _store_notes(url: str, address: str, *, loopback: bool, now: datetime) -> Iterator[Note]:
    from assay.store.access import has_people
    from assay.store.db import HEAD, Store, make_engine, revision

    engine = make_engine(url)
    try:
        revision_found = revision(engine)
    finally:
        engine.dispose()
    if revision_found != HEAD:
        said = f"{address} has the tables of another version ({revision_found or 'none'}; this one has {HEAD})"
        yield Note(Level.NOTE, "database", f"{said}; the server brings them up to date when it starts")
        return
    with Store(url) as store:
        trouble = store.trouble()
        if trouble is None:
            yield Note(Level.OK, "database", f"{address} answers, and has room")
        else:
            yield Note(
                Level.OPEN, "database", f"{address}: {trouble}", "Nothing can be recorded, so nothing is released."
            )
        if not has_people(store):
            yield _no_users(loopback=loopback)
        yield from _open_commits(store, now)
        yield from _log_notes(store, now)


def _open_commits(store: "Store", now: datetime) -> Iterator[Note]:
    """Commits that began some time ago and whose end was not recorded."""
    from sqlalchemy import func, select

    from assay.store.db import receipt_uses
    from assay.store.records import micros

    table = receipt_uses.c
    query = (
        select(table.tenant, func.count())
        .where(table.outcome.is_(None), table.claimed < micros(now - MOST_COMMIT_TIME))
        .group_by(table.tenant)
        .order_by(table.tenant)
    )
    with store.reading_across() as connection:
        found = connection.execute(query).all()
    for tenant, number in found:
        commits = "1 commit" if number == 1 else f"{number:,} commits"
        yield Note(
            Level.NOTE,
            "commits",
            f"of {commits} of {tenant} nobody knows the outcome: a process died or lost the database within it",
            f"See which, and whether they took effect: assay receipt uses --tenant {tenant}",
        )


def _no_users(*, loopback: bool) -> Note:
    todo = "Make the first user: assay users create NAME --role admin --database URL"
    if loopback:
        return Note(Level.NOTE, "database", "there are no users: every program on this machine may do everything", todo)
    said = "there are no users and no keys, and the server listens to more than this machine"
    return Note(Level.OPEN, "database", said, todo)


def _log_notes(store: "Store", now: datetime) -> Iterator[Note]:
    """The log of each tenant: whether it is signed, whether it is anchored outside of this host, and its last time."""
    from sqlalchemy import func, select

    from assay.store.db import audit_anchors, audit_checkpoints, audit_logs, runs
    from assay.store.records import moment_at

    with store.reading_across() as connection:
        sizes = connection.execute(select(audit_logs.c.tenant, audit_logs.c.size).where(audit_logs.c.size > 0)).all()
        newest = {
            table: dict(
                connection.execute(select(table.c.tenant, func.max(table.c.created)).group_by(table.c.tenant)).all()
            )
            for table in (audit_checkpoints, audit_anchors, runs)
        }
    if not sizes:
        yield Note(Level.OK, "audit", "nothing is recorded yet")
    for tenant, size in sizes:
        signed, anchored = newest[audit_checkpoints].get(tenant), newest[audit_anchors].get(tenant)
        log = f"the log of {tenant}, {size:,} entries,"
        if signed is None:
            yield Note(
                Level.OPEN,
                "audit",
                f"{log} was never signed: whoever has the database can rewrite it unseen",
                "Set ASSAY_RECEIPT_KEYS for the server, or run: assay audit checkpoint",
            )
        elif anchored is None or now - moment_at(anchored) > MOST_ANCHOR_AGE:
            anchored_text = "never" if anchored is None else f"last {_age_text(now - moment_at(anchored))} ago"
            yield Note(
                Level.OPEN,
                "audit",
                f"{log} was {anchored_text} anchored outside of this host: nothing proves it to others",
                "Set audit.anchors or audit.witnesses in the gateway file, or: assay audit checkpoint --anchor FILE",
            )
        else:
            yield Note(Level.OK, "audit", f"{log} was anchored outside {_age_text(now - moment_at(anchored))} ago")
        last_check = newest[runs].get(tenant)
        if last_check is not None and moment_at(last_check) > now + MOST_CLOCK_SKEW:
            yield _clock_note(
                f"{log} has a check from the future of this machine's clock ({moment_at(last_check):%Y-%m-%d %H:%M})"
            )


def _age_text(span: timedelta) -> str:
    hours = span.total_seconds() / 3600
    return f"{hours / 24:.0f} days" if hours >= 48 else f"{hours:.0f} hours" if hours >= 2 else f"{hours * 60:.0f} min"


def _clock_note(said: str) -> Note:
    return Note(Level.OPEN, "clock", said, "Set the clock by NTP: deadlines, expiry and the log go by it.")


HeadRequest = Callable[[str], tuple[int, str | None]]
"""Sends a HEAD request to an address; gives the status and the `Date` of the response."""


def online(addresses: Mapping[str, str], now: Callable[[], datetime], ask: HeadRequest | None = None) -> Iterator[Note]:
    """Whether the servers that assay would call can be reached, and whether their clocks agree with this one.

    Args:
        addresses: addresses by their role, such as `the upstream default`.
        now: this machine's clock.
        ask: sends the request; over HTTP by default.
    """
    for name, address in addresses.items():
        try:
            status, date = (ask or _head)(address)
        except (OSError, HTTPException) as error:  # HTTPException: the response is not HTTP
            said = f"{name} at {address} cannot be reached: {getattr(error, 'reason', None) or error}"
            yield Note(Level.OPEN, "server", said, "Nothing can be answered through it.")
            continue
        yield Note(Level.OK, "server", f"{name} at {address} answers (status {status})")
        try:
            there = None if date is None else parsedate_to_datetime(date)
        except ValueError:
            there = None
        if there is not None and there.tzinfo is not None and abs(there - now()) > MOST_CLOCK_SKEW:
            off = _age_text(abs(there - now()))
            yield _clock_note(
                f"this machine's clock is {off} {'behind' if there > now() else 'ahead of'} that of {name}"
            )


def _head(address: str) -> tuple[int, str | None]:
    import urllib.error
    import urllib.request

    request = urllib.request.Request(address, method="HEAD")  # noqa: S310 an address of the settings, which are http(s)
    try:
        with urllib.request.urlopen(request, timeout=ONLINE_TIMEOUT_S) as answer:  # noqa: S310
            return answer.status, answer.headers.get("date")
    except urllib.error.HTTPError as error:
        # An error status is an answer too: the server can be reached.
        with error:
            return error.code, error.headers.get("date")


def used_policies(settings: "ServerSettings", default: str | None, environ: Mapping[str, str]) -> dict[str, Policy]:
    """The policies in use by their place: the default one, and those of routes that the gateway serves.

    Raises:
        PolicyError: one does not exist, or cannot be read.
    """
    from assay.server.settings import ROUTES

    policies = {"the default": read_policy(default, environ)}
    for name in ROUTES if settings.upstreams else ():
        route = settings.route(name)
        if route.policy is not None and route.mode is not Mode.OFF:
            policies[f"the route {name}"] = read_policy(route.policy, environ)
    return policies


def clock() -> datetime:
    """This machine's time."""
    return datetime.now(UTC)


def environment() -> Mapping[str, str]:
    """The environment of this process."""
    return os.environ
