"""What `assay doctor` looks at: each check gives notes, and changes nothing that it looks at."""

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

OUTSIDE: Final = timedelta(days=1)
"""How old the newest checkpoint outside of this host may be."""
SKEW: Final = timedelta(minutes=2)
"""How far two clocks may be apart."""
UNSETTLED: Final = timedelta(minutes=5)
"""How long a commit may go on before it is reported."""
ONLINE_S: Final = 5.0
"""Seconds that a server which is asked gets to answer in."""
_CLAIM: Final = "Partners are entitled to 2 weeks of paid leave."
_FALSE: Final = "Partners are entitled to 4 weeks of paid leave."
_DIGEST_SHOWN: Final = 8


class Level(StrEnum):
    """What a note calls for."""

    OK = "ok"
    """Nothing."""
    NOTE = "note"
    """Nothing, but it should be known."""
    OPEN = "open"
    """Somebody has to do something."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that was looked at."""

    level: Level
    area: str
    """`verifier`, `policy`, `keys`, `server`, `database`, `audit` or `clock`."""
    said: str
    """What is so."""
    todo: str | None = None
    """What to do about it."""


def verifier(environ: Mapping[str, str], policy: Policy, model: Path | None) -> Iterator[Note]:
    """Whether the network is there and tells a right claim from a wrong one."""
    python = f"assay {__version__}, Python {platform.python_version()} on {sys.platform}"
    yield Note(Level.OK, "verifier", python)
    begun = time.perf_counter()
    try:
        guard = Guard(policy, model=model, environ=environ)
        loaded = time.perf_counter()
        right, wrong = (guard.check(text, [_CLAIM]) for text in (_CLAIM, _FALSE))
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
    said = f"{name}, loaded in {loaded - begun:.1f} s, two checks in {(ended - loaded) * 1000:.0f} ms"
    verdicts = right.claims[0].verdict.value, wrong.claims[0].verdict.value
    if verdicts == ("supported", "contradicted"):
        yield Note(Level.OK, "verifier", said)
    else:
        yield Note(
            Level.OPEN,
            "verifier",
            f"{said}: a right and a wrong claim were called {verdicts[0]} and {verdicts[1]}",
            "Under this policy and network even the simplest pair is not distinguished: measure it with `assay eval`.",
        )


def policies(environ: Mapping[str, str], used: Mapping[str, Policy], *, judge: bool, upstream: bool) -> Iterator[Note]:
    """What each policy asks a chat model for, and whether there is one.

    Args:
        environ: the environment.
        used: the policies that are in use, by where they are.
        judge: whether a chat model is configured for checks.
        upstream: whether the gateway has an upstream, which it asks again for probes.
    """
    config = read_settings(environ).config
    source = f"ASSAY_CONFIG, {config}" if config is not None else f"the default, {DEFAULT_POLICY}"
    yield Note(Level.OK, "policy", f"where nothing names a policy: {source}")
    for where, policy in used.items():
        yield _policy(f"{policy.name} ({where})", policy, judge=judge, upstream=upstream, used=True)
    for policy in PRESETS.values():
        if policy.name not in {one.name for one in used.values()}:
            yield _policy(f"{policy.name} (not in use)", policy, judge=judge, upstream=upstream, used=False)


def _policy(name: str, policy: Policy, *, judge: bool, upstream: bool, used: bool) -> Note:
    wants = requirements(policy)
    if not wants:
        return Note(Level.OK, "policy", f"{name}: needs nothing but the network")
    missing = [one for one in wants if not judge and not (one.setting == "consistency_probes" and upstream)]
    must = [one for one in missing if one.mandatory]
    names = ", ".join(f"{one.what} ({one.setting})" for one in must or missing or wants)
    if not missing:
        return Note(Level.OK, "policy", f"{name}: {names}; a chat model is configured")
    if not must:
        said = f"{name}: {names}; no chat model is configured, so the network decides alone"
        return Note(Level.NOTE, "policy", said)
    said = f"{name}: requires {names}; no chat model is configured, so answers are kept back that need it"
    todo = "Name a chat model: --llm NAME and --base-url URL, or `judge` in the gateway file."
    return Note(Level.OPEN if used else Level.NOTE, "policy", said, todo)


