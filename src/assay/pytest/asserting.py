"""`assert_supported`: checks an answer and fails where a claim of it is not supported."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from assay.errors import AssayError, InputError
from assay.guard import CheckOptions, require_options
from assay.pytest.accepted import entry_of, evidence_digest, read_accepted, snapshot_path
from assay.pytest.failure_text import failure_lines
from assay.pytest.running import CURRENT
from assay.schema import Evidence, HallucinationReport, Stakes, Verdict, coerce_evidence
from assay.schema.views import Problem, problems_of

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.policy import Policy

_IS_MISUSE: Final = methodcaller("errisinstance", AssayError)
"""Has pytest leave a function out of a traceback where the error says all; a defect is shown whole."""


class UnsupportedAnswerError(AssertionError):
    """An answer has claims that its evidence does not support."""

    __module__ = "assay.pytest"  # the name by which it is imported

    def __init__(self, report: HallucinationReport, problems: Iterable[Problem], accepted: int = 0) -> None:
        from assay.cli.terminal import plain

        self.report = report
        """All that was found."""
        self.problems = tuple(problems)
        """What failed, the gravest first."""
        self.lines = tuple(failure_lines(report, self.problems, accepted))
        """The message, line by line with its styles."""
        super().__init__(plain(self.lines).rstrip("\n"))


@dataclass(slots=True)
class RunningTest:
    """The test that runs, as far as `assert_supported` has to know it."""

    name: str
    """Its name within its file, with its parameters."""
    file: Path
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """`policy`, `evidence`, `question` and `stakes` where a call names none."""
    accepting: bool = False
    """Whether what fails is to be accepted."""
    checks: list[dict[str, Any]] = field(default_factory=list)
    """What was checked so far, as JSON values."""


EvidenceOrPaths = Iterable[str | Mapping[str, Any] | Evidence | Path] | str | Path | None
_NAMED: Final = ("policy", "question", "stakes")
_DEFAULTS: Final = (*_NAMED, "evidence")


class AssertOptions(CheckOptions, total=False):
    """The options of `assert_supported`: those of `assay.check`, and what checks."""

    policy: "Policy | str | Path | None"
    guard: "Guard | None"


def assert_supported(
    answer: str, evidence: EvidenceOrPaths = None, **options: Unpack[AssertOptions]
) -> HallucinationReport:
    """Fails unless the policy emits the answer and every claim of it is supported.

    A claim that a person has accepted (docs/pytest.md#accepted-claims) does not fail the test.

    Args:
        answer: what was written.
        evidence: texts, mappings, `assay.Evidence`, or paths of files and folders; relative paths begin in the folder
            of the test file. What the marker says by default.
        options: those of `assay.check`, such as `question`, `task` or `schema`, and these:

            - `policy`: a policy, a preset's name or a policy file; what the marker, `--assay-policy` or the setting
              `assay_policy` says by default, else what `ASSAY_CONFIG` names, else `general`.
            - `stakes`: low, medium (the default) or high: how much depends on the answer.
            - `guard`: what checks, in place of a guard with `policy`.

    Returns:
        The report, for further assertions.

    Raises:
        UnsupportedAnswerError: an `AssertionError` that names the claims, the words and the passages.
        InputError: nothing to check against was given, or something cannot be read.
        PolicyError: there is no such policy.
        TypeError: there is no such option.
    """
    __tracebackhide__ = True
    report, pieces = _checked(answer, evidence, options)
    return _judged(report, pieces)


async def aassert_supported(
    answer: str, evidence: EvidenceOrPaths = None, **options: Unpack[AssertOptions]
) -> HallucinationReport:
    """As `assert_supported`, off the event loop: the same arguments, the same report."""
    __tracebackhide__ = True
    import asyncio

    return await asyncio.to_thread(assert_supported, answer, evidence, **options)


def _running() -> RunningTest | None:
    """The test that runs; none outside of pytest, where nothing is recorded and nothing is accepted."""
    current = CURRENT.get()
    found: RunningTest | None = None if current is None else current.test()
    return found


def _settled(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the call says, else what stands around the test."""
    test = _running()
    defaults = {} if test is None else test.defaults
    return {name: given[name] if given.get(name) is not None else defaults.get(name) for name in _DEFAULTS}


def evidence_of(given: object) -> tuple[Evidence, ...]:
    """Evidence out of texts, values and paths.

    Raises:
        InputError: none was given, or a path cannot be read.
    """
    __tracebackhide__ = _IS_MISUSE
    if given is None:
        raise InputError(
            "no evidence was given to check the answer against: pass evidence=..., mark the test with "
            "@pytest.mark.assay(evidence=...), or say evidence=[] if there is to be none"
        )
    items: list[Any] = [given] if isinstance(given, str | Path | Mapping | Evidence) else list(given)  # type: ignore[call-overload]
    pieces: list[Any] = []
    for item in items:
        if isinstance(item, Path):
            pieces.extend(_read(item))
        else:
            pieces.append(item)
    return coerce_evidence(pieces)


def _read(path: Path) -> tuple[Evidence, ...]:
    from assay.cli.inputs import read_evidence

    test = _running()
    found, _ = read_evidence([str(path if test is None else test.file.parent / path)])
    return found


def _checked(answer: str, evidence: object, options: AssertOptions) -> tuple[HallucinationReport, tuple[Evidence, ...]]:
    """The report, and the evidence that it is made with."""
    __tracebackhide__ = _IS_MISUSE
    require_options(options, AssertOptions)
    further: dict[str, Any] = {**options}
    guard: Guard | None = further.pop("guard", None)
    given = _settled({"evidence": evidence, **{name: further.pop(name, None) for name in _NAMED}})
    pieces = evidence_of(given["evidence"])
    asked = {"question": given["question"], "stakes": given["stakes"] or Stakes.MEDIUM, **further}
    if guard is not None:
        return guard.check(answer, pieces, **asked), pieces
    from assay.config import check

    return check(answer, pieces, policy=given["policy"], **asked), pieces


def _judged(report: HallucinationReport, evidence: tuple[Evidence, ...]) -> HallucinationReport:
    """Fails, accepts or passes, and tells the test that runs."""
    __tracebackhide__ = True
    problems = problems_of(report)
    test = _running()
    if test is None:
        if problems:
            raise UnsupportedAnswerError(report, problems)
        return report
    digest = evidence_digest(evidence)
    entries = [entry_of(problem, digest) for problem in problems]
    known = set(entries) if test.accepting else set(read_accepted(snapshot_path(test.file)).get(test.name, ()))
    known = {entry for entry in known if entry[0] != Verdict.UNCHECKED.value}  # nobody can know what was not checked
    failing = [problem for problem, entry in zip(problems, entries, strict=True) if entry not in known]
    verdicts: dict[str, int] = {}
    for claim in report.claims:
        verdicts[claim.verdict.value] = verdicts.get(claim.verdict.value, 0) + 1
    test.checks.append(
        {
            "action": report.action.value,
            "score": report.overall_score,
            "claims": verdicts,
            "policy": report.policy.name,
            "ms": report.timing.total_ms,
            "failed": bool(failing),
            "accepted": [list(entry) for entry in entries if entry in known],
        }
    )
    if failing:
        raise UnsupportedAnswerError(report, failing, len(problems) - len(failing))
    return report


class AssayGuard:
    """What the fixture `assay_guard` gives: checks and assertions with the policy and evidence of the test."""

    def check(
        self, answer: str, evidence: EvidenceOrPaths = None, **options: Unpack[AssertOptions]
    ) -> HallucinationReport:
        """The report of an answer, asserting nothing; the arguments of `assert_supported`."""
        return _checked(answer, evidence, options)[0]

    def assert_supported(
        self, answer: str, evidence: EvidenceOrPaths = None, **options: Unpack[AssertOptions]
    ) -> HallucinationReport:
        """As `assay.pytest.assert_supported`."""
        __tracebackhide__ = True
        return assert_supported(answer, evidence, **options)

    async def acheck(
        self, answer: str, evidence: EvidenceOrPaths = None, **options: Unpack[AssertOptions]
    ) -> HallucinationReport:
        """As `check`, off the event loop."""
        import asyncio

        return await asyncio.to_thread(self.check, answer, evidence, **options)
