"""Checkpoints taken out of the host: into files, and to a witness as C2SP tlog-witness says."""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from sqlalchemy import select, update
from tests.store.making import KEYS, RING, record_of

from assay.errors import AuditError
from assay.receipt import SigningKey
from assay.store.audit.merkle.anchors import (
    WitnessKey,
    anchor_at_witness,
    anchor_in_file,
    post_over_http,
    read_notes,
    read_witness_key,
)
from assay.store.audit.merkle.checkpoint import Checkpoint, open_checkpoint
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.merkle.signed_notes import NoteSignature, decode_base64, read_note
from assay.store.audit.merkle.tree import is_consistent
from assay.store.db import tables
from assay.store.db.engine import writing
from assay.store.db.row_security import EVERY_TENANT, set_acting_tenant
from assay.store.db.store import Store

SECRET = SigningKey.from_seed(b"w" * 32)
WITNESS = WitnessKey("witness.example/w1", SECRET.public)
VKEY = "+".join([WITNESS.name, WITNESS.key_id.hex(), base64.b64encode(b"\x04" + SECRET.public).decode()])


class Simulator:
    """A witness in memory: it signs only what follows from what it signed before."""

    def __init__(self) -> None:
        self.known: dict[str, Checkpoint] = {}
        self.requests = 0

    def __call__(self, url: str, body: bytes) -> tuple[int, bytes]:
        self.requests += 1
        head, _, note = body.decode().partition("\n\n")
        lines = head.split("\n")
        old, proof = int(lines[0].removeprefix("old ")), [decode_base64(line) for line in lines[1:]]
        stated = open_checkpoint(note, RING)
        last = self.known.get(stated.origin, Checkpoint(stated.origin, 0, b""))
        if old != last.size:
            return 409, f"{last.size}\n".encode()
        if old and not is_consistent(old, stated.size, proof, last.root, stated.root):
            return 422, b""
        self.known[stated.origin] = stated
        return 200, cosigned(note, SECRET).encode()


def cosigned(note: str, secret: SigningKey, at: int = 1_800_000_000) -> str:
    message = f"cosignature/v1\ntime {at}\n{read_note(note).text}".encode()
    return NoteSignature(WITNESS.name, WITNESS.key_id, at.to_bytes(8, "big") + secret.sign(message)).line


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "x.db")) as made:
        made.record(record_of())
        yield made


def grown(store: Store, entries: int = 1) -> str:
    for _ in range(entries):
        store.record(record_of())
    return make_checkpoint(store, KEYS, "default")


def forge(store: Store) -> None:
    """The attacker's work: another first entry with everything signed anew."""
    with writing(store.engine).begin() as connection:
        set_acting_tenant(connection, EVERY_TENANT)
        connection.execute(update(tables.audit_tiles).values(hashes=b"y" * 32))
        connection.execute(tables.audit_checkpoints.delete())
        connection.execute(update(tables.audit_logs).values(size=1))


