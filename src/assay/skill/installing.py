"""Installs the skill: copies its folder to where a client looks for skills, and registers its hook."""

import json
import shutil
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.evaluation.rows import write_file

NAME: Final = "hallucination-monitor"
"""The name of the skill and of its folder."""
CLIENTS: Final[Mapping[str, str]] = {"claude": ".claude", "codex": ".codex", "agents": ".agents"}
"""By client, the folder of a project or home in which it looks for `skills/`."""
COMMAND: Final = "assay skill hook"
"""The command of the hook."""
_TIMEOUT_S: Final = 120


def install(client: str, root: Path, *, hook: bool = False, replace: bool = False) -> list[Path]:
    """Copies the folder of the skill, and on request registers the Stop hook of Claude Code.

    Args:
        client: one of `CLIENTS`.
        root: the project's folder, or the home of its user.
        hook: whether to add the hook to `settings.json`; everything else in it stays.
        replace: whether to replace a folder that is there already; its `config.yaml` stays.

    Returns:
        The files that were written.

    Raises:
        InputError: the client is unknown or has no such hook, the folder is there already, or `settings.json` cannot be
            read.
    """
    if client not in CLIENTS:
        raise InputError(f"the client is {client!r}; expected one of {', '.join(CLIENTS)}")
    if hook and client != "claude":
        raise InputError(f"the hook is one of Claude Code; {client} reads the skill without it")
    base = root / CLIENTS[client]
    _stays_inside(base, root)
    settings = _with_hook(base / "settings.json") if hook else None  # read before anything is written
    folder = base / "skills" / NAME
    if folder.exists() and not replace:
        raise InputError(
            f"{folder}: is there already; --replace puts this version in its place and keeps its config.yaml"
        )
    kept = (folder / "config.yaml").read_bytes() if (folder / "config.yaml").is_file() else None
    try:
        with as_file(files("assay.skill").joinpath("files", NAME)) as source:
            shutil.copytree(source, folder, dirs_exist_ok=True)
        if kept is not None:
            (folder / "config.yaml").write_bytes(kept)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    written = sorted(one for one in folder.rglob("*") if one.is_file())
    if settings is not None:
        write_file(base / "settings.json", json.dumps(settings, indent=2, ensure_ascii=False) + "\n")
        written.append(base / "settings.json")
    return written


def _stays_inside(base: Path, root: Path) -> None:
    """Refuses to write through a symbolic link: the project may be a repository that is not to be trusted.

    Raises:
        InputError: a file would be written outside of `root`, or through a link.
    """
    folder, inside = base / "skills" / NAME, root.resolve()
    for path in (base, folder.parent, folder, *folder.rglob("*")):
        if not path.resolve().is_relative_to(inside) or (path.is_symlink() and path.is_file()):
            raise InputError(f"{path}: is a link, and what is written there would land elsewhere; remove it first")


def _with_hook(path: Path) -> dict[str, Any]:
    """The settings of the client with the hook under `Stop`; unchanged where it is there already."""
    settings = _read(path)
    stops = settings.setdefault("hooks", {})
    if not isinstance(stops, dict) or not isinstance(stops.setdefault("Stop", []), list):
        raise InputError(f"{path}: hooks is not what Claude Code writes; expected an object of lists")
    groups = stops["Stop"]
    if COMMAND not in json.dumps(groups):
        groups.append({"hooks": [{"type": "command", "command": COMMAND, "timeout": _TIMEOUT_S}]})
    return settings


def _read(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read: {error}; mend it first, so that nothing in it is lost") from error
    if not isinstance(settings, dict):
        raise InputError(f"{path}: expected a JSON object")
    return settings
