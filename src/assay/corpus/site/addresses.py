"""Addresses of a site: written in one way each, and within the part of the site that was named.

Only what has the scheme, host and port of the named address and lies below its folder is fetched, whatever links,
redirects and sitemaps say: documents name addresses, and whoever wrote them must not choose what this machine asks.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

from assay.corpus.site.limits import LONGEST_ADDRESS
from assay.errors import InputError

_PORTS: Final = {"http": 80, "https": 443}
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
"""Signs that mean the same escaped or not (RFC 3986, 2.3)."""
_PATH_SAFE: Final = "/:@!$&'()*+,;=-._~%"
_QUERY_SAFE: Final = _PATH_SAFE + "?[]"


def normal(address: str, base: str | None = None) -> str | None:
    """An address in one spelling (RFC 3986, 6.2), without its fragment; none where it is none that can be asked for.

    >>> normal("HTTP://Example.COM:80/a/../b%7Ec?x=1#top")
    'http://example.com/b~c?x=1'
    >>> normal("../leave.html", "https://example.com/hr/old/index.html")
    'https://example.com/hr/leave.html'
    >>> normal("mailto:hr@example.com", "https://example.com/") is None
    True

    Args:
        address: as it is written, relative to `base` where that is given.
        base: the address of the page that names it.
    """
    text = "".join(sign for sign in address.strip() if sign >= " " and sign != "\x7f")
    if len(text) > LONGEST_ADDRESS:
        return None
    try:
        parts = urlsplit(urljoin(base, text) if base is not None else text)
        scheme, port = parts.scheme.lower(), parts.port
        host = _host(parts)
    except ValueError:
        return None
    if scheme not in _PORTS or host is None or "@" in parts.netloc:
        return None
    where = host if port in (None, _PORTS[scheme]) else f"{host}:{port}"
    found = urlunsplit((scheme, where, _path(parts.path), _escaped(parts.query, _QUERY_SAFE), ""))
    return found if len(found) <= LONGEST_ADDRESS else None


def _host(parts: SplitResult) -> str | None:
    host = (parts.hostname or "").rstrip(".")
    if not host:
        return None
    if ":" in host:
        return f"[{host}]"
    try:
        known = host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return None
    return known if re.fullmatch(r"[a-z0-9._-]+", known) else None


def _path(path: str) -> str:
    kept = _escaped(path or "/", _PATH_SAFE)
    folder = kept.endswith(("/", "/.", "/.."))
    flat = posixpath.normpath("/" + kept.lstrip("/"))
    return f"{flat}/" if folder and flat != "/" else flat


def _escaped(text: str, safe: str) -> str:
    """A part of an address with every sign escaped that has to be, and none that need not."""
    whole = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", text)

    def shown(found: re.Match[str]) -> str:
        sign = chr(int(found[1], 16))
        return sign if sign in _PLAIN else found[0].upper()

    return quote(_ESCAPE.sub(shown, whole), safe=safe)


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a site that is looked at."""

    start: str
    """The address that was named, in one spelling."""

    @classmethod
    def of(cls, place: str) -> Scope:
        """The scope of an address that somebody named.

        Raises:
            InputError: it is no HTTP address, or has a name and password in it.
        """
        if "@" in urlsplit(place).netloc:
            raise InputError("an address of a corpus must hold no name and password")
        known = normal(place)
        if known is None:
            raise InputError(f"{place[:200]}: expected a folder or an address that begins with https:// or http://")
        return cls(known)

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return origin_of(self.start)

    @property
    def prefix(self) -> str:
        """The folder of the named address, with `/` at its end: all that is fetched is below it."""
        parts = urlsplit(self.start)
        return urlunsplit((parts.scheme, parts.netloc, parts.path.rpartition("/")[0] + "/", "", ""))

    def has(self, address: str) -> bool:
        """Whether an address, in one spelling, is of the scope.

        >>> scope = Scope.of("https://example.com/hr/index.html")
        >>> [scope.has(f"https://example.com{path}") for path in ("/hr/leave", "/hr", "/hrx/leave", "/hr/../it")]
        [True, False, False, False]
        """
        return normal(address) == address and address.startswith(self.prefix)

    def below(self, address: str) -> str:
        """What follows the folder: the name of a page within the corpus.

        >>> Scope.of("https://example.com/hr/").below("https://example.com/hr/leave/2024.html")
        'leave/2024.html'
        """
        return address.removeprefix(self.prefix)


def origin_of(address: str) -> tuple[str, str, int]:
    """Scheme, host and port of an address in one spelling."""
    parts = urlsplit(address)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme]


def is_address(place: str) -> bool:
    """Whether somebody named an address and no folder.

    >>> [is_address(place) for place in ("https://example.com/docs", "docs", "C:/docs", "file:///docs")]
    [True, False, False, True]
    """
    return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", place))
