"""Where a request comes from, and whether its way was encrypted, by what may be believed of it."""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from assay.server.access.settings import AccessSettings
from assay.server.gateway.asgi import Scope

MOST_HOPS: Final = 32
"""Addresses that are read of one header."""


def address_of(scope: Scope, settings: AccessSettings) -> str:
    """What limits of rate know a client by: its address, of IPv6 the network of 64 bits that one household has.

    Only proxies that the operator named are believed: of `x-forwarded-for`, which anyone can begin, the last address
    counts that is not one of theirs.
    """
    client = scope.get("client")
    found = _parsed(str(client[0])) if client else None
    networks = settings.networks
    if found is None:
        return "unknown"
    if networks and _inside(found, networks):
        for text in reversed(_values(scope, b"x-forwarded-for")[-MOST_HOPS:]):
            hop = _parsed(text)
            if hop is None:
                break
            found = hop
            if not _inside(hop, networks):
                break
    if found.version == 6:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


def is_encrypted(scope: Scope, settings: AccessSettings) -> bool:
    """Whether the client speaks https, to this server or to a proxy that is believed."""
    if settings.public_url is not None:
        return urlsplit(settings.public_url).scheme == "https"
    client = scope.get("client")
    found = _parsed(str(client[0])) if client else None
    if found is not None and settings.proxies and _inside(found, settings.networks):
        said = _values(scope, b"x-forwarded-proto")
        if said:
            return said[-1].lower() == "https"
    return scope.get("scheme") == "https"


def hosts_of(scope: Scope, settings: AccessSettings) -> frozenset[str]:
    """The hosts, with their ports, under which a page of this server may have been loaded."""
    hosts = {value.decode("latin-1").strip().lower() for name, value in scope["headers"] if name == b"host"}
    if settings.public_url is not None:
        hosts.add(urlsplit(settings.public_url).netloc.lower())
    return frozenset(hosts)


def _values(scope: Scope, name: bytes) -> list[str]:
    lines = [value.decode("latin-1") for key, value in scope["headers"] if key == name]
    return [part.strip() for line in lines for part in line.split(",")]


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text.strip().strip("[]"))
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _inside(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...],
) -> bool:
    return any(address in network for network in networks)
