"""The schedules of the red team, read from the section `redteam` of `assay.yaml`: what is run when against what."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final

from assay.config import MAX_BYTES
from assay.errors import InputError, PolicyError
from assay.monitor import When, read_when
from assay.policy import parse_part
from assay.redteam.cases import Category

SECTION: Final = "redteam"
APPROVED: Final = "approved"
"""The name, as a suite, of the cases that people approved in the database."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
_PLAN: Final = ("every", "cron")


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule: runs of one suite against one target.

    Raises:
        InputError: a value is invalid.
    """

    name: str
    """Lower-case letters, digits, dots, dashes and underscores: it names runs and alerts."""
    when: When
    suite: str
    """A file, or `approved` for the cases that people approved in the database."""
    target: str
    """In the form of `--target` of `assay redteam run`."""
    tenant: str = "default"
    target_model: str | None = None
    target_version: str | None = None
    categories: tuple[str, ...] = ()
    """The categories that are run; all where there are none."""
    concurrency: int = 4
    rate: float | None = None
    """The most calls that begin in a second."""
    most_calls: int | None = None
    most_seconds: float | None = None
    most_tokens: int | None = None
    """The most tokens of requests and answers of one run."""
    most_cost: float | None = None
    """The most that one run may cost, in the currency of the prices."""
    price_in: float | None = None
    """The price of a million tokens of requests."""
    price_out: float | None = None
    """The price of a million tokens of answers."""
    timeout: float = 60.0
    """The most seconds of one answer."""
    reruns: int = 0
    delta: float = 0.01
    """The drop of a score that is tolerated."""
    alpha: float = 0.05
    """The allowed probability of a false alarm of one run."""
    since: str | None = None
    """A day: earlier runs are not used as a baseline."""
    propose: bool = False
    """Whether failed cases are proposed for the approved suite."""
    budget: float = 0.0
    """The part of the error budget that each failed case spends, in wrong outputs."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(
                f"expected the name of a schedule: lower-case letters, digits and ._-, got {ascii(self.name)[:60]}"
            )
        unknown = sorted(set(self.categories) - {one.value for one in Category})
        if unknown:
            raise InputError(f"{self.name}: expected categories among {', '.join(Category)}; got {', '.join(unknown)}")
        limits = (self.rate, self.most_calls, self.most_seconds, self.most_tokens, self.most_cost)
        positive = (*limits, self.timeout, self.concurrency)
        if any(one is not None and not one > 0 for one in positive) or not 0 <= self.reruns <= 20:
            raise InputError(f"{self.name}: expected limits above 0 and at most 20 reruns")
        prices = (self.price_in, self.price_out)
        if any(one is not None and not (isfinite(one) and one >= 0) for one in prices):
            raise InputError(f"{self.name}: expected prices that are finite and not below 0")
        if self.most_cost is not None and None in prices:
            raise InputError(f"{self.name}: most_cost needs both prices of a million tokens: price_in and price_out")
        if not 0 <= self.delta < 1 or not 0 < self.alpha < 1 or not 0 <= self.budget <= 1:
            raise InputError(f"{self.name}: expected delta in [0, 1), alpha in (0, 1) and budget in [0, 1]")
        _ = self.begins

    @property
    def begins(self) -> int:
        """The moment from which runs are used as a baseline, in microseconds since 1970.

        Raises:
            InputError: `since` is not a day.
        """
        if self.since is None:
            return 0
        try:
            day = datetime.fromisoformat(self.since).replace(tzinfo=UTC)
        except ValueError as error:
            raise InputError(f"{self.name}: expected since as a day such as 2026-03-01, got {self.since!r}") from error
        return int(day.timestamp() * 1_000_000)


