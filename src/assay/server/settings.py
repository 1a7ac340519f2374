"""The settings of the server: where it listens, which upstreams it has, and what each route does with an answer."""

import ipaddress
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from assay.errors import PolicyError
from assay.monitor import MonitorSettings
from assay.policy import Mode as Mode  # noqa: PLC0414 the settings are where others look for it
from assay.schema import Stakes
from assay.server.access.settings import AccessSettings, access_settings
from assay.server.audit.settings import AuditSettings, audit_settings
from assay.server.judge_settings import JudgeSettings, judge_settings
from assay.server.notify.settings import NotifySettings, notify_settings
from assay.server.verdicts.settings import CacheSettings, cache_settings

ROUTES: Final = ("chat_completions", "responses", "messages")
"""The gateway's routes by name."""

KEY_HEADERS: Final = ("authorization", "x-api-key")
"""The headers in which the gateway may send a key that it holds: as a bearer token, or by itself."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server of chat models that requests are forwarded to."""

    name: str
    url: str
    """Its root, with or without a final `/v1`."""
    key: str | None = field(default=None, repr=False)
    """The key that the gateway holds for it; none where clients send their own."""
    key_header: str = "authorization"
    """How the key is sent: one of `KEY_HEADERS`."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise PolicyError(
                f"the upstream {self.name!r} needs an address such as https://models.example.com, got {self.url!r}"
            )
        if self.key_header not in KEY_HEADERS:
            raise PolicyError(f"the upstream {self.name!r} sends its key as {KEY_HEADERS}, got {self.key_header!r}")

    @property
    def root(self) -> str:
        """The address to which the path of a request is appended."""
        return self.url.rstrip("/").removesuffix("/v1")


@dataclass(frozen=True, slots=True)
class Route:
    """What one route does with its answers."""

    mode: Mode = Mode.ENFORCE
    policy: str | None = None
    """The policy where a request names none; the server's own by default."""
    upstream: str | None = None
    """The upstream where a request names none; the first one by default."""
    policies: tuple[str, ...] | None = None
    """The policies that a request may name; by default those that are at least as strict as the route's own
    (`assay.policy.order`). An empty tuple leaves it no choice."""
    tasks: tuple[str, ...] = ()
    """Of the tasks that the policy holds to no evidence, such as `creative`, those that a request may declare."""
    stakes: Stakes = Stakes.MEDIUM
    """The stakes where a request names none."""
    fail_on: str = "revise"
    """The mildest decision that withholds an answer under `enforce`: `revise`, or `block` to let `revise` pass."""
    revise: str = "off"
    """Which decisions send an answer back to the upstream under `enforce`, with what was found of it: none (`off`),
    `revise`, or `block` as well as `revise`. Each new version is a request to the upstream."""
    attempts: int | None = None
    """How often one answer is sent back at most; what the policy allows (`max_revisions`) by default."""
    review_s: float = 0.0
    """How many seconds a request waits under `enforce` for a person to decide on an answer that the gate escalated;
    then it is answered as if nobody were asked, and the review goes on. Streams wait too."""
    reasoning: str = "withhold"
    """What becomes of the words of a model's reasoning under `enforce`, which no check reads: they are taken out
    (`withhold`), or go out as they came (`pass`) for programs that show them to nobody. Signatures and reasoning that
    the provider has encrypted stay."""

    def __post_init__(self) -> None:
        if self.reasoning not in ("withhold", "pass"):
            raise PolicyError(f"the reasoning of a route's answers is to withhold or pass, got {self.reasoning!r}")
        if self.fail_on not in ("revise", "block"):
            raise PolicyError(f"a route fails on revise or on block, got {self.fail_on!r}")
        if self.revise not in ("off", "revise", "block"):
            raise PolicyError(f"a route has answers revised that are off, revise or block, got {self.revise!r}")
        seconds = self.review_s
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= 900:
            raise PolicyError(f"a route waits from 0 to 900 seconds for a review, got {seconds!r}")
        attempts = self.attempts
        if attempts is not None and (isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 0):
            raise PolicyError(f"the attempts of a route are a whole number from 0 up, got {attempts!r}")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the server. What exceeds one is refused or withheld, never passed on unchecked."""

    body_bytes: int = 32 * 1024 * 1024
    """A request's body."""
    answer_bytes: int = 32 * 1024 * 1024
    """An answer that is checked, streamed or not."""
    event_bytes: int = 4 * 1024 * 1024
    """One event of a stream."""
    depth: int = 100
    """Levels of nesting of a request's JSON at the gateway's routes."""
    batch: int = 256
    """Requests in one call of `/v1/batch`."""
    connect_s: float = 10.0
    """Seconds to reach an upstream."""
    idle_s: float = 300.0
    """Seconds for which an upstream may be silent."""
    total_s: float = 3600.0
    """Seconds that one forwarded request may take."""
    check_s: float = 30.0
    """Seconds that one check may take, waiting included."""
    check_threads: int = 2
    """Checks that run at once."""
    check_queue: int = 256
    """Checks that wait or run; beyond it none is made, and the answer counts as unchecked."""
    in_flight: int = 1024
    """Requests that a worker handles at a time, at most half of them from one caller."""
    answers: int = 10
    """Requests, other than checks and those of the gateway, that a worker answers at a time, at most two of them from
    one caller; others wait for their turn. Fewer than the worker's connections to its database."""
    head_s: float = 20.0
    """Seconds in which the head of a request has to arrive."""
    heads: int = 2048
    """Connections of a worker on which no request is being answered; beyond it the one that waits longest is closed."""
    body_s: float = 60.0
    """Seconds in which a request's body has to arrive."""
    bodies_bytes: int = 512 * 1024 * 1024
    """Bytes of bodies that a worker holds at a time, at most half of them from one caller."""
    stranger_bodies: int = 64
    """Bodies of unknown callers, at the pages where people sign in, that are received at a time; beyond it the oldest
    is ended."""
    stranger_body_s: float = 10.0
    """Seconds in which such a body has to arrive."""
    keep_alive_s: float = 75.0
    """Seconds for which an idle connection of a client is kept. It is longer than clients and load balancers keep
    theirs, so that the server never closes a connection on which a request is just being sent."""
    retries: int = 2
    """Retries of a request that an upstream did not serve."""
    revise_s: float = 60.0
    """Seconds after which an answer that did not pass is not asked for again."""
    shutdown_s: float = 60.0
    """Seconds that accepted requests have to finish when the server stops."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            least = 0 if one.name == "retries" else 1 if isinstance(value, int) else 0.001
            if isinstance(value, bool) or not math.isfinite(value) or value < least:
                raise PolicyError(f"the limit {one.name} is a number from {least} up, got {value!r}")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """All settings of the server; plain values, so that they can be handed to worker processes."""

    host: str = "127.0.0.1"
    port: int = 8080
    upstreams: tuple[Upstream, ...] = ()
    """The first one is the default."""
    routes: Mapping[str, Route] = field(default_factory=dict)
    """By name; a route that is not named enforces."""
    policy: str | None = None
    """A preset or a policy file; what `ASSAY_CONFIG` names, else `general`, by default."""
    policies: tuple[str, ...] | None = None
    """The policies that a request to the REST API may name; by default those that are at least as strict as the
    server's own."""
    tasks: tuple[str, ...] = ()
    """Of the tasks that a policy holds to no evidence, those that a request to the REST API may declare."""
    stakes: Stakes = Stakes.MEDIUM
    """The stakes of a request to the REST API that names none; a request may raise them."""
    skip: tuple[str, ...] = ()
    """Of the values of a structured output, as JSON Pointers, those that a request to the REST API may declare to be no
    claims. Values inside a listed one may be declared too; `*` is any key or index, and the empty pointer is the whole
    output."""
    model: Path | None = None
    """The directory of another cross-encoder."""
    keys: Path | None = None
    """The file of API keys; none where nobody needs one, which only a loopback address allows."""
    limits: Limits = Limits()
    workers: int = 1
    database: str | None = field(default=None, repr=False)
    """The URL or the file of the database in which every check is recorded; none where nothing is."""
    audit: AuditSettings = field(default_factory=AuditSettings)
    """How often its log is signed, and how long content is kept."""
    access: AccessSettings = field(default_factory=AccessSettings)
    """Sessions, rate limits, and the proxies in front of the server."""
    notify: NotifySettings = field(default_factory=NotifySettings)
    """Who is notified of reviews."""
    judge: JudgeSettings | None = None
    """The chat model that checks ask as a judge; none where there is none."""
    monitor: MonitorSettings | None = None
    """What the server monitors, and its timed work; none where it does neither by itself."""
    cache: CacheSettings | None = None
    """The cache of verdicts in the database; none where verdicts are not cached."""

    def __post_init__(self) -> None:
        if self.judge is not None and self.judge.seconds >= self.limits.check_s:
            raise PolicyError(
                f"the judge may take {self.judge.seconds:g} seconds of a check and a check has {self.limits.check_s:g} "
                "in all (limits.check_s); give the judge fewer or the check more"
            )
        if self.monitor is not None and self.monitor.cadences.judge is not None and self.judge is None:
            raise PolicyError(
                "the section judge of the monitor sends outputs to a chat model, and none is configured: start "
                "with --llm NAME, or set `judge` with a `model` in the gateway file (`mode: policy` asks it off the "
                "path only)"
            )
        if self.cache is not None and self.database is None:
            raise PolicyError("verdicts are kept in the database (cache), and none is named; give one with --database")
        unknown = sorted(set(self.routes) - set(ROUTES))
        if unknown:
            raise PolicyError(f"the routes are {', '.join(ROUTES)}; got {', '.join(unknown)}")
        names = [upstream.name for upstream in self.upstreams]
        if len(set(names)) < len(names):
            raise PolicyError(f"each upstream needs a name of its own, got {', '.join(names)}")
        for name, route in self.routes.items():
            if route.upstream is not None and route.upstream not in names:
                known = ", ".join(names) or "none"
                raise PolicyError(f"the route {name} names the upstream {route.upstream!r}; there are: {known}")
        if self.keys is None and self.database is None and not is_loopback(self.host):
            raise PolicyError(
                f"without API keys the server listens on a loopback address only, got the host {self.host!r}; "
                "make a key with `assay keys create` and name its file with --keys, name a database with users "
                "(`assay users create`) with --database, or use --host 127.0.0.1"
            )

    def route(self, name: str) -> Route:
        """What the route of that name does."""
        return self.routes.get(name, Route())


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host.

    >>> is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    address = host.strip("[]").lower()
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


