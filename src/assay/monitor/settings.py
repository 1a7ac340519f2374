"""The settings of a monitor, read from a mapping such as a YAML file contains."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from assay.errors import InputError
from assay.monitor.budgeting import BudgetSettings
from assay.monitor.cadences import Cadences, read_cadences
from assay.monitor.charts import Watching
from assay.monitor.observations import DIMENSIONS
from assay.monitor.sampling import Sampling
from assay.stats.drift import AfterAlarm, BurnRule

T = TypeVar("T")
_HERE: Final = Path()


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """All settings of a monitor."""

    watch: Watching = field(default_factory=Watching)
    sampling: Sampling | None = None
    """None: every output is observed, which costs nothing since it was checked anyway."""
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    cadences: Cadences = field(default_factory=Cadences)
    """The timed work."""


SECTIONS: Final = frozenset({"watch", "sampling", "budget", "schedule", "judge", "golden"})


def monitor_settings(given: object, folder: Path = _HERE) -> MonitorSettings:
    """Reads settings from a mapping with the sections `watch`, `sampling`, `budget`, `schedule`, `judge` and `golden`.

    Args:
        given: the mapping.
        folder: the folder that relative paths refer to.

    Raises:
        InputError: a section or setting is unknown or invalid.

    >>> monitor_settings({"watch": {"shift": 0.05}, "budget": {"most": 0.1}}).watch.shift
    0.05
    """
    sections = _mapping(given, "the settings")
    _require_known(sections, set(SECTIONS), "sections")
    watch, budget = dict(_mapping(sections.get("watch"), "watch")), dict(_mapping(sections.get("budget"), "budget"))
    if "metrics" in watch:
        watch["metrics"] = {str(name): _dimensions(of) for name, of in _mapping(watch["metrics"], "metrics").items()}
    if "after" in watch:
        if watch["after"] not in list(AfterAlarm):
            raise InputError(f"expected after: {' or '.join(AfterAlarm)}, got {ascii(watch['after'])[:40]}")
        watch["after"] = AfterAlarm(watch["after"])
    if "rules" in budget:
        if not isinstance(budget["rules"], list | tuple):
            raise InputError("expected a list of rules of burn rates")
        budget["rules"] = tuple(_section(BurnRule, _mapping(one, "a rule"), "a rule") for one in budget["rules"])
    sampling = sections.get("sampling")
    return MonitorSettings(
        _section(Watching, watch, "watch"),
        None if sampling is None else _section(Sampling, _mapping(sampling, "sampling"), "sampling"),
        _section(BudgetSettings, budget, "budget"),
        read_cadences(sections.get("schedule"), sections.get("judge"), sections.get("golden"), folder),
    )


def _section(kind: type[T], values: Mapping[str, Any], what: str) -> T:
    _require_known(values, {one.name for one in fields(kind)}, f"settings of {what}")  # type: ignore[arg-type]  # dataclasses all
    try:
        return kind(**values)
    except TypeError as error:
        raise InputError(f"{what}: a setting has a value of another kind than it should have: {error}") from error


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InputError(f"expected {what} to be a mapping of names, got {type(value).__name__}")
    return value


def _require_known(values: Mapping[str, Any], known: set[str], what: str) -> None:
    unknown = sorted(set(values) - known)
    if unknown:
        raise InputError(f"expected {what} among {', '.join(sorted(known))}; got {ascii(', '.join(unknown))[:200]}")


def _dimensions(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value or not set(value) <= set(DIMENSIONS):
        raise InputError(f"expected a list of dimensions among {', '.join(DIMENSIONS)}, got {ascii(value)[:100]}")
    return tuple(str(one) for one in value)
