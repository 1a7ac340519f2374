"""The address a request comes from and whether it came over https, from the headers that can be trusted."""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from assay.server.access.settings import AccessSettings
from assay.server.gateway.asgi import Scope

MOST_HOPS: Final = 32
"""The last addresses of an `x-forwarded-for` header that are read."""


def address_of(scope: Scope, settings: AccessSettings) -> str:
    """The client's address for rate limits; for IPv6 its /64 network, which is what one household gets.

    Only proxies that the operator named are trusted. Anyone can send an `x-forwarded-for` header, so the last address
    in it that is not one of those proxies counts.
    """
    client = scope.get("client")
    address = _parse_address(str(client[0])) if client else None
    networks = settings.networks
    if address is None:
        return "unknown"
    if networks and _is_within(address, networks):
        for text in reversed(_header_values(scope, b"x-forwarded-for")[-MOST_HOPS:]):
            hop = _parse_address(text)
            if hop is None:
                break
            address = hop
            if not _is_within(hop, networks):
                break
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def is_encrypted(scope: Scope, settings: AccessSettings) -> bool:
    """Whether the client speaks https, to this server or to a trusted proxy."""
    if settings.public_url is not None:
        return urlsplit(settings.public_url).scheme == "https"
    client = scope.get("client")
    address = _parse_address(str(client[0])) if client else None
    if address is not None and settings.proxies and _is_within(address, settings.networks):
        schemes = _header_values(scope, b"x-forwarded-proto")
        if schemes:
            return schemes[-1].lower() == "https"
    return scope.get("scheme") == "https"


def hosts_of(scope: Scope, settings: AccessSettings) -> frozenset[str]:
    """The hosts, with their ports, under which a page of this server may have been loaded."""
    hosts = {value.decode("latin-1").strip().lower() for name, value in scope["headers"] if name == b"host"}
    if settings.public_url is not None:
        hosts.add(urlsplit(settings.public_url).netloc.lower())
    return frozenset(hosts)


def _header_values(scope: Scope, name: bytes) -> list[str]:
    lines = [value.decode("latin-1") for key, value in scope["headers"] if key == name]
    return [part.strip() for line in lines for part in line.split(",")]


def _parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text.strip().strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _is_within(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...],
) -> bool:
    return any(address in network for network in networks)