def read_schedules(path: Path | None) -> tuple[Schedule, ...]:
    """Reads the schedules from a file in the form of `assay.yaml`; none without a file, or where it has none.

    Paths of suites, and those in targets (`python:FILE.py:FUNCTION`, `file:TARGET.yaml`), are relative to its folder.

    Raises:
        PolicyError: it cannot be read, or has another form.
        InputError: a schedule is invalid.
    """
    if path is None:
        return ()
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise PolicyError(f"expected a file of settings at {str(path)!r}, but it cannot be read: {error}") from error
    if len(data) > MAX_BYTES:
        raise PolicyError(f"expected a file of at most {MAX_BYTES:,} bytes at {str(path)!r}, got a larger one")
    part = parse_part(text, str(path), SECTION)
    if part is None:
        return ()
    try:
        return schedules_of(part.value, path.resolve().parent)
    except InputError as error:
        raise InputError(f"{path}: {SECTION}: {error}") from error


def schedules_of(given: object, folder: Path) -> tuple[Schedule, ...]:
    """Reads schedules from a mapping with the list `schedules`.

    Raises:
        InputError: it is not such a mapping, a schedule is invalid, or two schedules of a tenant have the same name.
    """
    entries = given["schedules"] if isinstance(given, Mapping) and set(given) == {"schedules"} else None
    if not isinstance(entries, list | tuple):
        raise InputError("expected a mapping with the list `schedules`")
    schedules = tuple(_schedule(one, folder) for one in entries)
    names = [(one.tenant, one.name) for one in schedules]
    if len(set(names)) < len(names):
        raise InputError("expected a name of its own for each schedule of a tenant")
    return schedules


def _schedule(entry: object, folder: Path) -> Schedule:
    if not isinstance(entry, Mapping):
        raise InputError(f"expected a schedule as a mapping, got {type(entry).__name__}")
    known = {one.name for one in fields(Schedule)} - {"when"} | set(_PLAN)
    unknown = sorted(map(str, set(entry) - known))
    if unknown:
        raise InputError(f"expected settings among {', '.join(sorted(known))}; got {', '.join(unknown)[:200]}")
    missing = sorted({"name", "suite", "target"} - set(entry))
    if missing or len(set(entry) & set(_PLAN)) != 1:
        raise InputError("expected name, suite, target, and one of every and cron")
    values: dict[str, Any] = {name: value for name, value in entry.items() if name not in _PLAN}
    name = str(values["name"])
    values["when"] = read_when({"every": entry["every"]} if "every" in entry else entry["cron"], name)
    optional = {one.name for one in fields(Schedule) if one.default is None}
    for setting, types in _TYPES.items():
        if setting not in values or (values[setting] is None and setting in optional):
            continue
        value = values[setting]
        if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
            raise InputError(f"{name}: {setting} is not of the kind that it should be: {ascii(value)[:60]}")
    categories = values.get("categories", ())
    if not isinstance(categories, list | tuple) or not all(isinstance(one, str) for one in categories):
        raise InputError(f"{name}: expected a list of categories")
    values["categories"] = tuple(categories)
    if values["suite"] != APPROVED:
        values["suite"] = str(folder / values["suite"])
    values["target"] = _in_folder(folder, values["target"])
    return Schedule(**values)


def _in_folder(folder: Path, target: str) -> str:
    """A target with its path, if it has one, relative to a folder.

    >>> _in_folder(Path("/srv"), "python:bot.py:answer"), _in_folder(Path("/srv"), "file:/etc/desk.yaml")
    ('python:/srv/bot.py:answer', 'file:/etc/desk.yaml')
    >>> _in_folder(Path("/srv"), "python:bot:answer"), _in_folder(Path("/srv"), "http://bot:8080/v1")
    ('python:bot:answer', 'http://bot:8080/v1')
    """
    kind, _, rest = target.partition(":")
    if kind == "file":
        return f"file:{folder / rest}"
    module, _, name = rest.rpartition(":")
    if kind in {"python", "langchain"} and module.endswith(".py"):
        return f"{kind}:{folder / module}:{name}"
    return target


_TYPES: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("name", "suite", "target", "tenant", "target_model", "target_version", "since"), str),
    **dict.fromkeys(("concurrency", "most_calls", "most_tokens", "reruns"), int),
    **dict.fromkeys(("rate", "most_seconds", "timeout", "delta", "alpha", "budget"), (int, float)),
    **dict.fromkeys(("most_cost", "price_in", "price_out"), (int, float)),
    "propose": bool,
}
