"""Writers that are killed at random moments, and what is left of what they promised.

The harness of the crash test: a few kills in the suite, a thousand by `python -m benchmarks.audit crash`. A writer is a
process of its own with several threads; it tells each id that the store has acknowledged, and is killed with SIGKILL
while it works. Then the database is opened again, as a service would, and looked at.
"""

import os
import random
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select
from tests.store.making import KEYS, RING, record_of

from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db.store import Store, read_check
from assay.store.db.tables import reports, run_evidence, runs

THREADS = 4
ID_BYTES = 33
MOST_ACKNOWLEDGED = 12
MOST_SECONDS = 0.03
TENANTS = ("acme", "globex")


@dataclass(slots=True)
class Crashes:
    """What came of the kills."""

    kills: int = 0
    acknowledged: int = 0
    stored: int = 0
    problems: list[str] = field(default_factory=list)


def write_until_killed(url: str, acknowledge: int, seed: int) -> None:
    """What a writer does: it never returns by itself."""
    store = Store(url)
    os.write(acknowledge, b"." * ID_BYTES)

    def work(number: int) -> None:
        draw = random.Random(seed * 100 + number)
        while True:
            output = f"Answer {draw.random()} " * draw.randrange(1, 40)
            record = record_of(output, tenant=draw.choice(TENANTS))
            store.record(record)
            # At most 512 bytes: written whole or not at all.
            os.write(acknowledge, record.id.encode() + b"\n")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def one_life(url: str, draw: random.Random) -> list[str]:
    """A writer from its start to its death; the ids that it acknowledged."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # the writer
        try:
            os.close(reader)
            write_until_killed(url, writer, draw.randrange(10**9))
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        first = pipe.read(ID_BYTES)
        # A random number of acknowledgements and a random while later, so that a slow machine tests as much.
        said = pipe.read(ID_BYTES * draw.randrange(MOST_ACKNOWLEDGED))
        time.sleep(draw.random() ** 2 * MOST_SECONDS)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        said += pipe.read()
    if not first or not os.WIFSIGNALED(status):
        raise AssertionError(f"the writer ended by itself with status {status}")
    return [line.decode() for line in said.split(b"\n") if len(line) == ID_BYTES - 1]


def crash(url: str, kills: int, seed: int) -> Crashes:
    """Kill a writer so many times over one database, and look at it each time."""
    draw, found = random.Random(seed), Crashes()
    acknowledged: list[str] = []
    for number in range(kills):
        fresh = one_life(url, draw)
        acknowledged += fresh
        found.kills += 1
        with Store(url) as store:
            found.problems += [f"kill {number}: {one}" for one in _problems(store, fresh, sign=number % 3 == 0)]
    with Store(url) as store:
        found.problems += _missing(store, acknowledged)
        for tenant in TENANTS:
            with store.reading_across() as connection:
                if connection.execute(select(func.count()).select_from(runs).where(runs.c.tenant == tenant)).scalar():
                    whole = verify_contents(connection, tenant, verify_log(connection, tenant, RING))
                    found.problems += [f"in the end: {one.message}" for one in whole.findings]
                    found.stored += whole.runs
    found.acknowledged = len(acknowledged)
    return found


def _problems(store: Store, fresh: Sequence[str], *, sign: bool) -> list[str]:
    problems = _missing(store, fresh)
    with store.reading_across() as connection:
        counts = [connection.execute(select(func.count(table.c.tenant))).scalar() for table in (runs, reports)]
        halves = connection.execute(
            select(func.count()).select_from(select(run_evidence.c.run).group_by(run_evidence.c.run).subquery())
        ).scalar()
        present = set(connection.execute(select(runs.c.tenant).distinct()).scalars())
        entries = 0
        for tenant in present:
            found = verify_log(connection, tenant, RING)
            entries += found.size
            problems += [one.message for one in found.findings]
    if not counts[0] == counts[1] == halves == entries:
        problems.append(
            f"half-written: {counts[0]} runs, {counts[1]} reports, {halves} with evidence, {entries} entries"
        )
    if sign:
        for tenant in present:
            make_checkpoint(store, KEYS, tenant)
    return problems


def _missing(store: Store, ids: Sequence[str]) -> list[str]:
    """Acknowledged records that cannot be read whole, or that the log does not know."""
    problems = []
    with store.reading_across() as connection:
        for id_ in ids:
            found = [check for tenant in TENANTS if (check := read_check(connection, tenant, id_)) is not None]
            if len(found) != 1 or found[0].report is None or any(item is None for _, _, item in found[0].evidence):
                problems.append(f"the acknowledged record {id_} is lost or half-written")
    return problems
