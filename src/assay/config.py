"""Reads the environment and `assay.yaml`; nothing below this layer does."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.errors import PolicyError
from assay.policy import PRESETS, Policy, parse_policy, preset

DEFAULT_POLICY = "general"
"""The preset where nothing names another."""
MAX_BYTES = 400_000
"""The largest policy file read; `assay.policy.parse` bounds its characters further."""

_SUFFIXES = {".yaml", ".yml"}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says."""

    config: Path | None = None
    """`ASSAY_CONFIG`: the policy file to use where a caller names none."""


def read_settings(environ: Mapping[str, str]) -> Settings:
    """The settings in an environment such as `os.environ`; an empty variable counts as absent.

    >>> read_settings({"ASSAY_CONFIG": "team.yaml"}).config.name
    'team.yaml'
    """
    config = environ.get("ASSAY_CONFIG", "").strip()
    return Settings(config=Path(config) if config else None)


def read_policy(name_or_path: str | Path | None, environ: Mapping[str, str]) -> Policy:
    """The policy that a caller names: a preset, or a file in the form of `assay.yaml`.

    A text is a preset's name unless it ends in `.yaml` or `.yml` or has a directory in it; a `Path` is always a file.
    None is the file that `ASSAY_CONFIG` names, else the preset `general`. A file in the working directory counts only
    if it is named: a gate must not grow laxer because of where it was started.

    Raises:
        PolicyError: no preset is called so, the file cannot be read, or what it says is wrong; see `parse_policy`.
    """
    if name_or_path is None:
        config = read_settings(environ).config
        return PRESETS[DEFAULT_POLICY] if config is None else _read_file(config, "named by ASSAY_CONFIG ")
    if isinstance(name_or_path, Path):
        return _read_file(name_or_path)
    if _is_path(name_or_path):
        return _read_file(Path(name_or_path))
    return preset(name_or_path)


def _is_path(text: str) -> bool:
    return text not in PRESETS and (Path(text).suffix.lower() in _SUFFIXES or Path(text).name != text)


def _read_file(path: Path, origin: str = "") -> Policy:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        # ValueError: not UTF-8, or a null character in the path.
        why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else _why(error)
        raise PolicyError(f"expected a policy file {origin}at {str(path)!r}, but {why}") from error
    if len(content) > MAX_BYTES:
        raise PolicyError(f"expected a policy file of at most {MAX_BYTES:,} bytes at {str(path)!r}, got a larger one")
    return parse_policy(text, str(path))


def _why(error: OSError | ValueError) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"it cannot be read: {reason}"
