"""Recipients of messages over real sockets: a web server and a mail server that can be told to fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass
class Hook:
    """A web server that keeps what it got, and answers what it is told to."""

    answers: list[int] = field(default_factory=list)
    """The next statuses; 200 after that."""
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    async def take(self, request: web.Request) -> web.Response:
        self.got.append(({k.lower(): v for k, v in request.headers.items()}, await request.read()))
        return web.Response(status=self.answers.pop(0) if self.answers else 200, headers=self.headers)


@asynccontextmanager
async def hook(*answers: int, **headers: str) -> AsyncIterator[Hook]:
    """A running one."""
    made = Hook(list(answers), headers=headers)
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", made.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        yield made
    finally:
        await runner.cleanup()


@dataclass
class Mailbox:
    """A mail server that keeps what it got; `refusals` are its next answers to a recipient."""

    refusals: list[str] = field(default_factory=list)
    got: list[str] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def say(line: str) -> None:
            writer.write(f"{line}\r\n".encode())

        say("220 here")
        while line := (await reader.readline()).decode("utf-8", "replace").strip():
            verb = line.split(" ")[0].upper()
            if verb == "RCPT":
                say(self.refusals.pop(0) if self.refusals else "250 ok")
            elif verb == "DATA":
                say("354 go on")
                text = (await reader.readuntil(b"\r\n.\r\n")).decode()
                self.got.append(text)
                say("250 taken")
            elif verb == "QUIT":
                say("221 bye")
                break
            else:
                say("250 ok")
            await writer.drain()
        writer.close()


@asynccontextmanager
async def mailbox(*refusals: str) -> AsyncIterator[Mailbox]:
    """A running one."""
    made = Mailbox(list(refusals))
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        await server.wait_closed()
