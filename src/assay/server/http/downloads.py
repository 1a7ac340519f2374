"""Files that are whole before the first byte is sent: whoever reads one slowly holds nothing of the database."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import Final

from starlette.responses import Response, StreamingResponse

IN_MEMORY: Final = 1024 * 1024
"""Bytes up to which a file is kept in memory; a longer one is kept on disk until it is sent."""
_PIECE: Final = 64 * 1024


def download(pieces: Iterable[str | bytes], media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request for a file. It is made in the thread that calls, in memory or on disk.

    Args:
        pieces: the file, piece by piece; text is sent as UTF-8.
        media_type: its type.
        headers: further headers.

    Raises:
        Exception: whatever making a piece raises; nothing has been sent then.
    """
    with ExitStack() as opening:
        file = opening.enter_context(SpooledTemporaryFile(max_size=IN_MEMORY))
        for piece in pieces:
            file.write(piece.encode("utf-8", "backslashreplace") if isinstance(piece, str) else piece)
        length = file.tell()
        file.seek(0)
        kept = opening.pop_all()

    def sent() -> Iterator[bytes]:
        with kept:
            while piece := file.read(_PIECE):
                yield piece

    return StreamingResponse(sent(), media_type=media_type, headers={**(headers or {}), "content-length": str(length)})