def keys(environ: Mapping[str, str], now: datetime, *, records: bool) -> Iterator[Note]:
    """The keys that sign receipts and the audit log; `records` says whether there is such a log."""
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
        yield from private(path, "keys")
    ahead = [key.key_id for key in ring.keys if datetime.fromisoformat(key.created) > now + SKEW]
    if ahead:
        yield _clock(f"the key {ahead[0]} was made in the future of this machine's clock")


def private(path: Path, area: str) -> Iterator[Note]:
    """Whether others than the owner may read a file, or change what is in a folder."""
    if sys.platform == "win32":
        return
    try:
        mode = path.stat().st_mode
    except OSError as error:
        yield Note(Level.OPEN, area, f"{path} cannot be looked at: {error.strerror or error}")
        return
    folder = stat.S_ISDIR(mode)
    others = mode & (stat.S_IWGRP | stat.S_IWOTH if folder else stat.S_IRWXG | stat.S_IRWXO)
    if others:
        may = "change what stands in" if folder else "read or change"
        todo = f"chmod {'go-w' if folder else '600'} {path}"
        yield Note(Level.OPEN, area, f"others than its owner may {may} {path} (mode {stat.S_IMODE(mode):04o})", todo)


def server(settings: "ServerSettings") -> Iterator[Note]:
    """Whom the server would let in, and where it lets answers through that it does not check."""
    from assay.server.settings import ROUTES, is_loopback

    missing = [name for name in ("fastapi", "uvicorn", "aiohttp") if importlib.util.find_spec(name) is None]
    if missing:
        said = f"the packages of the server are not installed ({', '.join(missing)})"
        yield Note(Level.NOTE, "server", said, "pip install 'assay-ai[server]'")
    reach = "this machine alone" if is_loopback(settings.host) else "whoever reaches this machine"
    yield Note(Level.OK, "server", f"listens on {settings.host}:{settings.port}, for {reach}")
    if settings.keys is not None:
        yield from private(settings.keys, "server")
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
    """The record: whether it can be stored in, who is let in, and whether its log can be proved."""
    from assay.server.settings import is_loopback
    from assay.store.db import database_url

    try:
        place = database_url(url)
    except AssayError as error:
        yield Note(Level.OPEN, "database", str(error))
        return
    shown = place.render_as_string(hide_password=True)
    file = Path(str(place.database)) if place.get_backend_name() == "sqlite" else None
    if file is not None and not file.exists():
        yield Note(Level.NOTE, "database", f"{shown} is not there yet; the server makes it when it starts")
        yield _nobody(loopback=is_loopback(host))
        return
    if file is not None:
        yield from private(file, "database")
    try:
        yield from _opened(url, shown, loopback=is_loopback(host), now=now)
    except MissingPackageError as error:
        yield Note(Level.OPEN, "database", str(error))
    except AssayError as error:
        yield Note(Level.OPEN, "database", f"{shown}: {error}")


def _opened(url: str, shown: str, *, loopback: bool, now: datetime) -> Iterator[Note]:
    from assay.store.access import has_people
    from assay.store.db import HEAD, Store, make_engine, revision

    engine = make_engine(url)
    try:
        made = revision(engine)
    finally:
        engine.dispose()
    if made != HEAD:
        said = f"{shown} has the tables of another version ({made or 'none'}; this one has {HEAD})"
        yield Note(Level.NOTE, "database", f"{said}; the server brings them up to date when it starts")
        return
    with Store(url) as store:
        trouble = store.trouble()
        if trouble is None:
            yield Note(Level.OK, "database", f"{shown} answers, and has room")
        else:
            yield Note(
                Level.OPEN, "database", f"{shown}: {trouble}", "Nothing can be recorded, so nothing is released."
            )
        if not has_people(store):
            yield _nobody(loopback=loopback)
        yield from _commits(store, now)
        yield from _log(store, now)


