"""Every way to alter a log, with and without covering it up, and whether it is noticed.

The harness of the tamper test: a few hundred trials in the suite, ten thousand by `python -m benchmarks.audit tamper`.
Each trial alters a database within a transaction, verifies it, and rolls it back.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from pymerkle import InmemoryTree
from sqlalchemy import Connection, delete, insert, select, update
from tests.store.making import KEY, KEYS, OTHER_KEY, RING

from assay.errors import AuditError
from assay.receipt import SigningKey
from assay.store.audit import standalone
from assay.store.audit.export import export_log
from assay.store.audit.log import Entry, read_head
from assay.store.audit.merkle.checkpoint import Checkpoint, read_checkpoint
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.merkle.tiles import Edge
from assay.store.audit.merkle.tree import leaf_hash, root
from assay.store.audit.verification.log import verify_log
from assay.store.db.engine import writing
from assay.store.db.row_security import EVERY_TENANT, set_acting_tenant
from assay.store.db.store import Store
from assay.store.db.tables import audit_checkpoints, audit_entries, audit_logs, audit_tiles
from assay.store.db.writer import Change

TENANT = "default"
TRUSTED = [standalone.Key(None, KEY.public)]

fits_once = lru_cache(maxsize=50_000)(standalone.ed25519_fits)
"""The stand-alone verifier's signatures, each worked out once: the same checkpoints come again in many trials."""


@dataclass(frozen=True, slots=True)
class Tampered:
    """A log to alter, and what is known of it elsewhere."""

    store: Store
    anchor: str
    """An older checkpoint, kept elsewhere."""
    entries: tuple[bytes, ...]


