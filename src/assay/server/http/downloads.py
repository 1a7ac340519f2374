"""Downloads that are complete before the first byte is sent, so that a slow reader holds no database connection."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import Final

from starlette.responses import Response, StreamingResponse

IN_MEMORY: Final = 1024 * 1024
"""Bytes up to which a file is kept in memory; a longer one is kept on disk until it is sent."""
_PIECE: Final = 64 * 1024


def download(pieces: Iterable[str | bytes], media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request for a file, which is written by the calling thread, in memory or on disk.

    Args:
        pieces: the file, piece by piece; text is sent as UTF-8.
        media_type: its type.
        headers: further headers.

    Raises:
        Exception: whatever `pieces` raises; nothing has been sent then.
    """
    with ExitStack() as opening:
        file = opening.enter_context(SpooledTemporaryFile(max_size=IN_MEMORY))
        for piece in pieces:
            file.write(piece.encode("utf-8", "backslashreplace") if isinstance(piece, str) else piece)
        length = file.tell()
        file.seek(0)
        closing = opening.pop_all()

    def pieces_of_file() -> Iterator[bytes]:
        with closing:
            while piece := file.read(_PIECE):
                yield piece

    return StreamingResponse(
        pieces_of_file(), media_type=media_type, headers={**(headers or {}), "content-length": str(length)}
    )
