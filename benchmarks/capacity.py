"""What a check costs by its length, for planning: processor time, memory, and bytes of the record.

    python -m benchmarks.capacity                # a few minutes
    python -m benchmarks.capacity --runs 3 --json

Texts are made here and are new each time, so that no cache helps. Told is the time of the processor over all threads
(`time.process_time`), which other programs on the machine change little, and the time on the clock, which they change
as much as they like. A check is recorded in a SQLite file as a server does it; what the file grows by is told for each.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from assay.config import Guard
from assay.policy import preset
from assay.schema import Evidence
from assay.store.db import Store
from assay.store.records import CheckRecord

LENGTHS = ((1, 1), (3, 3), (6, 5), (12, 10), (24, 20), (48, 40))
"""Claims of an answer, and passages of 200 words beside it."""
PASSAGE_WORDS = 200
_NAMES = ("warehouse", "laboratory", "harbour", "workshop", "archive", "garden", "station", "library")
_FILLER = (
    "The staff keep a record of every delivery and compare it with the order before it is stored.",
    "Visitors sign in at the front desk and are met by the person who invited them.",
    "Repairs are planned for the quiet months so that the daily work is not held up.",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a check of one length costs: medians, but for the memory."""

    claims: int
    passages: int
    characters: int
    """Of answer and evidence."""
    cpu_ms: float
    """Time of the processor, over all threads."""
    wall_ms: float
    """Time on the clock."""
    record_ms: float
    """Time on the clock for recording it, with the commit on disk."""
    record_bytes: int
    """What the database grows by."""
    peak_mb: int
    """The most memory that the process had so far."""

    @property
    def per_core_hour(self) -> int:
        """Checks that one core does in an hour, if it does nothing else."""
        return int(3_600_000 / self.cpu_ms)


def sample(number: int, claims: int, passages: int) -> tuple[str, list[Evidence]]:
    """An answer with so many claims, each of which some passage bears out, and the passages.

    >>> answer, evidence = sample(3, 12, 4)
    >>> answer.count("."), [len(one.text.split()) for one in evidence]
    (12, [200, 200, 200, 200])
    """
    facts = [
        f"The {_NAMES[i % len(_NAMES)]} {number}{i} has {number % 90 + 10 * i + 3} rooms and opened in {1900 + i}."
        for i in range(claims)
    ]
    evidence = []
    for place in range(passages):
        words = f"Passage {number}-{place}. {' '.join(facts[place::passages])}".split()
        while len(words) < PASSAGE_WORDS:
            words += _FILLER[len(words) % len(_FILLER)].split()
        evidence.append(Evidence(id=f"p{place}", text=" ".join(words[:PASSAGE_WORDS])))
    return " ".join(facts), evidence


def measure(guard: Guard, folder: Path, claims: int, passages: int, runs: int) -> Cost:
    """The cost of checks of one length."""
    cpu, wall, record, characters = [], [], [], 0
    policy = preset("general")
    with Store(str(folder / f"{claims}-{passages}.db")) as store:
        store.record(CheckRecord(guard.check("It is open."), {"answer": "It is open."}, (), policy))
        before = _bytes(store)
        for number in range(runs):
            answer, evidence = sample(1000 * claims + number, claims, passages)
            characters = len(answer) + sum(len(one.text) for one in evidence)
            begun, used = time.perf_counter(), time.process_time()
            report = guard.check(answer, evidence)
            cpu.append(time.process_time() - used)
            wall.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            store.record(CheckRecord(report, {"answer": answer}, tuple(evidence), policy))
            record.append(time.perf_counter() - begun)
        grown = (_bytes(store) - before) // runs
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(
        claims,
        passages,
        characters,
        round(1000 * median(cpu), 1),
        round(1000 * median(wall), 1),
        round(1000 * median(record), 1),
        grown,
        peak // (1024 if sys.platform == "linux" else 1024**2),
    )


def _bytes(store: Store) -> int:
    with store.engine.connect() as connection:
        pages, size, free = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("page_count", "page_size", "freelist_count")
        )
    return int((pages - free) * size)


def table(costs: list[Cost]) -> list[str]:
    """The costs as a table in Markdown."""
    names = (
        "claims",
        "passages",
        "characters",
        "CPU ms",
        "clock ms",
        "checks per core and hour",
        "record ms",
        "record KB",
        "memory MB",
    )
    return [
        f"| {' | '.join(names)} |",
        "|---" * len(names) + "|",
        *(
            f"| {c.claims} | {c.passages} | {c.characters:,} | {c.cpu_ms:,.0f} | {c.wall_ms:,.0f} | "
            f"{c.per_core_hour:,} | {c.record_ms:,.0f} | {c.record_bytes / 1000:,.0f} | {c.peak_mb:,} |"
            for c in costs
        ),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=9, help="runs behind each median")
    parser.add_argument("--json", action="store_true", help="write the figures as JSON")
    asked = parser.parse_args()
    guard = Guard("general")
    guard.check(*sample(0, 2, 2))
    costs = []
    with tempfile.TemporaryDirectory(prefix="assay-capacity-") as folder:
        for claims, passages in LENGTHS:
            costs.append(measure(guard, Path(folder), claims, passages, max(1, asked.runs)))
            sys.stderr.write(f"{claims} claims, {passages} passages: done\n")
    print(json.dumps([asdict(cost) for cost in costs], indent=2) if asked.json else "\n".join(table(costs)))


if __name__ == "__main__":
    main()
