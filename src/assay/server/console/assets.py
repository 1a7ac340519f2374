"""The static files of pages. The digest of its content is a part of each address, so browsers may cache it for good."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from starlette.responses import Response

PREFIX: Final = "/console/static/"
"""The path of the files. They need no session, since the page to sign in uses them too."""
FONT: Final = "inter.woff2"
"""The typeface Inter, Latin letters only (SIL Open Font License, next to it); other scripts use fonts of the system."""
_MEDIA_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """One static file."""

    name: str
    content: bytes
    digest: str
    """The first 16 hexadecimal digits of the SHA-256 of the content."""

    @property
    def href(self) -> str:
        """Its address, which changes with its content."""
        return f"{PREFIX}{self.digest}/{self.name}"

    def response(self, digest: str) -> Response:
        """The file; the browser may cache it for good if `digest`, from the requested address, is its own."""
        caching = "public, max-age=31536000, immutable" if digest == self.digest else "no-cache"
        media_type = _MEDIA_TYPES[self.name.rpartition(".")[2]]
        return Response(
            self.content,
            media_type=media_type,
            headers={"cache-control": caching, "etag": f'"{self.digest}"', "x-content-type-options": "nosniff"},
        )


@cache
def assets() -> dict[str, Asset]:
    """All static files by name; they are read once."""
    static = files("assay.server.console").joinpath("static")
    names = [file.name for file in static.iterdir() if file.is_file() and file.name.rpartition(".")[2] in _MEDIA_TYPES]
    # The font comes first, because the style sheet refers to it by an address with its digest.
    found = {FONT: _asset(FONT, static.joinpath(FONT).read_bytes())}
    for name in sorted(set(names) - {FONT}):
        content = static.joinpath(name).read_bytes()
        found[name] = _asset(name, content.replace(f"url({FONT})".encode(), f"url({found[FONT].href})".encode()))
    return found


def _asset(name: str, content: bytes) -> Asset:
    return Asset(name, content, hashlib.sha256(content).hexdigest()[:16])
