"""The session cookie, and the CSRF token of the session's forms.

The cookie holds the session's secret; the database stores only its digest. The token is derived from the secret, so
that it is valid for this session alone and need not be stored. A page of another origin can read neither.
"""

import base64
import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Final

from assay.server.gateway.asgi import Scope

COOKIE: Final = "assay_session"
SAFE_COOKIE: Final = "__Host-assay_session"
"""The cookie's name over https: a browser accepts the prefix `__Host-` from this host alone, and only encrypted."""
CSRF_KEY: Final = "assay.csrf"
"""The key of the CSRF token in a request's ASGI scope; absent where there is no session."""
CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = b"x-assay-csrf"
_MOST_BYTES: Final = 16_384


def secret_of(scope: Scope) -> str | None:
    """The secret of the session in a request's cookies; none where there is none."""
    cookies: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name == b"cookie" and len(value) <= _MOST_BYTES:
            try:
                cookies |= {key: morsel.value for key, morsel in SimpleCookie(value.decode("latin-1")).items()}
            except CookieError:
                continue
    return cookies.get(SAFE_COOKIE) or cookies.get(COOKIE) or None


def session_cookie(secret: str, *, encrypted: bool, seconds: int) -> tuple[bytes, bytes]:
    """The `set-cookie` header that gives a browser its session; with 0 seconds, the one that removes it.

    The cookie is `Lax`, not `Strict`, so that a link to a report in a message opens it. Nothing is changed by a GET,
    and `AccessMiddleware` guards every other method.
    """
    name = SAFE_COOKIE if encrypted else COOKIE
    parts = [f"{name}={secret}", "Path=/", f"Max-Age={seconds}", "HttpOnly", "SameSite=Lax"]
    return b"set-cookie", "; ".join([*parts, "Secure"] if encrypted else parts).encode()


def csrf_token(secret: str) -> str:
    """The CSRF token of a session: an HMAC-SHA-256 under its secret, in base64url."""
    digest = hmac.digest(secret.encode("utf-8", "surrogatepass"), b"assay forms", hashlib.sha256)
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
