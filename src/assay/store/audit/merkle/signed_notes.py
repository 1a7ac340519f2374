"""Signed notes (C2SP signed-note): a text, a blank line, and one signature line for each key that signed it.

Only Ed25519 signatures (type 0x01) are made and verified. Lines of other keys are ignored, as the specification asks,
so that witnesses can add theirs.
"""

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from assay.errors import AuditError
from assay.receipt import KeyRing, KeyState, PublicKey, SigningKey, fits

LONGEST_NOTE: Final = 65_536
"""The most bytes of a note."""
MOST_SIGNATURES: Final = 100
"""The most signature lines of a note; the specification asks for 16 at least."""

_ED25519: Final = b"\x01"
_DASH: Final = "\N{EM DASH} "
_ID_BYTES: Final = 4
_SIGNATURE_BYTES: Final = 64
_NAME: Final = re.compile(r"[^\s+]+")
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f]")


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line."""

    name: str
    """The name of the key."""
    key_id: bytes
    """The four bytes that distinguish keys with the same name."""
    signature: bytes

    @property
    def line(self) -> str:
        """The line as it appears in a note, with its line feed."""
        return f"{_DASH}{self.name} {base64.b64encode(self.key_id + self.signature).decode()}\n"


@dataclass(frozen=True, slots=True)
class Note:
    """A parsed note; nothing in it is proved until a signature is verified."""

    text: str
    """The signed text, with its last line feed."""
    signatures: tuple[NoteSignature, ...]

    def __str__(self) -> str:
        return f"{self.text}\n{''.join(signature.line for signature in self.signatures)}"


def note_key_id(name: str, public: bytes) -> bytes:
    """The id of an Ed25519 key: the first bytes of SHA-256 over name, line feed, type and key.

    >>> note_key_id("example.com/log", bytes(32)).hex()
    'a3ad76db'
    """
    return sha256(name.encode() + b"\n" + _ED25519 + public).digest()[:_ID_BYTES]


def verifier_key(name: str, public: bytes) -> str:
    """A public key as a vkey: name, id, and type and key in base64, joined by plus signs."""
    return f"{name}+{note_key_id(name, public).hex()}+{base64.b64encode(_ED25519 + public).decode()}"


def sign_note(text: str, name: str, keys: Iterable[SigningKey]) -> str:
    """A note signed by each of the keys under one name.

    Raises:
        AuditError: the text or the name is not valid in a note.
    """
    if not _NAME.fullmatch(name):
        raise AuditError("expected a key name without spaces and plus signs, got another")
    if not text.endswith("\n") or _CONTROL.search(text) or len(text) < 2:
        raise AuditError("expected the text of a note to end with a line feed and hold no control characters")
    lines = tuple(NoteSignature(name, note_key_id(name, key.public), key.sign(text.encode())) for key in keys)
    return str(Note(text, lines))


def read_note(note: str | bytes) -> Note:
    """Parse a note; only its canonical encoding is accepted.

    Raises:
        AuditError: it is malformed.
    """
    try:
        content = note if isinstance(note, str) else bytes(note).decode()
        length = len(content.encode())
    except UnicodeError as error:
        raise AuditError("expected a note in UTF-8, got other bytes") from error
    if length > LONGEST_NOTE:
        raise AuditError(f"expected a note of at most {LONGEST_NOTE:,} bytes, got {length:,}")
    if _CONTROL.search(content):
        raise AuditError("expected a note without control characters, got some")
    head, blank, tail = content.rpartition("\n\n")
    if not blank or not head or not tail.endswith("\n"):
        raise AuditError("expected a note: a text, a blank line and signature lines")
    lines = tail[:-1].split("\n")
    if len(lines) > MOST_SIGNATURES:
        raise AuditError(f"expected at most {MOST_SIGNATURES} signatures of a note, got {len(lines)}")
    return Note(f"{head}\n", tuple(_read_line(line) for line in lines))


def _read_line(line: str) -> NoteSignature:
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not _NAME.fullmatch(name):
        raise AuditError("expected a signature line: a dash, the name of a key and its signature")
    data = decode_base64(encoded)
    if len(data) <= _ID_BYTES:
        raise AuditError("expected a signature behind the id of its key, got too few bytes")
    return NoteSignature(name, data[:_ID_BYTES], data[_ID_BYTES:])


def decode_base64(text: str) -> bytes:
    """Decode standard base64; only its canonical encoding is accepted.

    Raises:
        AuditError: it is malformed.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise AuditError("expected base64, got another text") from error
    if base64.b64encode(data).decode() != text:
        raise AuditError("expected base64 in its one spelling, got another")
    return data


def signers(note: Note, name: str, ring: KeyRing) -> tuple[PublicKey, ...]:
    """The keys of a ring that signed a note under a name.

    Raises:
        AuditError: the signature of a key of the ring is not valid, such a key was revoked, or none of them signed.
    """
    known = {note_key_id(name, bytes.fromhex(key.public)): key for key in ring.keys}
    keys: list[PublicKey] = []
    for line in note.signatures:
        key = known.get(line.key_id) if line.name == name else None
        if key is None:
            continue
        complete = len(line.signature) == _SIGNATURE_BYTES
        if not complete or not fits(bytes.fromhex(key.public), line.signature, note.text.encode()):
            raise AuditError(f"the signature of the key {key.key_id} does not fit: the checkpoint was changed")
        if key.state is KeyState.REVOKED:
            raise AuditError(f"the checkpoint is signed with the key {key.key_id}, which was revoked")
        keys.append(key)
    if not keys:
        raise AuditError(f"no key of the ring signed the checkpoint under the name {name}")
    return tuple(keys)
