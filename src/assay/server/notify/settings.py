"""The targets of messages: only those that the operator has configured, whatever a request contains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final
from urllib.parse import urlsplit

from assay.errors import PolicyError
from assay.schema.report_parts import Tier

KINDS: Final = ("slack", "webhook", "email")
"""The kinds of targets: a webhook of Slack or a compatible service; a webhook of a program, signed; e-mail."""
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
"""The events of messages: a review was opened; it was escalated a tier; its deadline passed; a reviewer asked for
evidence; the evidence was supplied; it was decided; an alert was opened or became worse; an alert was closed."""
SECURITIES: Final = ("tls", "starttls", "none")
_LONGEST_NAME: Final = 63


@dataclass(frozen=True, slots=True)
class Target:
    """One recipient of messages."""

    name: str
    kind: str
    url: str = field(default="", repr=False)
    """The address to post to, for `slack` and `webhook`. It may contain a secret and is never shown."""
    secret: str = field(default="", repr=False)
    """The secret that signs the bodies for a `webhook`."""
    events: tuple[str, ...] = EVENTS
    """The events that it is notified of."""
    tiers: tuple[str, ...] = tuple(Tier)
    """The tiers of the reviews that it is notified of."""
    tenants: tuple[str, ...] = ()
    """The tenants that it is notified for; empty for all."""
    callback: bool = False
    """Whether a check may name it to be notified of the decision on that check. It then gets no other messages."""
    host: str = ""
    """The mail server, for `email`."""
    port: int = 587
    security: str = "starttls"
    """How the connection is secured: `tls` from the start, `starttls`, or `none`, which requires a loopback host."""
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
        _require_subset(self.events, EVENTS, f"the events of {where}")
        _require_subset(self.tiers, tuple(Tier), f"the tiers of {where}")
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
        """Whether it is notified of an event without being named by a check."""
        return (
            not self.callback
            and event in self.events
            and (tier in self.tiers or event.startswith("alert."))
            and (not self.tenants or tenant in self.tenants)
        )


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """The targets of messages, and the effort to reach them."""

    targets: tuple[Target, ...] = ()
    console: str = ""
    """The address under which people reach the console, for links; empty for messages without links."""
    attempts: int = 12
    """The most attempts for one message; with the growing pauses between them this takes about five hours."""
    timeout_s: float = 10.0
    """The most seconds of one attempt."""

    def __post_init__(self) -> None:
        names = [target.name for target in self.targets]
        if len(set(names)) < len(names):
            raise PolicyError(f"each target needs a name of its own, got {', '.join(names)}")
        if self.console:
            _require_url(self.console, "the address of the console")
        if not 1 <= self.attempts <= 100 or not 0.1 <= self.timeout_s <= 120:
            raise PolicyError("expected from 1 to 100 attempts and a timeout from 0.1 to 120 seconds")

    def target(self, name: str) -> Target | None:
        """The target with a name; none where the operator configured no such target."""
        return next((target for target in self.targets if target.name == name), None)

    def callback(self, name: str, tenant: str) -> Target | None:
        """The target with a name, if checks of a tenant may name it; none otherwise."""
        found = self.target(name)
        allowed = found is not None and found.callback and (not found.tenants or tenant in found.tenants)
        return found if allowed else None


def notify_settings(section: Mapping[str, Any], environ: Mapping[str, str]) -> NotifySettings:
    """Reads the section `notify` of a gateway file.

    Secrets are never in the file itself: `url_env`, `secret_env` and `password_env` name environment variables.

    Args:
        section: the section.
        environ: the environment.

    Raises:
        PolicyError: a setting is unknown or invalid, or a variable is not set.
    """
    _require_known(section, {"targets", "console", "attempts", "timeout_s"}, "notify")
    targets_section = section.get("targets") or {}
    if not isinstance(targets_section, Mapping):
        raise PolicyError("notify.targets is a mapping of names to targets")
    targets = tuple(_target(str(name), value, environ) for name, value in targets_section.items())
    rest = {name: value for name, value in section.items() if name != "targets"}
    try:
        return NotifySettings(targets=targets, **rest)
    except TypeError as error:
        raise PolicyError(f"notify has settings of another kind than expected: {error}") from error


_ENV: Final = {"url_env": "url", "secret_env": "secret", "password_env": "password"}
_LISTS: Final = ("events", "tiers", "tenants", "to")


def _target(name: str, value: object, environ: Mapping[str, str]) -> Target:
    if not isinstance(value, Mapping):
        raise PolicyError(f"the target {name!r} is a mapping of settings")
    known = ({entry.name for entry in fields(Target)} - {"name", "secret", "password"}) | set(_ENV)
    _require_known(value, known, f"the target {name!r}")
    settings: dict[str, Any] = {key: entry for key, entry in value.items() if key not in _ENV}
    for variable, setting in _ENV.items():
        if variable in value:
            settings[setting] = environ.get(str(value[variable]), "").strip()
            if not settings[setting]:
                raise PolicyError(f"{setting} of the target {name!r} is read from {value[variable]}, which is not set")
    for setting in _LISTS:
        if setting in settings:
            listed = settings[setting]
            settings[setting] = (listed,) if isinstance(listed, str) else tuple(map(str, listed or ()))
    try:
        return Target(name=name, **settings)
    except (TypeError, AttributeError) as error:
        raise PolicyError(f"the target {name!r} has a setting of another kind than expected: {error}") from error


def _require_known(settings: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(map(str, settings)) - known)
    if unknown:
        raise PolicyError(f"{where} has the settings {', '.join(sorted(known))}; got {', '.join(unknown)}")


def _require_subset(values: Sequence[str], known: Sequence[str], where: str) -> None:
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise PolicyError(f"{where} are {', '.join(known)}; got {', '.join(unknown)}")


def _require_url(url: str, where: str) -> None:
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        _ = parts.port
    except ValueError:  # its text may quote a part of the address, and with it a secret
        raise PolicyError(f"{where} needs an address of the form https://HOST[:PORT]/PATH") from None
    plain = parts.scheme == "http" and parts.hostname is not None and _is_loopback(parts.hostname)
    if (parts.scheme != "https" and not plain) or not parts.hostname:
        raise PolicyError(f"{where} needs an address that begins with https://, or http:// of this machine")


def _is_loopback(host: str) -> bool:
    import ipaddress

    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
