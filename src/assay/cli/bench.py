"""`assay bench`: the speed of the core on this machine, on generated text, without further packages.

Caches cannot help, because every run has its own numbers in claims and evidence. Comparisons and targets are in the
project's benchmarks.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from assay.cli.check import open_guard
from assay.schema import Evidence

if TYPE_CHECKING:
    from assay.guard import Guard

CLAIMS: Final = 6
"""The claims of a typical answer."""
PASSAGES: Final = 5
"""The passages of its evidence."""
PASSAGE_WORDS: Final = 200
"""The words of each passage."""

_SUBJECTS: Final = ("warehouse", "laboratory", "harbour", "workshop", "archive", "garden", "station", "library")
_FILLER: Final = (
    "The staff keep a record of every delivery and compare it with the order before it is stored.",
    "Visitors sign in at the front desk and are met by the person who invited them.",
    "Repairs are planned for the quiet months so that the daily work is not held up.",
    "A short report is sent to the board at the end of each quarter.",
)


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table."""

    name: str
    value: float
    unit: str
    runs: int


def run_bench(runs: int) -> list[Measure]:
    """Measures the start of the process, then single checks, then many claims; each figure is the median of its runs.

    Raises:
        AssayError: the shipped network cannot be used.
    """
    measures = [_import_time(max(3, runs // 3)), _first_check_time()]
    guard = open_guard(None, None)
    guard.check(*sample(0))
    measures.append(
        _timed("typical answer: 6 claims, 5 passages of 200 words", runs, lambda n: guard.check(*sample(n)))
    )
    measures.append(_exact_tier_time(runs))
    measures.append(_throughput(guard, runs))
    measures.append(Measure("memory of this process, highest", _peak_megabytes(), "MB", 1))
    return measures


def sample(number: int) -> tuple[str, list[Evidence]]:
    """A typical answer and its evidence, different for every number.

    >>> answer, evidence = sample(3)
    >>> answer.count("."), len(evidence), len(evidence[0].text.split())
    (6, 5, 200)
    """
    subjects = enumerate(_SUBJECTS[:CLAIMS])
    facts = [f"The {name} {number} has {number + 10 * i + 3} rooms and opened in {1900 + i}." for i, name in subjects]
    evidence: list[Evidence] = []
    for index in range(PASSAGES):
        words = f"Passage {number}-{index}. {facts[index]} ".split()
        while len(words) < PASSAGE_WORDS:
            words += _FILLER[len(words) % len(_FILLER)].split()
        evidence.append(Evidence(id=f"p{index}", text=" ".join(words[:PASSAGE_WORDS])))
    return " ".join(facts), evidence


def _timed(name: str, runs: int, work: Callable[[int], object], *, first: int = 1) -> Measure:
    times = []
    for number in range(first, first + runs):
        started = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - started)
    return Measure(name, 1000 * median(times), "ms", runs)


def _python(code: str) -> float:
    """The seconds that a fresh interpreter takes to run some code."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 our own interpreter and code
    return time.perf_counter() - started


def _import_time(runs: int) -> Measure:
    """The time of `import assay`, less that of an interpreter that does nothing."""
    interpreter = median(_python("pass") for _ in range(runs))
    full = median(_python("import assay") for _ in range(runs))
    return Measure("import assay", 1000 * max(full - interpreter, 0.0), "ms", runs)


def _first_check_time() -> Measure:
    code = "import assay; assay.check('Partners get 4 weeks.', evidence=['Partners are entitled to 2 weeks.'])"
    return Measure("process start to first report", 1000 * _python(code), "ms", 1)


def _exact_tier_time(runs: int) -> Measure:
    """The exact tier on the claims of the typical answer, with its evidence already indexed."""
    from assay.verify.exact import check_exact, index_evidence

    answer, evidence = sample(0)
    index = index_evidence(evidence)
    claims = [sentence.strip() + "." for sentence in answer.split(".") if sentence.strip()]
    return _timed(
        "exact tier: its 6 claims", runs, lambda _: [check_exact(claim, index, question=None) for claim in claims]
    )


def _throughput(guard: "Guard", runs: int) -> Measure:
    """The claims per second when many are judged together."""
    rows: list[tuple[str, list[Evidence], str | None]] = []
    for number in range(1000, 1000 + runs):
        answer, evidence = sample(number)
        rows.extend((sentence.strip() + ".", evidence, None) for sentence in answer.split(".") if sentence.strip())
    started = time.perf_counter()
    guard.judge_claims(rows)
    return Measure("many claims at once", len(rows) / (time.perf_counter() - started), "claims/s", len(rows))


def _peak_megabytes() -> float:
    """The highest resident size of this process; 0 where the system does not report it."""
    try:
        import resource
    except ImportError:
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def table(measures: list[Measure]) -> Iterator[str]:
    """The measures as lines of a plain table."""
    width = max(len(measure.name) for measure in measures)
    yield f"{'':<{width}} {'median':>10}           runs"
    for measure in measures:
        yield f"{measure.name:<{width}} {measure.value:>10,.1f} {measure.unit:<9} {measure.runs:>4}"


def json_list(measures: list[Measure]) -> str:
    """The measures as a JSON list."""
    return json.dumps([asdict(measure) for measure in measures], indent=2)
