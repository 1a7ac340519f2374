"""To whom messages go: only to targets that the operator has configured, whatever a request says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final
from urllib.parse import urlsplit

from assay.errors import PolicyError
from assay.schema.report_parts import Tier

KINDS: Final = ("slack", "webhook", "email")
"""A body that Slack and those like it show; a signed body for programs; an e-mail."""
EVENTS: Final = (
    "review.opened",
    "review.escalated",
    "review.overdue",
    "review.evidence",
    "review.supplied",
    "review.decided",
    "alert.opened",
    "alert.closed",
)
"""What is told: a new item; one that went up a tier; one whose deadline passed and that still waits; one for which a
reviewer asked for evidence; that it was given; that it was decided; what the monitor says that a person has to know,
when it begins or grows worse, and when it is over."""
SECURITIES: Final = ("tls", "starttls", "none")
_LONGEST_NAME: Final = 63


@dataclass(frozen=True, slots=True)
class Target:
    """One recipient of messages."""

    name: str
    kind: str
    url: str = field(default="", repr=False)
    """Where to post, for `slack` and `webhook`. It may hold a secret: it is never shown."""
    secret: str = field(default="", repr=False)
    """What a `webhook` is signed with."""
    events: tuple[str, ...] = EVENTS
    """What it hears of."""
    tiers: tuple[str, ...] = tuple(Tier)
    """Of reviews of which tiers."""
    tenants: tuple[str, ...] = ()
    """Of which tenants; of all where it is empty."""
    callback: bool = False
    """Whether a check may name it, to have it told of the decision on that check. It hears of nothing else then."""
    host: str = ""
    """The mail server, for `email`."""
    port: int = 587
    security: str = "starttls"
    """How the connection is secured: `tls` from the start, `starttls`, or `none`, which only a loopback host may be."""
    user: str = ""
    password: str = field(default="", repr=False)
    sender: str = ""
    to: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        where = f"the target {self.name!r}"
        if not self.name or len(self.name) > _LONGEST_NAME or not self.name.replace("-", "").replace("_", "").isalnum():
            raise PolicyError(f"a target has a name of letters, digits, - and _, at most 63; got {self.name!r}")
        if self.kind not in KINDS:
            raise PolicyError(f"{where} is one of {', '.join(KINDS)}, got {self.kind!r}")
        _subset(self.events, EVENTS, f"the events of {where}")
        _subset(self.tiers, tuple(Tier), f"the tiers of {where}")
        if self.kind == "email":
            self._require_mail(where)
            return
        _require_url(self.url, where)
        if self.kind == "webhook" and len(self.secret) < 16:
            raise PolicyError(f"{where} is signed with a secret of at least 16 characters, named by secret_env")

    def _require_mail(self, where: str) -> None:
        if not self.host or not self.to or "@" not in self.sender:
            raise PolicyError(f"{where} needs host, sender and to")
        if any(sign in address for address in (self.sender, *self.to) for sign in "\r\n\0"):
            raise PolicyError(f"{where} has an address with a line break in it")
        if self.security not in SECURITIES:
            raise PolicyError(f"the security of {where} is one of {', '.join(SECURITIES)}, got {self.security!r}")
        if self.security == "none" and not _is_loopback(self.host):
            raise PolicyError(f"{where} would send mail in the clear to {self.host!r}: use starttls or tls")

    def hears(self, tenant: str, event: str, tier: str) -> bool:
        """Whether it is told of what happened without anybody naming it."""
        return (
            not self.callback
            and event in self.events
            and (tier in self.tiers or event.startswith("alert."))
            and (not self.tenants or tenant in self.tenants)
        )


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """Who is told, and how hard that is tried."""

    targets: tuple[Target, ...] = ()
    console: str = ""
    """The address of this server as people reach it, for links; none where messages have none."""
    attempts: int = 12
    """How often one message is tried; with the longer and longer pauses that is about five hours."""
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        names = [target.name for target in self.targets]
        if len(set(names)) < len(names):
            raise PolicyError(f"each target needs a name of its own, got {', '.join(names)}")
        if self.console:
            _require_url(self.console, "the address of the console")
        if not 1 <= self.attempts <= 100 or not 0.1 <= self.timeout_s <= 120:
            raise PolicyError("expected from 1 to 100 attempts and a timeout from 0.1 to 120 seconds")

    def target(self, name: str) -> Target | None:
        """The target of a name; none where the operator configured no such one."""
        return next((target for target in self.targets if target.name == name), None)

    def callback(self, name: str, tenant: str) -> Target | None:
        """The target that a check of a tenant may name."""
        found = self.target(name)
        allowed = found is not None and found.callback and (not found.tenants or tenant in found.tenants)
        return found if allowed else None


def notify_settings(given: Mapping[str, Any], environ: Mapping[str, str]) -> NotifySettings:
    """The section `notify` of a gateway file.

    Secrets are never written in the file: `url_env`, `secret_env` and `password_env` name variables of the environment.

    Raises:
        PolicyError: a setting is unknown, or is not what it should be.
    """
    _known(given, {"targets", "console", "attempts", "timeout_s"}, "notify")
    said = given.get("targets") or {}
    if not isinstance(said, Mapping):
        raise PolicyError("notify.targets is a mapping of names to targets")
    targets = tuple(_target(str(name), value, environ) for name, value in said.items())
    rest = {name: value for name, value in given.items() if name != "targets"}
    try:
        return NotifySettings(targets=targets, **rest)
    except TypeError as error:
        raise PolicyError(f"notify has settings of another kind than expected: {error}") from error


_ENV: Final = {"url_env": "url", "secret_env": "secret", "password_env": "password"}
_LISTS: Final = ("events", "tiers", "tenants", "to")


def _target(name: str, value: object, environ: Mapping[str, str]) -> Target:
    if not isinstance(value, Mapping):
        raise PolicyError(f"the target {name!r} is a mapping of settings")
    known = ({one.name for one in fields(Target)} - {"name", "secret", "password"}) | set(_ENV)
    _known(value, known, f"the target {name!r}")
    made: dict[str, Any] = {key: one for key, one in value.items() if key not in _ENV}
    for variable, setting in _ENV.items():
        if variable in value:
            made[setting] = environ.get(str(value[variable]), "").strip()
            if not made[setting]:
                raise PolicyError(f"{setting} of the target {name!r} is read from {value[variable]}, which is not set")
    for setting in _LISTS:
        if setting in made:
            listed = made[setting]
            made[setting] = (listed,) if isinstance(listed, str) else tuple(map(str, listed or ()))
    try:
        return Target(name=name, **made)
    except (TypeError, AttributeError) as error:
        raise PolicyError(f"the target {name!r} has a setting of another kind than expected: {error}") from error


def _known(given: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(map(str, given)) - known)
    if unknown:
        raise PolicyError(f"{where} has the settings {', '.join(sorted(known))}; got {', '.join(unknown)}")


def _subset(given: Sequence[str], known: Sequence[str], where: str) -> None:
    strange = sorted(set(given) - set(known))
    if strange:
        raise PolicyError(f"{where} are {', '.join(known)}; got {', '.join(strange)}")


def _require_url(url: str, where: str) -> None:
    parts = urlsplit(url) if isinstance(url, str) else urlsplit("")
    plain = parts.scheme == "http" and parts.hostname is not None and _is_loopback(parts.hostname)
    if (parts.scheme != "https" and not plain) or not parts.hostname:
        raise PolicyError(f"{where} needs an address that begins with https://, or http:// of this machine")


def _is_loopback(host: str) -> bool:
    import ipaddress

    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
