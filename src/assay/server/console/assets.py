"""The files that pages refer to: style sheet and scripts, each under the digest of its content, so that they keep."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from starlette.responses import Response

PREFIX: Final = "/console/static/"
"""Where the files are; they need no session, as the page to log in refers to them too."""
_TYPES: Final = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


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
        return Response(self.content, media_type=kind, headers={"cache-control": keep, "etag": f'"{self.digest}"',
                                                                 "x-content-type-options": "nosniff"})  # fmt: skip


@cache
def assets() -> dict[str, Asset]:
    """All files by name; read once."""
    found = {}
    for entry in sorted(files("assay.server.console").joinpath("static").iterdir(), key=lambda one: one.name):
        if entry.is_file() and entry.name.rpartition(".")[2] in _TYPES:
            content = entry.read_bytes()
            found[entry.name] = Asset(entry.name, content, hashlib.sha256(content).hexdigest()[:16])
    return found
