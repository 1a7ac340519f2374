"""Copying checkpoints out of the host: to a file elsewhere, or to a witness (C2SP tlog-witness).

A log that its owner can sign again proves nothing against the owner. What does is a checkpoint that the owner cannot
reach: on a write-once volume, in another team's bucket, or with a witness that signs only what is consistent with what
it signed before.
"""

import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, select

from assay.errors import AuditError
from assay.receipt import fits
from assay.store.audit.log import read_root
from assay.store.audit.merkle.checkpoint import Checkpoint, read_checkpoint
from assay.store.audit.merkle.proofs import prove_growth
from assay.store.audit.merkle.signed_notes import NoteSignature, decode_base64, read_note
from assay.store.db.column_values import micros
from assay.store.db.store import Store
from assay.store.db.tables import audit_anchors
from assay.store.db.writer import Change

WITNESS_SECONDS: Final = 10.0
"""The timeout of a request to a witness, in seconds."""
LONGEST_ANSWER: Final = 65_536
"""The most bytes that are read from a witness's answer."""

_COSIGNATURE: Final = b"\x04"
_SIZE: Final = re.compile(r"(0|[1-9][0-9]{0,18})\n?")
_CONFLICT: Final = 409
_OK: Final = 200

Post = Callable[[str, bytes], tuple[int, bytes]]
"""Posts a body to a URL; returns the HTTP status and the answer."""


@dataclass(frozen=True, slots=True)
class WitnessKey:
    """The public key of a witness."""

    name: str
    public: bytes

    @property
    def key_id(self) -> bytes:
        """Its id in a note, for signature type 0x04."""
        return sha256(self.name.encode() + b"\n" + _COSIGNATURE + self.public).digest()[:4]


def read_witness_key(text: str) -> WitnessKey:
    """Parse the key of a witness, a vkey NAME+ID+BASE64.

    Raises:
        AuditError: it is not a key for Ed25519 cosignatures.
    """
    name, _, rest = text.strip().partition("+")
    id_, _, encoded = rest.partition("+")
    data = decode_base64(encoded)
    key = WitnessKey(name, data[1:])
    if len(data) != 33 or data[:1] != _COSIGNATURE or key.key_id.hex() != id_:
        raise AuditError("expected the key of a witness as NAME+ID+BASE64 with the type 0x04, got another")
    return key


def read_notes(path: Path) -> list[str]:
    """The checkpoints in a file, oldest first; empty if there is no such file.

    Raises:
        AuditError: the file cannot be read, or contains something else.
    """
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeError) as error:
        raise AuditError(f"expected checkpoints in {path}, but it cannot be read: {error}") from error
    try:
        notes = split_notes(text)
    except AuditError as error:
        raise AuditError(f"expected checkpoints in {path}, each with its signatures, got something else") from error
    for note in notes:
        read_checkpoint(note)
    return notes


def split_notes(text: str) -> list[str]:
    """Split a text into its notes, in order, without parsing them.

    Raises:
        AuditError: the text does not consist of notes.
    """
    # Each note contains one empty line and is followed by another; an editor may have changed the last lines.
    blocks = text.strip("\n").split("\n\n") if text.strip("\n") else []
    if len(blocks) % 2:
        raise AuditError("expected checkpoints, each with its signatures, got something else")
    return [f"{body}\n\n{lines}\n" for body, lines in zip(blocks[::2], blocks[1::2], strict=True)]


