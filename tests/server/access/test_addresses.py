"""Where a request comes from: only proxies that the operator named are believed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import PolicyError
from assay.server.access.addresses import address_of, is_encrypted
from assay.server.access.settings import AccessSettings, access_settings

BEHIND = AccessSettings(proxies=("10.0.0.0/8", "::1"))


def scope(client: str | None, scheme: str = "http", **headers: str) -> dict[str, Any]:
    return {
        "client": None if client is None else (client, 5),
        "scheme": scheme,
        "headers": [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()],
    }


@pytest.mark.parametrize(
    ("client", "forwarded", "found"),
    [
        ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.1", "10.0.0.3", "10.0.0.3"),
        ("10.0.0.1", "6.6.6.6, nonsense, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8::1", "198.51.100.7", "2001:db8::/64"),
        (None, "198.51.100.7", "unknown"),
        ("unix", "198.51.100.7", "unknown"),
    ],
)
def test_the_last_address_that_is_no_proxy_of_ours_counts(client: str | None, forwarded: str, found: str) -> None:
    assert address_of(scope(client, x_forwarded_for=forwarded), BEHIND) == found


@given(st.text(st.characters(max_codepoint=255), max_size=300))
def test_no_header_breaks_it(text: str) -> None:
    assert address_of(scope("10.0.0.1", x_forwarded_for=text, x_forwarded_proto=text), BEHIND)
    is_encrypted(scope("10.0.0.1", x_forwarded_proto=text), BEHIND)


def test_whether_the_way_was_encrypted_is_believed_of_our_proxies_only() -> None:
    assert is_encrypted(scope("192.0.2.1", "https"), AccessSettings())
    assert not is_encrypted(scope("192.0.2.1", x_forwarded_proto="https"), BEHIND)
    assert is_encrypted(scope("10.0.0.1", x_forwarded_proto="https"), BEHIND)
    assert not is_encrypted(scope("10.0.0.1", "https", x_forwarded_proto="http"), BEHIND)
    assert is_encrypted(scope("192.0.2.1"), AccessSettings(public_url="https://assay.example"))


@pytest.mark.parametrize(
    "given_", [{"proxies": "everyone"}, {"key_rate": 0}, {"idle_minutes": True}, {"public_url": "assay"}, {"colour": 1}]
)
def test_a_setting_that_makes_no_sense_is_refused(given_: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        access_settings(given_)


def test_settings_are_read_from_the_gateway_file() -> None:
    found = access_settings({"idle_minutes": 10, "proxies": ["10.0.0.0/8"], "public_url": "https://a.example"})
    assert (found.idle_minutes, found.proxies, found.public_url) == (10, ("10.0.0.0/8",), "https://a.example")