_SECTIONS: Final = frozenset(
    {
        "version",
        "upstreams",
        "routes",
        "policies",
        "tasks",
        "stakes",
        "skip",
        "limits",
        "access",
        "notify",
        "audit",
        "judge",
        "cache",
    }
)


def parse_settings(file: Mapping[str, Any], environ: Mapping[str, str], base: ServerSettings) -> ServerSettings:
    """The settings of a gateway file (`upstreams`, `routes`, `limits`, `judge` and so on) over those of `base`.

    A key is never written in the file: `key_env` names the variable of the environment that holds it.

    Raises:
        PolicyError: a setting is unknown or invalid.
    """
    unknown = sorted(set(file) - _SECTIONS)
    if unknown or file.get("version", 1) != 1:
        known = ", ".join(sorted(_SECTIONS - {"version"}))
        got = ", ".join(map(str, unknown)) if unknown else f"version {file.get('version')!r}"
        raise PolicyError(f"a gateway file has version 1 and the sections {known}; got {got}")
    upstreams = tuple(
        _upstream(str(name), value, environ) for name, value in _mapping(file.get("upstreams"), "upstreams").items()
    )
    routes = {str(name): _route(str(name), value) for name, value in _mapping(file.get("routes"), "routes").items()}
    try:
        limits = replace(base.limits, **_mapping(file.get("limits"), "limits"))
    except TypeError as error:
        known = ", ".join(one.name for one in fields(Limits))
        raise PolicyError(f"the limits are {known}, each a number; {error}") from error
    access = access_settings(_mapping(file["access"], "access")) if file.get("access") else base.access
    notify = notify_settings(_mapping(file["notify"], "notify"), environ) if file.get("notify") else base.notify
    audit = audit_settings(_mapping(file["audit"], "audit")) if file.get("audit") else base.audit
    judge = judge_settings(_mapping(file["judge"], "judge"), environ) if file.get("judge") else base.judge
    cache = cache_settings(_mapping(file["cache"], "cache"), environ) if file.get("cache") else base.cache
    return replace(
        base,
        policies=_names(file, "policies", base.policies),
        tasks=_names(file, "tasks", base.tasks) or (),
        stakes=_stakes(file["stakes"], "the section stakes") if "stakes" in file else base.stakes,
        upstreams=upstreams or base.upstreams,
        routes={**base.routes, **routes},
        skip=_pointers(file, base.skip),
        limits=limits,
        access=access,
        notify=notify,
        audit=audit,
        judge=judge,
        cache=cache,
    )