def anchor_in_file(store: Store, tenant: str, checkpoint: str, path: Path) -> None:
    """Append a checkpoint to a file and sync it to disk; earlier content is never changed.

    Raises:
        AuditError: the last checkpoint in the file is of another log, or the log is not consistent with it.
        StoreError: the anchor cannot be recorded in the database.
    """
    stated = read_checkpoint(checkpoint)
    for note in read_notes(path)[-1:]:
        with store.reading(tenant) as connection:
            _require_consistent(connection, tenant, read_checkpoint(note), stated, str(path))
        if read_note(note).text == read_note(checkpoint).text:
            return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write((("\n" if file.tell() else "") + checkpoint).encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise AuditError(f"{path}: the checkpoint cannot be added: {error.strerror or error}") from error
    _record_anchor(store, tenant, stated.size, str(path), None)


def anchor_at_witness(
    store: Store, tenant: str, checkpoint: str, url: str, key: WitnessKey | None = None, post: Post | None = None
) -> str:
    """Have a witness cosign a checkpoint, and store its signature lines.

    Args:
        store: the store.
        tenant: whose log.
        checkpoint: the checkpoint as a note.
        url: the witness's submission prefix.
        key: the witness's key; without it, the answer is stored unverified.
        post: the function that sends requests; HTTP by default.

    Returns:
        The checkpoint with the witness's signature lines.

    Raises:
        AuditError: the witness cannot be reached, refuses, knows another history, or its signature is not valid.
        StoreError: the answer cannot be stored.
    """
    if not re.match(r"https?://", url):
        raise AuditError("expected the address of a witness as https://..., got another")
    send, target = post or post_over_http, url.rstrip("/") + "/add-checkpoint"
    old = _last_size(store, tenant, url)
    status, answer = send(target, _consistency_request(store, tenant, old, checkpoint))
    suggested_size = _SIZE.fullmatch(answer.decode(errors="replace"))
    if status == _CONFLICT and suggested_size is not None and int(suggested_size[1]) != old:
        # The witness has seen another size than the stored one: by the protocol its answer says which.
        status, answer = send(target, _consistency_request(store, tenant, int(suggested_size[1]), checkpoint))
    if status != _OK:
        reasons = {
            _CONFLICT: "it knows another history of this log",
            403: "it does not trust the key of this log",
            404: "it does not know this log",
            422: "the proof does not hold",
        }
        raise AuditError(f"the witness at {url} refused with status {status}: {reasons.get(status, 'it failed')}")
    lines = _cosignatures(answer, checkpoint, key, url)
    _record_anchor(store, tenant, read_checkpoint(checkpoint).size, url, lines)
    return checkpoint + lines


def _consistency_request(store: Store, tenant: str, old: int, checkpoint: str) -> bytes:
    with store.reading(tenant) as connection:
        return prove_growth(connection, tenant, old, checkpoint).encode()


def _cosignatures(answer: bytes, checkpoint: str, key: WitnessKey | None, url: str) -> str:
    """The signature lines in an answer: those of the key, or all of them without a key."""
    note = read_note(checkpoint)
    try:
        signed = read_note(f"{note.text}\n{answer.decode()}")
    except (AuditError, UnicodeError) as error:
        raise AuditError(f"the witness at {url} answered with something other than signatures") from error
    lines = [line for line in signed.signatures if key is None or (line.name, line.key_id) == (key.name, key.key_id)]
    if not lines:
        raise AuditError(f"the witness at {url} answered without a signature of its key")
    if key is not None and not all(cosignature_fits(line, note.text, key) for line in lines):
        raise AuditError(f"the signature of the witness at {url} does not fit the checkpoint")
    return "".join(line.line for line in lines)


def cosignature_fits(signature: NoteSignature, text: str, key: WitnessKey) -> bool:
    """Whether a timestamped Ed25519 cosignature (C2SP tlog-cosignature) of a key over a checkpoint's text is valid."""
    stamp, payload = signature.signature[:8], signature.signature[8:]
    message = f"cosignature/v1\ntime {int.from_bytes(stamp, 'big')}\n{text}".encode()
    return len(payload) == 64 and fits(key.public, payload, message)


def post_over_http(url: str, body: bytes) -> tuple[int, bytes]:
    """Post a body over HTTP without following redirects; returns the status and the answer.

    Raises:
        AuditError: the URL cannot be reached.
    """
    request = urllib.request.Request(url, body, {"content-type": "text/plain; charset=utf-8"})  # noqa: S310 checked
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=WITNESS_SECONDS) as answer:
            return answer.status, answer.read(LONGEST_ANSWER)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(LONGEST_ANSWER)
    except OSError as error:
        raise AuditError(f"the witness at {url} cannot be reached: {error}") from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _require_consistent(connection: Connection, tenant: str, old: Checkpoint, new: Checkpoint, where: str) -> None:
    if old.origin != new.origin:
        raise AuditError(f"the last checkpoint in {where} is of the log {old.origin!r}, and this one is {new.origin!r}")
    if old.size > new.size or read_root(connection, tenant, old.size) != old.root:
        raise AuditError(f"the log does not follow from the last checkpoint in {where}: it was altered; verify it")


def _last_size(store: Store, tenant: str, target: str) -> int:
    table = audit_anchors.c
    query = select(table.size).where(table.tenant == tenant, table.target == target).order_by(table.size.desc())
    with store.reading(tenant) as connection:
        return connection.execute(query.limit(1)).scalar_one_or_none() or 0


def _record_anchor(store: Store, tenant: str, size: int, target: str, answer: str | None) -> None:
    row = {"tenant": tenant, "size": size, "target": target, "created": micros(store.now()), "answer": answer}
    with store.reading(tenant) as connection:
        table = audit_anchors.c
        existing = connection.execute(
            select(table.size).where(table.tenant == tenant, table.size == size, table.target == target)
        ).first()
    if existing is None:
        store.apply(Change(tenant, {audit_anchors: [row]}))
