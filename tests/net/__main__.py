"""The net: whether assay still decides, says and offers what it did. Its page is docs/net.md.

    python -m tests.net freeze [--parts surface,fake,network]
    python -m tests.net compare [--parts surface,fake] [--allow-words] [--only PATTERN]
    python -m tests.net show NAME [--against CHECKOUT]

Exit status: 0 nothing differs, 1 something does, 2 it could not be compared, which is never taken for the former.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.net.frozen import (
    FROZEN,
    PARTS,
    Difference,
    Head,
    Part,
    differences,
    lines_of,
    part_of,
    read,
    result_of,
    write,
)

SAME, DIFFERENT, UNDECIDED = 0, 1, 2
_SHOWN = 40
"""Differences that are listed; the rest is counted."""


def freeze(parts: Sequence[Part], path: Path) -> int:
    """Write the digests of what is; parts that are not named stay as they were frozen."""
    kept = []
    if set(parts) != set(PARTS) and path.exists():
        head, before = read(path)
        if "network" not in parts and head.weights != Head.here().weights:
            print(f"the network was frozen with other weights ({head.weights}); freeze the part network too")
            return UNDECIDED
        kept = [line for line in before.values() if part_of(line.id) not in parts]
    begun = time.process_time()
    made = [line for part in parts for line in lines_of(part)]
    write(path, Head.here(), [*kept, *made])
    print(
        f"frozen: {len(made)} of {', '.join(parts)}, {len(kept)} kept, {path.stat().st_size:,} bytes, "
        f"{time.process_time() - begun:.0f} s of processor time"
    )
    return SAME


def compare(parts: Sequence[Part], path: Path, *, allow_words: bool, only: str) -> int:
    """Print what differs from the frozen digests."""
    try:
        head, frozen = read(path)
    except ValueError as error:
        print(error)
        return UNDECIDED
    here = Head.here()
    if "network" in parts and (unlike := _unlike(head, here)):
        print(unlike)
        return UNDECIDED
    found: list[Difference] = []
    for part in parts:
        begun = time.process_time()
        of_part = {name: line for name, line in frozen.items() if part_of(name) == part and fnmatchcase(name, only)}
        now = list(lines_of(part, only))
        found += differences(of_part, now, same_machine=head.machine == here.machine)
        print(f"{part}: {len(now)} compared, {time.process_time() - begun:.0f} s of processor time")
    _print_causes(head, here, parts)
    return _told(found, allow_words)


def _unlike(head: Head, here: Head) -> str:
    """Why the network's digests say nothing here; empty where they do."""
    for what, before, now in (
        ("weights", head.weights, here.weights),
        ("combination", head.combination, here.combination),
    ):
        if before != now:
            return (
                f"not compared: the digests were frozen with the {what} {before}, here are {now}; "
                f"freeze anew, or compare --parts surface,fake"
            )
    return ""


def _print_causes(head: Head, here: Head, parts: Sequence[Part]) -> None:
    """Name what the file was made with and is otherwise here: causes to think of before the code."""
    if head.combination != here.combination:
        print("  the coefficients of the combination are others than when the digests were frozen")
    for name, before in head.libraries.items():
        if here.libraries.get(name) != before:
            print(f"  {name} was {before}, is {here.libraries.get(name)}")
    if "network" in parts and head.machine != here.machine:
        print(f"  frozen on {head.machine}, here {here.machine}: of the network only clear decisions are compared")


def _told(found: Sequence[Difference], allow_words: bool) -> int:
    counts = Counter(one.what for one in found)
    for one in found[:_SHOWN]:
        print(f"  {one.what:8} {one.id}")
    if len(found) > _SHOWN:
        print(f"  ... and {len(found) - _SHOWN} more")
    if not found:
        print("nothing differs")
        return SAME
    print("differences:", ", ".join(f"{what} {count}" for what, count in sorted(counts.items())))
    print("  python -m tests.net show NAME --against CHECKOUT prints one of them beside another version")
    return SAME if allow_words and set(counts) == {"words"} else DIFFERENT


def show(name: str, against: Path | None) -> int:
    """Print what stands behind a name, or how that differs from another checkout."""
    try:
        here = _text(result_of(name))
    except KeyError:
        print(f"nothing is called {name!r}; compare prints the names")
        return UNDECIDED
    if against is None:
        sys.stdout.write(here)
        return SAME
    try:
        there = _of_checkout(name, against.resolve())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{against}: could not be asked for {name!r}: {getattr(error, 'stderr', None) or error}")
        return UNDECIDED
    lines = list(difflib.unified_diff(there.splitlines(True), here.splitlines(True), str(against), "here", n=2))
    sys.stdout.writelines(lines)
    return DIFFERENT if lines else SAME


def _text(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _of_checkout(name: str, other: Path) -> str:
    """The same name in another checkout: by its own net where it has one, else by this one over its package.

    Raises:
        OSError: there is no such checkout.
        CalledProcessError: it cannot say.
    """
    if not (other / "src/assay").is_dir():
        raise NotADirectoryError(f"expected a checkout with src/assay, got {other}")
    root = other if (other / "tests/net/__main__.py").exists() else Path(__file__).resolve().parents[2]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(other / "src"), str(root)])}
    command = [sys.executable, "-m", "tests.net", "show", name]
    done = subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=True)
    return done.stdout


def _parts(text: str) -> tuple[Part, ...]:
    asked = text.split(",")
    if unknown := set(asked) - set(PARTS):
        raise argparse.ArgumentTypeError(f"expected some of {','.join(PARTS)}, got {','.join(sorted(unknown))}")
    return tuple(part for part in PARTS if part in asked)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments and do one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    freezing, comparing = verbs.add_parser("freeze"), verbs.add_parser("compare")
    for verb, parts in ((freezing, PARTS), (comparing, PARTS)):
        verb.add_argument("--parts", type=_parts, default=parts, metavar="PART,...", help="surface, fake, network")
        verb.add_argument("--file", type=Path, default=FROZEN, help="the frozen file")
    comparing.add_argument("--allow-words", action="store_true", help="other prose alone ends with status 0")
    comparing.add_argument("--only", default="*", metavar="PATTERN", help="names such as 'document:*'")
    showing = verbs.add_parser("show")
    showing.add_argument("name")
    showing.add_argument("--against", type=Path, metavar="CHECKOUT")
    given = parser.parse_args(arguments)
    if given.verb == "freeze":
        return freeze(given.parts, given.file)
    if given.verb == "compare":
        return compare(given.parts, given.file, allow_words=given.allow_words, only=given.only)
    return show(given.name, given.against)


if __name__ == "__main__":
    sys.exit(main())
