"""Reads the section `monitor` of `assay.yaml`."""

from collections.abc import Mapping
from pathlib import Path

from assay.config import monitor_file, read_section
from assay.errors import InputError, PolicyError
from assay.monitor import MonitorSettings, monitor_settings


def read_monitor(policy: object, environ: Mapping[str, str]) -> MonitorSettings | None:
    """The settings of the monitor in a policy's file, or else in the file that `ASSAY_CONFIG` names; none without.

    Args:
        policy: a preset, or a policy file.
        environ: the environment.

    Raises:
        PolicyError: the file cannot be read, or its section is invalid.
    """
    path = monitor_file(policy, environ)
    return None if path is None else monitor_of(path)


def monitor_of(path: Path) -> MonitorSettings:
    """The settings of the monitor in a file that has such a section.

    Raises:
        PolicyError: the file cannot be read, or its section is invalid.
    """
    try:
        return monitor_settings(read_section(path, "monitor"), path.resolve().parent)
    except InputError as error:
        raise PolicyError(f"{path}: monitor: {error}") from error
