"""A grammar fuzz of the wire formats: does an official SDK ever show what was not checked?

    python -m benchmarks.wire_fuzz [--messages 100000] [--format NAME]... [--from SEED]

Each message is made from a seed of its own (`tests.wire.wire_grammar`), passed through the gate, and looked at in every
way that the SDK of its format offers (`tests.wire.sdk_eyes`). Printed for each format: messages, how many passed, and
each message in which the two differ, with the seed that makes it again. Exit status 1 where one does.
"""

import argparse
import sys
import time
import warnings
from random import Random

from tests.wire.test_wire_fuzz import WIRES, difference, passed_on
from tests.wire.wire_grammar import message_of


def main() -> int:
    """Tries as many messages of each format as were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000, help="messages of each format")
    parser.add_argument("--format", choices=sorted(WIRES), action="append", help="a format; all by default")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first seed")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # what the SDKs think of values of other types
    status = 0
    for kind in asked.format or sorted(WIRES):
        begun, passed, wrong = time.monotonic(), 0, 0
        for seed in range(asked.first, asked.first + asked.messages):
            sent = message_of(Random(f"{kind}/{seed}"), kind)
            found = difference(sent)
            if found is not None:
                wrong, status = wrong + 1, 1
                print(f"{kind}/{seed} ({', '.join(sent.done)}): {found}", flush=True)
            passed += seed % 20 == 0 and passed_on(sent)[2]
        share = 20 * passed / max(1, asked.messages)
        spent = time.monotonic() - begun
        print(f"{kind}: {asked.messages} messages, {share:.0%} passed, {wrong} differ, {spent:.0f} s", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
