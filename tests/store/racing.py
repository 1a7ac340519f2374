"""A process that commits receipts through a guard of its own: `python -m tests.store.racing FOLDER HOW`.

The folder holds `ring.json`, `receipts.json` and, once all are to begin, `go`; the database is that of the environment.
The sink appends a line to `sunk` for each call. With the way `kill-before` or `kill-after` the process kills itself
within the sink, before or after it did what it does. Printed is what came of each receipt.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from assay.config import Guard
from assay.errors import CommitError
from assay.testing import FakeScorer

ANSWER = "The warranty covers two years."
READY_S = 60.0
OPENED_S = 8.0
"""By then each process has opened the database."""
APART_S = 0.04


def main(folder: Path, how: str) -> None:
    """Commits each receipt once."""

    def sink(output: str) -> None:
        assert output == ANSWER
        if how == "kill-before":
            os.kill(os.getpid(), signal.SIGKILL)
        # Opened to append: a short line is written whole.
        with (folder / "sunk").open("a") as file:
            file.write(f"{current}\n")
        if how == "kill-after":
            os.kill(os.getpid(), signal.SIGKILL)

    guard = Guard("general", scorer=FakeScorer(), keys=folder / "ring.json")
    receipts = json.loads((folder / "receipts.json").read_text())
    (folder / f"ready-{os.getpid()}").touch()
    ends = time.monotonic() + READY_S
    while not (folder / "go").exists() and time.monotonic() < ends:
        time.sleep(0.001)
    found = []
    begun = (folder / "go").stat().st_mtime
    for current, receipt in enumerate(receipts):
        # All at one moment for each receipt, from the second on: with the first, the tables are made.
        if current and how == "commit":
            time.sleep(max(0.0, begun + OPENED_S + current * APART_S - time.time()))
        try:
            guard.commit(ANSWER, receipt, sink)
            found.append("committed")
        except CommitError as error:
            found.append(",".join(sorted(error.codes)))
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
