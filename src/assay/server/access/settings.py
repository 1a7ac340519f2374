"""The settings of access."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final
from urllib.parse import urlsplit

from assay.errors import PolicyError

_TEXT_SETTINGS: Final = ("public_url",)
_LIST_SETTINGS: Final = ("proxies",)


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """When sessions end, how often a caller may ask, and what is in front of the server.

    Rates count in one worker process: `rate` is requests a second in the long run, `burst` requests at once.
    """

    idle_minutes: float = 60.0
    """Minutes without a request after which a session of the console ends."""
    session_hours: float = 12.0
    """Hours after which it ends in any case."""
    token_hours: float = 24.0
    """Hours for which a token to reset a password is valid."""
    key_rate: float = 1_000.0
    key_burst: float = 2_000.0
    """Requests with one API key."""
    user_rate: float = 50.0
    user_burst: float = 200.0
    """Requests of one person."""
    stranger_rate: float = 1.0
    stranger_burst: float = 60.0
    """Requests of one address with an invalid key or session."""
    sign_in_rate: float = 0.2
    sign_in_burst: float = 20.0
    """Attempts of one address to sign in."""
    proxies: tuple[str, ...] = ()
    """Networks whose `x-forwarded-for` and `x-forwarded-proto` are trusted, such as `10.0.0.0/8`."""
    public_url: str | None = None
    """Where people find the server, such as `https://assay.example.com`, where it is behind a proxy."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in (*_TEXT_SETTINGS, *_LIST_SETTINGS):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
                raise PolicyError(f"the access setting {one.name} is a number above 0, got {value!r}")
        for network in self.proxies:
            _network(network)
        parts = urlsplit(self.public_url or "https://localhost")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise PolicyError(f"public_url is an address such as https://assay.example.com, got {self.public_url!r}")

    @property
    def networks(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """The networks of the proxies."""
        return tuple(_network(network) for network in self.proxies)


def access_settings(section: Mapping[str, Any]) -> AccessSettings:
    """The settings of the section `access` of a gateway file.

    Raises:
        PolicyError: a setting is unknown, or is not what it should be.
    """
    known = {one.name for one in fields(AccessSettings)}
    unknown = sorted(set(section) - known)
    if unknown:
        raise PolicyError(f"the access settings are {', '.join(sorted(known))}; got {', '.join(unknown)}")
    proxies = section.get("proxies") or ()
    if isinstance(proxies, str):
        proxies = (proxies,)
    return AccessSettings(**{**section, "proxies": tuple(str(one) for one in proxies)})


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise PolicyError(f"a proxy is an address or a network such as 10.0.0.0/8, got {text!r}") from error
