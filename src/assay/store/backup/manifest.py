"""What is written beside a backup: its digest, the version of its tables, and the head of each log in it.

Whoever can write the backup can write this file too: it tells damage and mix-ups, not malice. Against malice the digest
is kept somewhere else (`assay restore --sha256`), or a checkpoint that left the host is checked against the log.
"""

from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.errors import StoreError

MOST_BYTES: Final = 4_000_000
"""A manifest of more bytes is not read: a log takes about 200."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LogOfCopy(_Value):
    """The head of one tenant's log in a copy."""

    tenant: str
    origin: str
    size: int = Field(ge=0)
    """Its entries."""
    root: str = Field(pattern="^[0-9a-f]{64}$")
    """The root of its hash tree, in hexadecimal digits."""


class Manifest(_Value):
    """What a backup is."""

    format: Literal["assay.backup/1"] = "assay.backup/1"
    file: str
    """The name of the backup, without its folder."""
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """Of its bytes."""
    bytes: int = Field(ge=0)
    revision: str
    """The last migration of its tables."""
    assay: str
    """The version of assay that made it."""
    created: str
    """When, in UTC."""
    verified: bool
    """Whether its integrity and its logs were verified when it was made."""
    logs: tuple[LogOfCopy, ...] = ()


def manifest_path(backup: Path) -> Path:
    """Where the manifest of a backup is.

    >>> manifest_path(Path("daily/assay.db")).name
    'assay.db.json'
    """
    return backup.with_name(f"{backup.name}.json")


def read_manifest(backup: Path) -> Manifest | None:
    """The manifest of a backup; none where there is no file.

    Raises:
        StoreError: there is one that cannot be read as one.
    """
    path = manifest_path(backup)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        return Manifest.model_validate_json(content[:MOST_BYTES])
    except (ValidationError, RecursionError) as error:
        raise StoreError(f"expected the manifest of a backup in {path}, and it cannot be read as one") from error
