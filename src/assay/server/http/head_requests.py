"""HEAD requests: the answer of GET without its body, at every path."""

from typing import Final

from starlette.requests import ClientDisconnect

from assay.server.gateway.asgi import Message, Receive, Scope, Send

CLIENT_GONE_ERRORS: Final = (OSError, ClientDisconnect)
"""The errors of an application that goes on sending when the client has gone."""


class AsGet:
    """One HEAD request, run by the application as a GET of which only the head goes out."""

    def __init__(self, receive: Receive, send: Send) -> None:
        """Over the connection of the request."""
        self._receive, self._send = receive, send
        self._ended = False

    @staticmethod
    def scope(scope: Scope) -> Scope:
        """The scope of the GET; the server keeps its own, which says that no body follows."""
        return {**scope, "method": "GET"}

    async def receive(self) -> Message:
        """The client's next message; a disconnect once the head has gone out, as nobody reads what would follow."""
        return {"type": "http.disconnect"} if self._ended else await self._receive()

    async def send(self, message: Message) -> None:
        """Send the head and end the answer there: a stream might not end for a long time.

        Raises:
            OSError: more of the body follows; it ends the application as a client's disconnect does.
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
