"""A chat model behind OpenAI's chat completions, over a real socket; what it says follows from a rule."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Rule = Callable[[str, list[dict[str, Any]]], str | None]
"""What it says to a seal and the records of the prompt; none for an error of the service."""


@contextmanager
def serving(rule: Rule) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a service that speaks by a rule, and the bodies that it is sent."""
    seen: list[dict[str, Any]] = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            seen.append(body)
            text = "\n".join(message["content"] for message in body["messages"])
            records = [json.loads(line) for line in text.splitlines() if line.startswith("{") and _is_record(line)]
            seal = re.findall(r"-----END DATA .*?(\w+)-----", text)[-1]
            said = rule(seal, records)
            message = {"role": "assistant", "content": said}
            value = {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            }
            data = json.dumps(value).encode()
            self.send_response(400 if said is None else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