def _names(file: Mapping[str, Any], section: str, base: tuple[str, ...] | None) -> tuple[str, ...] | None:
    listed = file.get(section, base)
    if listed is not None and (not isinstance(listed, list | tuple) or any(not isinstance(one, str) for one in listed)):
        raise PolicyError(f"{section} are a list of names that requests may give, got {listed!r}")
    return None if listed is None else tuple(listed)


def _pointers(file: Mapping[str, Any], base: tuple[str, ...]) -> tuple[str, ...]:
    listed = file.get("skip", base)
    if not isinstance(listed, list | tuple) or any(
        not isinstance(one, str) or (one and not one.startswith("/")) for one in listed
    ):
        raise PolicyError(f"skip is a list of JSON Pointers such as /confidence, got {listed!r}")
    return tuple(listed)


def _stakes(value: object, where: str) -> Stakes:
    try:
        return Stakes(str(value))
    except ValueError as error:
        raise PolicyError(f"{where} has stakes low, medium or high, got {value!r}") from error


def _upstream(name: str, value: object, environ: Mapping[str, str]) -> Upstream:
    values = {"url": value} if isinstance(value, str) else _mapping(value, f"the upstream {name!r}")
    unknown = sorted(set(values) - {"url", "key_env", "key_header"})
    if unknown or not isinstance(values.get("url"), str):
        raise PolicyError(f"the upstream {name!r} has a url, and may have key_env and key_header; got {sorted(values)}")
    variable = values.get("key_env")
    key = environ.get(str(variable), "").strip() if variable is not None else None
    if variable is not None and not key:
        raise PolicyError(f"the key of the upstream {name!r} is read from {variable}, which is not set")
    return Upstream(name, values["url"], key, str(values.get("key_header", "authorization")))


def _route(name: str, value: object) -> Route:
    alone = isinstance(value, str) or value is False
    values: dict[str, Any] = {"mode": value} if alone else _mapping(value, f"the route {name!r}")
    unknown = sorted(set(values) - {one.name for one in fields(Route)})
    if unknown:
        known = ", ".join(one.name for one in fields(Route))
        raise PolicyError(f"the route {name!r} has the settings {known}; got {', '.join(unknown)}")
    # YAML reads the unquoted word `off` as false.
    values |= {setting: "off" for setting in ("mode", "revise") if values.get(setting) is False}
    try:
        if "mode" in values:
            values["mode"] = Mode(values["mode"])
    except ValueError as error:
        raise PolicyError(f"the route {name!r} has a mode ({', '.join(Mode)}): {error}") from error
    if "stakes" in values:
        values["stakes"] = _stakes(values["stakes"], f"the route {name!r}")
    values |= {setting: tuple(values[setting] or ()) for setting in ("policies", "tasks") if setting in values}
    return Route(**values)


def _mapping(value: object, what: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise PolicyError(f"{what} must be a mapping of names to settings, got {type(value).__name__}")
    return dict(value)