def _commits(store: "Store", now: datetime) -> Iterator[Note]:
    """Commits that were begun a while ago and of which nobody noted the end."""
    from sqlalchemy import func, select

    from assay.store.db import receipt_uses
    from assay.store.records import micros

    table = receipt_uses.c
    query = (
        select(table.tenant, func.count())
        .where(table.outcome.is_(None), table.claimed < micros(now - UNSETTLED))
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


def _nobody(*, loopback: bool) -> Note:
    todo = "Make the first user: assay users create NAME --role admin --database URL"
    if loopback:
        return Note(Level.NOTE, "database", "there are no users: every program on this machine may do everything", todo)
    said = "there are no users and no keys, and the server listens to more than this machine"
    return Note(Level.OPEN, "database", said, todo)


def _log(store: "Store", now: datetime) -> Iterator[Note]:
    """Each tenant's log: whether it is signed, whether a signature is outside of this host, and what time it has."""
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
        signed, outside = newest[audit_checkpoints].get(tenant), newest[audit_anchors].get(tenant)
        log = f"the log of {tenant}, {size:,} entries,"
        if signed is None:
            yield Note(
                Level.OPEN,
                "audit",
                f"{log} was never signed: whoever has the database can rewrite it unseen",
                "Set ASSAY_RECEIPT_KEYS for the server, or run: assay audit checkpoint",
            )
        elif outside is None or now - moment_at(outside) > OUTSIDE:
            since = "never" if outside is None else f"last {_ago(now - moment_at(outside))} ago"
            yield Note(
                Level.OPEN,
                "audit",
                f"{log} was {since} anchored outside of this host: nothing proves it to others",
                "Set audit.anchors or audit.witnesses in the gateway file, or: assay audit checkpoint --anchor FILE",
            )
        else:
            yield Note(Level.OK, "audit", f"{log} was anchored outside {_ago(now - moment_at(outside))} ago")
        last = newest[runs].get(tenant)
        if last is not None and moment_at(last) > now + SKEW:
            yield _clock(
                f"{log} has a check from the future of this machine's clock ({moment_at(last):%Y-%m-%d %H:%M})"
            )


def _ago(span: timedelta) -> str:
    hours = span.total_seconds() / 3600
    return f"{hours / 24:.0f} days" if hours >= 48 else f"{hours:.0f} hours" if hours >= 2 else f"{hours * 60:.0f} min"


def _clock(said: str) -> Note:
    return Note(Level.OPEN, "clock", said, "Set the clock by NTP: deadlines, expiry and the log go by it.")


Dates = Callable[[str], tuple[int, str | None]]
"""Asks an address: the status, and the `Date` of the answer."""


def online(addresses: Mapping[str, str], now: Callable[[], datetime], ask: Dates | None = None) -> Iterator[Note]:
    """Whether the servers that assay would ask can be reached, and how far their clocks are from this one's.

    Args:
        addresses: by what they are, such as `the upstream default`.
        now: this machine's clock.
        ask: what asks; HTTP by default.
    """
    for name, address in addresses.items():
        try:
            status, date = (ask or _ask)(address)
        except (OSError, HTTPException) as error:  # the latter: something else than HTTP answers
            said = f"{name} at {address} cannot be reached: {getattr(error, 'reason', None) or error}"
            yield Note(Level.OPEN, "server", said, "Nothing can be answered through it.")
            continue
        yield Note(Level.OK, "server", f"{name} at {address} answers (status {status})")
        try:
            there = None if date is None else parsedate_to_datetime(date)
        except ValueError:
            there = None
        if there is not None and there.tzinfo is not None and abs(there - now()) > SKEW:
            off = _ago(abs(there - now()))
            yield _clock(f"this machine's clock is {off} {'behind' if there > now() else 'ahead of'} that of {name}")


def _ask(address: str) -> tuple[int, str | None]:
    import urllib.error
    import urllib.request

    request = urllib.request.Request(address, method="HEAD")  # noqa: S310 an address of the settings, which are http(s)
    try:
        with urllib.request.urlopen(request, timeout=ONLINE_S) as answer:  # noqa: S310
            return answer.status, answer.headers.get("date")
    except urllib.error.HTTPError as error:
        # It answers, whatever it makes of a request without a key.
        with error:
            return error.code, error.headers.get("date")


def used_policies(settings: "ServerSettings", named: str | None, environ: Mapping[str, str]) -> dict[str, Policy]:
    """The policies in use by where they are: the default one, and those of routes that the gateway serves.

    Raises:
        PolicyError: one is not there, or cannot be read.
    """
    from assay.server.settings import ROUTES

    found = {"the default": read_policy(named, environ)}
    for name in ROUTES if settings.upstreams else ():
        route = settings.route(name)
        if route.policy is not None and route.mode is not Mode.OFF:
            found[f"the route {name}"] = read_policy(route.policy, environ)
    return found


def clock() -> datetime:
    """This machine's time."""
    return datetime.now(UTC)


def environment() -> Mapping[str, str]:
    """The environment of this process."""
    return os.environ
