"""HEAD: the answer of GET without its body, whatever the path."""

from typing import Final

from starlette.requests import ClientDisconnect

from assay.server.gateway.asgi import Message, Receive, Scope, Send

NOBODY_READS: Final = (OSError, ClientDisconnect)
"""What an application raises where more is to be sent and nobody is there to read it."""


class AsGet:
    """One HEAD request, asked of an application as a GET of which only the head goes out."""

    def __init__(self, receive: Receive, send: Send) -> None:
        """For what `receive` and `send` connect."""
        self._receive, self._send = receive, send
        self._ended = False

    @staticmethod
    def scope(scope: Scope) -> Scope:
        """The scope of the GET; the server keeps its own, which says that no body follows."""
        return {**scope, "method": "GET"}

    async def receive(self) -> Message:
        """What comes of the client; once the head has gone out there is nobody to read what would follow."""
        return {"type": "http.disconnect"} if self._ended else await self._receive()

    async def send(self, message: Message) -> None:
        """Lets the head out and ends the answer there: a stream may have nothing to say for a long time.

        Raises:
            OSError: more is to follow, and ends here as it does when a client leaves.
        """
        if message["type"] == "http.response.start" and not self._ended:
            self._ended = True
            await self._send(message)
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        elif message.get("more_body", False):
            raise OSError("an answer to HEAD has no body")

    @property
    def ended(self) -> bool:
        """Whether the head has gone out, so that nothing more can be sent."""
        return self._ended
