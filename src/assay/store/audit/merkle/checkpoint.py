"""Checkpoints (C2SP tlog-checkpoint): the name, size and root of a log, signed as a note."""

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from assay.errors import AuditError
from assay.receipt import KeyRing, SigningKey
from assay.store.audit.merkle.signed_notes import Note, decode_base64, read_note, sign_note, signers
from assay.store.audit.merkle.tree import HASH_BYTES

LARGEST_SIZE: Final = 2**63 - 1
"""The most entries of a log."""

_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The statement of a log that its first `size` entries have this root."""

    origin: str
    """The unique name of the log."""
    size: int
    root: bytes

    @property
    def text(self) -> str:
        r"""The three lines that are signed.

        >>> Checkpoint("example.com/log", 2, bytes(32)).text
        'example.com/log\n2\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n'
        """
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    def sign(self, keys: Iterable[SigningKey]) -> str:
        """The checkpoint as a note, signed under the log's name.

        The caller must have made sure that it is consistent with every checkpoint that was signed before.

        Raises:
            AuditError: the log's name is not valid as the name of a key.
        """
        return sign_note(self.text, self.origin, keys)


def read_checkpoint(note: str | bytes | Note) -> Checkpoint:
    """The checkpoint in a note, without verifying its signatures.

    Extension lines are refused, because nobody can audit their content.

    Raises:
        AuditError: the note is not a checkpoint.
    """
    parsed = note if isinstance(note, Note) else read_note(note)
    lines = parsed.text[:-1].split("\n")
    if len(lines) != 3 or not lines[0]:
        raise AuditError(f"expected the three lines of a checkpoint, got {len(lines)}")
    origin, size, encoded = lines
    if not _SIZE.fullmatch(size) or int(size) > LARGEST_SIZE:
        raise AuditError("expected the size of a log in the second line of a checkpoint, got something else")
    root = decode_base64(encoded)
    if len(root) != HASH_BYTES:
        raise AuditError(f"expected a root of {HASH_BYTES} bytes in the third line of a checkpoint, got {len(root)}")
    return Checkpoint(origin, int(size), root)


def open_checkpoint(note: str | bytes, ring: KeyRing) -> Checkpoint:
    """The checkpoint in a note that a key of the ring signed under the log's own name.

    Raises:
        AuditError: it is malformed, no key of the ring signed it, a signature by one of them is not valid, or a key
            that signed it was revoked.
        ReceiptError: `cryptography` is not installed.
    """
    parsed = read_note(note)
    checkpoint = read_checkpoint(parsed)
    signers(parsed, checkpoint.origin, ring)
    return checkpoint
