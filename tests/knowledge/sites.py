"""Real servers of knowledge for tests: on the loopback interface, well-behaved and not."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Answer = tuple[int, dict[str, str], bytes]
Route = Callable[[str, dict[str, list[str]], bytes, dict[str, str]], Answer]

PRODUCTS = {"Aria 2": 59.99, "Lark": 20.0, "Heron": 149.5}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is what some tests are about."""


@contextmanager
def served(route: Route) -> Iterator[str]:
    """A server that answers by a function of path, query, body and headers; its address."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, content = route(
                parts.path, parse_qs(parts.query, keep_blank_values=True), body, dict(self.headers.items())
            )
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _answer  # noqa: N815 as the base class calls them

        def log_message(self, *_: Any) -> None:
            return

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def as_json(value: Any, status: int = 200) -> Answer:
    return status, {"Content-Type": "application/json"}, json.dumps(value).encode()


def shop(path: str, query: dict[str, list[str]], body: bytes, headers: dict[str, str]) -> Answer:
    """A JSON API: /products/NAME."""
    name = unquote(path.removeprefix("/products/"))
    if name not in PRODUCTS:
        return as_json({"error": "no such product"}, 404)
    return as_json({"items": [{"name": name, "price": {"amount": PRODUCTS[name], "currency": "EUR"}}]})


def searxng(path: str, query: dict[str, list[str]], body: bytes, headers: dict[str, str]) -> Answer:
    """A search engine in the form of SearXNG."""
    asked = query.get("q", [""])[0].lower()
    found = [(name, price) for name, price in PRODUCTS.items() if name.lower() in asked]
    return as_json(
        {
            "results": [
                {"url": f"https://{host}/{name}", "title": name, "content": f"{name} costs EUR {price}."}
                for name, price in found
                for host in ("www.shops.example", "rumours.example")
            ]
        }
    )


def brave(path: str, query: dict[str, list[str]], body: bytes, headers: dict[str, str]) -> Answer:
    """A search engine in the form of Brave, with a token."""
    if headers.get("X-Subscription-Token") != "s3cret":
        return as_json({}, 401)
    asked = query.get("q", [""])[0].lower()
    return as_json(
        {
            "web": {
                "results": [
                    {"url": f"https://shops.example/{name}", "title": name, "description": f"{name} costs EUR {price}."}
                    for name, price in PRODUCTS.items()
                    if name.lower() in asked
                ]
            }
        }
    )


class Graph:
    """A real Oxigraph store behind the SPARQL protocol; it notes what it was asked."""

    def __init__(self) -> None:
        import pyoxigraph as ox

        self.ox = ox
        self.store = ox.Store()
        self.asked: list[str] = []
        self.updates = 0
        for name, price in PRODUCTS.items():
            self.add(name, price)

    def add(self, name: str, price: float) -> None:
        ox, base = self.ox, "http://example.org/"
        item = ox.NamedNode(f"{base}product/{name.replace(' ', '_')}")
        decimal = ox.NamedNode("http://www.w3.org/2001/XMLSchema#decimal")
        self.store.add(ox.Quad(item, ox.NamedNode(f"{base}name"), ox.Literal(name)))
        self.store.add(ox.Quad(item, ox.NamedNode(f"{base}price"), ox.Literal(str(price), datatype=decimal)))

    def __call__(self, path: str, query: dict[str, list[str]], body: bytes, headers: dict[str, str]) -> Answer:
        form = parse_qs(body.decode(), keep_blank_values=True)
        if "update" in form or headers.get("Content-Type") == "application/sparql-update":
            self.updates += 1
            return as_json({}, 403)
        text = form.get("query", query.get("query", [""]))[0]
        self.asked.append(text)
        try:
            found: Any = self.store.query(text)
        except SyntaxError as error:
            return 400, {"Content-Type": "text/plain"}, str(error).encode()
        return (
            200,
            {"Content-Type": "application/sparql-results+json"},
            found.serialize(format=self.ox.QueryResultsFormat.JSON),
        )


# Servers that do not behave


@contextmanager
def raw(speak: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that does with each connection whatever a function does."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=64)
    ended = threading.Event()

    def one(connection: socket.socket) -> None:
        with connection:
            try:
                connection.settimeout(5)
                connection.recv(65_536)
                speak(connection)
            except OSError:
                return

    def accept() -> None:
        while not ended.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        ended.set()
        listening.close()


def hangs(connection: socket.socket) -> None:
    """Says nothing for a long time."""
    connection.settimeout(30)
    connection.recv(1)


def drips(connection: socket.socket) -> None:
    """Sends a byte of its head now and then, so that no single read ever runs into a time limit."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    for _ in range(600):
        connection.sendall(b"a")
        time.sleep(0.05)


def drips_body(connection: socket.socket) -> None:
    """The same in the body."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    for _ in range(600):
        connection.sendall(b" ")
        time.sleep(0.05)


def lies_long(connection: socket.socket) -> None:
    """Announces more than it sends, and waits."""
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"items": []}')
    connection.settimeout(30)
    connection.recv(1)


def lies_short(connection: socket.socket) -> None:
    """Announces more than it sends, and closes."""
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"items": []}')


def lies_less(connection: socket.socket) -> None:
    """Announces less than it sends."""
    body = json.dumps({"items": [{"name": "Aria 2", "price": {"amount": 1}}]}).encode()
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" + body)


def floods(connection: socket.socket) -> None:
    """Sends 50 MB without saying so before."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    piece = b'"' + b"x" * 999_998 + b'"'
    for _ in range(50):
        connection.sendall(piece)


def announces(connection: socket.socket) -> None:
    """Announces 50 MB and sends them."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")
    for _ in range(50):
        connection.sendall(b"x" * 1_000_000)


@contextmanager
def refuses() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


MISBEHAVING = {
    "hangs": hangs,
    "drips": drips,
    "drips its body": drips_body,
    "announces too much": lies_long,
    "closes too early": lies_short,
    "announces too little": lies_less,
    "floods": floods,
    "announces 50 MB": announces,
}
