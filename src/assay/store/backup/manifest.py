"""The manifest next to a backup: its digest, the version of its tables, and the head of each log in it.

Anyone who can write the backup can write the manifest too: it reveals damage and mix-ups, not malice. Against malice,
keep the digest somewhere else (`assay restore --sha256`), or check a checkpoint that left the host against the log.
"""

from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.errors import StoreError

MOST_BYTES: Final = 4_000_000
"""The most bytes of a manifest that are read; each log takes about 200."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LogOfCopy(_Value):
    """The head of one tenant's log in a backup."""

    tenant: str
    origin: str
    size: int = Field(ge=0)
    """The number of its entries."""
    root: str = Field(pattern="^[0-9a-f]{64}$")
    """The root of its hash tree, in hexadecimal digits."""


class Manifest(_Value):
    """The description of a backup."""

    format: Literal["assay.backup/1"] = "assay.backup/1"
    file: str
    """The file name of the backup, without its folder."""
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """The digest of the file."""
    bytes: int = Field(ge=0)
    revision: str
    """The newest migration that was applied to its tables."""
    assay: str
    """The version of assay that made it."""
    created: str
    """When it was made, in UTC."""
    verified: bool
    """Whether its integrity and its logs were verified when it was made."""
    logs: tuple[LogOfCopy, ...] = ()


def manifest_path(backup: Path) -> Path:
    """The path of the manifest of a backup.

    >>> manifest_path(Path("daily/assay.db")).name
    'assay.db.json'
    """
    return backup.with_name(f"{backup.name}.json")


def read_manifest(backup: Path) -> Manifest | None:
    """The manifest of a backup; None if there is no such file.

    Raises:
        StoreError: the file cannot be read as a manifest.
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
