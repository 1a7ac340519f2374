"""How the time of a pure function grows with its input, for tests of hostile text.

Speed itself is measured in `benchmarks/`. What is tested is that the time does not grow with the square of the text,
which a regular expression that backtracks makes it do: on four times the text that is sixteen times the time, whatever
the machine.
"""

import gc
import time
from collections.abc import Callable


def least_time(call: Callable[[], object]) -> float:
    """Seconds of processor time of the quickest of three calls, without collections of garbage.

    With all tests in one process a collection takes more than a second, and other work on the machine only ever adds.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        taken = []
        for _ in range(3):
            begun = time.process_time()
            call()
            taken.append(time.process_time() - begun)
        return min(taken)
    finally:
        if enabled:
            gc.enable()


def assert_linear(prepare: Callable[[str], Callable[[], object]], piece: str, *, size: int = 25_000) -> None:
    """Asserts that a call on four times the text takes less than ten times as long.

    Args:
        prepare: takes the text and returns the call whose time counts.
        piece: what the text repeats.
        size: characters of the shorter text.
    """

    def spent(characters: int) -> float:
        return least_time(prepare((piece * (characters // len(piece) + 1))[:characters]))

    assert spent(4 * size) < 10 * spent(size) + 0.5
