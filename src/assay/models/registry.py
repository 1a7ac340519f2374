"""The networks that ship with the package, by name: `default`, and others in folders of their own beside it.

A further network is a folder `weights/NAME` with the same files and a manifest; it needs no other registration.
Thresholds and the combination of scores are fitted for `default` only; reports name the network that judged.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from assay.errors import ModelError
from assay.models.manifest import EMBEDDED, MANIFEST

DEFAULT: Final = "default"
"""The network that is used where none is named."""
_NAME: Final = re.compile("[a-z][a-z0-9-]{0,31}")


def embedded_names(weights: Path | None = None) -> tuple[str, ...]:
    """The names of the networks in the package, the default one first.

    Args:
        weights: the folder of the networks; that of the package by default.
    """
    folder = EMBEDDED if weights is None else weights
    beside = sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST}") if _NAME.fullmatch(path.parent.name))
    return (DEFAULT, *(name for name in beside if name != DEFAULT))


def embedded_directory(name: str = DEFAULT, weights: Path | None = None) -> Path:
    """The folder of a network that ships with the package.

    Args:
        name: its name, one of `embedded_names`.
        weights: the folder of the networks; that of the package by default.

    Raises:
        ModelError: no network has that name, or its manifest is missing.
    """
    folder = EMBEDDED if weights is None else weights
    if name not in embedded_names(folder):
        known = ", ".join(embedded_names(folder))
        raise ModelError(f"expected the name of a network that ships with the package ({known}), got {name!r}")
    directory = folder if name == DEFAULT else folder / name
    if not (directory / MANIFEST).exists():
        raise ModelError(f"{directory / MANIFEST}: missing; install the package again, its weights are not complete")
    return directory


def embedded_name(chosen: str | Path, weights: Path | None = None) -> str | None:
    """The network of the package that `chosen` names; none where `chosen` is a folder.

    Args:
        chosen: a name or a folder.
        weights: the folder of the networks; that of the package by default.

    Raises:
        ModelError: both a network and a folder in the working directory have that name; which of them judges must
            not depend on where a program was started.
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