def make_log(folder: Path, size: int) -> Tampered:
    """A log of some size, with checkpoints at three places; the one in the middle is the one kept elsewhere."""
    store = Store(str(folder / "log.db"))
    entries = tuple(f'{{"entry":{number},"kind":"decision","v":1}}'.encode() for number in range(size))
    cuts, notes = (0, size // 4, size // 2, size), []
    for begin, end in pairwise(cuts):
        store.apply(Change(TENANT, entries=[Entry("decision", data) for data in entries[begin:end]]))
        notes.append(make_checkpoint(store, KEYS, TENANT))
    return Tampered(store, notes[1], entries)


# Ways to alter


Alter = Callable[[list[bytes], int, random.Random], None]
"""Alters entries, of which the first so many are those of the checkpoint that is kept elsewhere."""


def bit(entries: list[bytes], kept: int, draw: random.Random) -> None:
    at = draw.randrange(kept)
    data = bytearray(entries[at])
    place = draw.randrange(len(data) * 8)
    data[place // 8] ^= 1 << place % 8
    entries[at] = bytes(data)


def swap(entries: list[bytes], kept: int, draw: random.Random) -> None:
    one = draw.randrange(kept)
    other = draw.choice([at for at in range(len(entries)) if at != one])
    entries[one], entries[other] = entries[other], entries[one]


def remove(entries: list[bytes], kept: int, draw: random.Random) -> None:
    del entries[draw.randrange(kept)]


def add(entries: list[bytes], kept: int, draw: random.Random) -> None:
    at = draw.randrange(kept)
    # A copy of the entry at its own place may leave all that the checkpoint covers as it was.
    entries.insert(at, draw.choice([new for new in (b'{"forged":1}', b"", *entries) if new != entries[at]]))


def cut(entries: list[bytes], kept: int, draw: random.Random) -> None:
    del entries[draw.randrange(kept) :]


ALTERATIONS: dict[str, Alter] = {"bit": bit, "swap": swap, "delete": remove, "insert": add, "truncate": cut}
COVERS = ("none", "tree", "own key", "stolen key")
"""How it is covered up: not at all; the tree is made anew; so are all checkpoints, with a key of the attacker; with the
log's own key."""


@contextmanager
def altered(log: Tampered) -> Iterator[Connection]:
    """A transaction that is rolled back at its end."""
    with writing(log.store.engine).connect() as connection:
        transaction = connection.begin()
        set_acting_tenant(connection, EVERY_TENANT)
        try:
            yield connection
        finally:
            transaction.rollback()


def write_entries(connection: Connection, entries: list[bytes]) -> None:
    """These entries and no others, and a size that says so."""
    connection.execute(delete(audit_entries))
    if entries:
        rows = [
            {"tenant": TENANT, "idx": at, "kind": "decision", "record": None, "data": data}
            for at, data in enumerate(entries)
        ]
        connection.execute(insert(audit_entries), rows)
    connection.execute(update(audit_logs).values(size=len(entries)))


def write_tree(connection: Connection, entries: list[bytes]) -> None:
    """The tree of these entries."""
    connection.execute(delete(audit_tiles))
    tiles = Edge(0, {}).extend([leaf_hash(data) for data in entries])
    if tiles:
        rows = [
            {"tenant": TENANT, "level": level, "idx": index, "hashes": data} for (level, index), data in tiles.items()
        ]
        connection.execute(insert(audit_tiles), rows)


def write_checkpoints(connection: Connection, entries: list[bytes], key: SigningKey) -> None:
    """Checkpoints of these entries, all signed by one key."""
    origin = read_head(connection, TENANT).origin
    connection.execute(delete(audit_checkpoints))
    hashes = [leaf_hash(data) for data in entries]
    for size in sorted({len(entries) // 2, len(entries)}):
        note = Checkpoint(origin, size, root(hashes[:size])).sign([key])
        connection.execute(insert(audit_checkpoints), {"tenant": TENANT, "size": size, "created": 0, "note": note})


def cover(connection: Connection, how: str, entries: list[bytes]) -> None:
    """Cover up that the entries were altered."""
    if how != "none":
        write_tree(connection, entries)
    if how == "own key":
        write_checkpoints(connection, entries, OTHER_KEY)
    elif how == "stolen key":
        write_checkpoints(connection, entries, KEY)


# Trials


@dataclass(slots=True)
class Outcome:
    """What came of trials."""

    trials: Counter[str]
    missed: list[str]
    """Alterations that were not noticed, or on which the verifiers disagree."""


def run_trials(log: Tampered, count: int, seed: int) -> Outcome:
    """So many trials of every kind in turn."""
    draw = random.Random(seed)
    outcome = Outcome(Counter(), [])
    kinds = [*((name, how) for name in ALTERATIONS for how in COVERS), *((name, "") for name in OTHERS)]
    for number in range(count):
        name, how = kinds[number % len(kinds)]
        outcome.trials[f"{name}, {how}".removesuffix(", ")] += 1
        with altered(log) as connection:
            trial = _of_entries(connection, log, name, how, draw) if how else OTHERS[name](connection, log, draw)
        if trial:
            outcome.missed.append(f"trial {number}: {name} {how}: {trial}")
    return outcome


def _of_entries(connection: Connection, log: Tampered, name: str, how: str, draw: random.Random) -> str:
    kept = read_checkpoint(log.anchor).size
    entries = list(log.entries)
    ALTERATIONS[name](entries, kept, draw)
    write_entries(connection, entries)
    cover(connection, how, entries)
    return disagreement(connection, log, rewritten=entries[:kept] != list(log.entries[:kept]))


def disagreement(connection: Connection, log: Tampered, *, rewritten: bool, noticed: bool | None = None) -> str:
    """What is wrong with what the verifiers say; nothing where all is well.

    Args:
        connection: the database as it was altered.
        log: the log as it was.
        rewritten: whether the entries of the older checkpoint were altered.
        noticed: whether our verifier has to notice; as `rewritten` by default.
    """
    found = verify_log(connection, TENANT, RING, [log.anchor])
    if found.holds == (rewritten if noticed is None else noticed):
        return f"our verifier says that it {'holds' if found.holds else 'does not hold'}"
    if independently(connection, log) != rewritten:
        return "pymerkle disagrees"
    if alone(connection, log) != rewritten and noticed is None:
        return "the stand-alone verifier disagrees"
    return ""


def independently(connection: Connection, log: Tampered) -> bool:
    """Whether another implementation of RFC 6962 finds another root than the older checkpoint's."""
    stated = read_checkpoint(log.anchor)
    rows = connection.execute(select(audit_entries.c.data).order_by(audit_entries.c.idx)).scalars().all()
    tree = InmemoryTree(algorithm="sha256")
    tree.append_entries([bytes(data) for data in rows[: stated.size]])
    return bool(tree.get_size() < stated.size or tree.get_root() != stated.root)


def alone(connection: Connection, log: Tampered) -> bool:
    """Whether the stand-alone verifier notices, from a bundle; a log that cannot even be exported is noticed too."""
    original, standalone.ed25519_fits = standalone.ed25519_fits, fits_once
    try:
        standalone.verify_bundle(list(export_log(connection, TENANT)), TRUSTED, [log.anchor])
    except (standalone.VerificationError, AuditError, UnicodeDecodeError):
        return True
    finally:
        standalone.ed25519_fits = original
    return False


def _tile(connection: Connection, log: Tampered, draw: random.Random) -> str:
    rows = connection.execute(select(audit_tiles)).all()
    row = draw.choice(rows)
    data = bytearray(row.hashes)
    place = draw.randrange(len(data) * 8)
    data[place // 8] ^= 1 << place % 8
    here = (audit_tiles.c.level == row.level) & (audit_tiles.c.idx == row.idx)
    connection.execute(update(audit_tiles).where(here).values(hashes=bytes(data)))
    return disagreement(connection, log, rewritten=False, noticed=True)


def _note(connection: Connection, log: Tampered, draw: random.Random) -> str:
    rows = connection.execute(select(audit_checkpoints)).all()
    row = draw.choice(rows)
    note = row.note.encode()
    while True:
        data, place = bytearray(note), draw.randrange(len(note) * 8)
        data[place // 8] ^= 1 << place % 8
        try:
            text = data.decode()
            break
        except UnicodeDecodeError:
            continue
    connection.execute(update(audit_checkpoints).where(audit_checkpoints.c.size == row.size).values(note=text))
    return disagreement(connection, log, rewritten=False, noticed=True)


def _rollback(connection: Connection, log: Tampered, draw: random.Random) -> str:
    """An older copy, just as it was then: everything in it holds."""
    kept = read_checkpoint(log.anchor).size
    entries = list(log.entries[: draw.randrange(kept)])
    write_entries(connection, entries)
    write_tree(connection, entries)
    connection.execute(delete(audit_checkpoints).where(audit_checkpoints.c.size > len(entries)))
    return disagreement(connection, log, rewritten=True)


def _other_key(connection: Connection, log: Tampered, draw: random.Random) -> str:
    """The same history under checkpoints that another key signed."""
    write_checkpoints(connection, list(log.entries), OTHER_KEY)
    found = verify_log(connection, TENANT, RING, [log.anchor])
    return "" if not found.holds and alone(connection, log) else "another key went through"


def _other_log(connection: Connection, log: Tampered, draw: random.Random) -> str:
    """The same entries under another name, signed with the log's own key."""
    connection.execute(update(audit_logs).values(origin=f"example.com/{draw.random()}"))
    write_checkpoints(connection, list(log.entries), KEY)
    found = verify_log(connection, TENANT, RING, [log.anchor])
    return "" if not found.holds and alone(connection, log) else "another log went through"


def _size(connection: Connection, log: Tampered, draw: random.Random) -> str:
    """A size that is not that of the entries."""
    size = draw.choice([at for at in range(len(log.entries) + 50) if at != len(log.entries)])
    connection.execute(update(audit_logs).values(size=size))
    return disagreement(connection, log, rewritten=False, noticed=True)


OTHERS: dict[str, Callable[[Connection, Tampered, random.Random], str]] = {
    "bit of a tile": _tile,
    "bit of a checkpoint": _note,
    "older copy": _rollback,
    "key": _other_key,
    "name": _other_log,
    "size": _size,
}


def bundle_trials(log: Tampered, count: int, seed: int) -> Outcome:
    """Bundles whose bytes are altered: the stand-alone verifier has to refuse each."""
    draw, outcome = random.Random(seed), Outcome(Counter(), [])
    with log.store.reading_across() as connection:
        lines = list(export_log(connection, TENANT))
    original, standalone.ed25519_fits = standalone.ed25519_fits, fits_once
    try:
        for number in range(count):
            name, changed = _altered_bundle(lines, draw)
            outcome.trials[f"bundle: {name}"] += 1
            try:
                standalone.verify_bundle(changed, TRUSTED, [log.anchor])
            except (standalone.VerificationError, UnicodeDecodeError):
                continue
            outcome.missed.append(f"bundle {number}: {name} went through")
    finally:
        standalone.ed25519_fits = original
    return outcome


def _altered_bundle(lines: list[str], draw: random.Random) -> tuple[str, list[str]]:
    name = draw.choice(["bit", "swap", "delete", "insert", "truncate"])
    at = draw.randrange(1, len(lines))
    if name == "bit":
        data = bytearray("".join(lines).encode())
        place = draw.randrange(len(data) * 8)
        data[place // 8] ^= 1 << place % 8
        return name, data.decode(errors="replace").splitlines(keepends=True)
    if name == "swap":
        other = draw.choice([one for one in range(1, len(lines)) if one != at])
        changed = lines.copy()
        changed[at], changed[other] = lines[other], lines[at]
        return name, changed
    if name == "delete":
        return name, lines[:at] + lines[at + 1 :]
    if name == "insert":
        return name, [*lines[:at], draw.choice(lines[1:]), *lines[at:]]
    return name, lines[:at]
