"""The example, offline and with one command: python examples/knowledge/run.py [further options of assay check].

Makes the table, serves the graph out of makers.ttl by a real Oxigraph store on the loopback interface, and runs

    assay check answer.md --evidence evidence --config assay.yaml --question @question.txt --as-of 2025-06-01

Needs the extra `knowledge`: pip install 'assay-ai[knowledge]'.
"""

import sqlite3
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

HERE = Path(__file__).resolve().parent
PORT = 7019
"""The port in assay.yaml."""


def make_table() -> None:
    """Make the database of products anew."""
    path = HERE / ".work" / "products.db"
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as made:
        made.executescript((HERE / "products.sql").read_text(encoding="utf-8"))
    made.close()


def serve_graph() -> ThreadingHTTPServer:
    """The SPARQL 1.1 protocol, for queries in the body of a form, over the graph of makers."""
    import pyoxigraph

    store = pyoxigraph.Store()
    store.load((HERE / "makers.ttl").read_bytes(), format=pyoxigraph.RdfFormat.TURTLE)

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            try:
                found = store.query(form["query"][0])
                status, body = 200, found.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
            except (KeyError, SyntaxError) as error:
                status, body = 400, str(error).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/sparql-results+json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", PORT), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main(options: list[str]) -> int:
    """Run the check; its exit status is 1, since there are findings."""
    make_table()
    server = serve_graph()
    try:
        return subprocess.run(
            [
                sys.executable,
                "-m",
                "assay",
                "check",
                "answer.md",
                "--evidence",
                "evidence",
                "--config",
                "assay.yaml",
                "--question",
                "@question.txt",
                "--as-of",
                "2025-06-01",
                *options,
            ],
            cwd=HERE,
            check=False,
        ).returncode
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
