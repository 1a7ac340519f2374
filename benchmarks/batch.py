"""What a batch costs: rows a second by engine and workers, memory, and what random kills change.

    python -m benchmarks.batch speed --rows 4000
    python -m benchmarks.batch memory --rows 200000
    python -m benchmarks.batch kills --rows 1000 --kills 100
    python -m benchmarks.batch engines --rows 4000          (needs the extra `ray`)

Rows are made by a seed: a sentence of one to three claims beside one passage, right or with a wrong value. Speed is
that from the first part to the last, since the start weighs as much as some hundred rows; one worker has one processor,
two have two. Memory is that of the driver and of its largest worker, over the course of a run.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

UNITS = ("weeks", "days", "hours", "euros", "pages", "seats", "litres", "metres")
THINGS = ("leave", "notice", "training", "the deposit", "the manual", "the hall", "the tank", "the fence")
PARTITION = 50
"""Rows of a partition."""
WHO = ("Partners", "Students", "Members", "Guests", "Tenants", "Suppliers", "Nurses", "Drivers")


def rows(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Rows whose answers are right or have one wrong value."""
    rng = random.Random(seed)
    for number in range(count):
        facts = [(who, rng.randint(2, 90), rng.randrange(len(UNITS))) for who in rng.sample(WHO, 3)]
        passage = " ".join(f"{who} are entitled to {n} {UNITS[u]} of {THINGS[u]}." for who, n, u in facts)
        told = facts[: rng.randint(1, 3)]
        wrong = rng.random() < 0.5
        said = [(who, n + (wrong and place == 0), u) for place, (who, n, u) in enumerate(told)]
        answer = " ".join(f"{who} get {n} {UNITS[u]} of {THINGS[u]}." for who, n, u in said)
        label = "contradicted" if wrong else "supported"
        yield {"id": number, "evidence": [passage], "answer": answer, "label": label}


def write(path: Path, count: int, seed: int = 1) -> Path:
    """A file of rows."""
    with path.open("w", encoding="utf-8") as stream:
        for one in rows(count, seed):
            stream.write(json.dumps(one) + "\n")
    return path


def command(source: Path, out: Path, workers: int, *more: str) -> list[str]:
    """The command that is measured."""
    options = [
        "--out",
        str(out),
        "--workers",
        str(workers),
        "--partition-rows",
        str(PARTITION),
        "--format",
        "json",
        *more,
    ]
    return [sys.executable, "-m", "assay", "batch", str(source), *options]


def started(source: Path, out: Path, workers: int, *more: str, on: Sequence[int] = ()) -> "subprocess.Popen[bytes]":
    """A run that was begun, on these processors alone where some are named."""
    words = command(source, out, workers, *more)
    if on:
        words = ["taskset", "--cpu-list", ",".join(str(one) for one in on), *words]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ended(run: "subprocess.Popen[bytes]") -> None:
    """Waits for a run.

    Raises:
        SystemExit: it failed.
    """
    if run.wait() != 0:
        raise SystemExit(f"a run ended with status {run.returncode}")


def timed(source: Path, out: Path, workers: int, *more: str, on: Sequence[int] = ()) -> float:
    """Seconds of a run."""
    begun = time.monotonic()
    ended(started(source, out, workers, *more, on=on))
    return time.monotonic() - begun


def steady(out: Path) -> float:
    """Rows a second of a run from its first part to its last: without the start and the end."""
    times = sorted(path.stat().st_mtime for path in (out / "parts").glob("*.parquet"))
    return PARTITION * (len(times) - 1) / max(1e-9, times[-1] - times[0])


def contents(out: Path) -> dict[str, bytes]:
    """The bytes of all parts."""
    return {path.name: path.read_bytes() for path in sorted((out / "parts").glob("*.parquet"))}


def speed(folder: Path, count: int) -> None:
    """Rows a second of one worker on one processor, of two on two, and of two runs side by side with one each: what the
    machine gives to two that share nothing. In turns, the best of two."""
    source = write(folder / "rows.jsonl", count)
    processors = sorted(os.sched_getaffinity(0))[:2]
    if len(processors) < 2:
        raise SystemExit("two processors are needed")
    rates: dict[str, list[float]] = {"one": [], "two": [], "apart": []}
    whole: dict[str, list[float]] = {"one": [], "two": []}
    for turn in range(2):
        for name, workers in (("one", 1), ("two", 2)):
            out = folder / f"{name}-{turn}"
            whole[name].append(timed(source, out, workers, on=processors[:workers]))
            rates[name].append(steady(out))
        apart = [folder / f"apart-{turn}-{one}" for one in processors]
        for run in [started(source, out, 1, on=[one]) for one, out in zip(processors, apart, strict=True)]:
            ended(run)
        rates["apart"].append(sum(steady(out) for out in apart))
    best = {name: max(found) for name, found in rates.items()}
    print(f"rows a second without start and end: {', '.join(f'{name} {rate:.1f}' for name, rate in best.items())}")
    print(f"seconds of the whole command: one {min(whole['one']):.1f}, two {min(whole['two']):.1f}")
    print(
        f"two workers to one: {best['two'] / best['one']:.2f}; two runs apart to one: {best['apart'] / best['one']:.2f}"
    )
    print(f"same bytes: {contents(folder / 'one-0') == contents(folder / 'two-1')}")


