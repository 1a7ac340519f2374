"""The manifest of a model directory: its files with their digests, and where the model comes from.

`manifest.json` holds `name`, `version`, `files` (name to SHA-256), `labels`, `base`, `licence` and `training`. The
embedded network always has one; other model directories need not have one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from assay.errors import ModelError

MANIFEST = "manifest.json"
EMBEDDED = Path(__file__).parent / "weights"
"""The directory of the network that ships with the package."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of `manifest.json`."""

    name: str
    version: str
    files: Mapping[str, str]
    """File name to SHA-256 in hexadecimal."""
    labels: tuple[str, ...] = ()
    base: str = ""
    """The model that training started from."""
    licence: str = ""
    training: Mapping[str, object] = field(default_factory=dict)
    """The settings and figures of the training run."""


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal.

    Raises:
        ModelError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(
            f"{path}: expected a readable model file, got {error.strerror}; restore the directory"
        ) from error


def read_json(path: Path) -> dict[str, object]:
    """A JSON object from a file.

    Raises:
        ModelError: the file is missing, is no JSON, or holds no object.
    """
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelError(
            f"{path}: expected a readable file, got {error.strerror}; restore the model directory"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: expected JSON, got {error}; restore the file") from error
    if not isinstance(value, dict):
        raise ModelError(f"{path}: expected a JSON object, got {type(value).__name__}; restore the file")
    return value


def read_manifest(directory: Path, name: str = MANIFEST) -> Manifest | None:
    """The manifest of a model directory, none where there is no such file.

    Args:
        directory: the model directory.
        name: the manifest's file name.

    Raises:
        ModelError: the manifest cannot be read or lacks a name, a version or the files.
    """
    path = directory / name
    if not path.exists():
        return None
    raw = read_json(path)
    files, training, labels = raw.get("files"), raw.get("training", {}), raw.get("labels", [])
    if not (
        isinstance(files, dict)
        and files
        and all(isinstance(k, str) and isinstance(v, str) for k, v in files.items())
        and isinstance(raw.get("name"), str)
        and isinstance(raw.get("version"), str)
        and isinstance(training, dict)
        and isinstance(labels, list)
    ):
        raise ModelError(f"{path}: expected name, version and files (name to SHA-256); write the manifest again")
    return Manifest(
        name=str(raw["name"]),
        version=str(raw["version"]),
        files=files,
        labels=tuple(map(str, labels)),
        base=str(raw.get("base", "")),
        licence=str(raw.get("licence", "")),
        training=training,
    )


def write_manifest(directory: Path, manifest: Manifest) -> Manifest:
    """Write `manifest.json` with the present digests of the files that `manifest.files` names.

    Raises:
        ModelError: a file is missing.
    """
    complete = replace(manifest, files={name: sha256_of(directory / name) for name in sorted(manifest.files)})
    text = json.dumps(asdict(complete), indent=2, ensure_ascii=False)
    (directory / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return complete


def verify_files(directory: Path, files: Iterable[Path], manifest: Manifest | None) -> str:
    """Hash the files that a model is loaded from, compare them with the manifest, and return one digest of them all.

    The digest is the SHA-256 over the sorted lines `name:sha256`. Every file that is loaded has to be in the manifest,
    and every file of the manifest has to be there.

    Raises:
        ModelError: a file is missing, altered, or not listed in the manifest.
    """
    digests = {path.relative_to(directory).as_posix(): sha256_of(path) for path in files if path.exists()}
    if manifest is not None:
        for name, expected in manifest.files.items():
            found = digests.get(name) or sha256_of(directory / name)
            if found != expected.lower():
                raise ModelError(
                    f"{directory / name}: its SHA-256 is {found[:16]}..., the manifest says {expected[:16]}...; "
                    f"the file was altered or cut short: install the package again, or export the model again"
                )
        unlisted = sorted(set(digests) - set(manifest.files))
        if unlisted:
            raise ModelError(f"{directory / MANIFEST}: does not list {', '.join(unlisted)}; write the manifest again")
    lines = "\n".join(f"{name}:{digest}" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()
