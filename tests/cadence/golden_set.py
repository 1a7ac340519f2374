"""A golden set, guards that agree with it or do not, and a process that checks it until it is killed:
`python -m tests.cadence.golden_set URL ROWS SECONDS_A_ROW`."""

import json
import sys
import time
from pathlib import Path

from assay.config import Guard
from assay.monitor import GoldenSet
from assay.server.cadence.golden import run_golden
from assay.store.db import Store
from assay.testing import FakeScorer

SLOT = 1_772_000_000_000_000


def write_rows(path: Path, count: int) -> Path:
    """Rows of which every other one says what its evidence does not."""
    rows = [
        {
            "id": f"r{number}",
            "evidence": [{"id": "e", "text": f"The warranty of model {number} covers 2 years."}],
            "answer": f"The warranty of model {number} covers {2 if number % 2 == 0 else 7} years.",
            "label": "supported" if number % 2 == 0 else "contradicted",
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def guard_of(policy: str = "general") -> Guard:
    return Guard(policy, scorer=FakeScorer(), environ={})


def main(url: str, rows: str, pause: float) -> None:
    """Checks the set, a row every so many seconds, and says which one it has begun."""
    guard = guard_of()

    def runs(work):  # type: ignore[no-untyped-def]
        print("row", flush=True)
        time.sleep(pause)
        return work()

    with Store(url) as store:
        run_golden(store, GoldenSet(Path(rows)), guard, SLOT, runs=runs)
    print("complete", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