def engines(folder: Path, count: int) -> None:
    """Ray beside processes, in turns."""
    source = write(folder / "rows.jsonl", count)
    taken: dict[str, list[float]] = {"local": [], "ray": []}
    for turn in range(2):
        for name, times in taken.items():
            times.append(timed(source, folder / f"{name}-{turn}", 2, "--engine", name))
    best = {name: min(times) for name, times in taken.items()}
    rates = {name: max(steady(folder / f"{name}-{turn}") for turn in range(2)) for name in taken}
    print(", ".join(f"{name}: {seconds:.1f} s" for name, seconds in best.items()))
    print(f"rows a second without start and end: local {rates['local']:.1f}, ray {rates['ray']:.1f}")
    same = contents(folder / "ray-0") == contents(folder / "local-0")
    print(f"ray to local: {best['ray'] / best['local']:.3f}; same bytes: {same}")


def resident(pid: int) -> int:
    """Kilobytes of a process in memory, 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def memory(folder: Path, count: int) -> None:
    """The memory of the driver and of its largest worker over rows that are quickly judged: in the first tenth of the
    time after the first part, and at the most."""
    source = folder / "rows.jsonl"
    with source.open("w", encoding="utf-8") as stream:
        for number in range(count):
            stream.write(json.dumps({"id": number, "evidence": [], "answer": "Thank you very much!"}) + "\n")
    out = folder / "out"
    with subprocess.Popen(command(source, out, 2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        seen: list[tuple[int, int]] = []
        begun = time.monotonic()
        while driver.poll() is None:
            if any((out / "parts").glob("*.parquet")):  # what is loaded before is loaded once
                largest = max((resident(one) for one in below(driver.pid)), default=0)
                seen.append((resident(driver.pid), largest))
            time.sleep(0.5)
    done = json.loads((out / "summary.json").read_text())["rows"]
    taken = time.monotonic() - begun
    print(f"{done:,} rows in {taken:.0f} s")
    for name, sizes in zip(("driver", "largest worker"), zip(*seen, strict=True), strict=True):
        early, most = max(sizes[: max(1, len(sizes) // 10)]), max(sizes)
        print(f"{name}: {early / 1024:.0f} MB in the first tenth of the time, {most / 1024:.0f} MB at most")


def below(pid: int) -> list[int]:
    """All processes below one."""
    try:
        direct = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []
    return [*direct, *(one for child in direct for one in below(child))]


def kill(pid: int) -> None:
    """Ends a process at once."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def kills(folder: Path, count: int, wanted: int) -> None:
    """Kills workers, and each tenth time the driver, until as many as wanted have died; then lets it end."""
    source, rng, killed = write(folder / "rows.jsonl", count), random.Random(3), {"worker": 0, "driver": 0}
    timed(source, folder / "calm", 2)
    again = command(source, folder / "wild", 2)
    while sum(killed.values()) < wanted:
        with subprocess.Popen(again, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
            while driver.poll() is None and sum(killed.values()) < wanted:
                time.sleep(rng.uniform(0.5, 3.0))
                workers = below(driver.pid)[2:]
                if rng.random() < 0.1:
                    kill(driver.pid)
                    killed["driver"] += 1
                elif workers:
                    kill(rng.choice(workers))
                    killed["worker"] += 1
            if driver.poll() is None:
                kill(driver.pid)
        if (folder / "wild" / "manifest.json").exists() and sum(killed.values()) < wanted:
            print(f"all rows were done after {killed}; give more --rows")
            break
    timed(source, folder / "wild", 2)
    told = json.loads((folder / "wild" / "summary.json").read_text())
    same = contents(folder / "wild") == contents(folder / "calm")
    print(f"killed {killed}; {told['rows']:,} rows, {told['rejected']} rejected; bytes as without kills: {same}")


def main() -> None:
    """Read arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "memory", "kills", "engines"))
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.what == "kills":
            kills(folder, given.rows, given.kills)
        else:
            {"speed": speed, "memory": memory, "engines": engines}[given.what](folder, given.rows)


if __name__ == "__main__":
    main()
