"""The networks that ship with the package, by name: `default`, and others in folders of their own beside it.

A further network is a folder `weights/NAME` with the same files and a manifest; nothing else has to be written down.
Its scores are its own: thresholds and the combination are fitted for `default`, and reports name what judged.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from assay.errors import ModelError
from assay.models.manifest import EMBEDDED, MANIFEST

DEFAULT: Final = "default"
"""The network that judges where nothing else is asked for."""
_NAME: Final = re.compile("[a-z][a-z0-9-]{0,31}")


def embedded_names(weights: Path | None = None) -> tuple[str, ...]:
    """The names of the networks that are there, the default one first.

    Args:
        weights: the folder that they lie in; that of the package by default.
    """
    folder = EMBEDDED if weights is None else weights
    beside = sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST}") if _NAME.fullmatch(path.parent.name))
    return (DEFAULT, *(name for name in beside if name != DEFAULT))


def embedded_directory(name: str = DEFAULT, weights: Path | None = None) -> Path:
    """The folder of a network that ships with the package.

    Args:
        name: what it is called.
        weights: the folder that they lie in; that of the package by default.

    Raises:
        ModelError: no network is called so, or its manifest is missing.
    """
    folder = EMBEDDED if weights is None else weights
    if name not in embedded_names(folder):
        known = ", ".join(embedded_names(folder))
        raise ModelError(f"expected the name of a network that ships with the package ({known}), got {name!r}")
    found = folder if name == DEFAULT else folder / name
    if not (found / MANIFEST).exists():
        raise ModelError(f"{found / MANIFEST}: missing; install the package again, its weights are not complete")
    return found


def embedded_name(chosen: str | Path, weights: Path | None = None) -> str | None:
    """The network of the package that somebody asks for by name; none where a folder is meant.

    Args:
        chosen: a name or a folder.
        weights: the folder that the package's networks lie in.

    Raises:
        ModelError: it is the name of a network and of a folder in the working directory: which one judges must not
            depend on where a program was started.
    """
    name = str(chosen)
    if name not in embedded_names(weights):
        return None
    if Path(name).exists():
        raise ModelError(
            f"{name!r} is a network of the package, and there is a folder of that name here; "
            f"give the folder's whole path ({str(Path(name).resolve())!r}) or start the program elsewhere"
        )
    return name