def test_a_file_collects_checkpoints_and_each_follows_from_the_last(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / "anchors.txt"
    first, second = grown(store), grown(store, 5)
    anchor_in_file(store, "default", first, path)
    anchor_in_file(store, "default", second, path)
    anchor_in_file(store, "default", second, path)
    assert read_notes(path) == [first, second]
    with store.reading("default") as connection:
        assert sorted(connection.execute(select(tables.audit_anchors.c.size)).scalars()) == [2, 7]


def test_a_file_takes_no_checkpoint_of_another_history(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "anchors.txt"
    anchor_in_file(store, "default", grown(store), path)
    forge(store)
    forged = make_checkpoint(store, KEYS, "default")
    with pytest.raises(AuditError, match="does not follow"):
        anchor_in_file(store, "default", forged, path)
    assert len(read_notes(path)) == 1


def test_a_file_takes_no_checkpoint_of_another_log(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "anchors.txt"
    anchor_in_file(store, "default", grown(store), path)
    store.record(record_of(tenant="acme"))
    with pytest.raises(AuditError, match="is of the log"):
        anchor_in_file(store, "acme", make_checkpoint(store, KEYS, "acme"), path)


def test_a_file_with_something_else_in_it_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    assert read_notes(path) == []
    for content in (b"text", b"\xff", b"a\n\nb\n\nc\n"):
        path.write_bytes(content)
        with pytest.raises(AuditError):
            read_notes(path)


def test_a_witness_signs_what_follows(store: Store) -> None:
    witness = Simulator()
    for _ in range(3):
        note = grown(store, 2)
        signed = anchor_at_witness(store, "default", note, "https://witness.example", WITNESS, witness)
        assert signed.startswith(note)
        assert open_checkpoint(signed, RING) == open_checkpoint(note, RING)
        assert read_note(signed).signatures[-1].name == WITNESS.name
    assert witness.requests == 3


def test_a_witness_that_has_seen_more_than_we_remember_is_asked_again(store: Store) -> None:
    witness = Simulator()
    anchor_at_witness(store, "default", grown(store), "https://witness.example", WITNESS, witness)
    with writing(store.engine).begin() as connection:
        set_acting_tenant(connection, EVERY_TENANT)
        connection.execute(tables.audit_anchors.delete())
    anchor_at_witness(store, "default", grown(store), "https://witness.example", WITNESS, witness)
    assert witness.requests == 3


def test_a_witness_refuses_another_history(store: Store) -> None:
    witness = Simulator()
    anchor_at_witness(store, "default", grown(store, 3), "https://witness.example", WITNESS, witness)
    forge(store)
    forged = make_checkpoint(store, KEYS, "default")
    with pytest.raises(AuditError):
        anchor_at_witness(store, "default", forged, "https://witness.example", WITNESS, witness)


@pytest.mark.parametrize(
    ("status", "answer", "why"),
    [
        (403, b"", "does not trust the key"),
        (404, b"", "does not know this log"),
        (422, b"", "proof does not hold"),
        (409, b"", "another history"),
        (500, b"", "it failed"),
        (200, b"<html>", "other than signatures"),
        (200, b"\xff", "other than signatures"),
        (200, "\N{EM DASH} other.example AAAAAAAA\n".encode(), "without a signature of its key"),
    ],
)
def test_what_else_a_witness_may_answer_is_told(store: Store, status: int, answer: bytes, why: str) -> None:
    with pytest.raises(AuditError, match=why):
        anchor_at_witness(store, "default", grown(store), "https://w.example", WITNESS, lambda *_: (status, answer))


def test_a_signature_that_the_witness_did_not_make_does_not_count(store: Store) -> None:
    note = grown(store)
    forged = cosigned(note, SigningKey.from_seed(b"z" * 32)).encode()
    with pytest.raises(AuditError, match="does not fit"):
        anchor_at_witness(store, "default", note, "https://w.example", WITNESS, lambda *_: (200, forged))


def test_the_key_of_a_witness_is_read_from_its_text() -> None:
    assert read_witness_key(VKEY) == WITNESS
    for text in ("", "a+b+c", VKEY.replace("+", "-"), VKEY[:-4] + "AAA="):
        with pytest.raises(AuditError):
            read_witness_key(text)


def test_only_http_is_spoken(store: Store) -> None:
    with pytest.raises(AuditError, match="https://"):
        anchor_at_witness(store, "default", grown(store), "file:///etc/passwd")


def test_over_http(store: Store) -> None:
    witness, seen = Simulator(), list[str]()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            if self.path.startswith("/moved"):
                self.send_response(302)
                self.send_header("location", "/w/add-checkpoint")
                self.end_headers()
                return
            status, answer = witness(self.path, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments: object) -> None:
            json.dumps(str(arguments))

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        anchor_at_witness(store, "default", grown(store), f"{url}/w/", WITNESS)
        with pytest.raises(AuditError, match="status 302"):
            anchor_at_witness(store, "default", grown(store), f"{url}/moved", WITNESS)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert seen == ["/w/add-checkpoint", "/moved/add-checkpoint"]
    with pytest.raises(AuditError, match="cannot be reached"):
        post_over_http(f"{url}/add-checkpoint", b"")
