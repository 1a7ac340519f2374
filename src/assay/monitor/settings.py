"""The settings of a monitor, read from a mapping such as a YAML file contains."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from assay.errors import InputError
from assay.monitor.budget import BudgetSettings
from assay.monitor.cadences import Cadences, read_cadences
from assay.monitor.charts import WatchSettings
from assay.monitor.observations import DIMENSIONS
from assay.monitor.sampling import Sampling
from assay.monitor.sections import mapping_of, require_known, section_of
from assay.stats.drift import AfterAlarm, BurnRule

_HERE: Final = Path()


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """All settings of a monitor."""

    watch: WatchSettings = field(default_factory=WatchSettings)
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
    sections = mapping_of(given, "the settings")
    require_known(sections, set(SECTIONS), "sections")
    watch, budget = dict(mapping_of(sections.get("watch"), "watch")), dict(mapping_of(sections.get("budget"), "budget"))
    if "metrics" in watch:
        watch["metrics"] = {str(name): _dimensions(of) for name, of in mapping_of(watch["metrics"], "metrics").items()}
    if "after" in watch:
        if watch["after"] not in list(AfterAlarm):
            raise InputError(f"expected after: {' or '.join(AfterAlarm)}, got {ascii(watch['after'])[:40]}")
        watch["after"] = AfterAlarm(watch["after"])
    if "rules" in budget:
        if not isinstance(budget["rules"], list | tuple):
            raise InputError("expected a list of rules of burn rates")
        budget["rules"] = tuple(section_of(BurnRule, mapping_of(one, "a rule"), "a rule") for one in budget["rules"])
    sampling = sections.get("sampling")
    return MonitorSettings(
        section_of(WatchSettings, watch, "watch"),
        None if sampling is None else section_of(Sampling, mapping_of(sampling, "sampling"), "sampling"),
        section_of(BudgetSettings, budget, "budget"),
        read_cadences(sections.get("schedule"), sections.get("judge"), sections.get("golden"), folder),
    )


def _dimensions(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value or not set(value) <= set(DIMENSIONS):
        raise InputError(f"expected a list of dimensions among {', '.join(DIMENSIONS)}, got {ascii(value)[:100]}")
    return tuple(str(one) for one in value)
