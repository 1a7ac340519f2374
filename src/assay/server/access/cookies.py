"""The cookie of a session, and the token of its forms.

The cookie holds the session's secret, of which the database has a digest. The token is derived from the secret, so that
it fits this session alone and need not be stored; a page of another origin can read neither.
"""

import base64
import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Final

from assay.server.gateway.asgi import Scope

COOKIE: Final = "assay_session"
SAFE_COOKIE: Final = "__Host-assay_session"
"""Over https: a browser takes a cookie of this name from this host alone, and only encrypted."""
CSRF_KEY: Final = "assay.csrf"
"""Where the token of the session's forms is in a request's scope; none where there is no session."""
CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = b"x-assay-csrf"
_MOST_BYTES: Final = 16_384


def secret_of(scope: Scope) -> str | None:
    """The secret of the session in a request's cookies; none where there is none."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name == b"cookie" and len(value) <= _MOST_BYTES:
            try:
                found |= {key: one.value for key, one in SimpleCookie(value.decode("latin-1")).items()}
            except CookieError:
                continue
    return found.get(SAFE_COOKIE) or found.get(COOKIE) or None


def session_cookie(secret: str, *, encrypted: bool, seconds: int) -> tuple[bytes, bytes]:
    """The header that gives a browser its session; with 0 seconds, the one that takes it back.

    The cookie is `Lax`, not `Strict`: a link to a report in a message opens it. What changes something is never asked
    for by GET, and the wall guards the rest.
    """
    name = SAFE_COOKIE if encrypted else COOKIE
    parts = [f"{name}={secret}", "Path=/", f"Max-Age={seconds}", "HttpOnly", "SameSite=Lax"]
    return b"set-cookie", "; ".join([*parts, "Secure"] if encrypted else parts).encode()


def csrf_token(secret: str) -> str:
    """The token of the forms of a session."""
    made = hmac.digest(secret.encode("utf-8", "surrogatepass"), b"assay forms", hashlib.sha256)
    return base64.urlsafe_b64encode(made).decode().rstrip("=")
