"""A grammar fuzz of the wire formats: does an official SDK ever show what was not checked?

    python -m benchmarks.wire_fuzz [--messages 100000] [--format NAME]... [--from SEED]

Each message is made from a seed of its own (`tests.wire.wire_grammar`), passed through the gate, and looked at in every
way that the SDK of its format offers (`tests.wire.sdk_eyes`). Behind a third of the texts that pass, the gate has its
reader told something, which then belongs to what may be seen. The formats take turns, block by block, so that a run
that is ended early has tried as many of each. Printed for each block and format: messages so far, how many passed, and
each message in which the two differ, with the seed that makes it again. Exit status 1 where one does.
"""

import argparse
import sys
import time
import warnings
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.wire.test_wire_fuzz import WIRES, difference, passed_on
from tests.wire.wire_grammar import message_of

BLOCK: Final = 1_000
"""Messages of a format before the next one has its turn."""


@dataclass(slots=True)
class Tried:
    """What was tried of one format."""

    messages: int = 0
    looked: int = 0
    """How many of them were looked at for whether they pass: each twentieth."""
    passed: int = 0
    wrong: int = 0
    cpu: float = 0.0

    def add(self, kind: str, seeds: range) -> None:
        """Tries these messages, and prints those in which the two differ."""
        begun = time.process_time()
        for seed in seeds:
            sent = message_of(Random(f"{kind}/{seed}"), kind)
            found = difference(sent)
            if found is not None:
                self.wrong += 1
                print(f"{kind}/{seed} ({', '.join(sent.done)}): {found}", flush=True)
            if seed % 20 == 0:
                self.looked += 1
                self.passed += passed_on(sent)[2]
        self.messages += len(seeds)
        self.cpu += time.process_time() - begun

    def line(self, kind: str) -> str:
        """What came of it."""
        share = self.passed / max(1, self.looked)
        return f"{kind}: {self.messages:,} messages, {share:.0%} passed, {self.wrong} differ, {self.cpu:.0f} CPU s"


def main() -> int:
    """Tries as many messages of each format as were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000, help="messages of each format")
    parser.add_argument("--format", choices=sorted(WIRES), action="append", help="a format; all by default")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first seed")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # what the SDKs think of values of other types
    tried = {kind: Tried() for kind in asked.format or sorted(WIRES)}
    end = asked.first + asked.messages
    for start in range(asked.first, end, BLOCK):
        for kind, found in tried.items():
            found.add(kind, range(start, min(end, start + BLOCK)))
            print(found.line(kind), flush=True)
    return 1 if any(found.wrong for found in tried.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
