"""`assert_supported`: checks an answer and fails where one of its claims is not supported."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from assay.errors import AssayError, InputError
from assay.guard import CheckOptions, require_options
from assay.pytest.current_test import CURRENT
from assay.pytest.failure_text import failure_lines
from assay.pytest.snapshot import entry_of, evidence_digest, read_accepted, snapshot_path
from assay.schema import Evidence, HallucinationReport, Stakes, Verdict, coerce_evidence
from assay.schema.views import Problem, problems_of

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.policy import Policy

_IS_MISUSE: Final = methodcaller("errisinstance", AssayError)
"""Makes pytest hide a function from the traceback of an error of assay; the traceback of a defect is shown whole."""


class UnsupportedAnswerError(AssertionError):
    """An answer has claims that its evidence does not support."""

    __module__ = "assay.pytest"  # the name by which it is imported

    def __init__(self, report: HallucinationReport, problems: Iterable[Problem], accepted: int = 0) -> None:
        from assay.cli.terminal import plain

        self.report = report
        """The report of the answer."""
        self.problems = tuple(problems)
        """The problems that fail the test, the gravest first."""
        self.lines = tuple(failure_lines(report, self.problems, accepted))
        """The message as styled lines."""
        super().__init__(plain(self.lines).rstrip("\n"))


@dataclass(slots=True)
class RunningTest:
    """The running test, as far as `assert_supported` needs it."""

    name: str
    """Its name within its file, with its parameters."""
    file: Path
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """`policy`, `evidence`, `question` and `stakes` where a call names none."""
    accepting: bool = False
    """Whether claims that fail are accepted into the snapshot (`--assay-accept`)."""
    checks: list[dict[str, Any]] = field(default_factory=list)
    """The checks so far, as JSON values."""


EvidenceOrPaths = Iterable[str | Mapping[str, Any] | Evidence | Path] | str | Path | None
_NAMED_OPTIONS: Final = ("policy", "question", "stakes")
_DEFAULTED_OPTIONS: Final = (*_NAMED_OPTIONS, "evidence")


class AssertOptions(CheckOptions, total=False):
    """The options of `assert_supported`: those of `assay.check`, and the guard that checks."""

    policy: "Policy | str | Path | None"
    guard: "Guard | None"


def assert_supported(
    answer: str, evidence: EvidenceOrPaths = None, **options: Unpack[AssertOptions]
) -> HallucinationReport:
    """Fails unless the policy emits the answer and every claim of it is supported.

    A claim that a person has accepted (docs/pytest.md#accepted-claims) does not fail the test.

    Args:
        answer: the text to check.
        evidence: texts, mappings, `assay.Evidence`, or paths of files and folders; relative paths begin in the folder
            of the test file. That of the marker by default.
        options: those of `assay.check`, such as `question`, `task` or `schema`, and these:

            - `policy`: a policy, a preset's name or a policy file; by default that of the marker, `--assay-policy` or
              the setting `assay_policy`, else the one that `ASSAY_CONFIG` names, else `general`.
            - `stakes`: low, medium (the default) or high: how much depends on the answer.
            - `guard`: the guard that checks, in place of one with `policy`.

    Returns:
        The report, for further assertions.

    Raises:
        UnsupportedAnswerError: an `AssertionError` that names the claims, the words and the passages.
        InputError: no evidence was given, or something cannot be read.
        PolicyError: there is no such policy.
        TypeError: there is no such option.
    """
    __tracebackhide__ = True
    report, pieces = _check_answer(answer, evidence, options)
    return _assert_accepted(report, pieces)


async def aassert_supported(
    answer: str, evidence: EvidenceOrPaths = None, **options: Unpack[AssertOptions]
) -> HallucinationReport:
    """As `assert_supported`, off the event loop: the same arguments, the same report."""
    __tracebackhide__ = True
    import asyncio

    return await asyncio.to_thread(assert_supported, answer, evidence, **options)


def _running_test() -> RunningTest | None:
    """The running test; none outside of pytest, where nothing is recorded and nothing is accepted."""
    current = CURRENT.get()
    test: RunningTest | None = None if current is None else current.resolve()
    return test


def _with_defaults(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the call, each with the default of the test where the call names none."""
    test = _running_test()
    defaults = {} if test is None else test.defaults
    return {name: options[name] if options.get(name) is not None else defaults.get(name) for name in _DEFAULTED_OPTIONS}


def evidence_of(evidence: object) -> tuple[Evidence, ...]:
    """Evidence from texts, values and paths.

    Raises:
        InputError: none was given, or a path cannot be read.
    """
    __tracebackhide__ = _IS_MISUSE
    if evidence is None:
        raise InputError(
            "no evidence was given to check the answer against: pass evidence=..., mark the test with "
            "@pytest.mark.assay(evidence=...), or say evidence=[] if there is to be none"
        )
    items: list[Any] = [evidence] if isinstance(evidence, str | Path | Mapping | Evidence) else list(evidence)  # type: ignore[call-overload]
    pieces: list[Any] = []
    for item in items:
        if isinstance(item, Path):
            pieces.extend(_read_evidence(item))
        else:
            pieces.append(item)
    return coerce_evidence(pieces)


def _read_evidence(path: Path) -> tuple[Evidence, ...]:
    from assay.cli.inputs import read_evidence

    test = _running_test()
    pieces, _ = read_evidence([str(path if test is None else test.file.parent / path)])
    return pieces


def _check_answer(
    answer: str, evidence: object, options: AssertOptions
) -> tuple[HallucinationReport, tuple[Evidence, ...]]:
    """The report, and the evidence that the answer was checked against."""
    __tracebackhide__ = _IS_MISUSE
    require_options(options, AssertOptions)
    check_options: dict[str, Any] = {**options}
    guard: Guard | None = check_options.pop("guard", None)
    settings = _with_defaults(
        {"evidence": evidence, **{name: check_options.pop(name, None) for name in _NAMED_OPTIONS}}
    )
    pieces = evidence_of(settings["evidence"])
    check_options = {"question": settings["question"], "stakes": settings["stakes"] or Stakes.MEDIUM, **check_options}
    if guard is not None:
        return guard.check(answer, pieces, **check_options), pieces
    from assay.config import check

    return check(answer, pieces, policy=settings["policy"], **check_options), pieces


def _assert_accepted(report: HallucinationReport, evidence: tuple[Evidence, ...]) -> HallucinationReport:
    """Raises where a problem is not accepted, and records the check in the running test."""
    __tracebackhide__ = True
    problems = problems_of(report)
    test = _running_test()
    if test is None:
        if problems:
            raise UnsupportedAnswerError(report, problems)
        return report
    digest = evidence_digest(evidence)
    entries = [entry_of(problem, digest) for problem in problems]
    accepted = set(entries) if test.accepting else set(read_accepted(snapshot_path(test.file)).get(test.name, ()))
    # A claim that was not checked cannot be accepted.
    accepted = {entry for entry in accepted if entry[0] != Verdict.UNCHECKED.value}
    failing = [problem for problem, entry in zip(problems, entries, strict=True) if entry not in accepted]
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
            "accepted": [list(entry) for entry in entries if entry in accepted],
        }
    )
    if failing:
        raise UnsupportedAnswerError(report, failing, len(problems) - len(failing))
    return report


class AssayGuard:
    """The value of the fixture `assay_guard`: checks and assertions with the policy and evidence of the test."""

    def check(
        self, answer: str, evidence: EvidenceOrPaths = None, **options: Unpack[AssertOptions]
    ) -> HallucinationReport:
        """The report of an answer, without asserting anything; takes the arguments of `assert_supported`."""
        return _check_answer(answer, evidence, options)[0]

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
