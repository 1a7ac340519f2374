"""The frozen file: one line for each case with its digests, and what differs from it."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal

from tests.net import rooms
from tests.net.cases import cases, network_cases
from tests.net.material import Case, short_digest
from tests.net.perform import Performer, decision, form, stands_clear, steady
from tests.net.surface import surface

FROZEN: Final = Path(__file__).with_name("frozen.jsonl")
Part = Literal["surface", "fake", "network"]
PARTS: Final[tuple[Part, ...]] = ("surface", "fake", "network")
NETWORK: Final = "network "
"""What the name of a case begins with that was put to the shipped network."""
_LIBRARIES: Final = ("pydantic", "fastapi", "typer", "click", "nupunkt", "numpy", "jsonschema-rs", "onnxruntime")


@dataclass(frozen=True, slots=True)
class Line:
    """The digests of one case."""

    id: str
    all: str
    """Of everything that came of it, prose included."""
    form: str
    """Of what a program reads, without prose."""
    input: str = ""
    """Of what was put in; empty where nothing is."""
    decision: str = ""
    """With the shipped network: of the decision that holds on every processor, empty where a score is near to a
    threshold."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the frozen digests were made with."""

    weights: str
    combination: str
    machine: str
    """The processor, as far as the arithmetic of the network hangs on it."""
    libraries: Mapping[str, str]

    @classmethod
    def here(cls) -> Head:
        """What this process would freeze with."""
        return cls(rooms.weights_digest(), rooms.combination_digest(), _machine(), _libraries())


@dataclass(frozen=True, slots=True)
class Difference:
    """One case that is not as it was."""

    id: str
    what: Literal["gone", "new", "input", "words", "form", "decision"]
    """`gone` and `new` cases; another `input`; other `words` alone; another `form`; on another processor another
    `decision`."""


def _machine() -> str:
    """The processor's model and the instructions that int8 kernels choose by, with the version of what runs them.

    ONNX Runtime picks its kernels by these instructions, and their sums differ: the same network gives scores that are
    some hundredths apart on a processor without VNNI.
    """
    flags: set[str] = set()
    info = Path("/proc/cpuinfo")
    if info.exists():
        line = next((one for one in info.read_text().splitlines() if one.startswith(("flags", "Features"))), "")
        flags = {
            flag
            for flag in line.split()
            if flag in {"avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm"}
        }
    return " ".join([platform.machine(), *sorted(flags), f"onnxruntime {_version('onnxruntime')}"])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _libraries() -> dict[str, str]:
    return {"python": ".".join(platform.python_version_tuple()[:2]), **{name: _version(name) for name in _LIBRARIES}}


def surface_lines() -> Iterator[Line]:
    """The digests of the surface."""
    for name, value in surface():
        yield Line(name, short_digest(steady(value)), short_digest(form(steady(value))))


def case_lines(chosen: Iterable[Case], performer: Performer, *, network: bool = False) -> Iterator[Line]:
    """The digests of cases; with the network also that of the decision."""
    for case in chosen:
        result = steady(performer.perform(case))
        name = NETWORK + case.id if network else case.id
        clear = network and stands_clear(result, case.policy)
        told = short_digest(decision(result)) if clear else ""
        yield Line(name, short_digest(result), short_digest(form(result)), case.digest, told)


def lines_of(part: Part, only: str = "*") -> Iterator[Line]:
    """The lines of a part whose names match a pattern as of a shell."""
    if part == "surface":
        yield from (line for line in surface_lines() if fnmatchcase(line.id, only))
    elif part == "fake":
        yield from case_lines((case for case in cases() if fnmatchcase(case.id, only)), Performer(rooms.fake_scorer()))
    else:
        chosen = (case for case in network_cases() if fnmatchcase(NETWORK + case.id, only))
        yield from case_lines(chosen, Performer(), network=True)


def part_of(name: str) -> Part:
    """Which part a line belongs to, by its name."""
    kind = name.split(":", 1)[0]
    if name.startswith(NETWORK):
        return "network"
    return "surface" if kind in {"schema", "openapi", "help", "name"} or _is_preset(name) else "fake"


def _is_preset(name: str) -> bool:
    return name.startswith("preset:") and "/" not in name


def write(path: Path, head: Head, lines: Iterable[Line]) -> None:
    """Write the frozen file, sorted by name."""
    sorted_lines = sorted(lines, key=lambda line: line.id)
    told = [{key: value for key, value in asdict(line).items() if value} for line in sorted_lines]
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in ({"head": asdict(head)}, *told))
    path.write_text(text, encoding="utf-8")


def read(path: Path) -> tuple[Head, dict[str, Line]]:
    """The frozen file.

    Raises:
        ValueError: it is not there or cannot be read as one.
    """
    try:
        first, *rest = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        lines = [Line(**one) for one in rest]
        return Head(**first["head"]), {line.id: line for line in lines}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path}: expected a frozen file; make one with freeze ({error})") from error


def differences(frozen: Mapping[str, Line], now: Iterable[Line], *, same_machine: bool = True) -> Iterator[Difference]:
    """What is not as it was frozen, of the parts that `now` was made of.

    Args:
        frozen: the frozen lines of just these parts.
        now: the lines made now.
        same_machine: whether the shipped network computes as it did when the file was frozen; if not, of its cases
            only the decision counts, and only where no score was near to a threshold.
    """
    seen = set()
    for line in now:
        seen.add(line.id)
        before = frozen.get(line.id)
        if before is None:
            yield Difference(line.id, "new")
        elif (what := _difference(before, line, same_machine)) is not None:
            yield Difference(line.id, what)
    yield from (Difference(name, "gone") for name in frozen if name not in seen)


def _difference(before: Line, now: Line, same_machine: bool) -> Literal["input", "words", "form", "decision"] | None:
    if before.input != now.input:
        return "input"
    if now.id.startswith(NETWORK) and not same_machine:
        both = before.decision and now.decision
        return "decision" if both and before.decision != now.decision else None
    if before.form != now.form:
        return "form"
    return "words" if before.all != now.all else None


def result_of(name: str) -> Any:
    """What stands behind a name now: the given input and what came of it.

    Raises:
        KeyError: nothing is called so.
    """
    if part_of(name) == "surface":
        return dict(surface())[name]
    network = name.startswith(NETWORK)
    case = next((one for one in cases() if one.id == name.removeprefix(NETWORK)), None)
    if case is None:
        raise KeyError(name)
    performer = Performer() if network else Performer(rooms.fake_scorer())
    return {"way": case.way, "policy": case.policy, "given": case.given, "result": steady(performer.perform(case))}
