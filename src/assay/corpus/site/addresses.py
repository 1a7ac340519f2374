"""Addresses of a site: normalised, and checked against the part of the site that was named.

Only addresses with the scheme, host and port of the named address and below its folder are fetched, whatever links,
redirects and sitemaps say: documents contain addresses, and their authors must not choose what this machine requests.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

from assay.corpus.site.limits import MAX_ADDRESS_LENGTH
from assay.errors import InputError

_PORTS: Final = {"http": 80, "https": 443}
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
"""Characters that mean the same escaped or not (RFC 3986, 2.3)."""
_PATH_SAFE: Final = "/:@!$&'()*+,;=-._~%"
_QUERY_SAFE: Final = _PATH_SAFE + "?[]"


def normalise_address(address: str, base: str | None = None) -> str | None:
    """Normalise an address (RFC 3986, 6.2) and drop its fragment; None if it cannot be fetched over HTTP.

    >>> normalise_address("HTTP://Example.COM:80/a/../b%7Ec?x=1#top")
    'http://example.com/b~c?x=1'
    >>> normalise_address("../leave.html", "https://example.com/hr/old/index.html")
    'https://example.com/hr/leave.html'
    >>> normalise_address("mailto:hr@example.com", "https://example.com/") is None
    True

    Args:
        address: as written, relative to `base` if that is given.
        base: the address of the page that contains it.
    """
    text = "".join(sign for sign in address.strip() if sign >= " " and sign != "\x7f")
    if len(text) > MAX_ADDRESS_LENGTH:
        return None
    try:
        parts = urlsplit(urljoin(base, text) if base is not None else text)
        scheme, port = parts.scheme.lower(), parts.port
        host = _host(parts)
    except ValueError:
        return None
    if scheme not in _PORTS or host is None or "@" in parts.netloc:
        return None
    netloc = host if port in (None, _PORTS[scheme]) else f"{host}:{port}"
    found = urlunsplit((scheme, netloc, _path(parts.path), _escaped(parts.query, _QUERY_SAFE), ""))
    return found if len(found) <= MAX_ADDRESS_LENGTH else None


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
    """Escape exactly the characters of a part of an address that must be escaped."""
    whole = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", text)

    def unescaped(found: re.Match[str]) -> str:
        sign = chr(int(found[1], 16))
        return sign if sign in _UNRESERVED else found[0].upper()

    return quote(_ESCAPE.sub(unescaped, whole), safe=safe)


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a site that is fetched."""

    start: str
    """The address that was named, normalised."""

    @classmethod
    def of(cls, place: str) -> Scope:
        """The scope of an address that the user named.

        Raises:
            InputError: it is not an HTTP address, or contains a user name and password.
        """
        if "@" in urlsplit(place).netloc:
            raise InputError("an address of a corpus must hold no name and password")
        known = normalise_address(place)
        if known is None:
            raise InputError(f"{place[:200]}: expected a folder or an address that begins with https:// or http://")
        return cls(known)

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return origin_of(self.start)

    @property
    def prefix(self) -> str:
        """The folder of the named address, with `/` at its end: everything fetched is below it."""
        parts = urlsplit(self.start)
        return urlunsplit((parts.scheme, parts.netloc, parts.path.rpartition("/")[0] + "/", "", ""))

    def contains(self, address: str) -> bool:
        """Whether a normalised address is within the scope.

        >>> scope = Scope.of("https://example.com/hr/index.html")
        >>> [scope.contains(f"https://example.com{path}") for path in ("/hr/leave", "/hr", "/hrx/leave", "/hr/../it")]
        [True, False, False, False]
        """
        return normalise_address(address) == address and address.startswith(self.prefix)

    def relative_path(self, address: str) -> str:
        """The part after the folder: the name of a page within the corpus.

        >>> Scope.of("https://example.com/hr/").relative_path("https://example.com/hr/leave/2024.html")
        'leave/2024.html'
        """
        return address.removeprefix(self.prefix)


def origin_of(address: str) -> tuple[str, str, int]:
    """Scheme, host and port of a normalised address."""
    parts = urlsplit(address)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme]


def is_address(place: str) -> bool:
    """Whether the user named an address rather than a folder.

    >>> [is_address(place) for place in ("https://example.com/docs", "docs", "C:/docs", "file:///docs")]
    [True, False, False, True]
    """
    return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", place))
