"""The files that pages refer to: style sheet and scripts, each under the digest of its content, so that they keep."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from starlette.responses import Response

PREFIX: Final = "/console/static/"
"""Where the files are; they need no session, as the page to log in refers to them too."""
FONT: Final = "inter.woff2"
"""The typeface: Inter, its Latin letters alone (SIL Open Font License, beside it); other scripts are the system's."""
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """One file."""

    name: str
    content: bytes
    digest: str

    @property
    def href(self) -> str:
        """Its address; another content has another one."""
        return f"{PREFIX}{self.digest}/{self.name}"

    def response(self, digest: str) -> Response:
        """The file, to be kept for good where it was asked for by its digest."""
        keep = "public, max-age=31536000, immutable" if digest == self.digest else "no-cache"
        kind = _TYPES[self.name.rpartition(".")[2]]
        return Response(
            self.content,
            media_type=kind,
            headers={"cache-control": keep, "etag": f'"{self.digest}"', "x-content-type-options": "nosniff"},
        )


@cache
def assets() -> dict[str, Asset]:
    """All files by name; read once."""
    static = files("assay.server.console").joinpath("static")
    names = [one.name for one in static.iterdir() if one.is_file() and one.name.rpartition(".")[2] in _TYPES]
    # The font first: the style sheet names it under its digest, so that it keeps as long.
    found = {FONT: _asset(FONT, static.joinpath(FONT).read_bytes())}
    for name in sorted(set(names) - {FONT}):
        content = static.joinpath(name).read_bytes()
        found[name] = _asset(name, content.replace(f"url({FONT})".encode(), f"url({found[FONT].href})".encode()))
    return found


def _asset(name: str, content: bytes) -> Asset:
    return Asset(name, content, hashlib.sha256(content).hexdigest()[:16])
