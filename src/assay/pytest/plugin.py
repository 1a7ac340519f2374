"""The plugin of pytest: options, marker, fixture, summary, JUnit properties and the snapshot of accepted claims.

pytest loads it at startup in every project that has assay installed, so it imports nothing but pytest: the rest is
loaded when a test asserts something. Under pytest-xdist the workers attach their checks to the test reports that they
send to the controlling process, which alone summarises them and writes the snapshots.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.pytest.assertions import AssayGuard

_MARKER_HELP = (
    "assay(policy=None, evidence=None, question=None, stakes=None): what assert_supported and assay_guard use in this "
    "test where a call names nothing else"
)
_MARKER_OPTIONS = {"policy", "evidence", "question", "stakes"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options and the setting."""
    group = parser.getgroup("assay", "claims checked against evidence")
    group.addoption("--assay-policy", metavar="NAME|FILE", help="The policy where a test names none.")
    group.addoption(
        "--assay-accept",
        action="store_true",
        help="Accept the claims that fail now: write them into __assay__/ beside the test files, to be reviewed.",
    )
    parser.addini("assay_policy", "The policy where neither a test nor --assay-policy names one.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marker, and registers the summary where this process is not a worker of pytest-xdist."""
    config.addinivalue_line("markers", _MARKER_HELP)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_SummaryReporter(config), "assay-summing")


@pytest.fixture
def assay_guard() -> AssayGuard:
    """Checks and assertions with the policy and the evidence of the test's marker."""
    from assay.pytest.assertions import AssayGuard

    return AssayGuard()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Makes the running test available to assertions; costs next to nothing where the test makes none."""
    test = _LazyTest(item)
    item.stash[_TEST_KEY] = test
    with test:
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attaches the checks of the phase to its report, as JSON values, and their counts to the JUnit properties."""
    test = item.stash.get(_TEST_KEY, None)
    checks = [] if test is None else test.take_checks()
    for check in checks:
        item.user_properties.extend(_junit_properties(check))
    report = yield
    error = None if call.excinfo is None else call.excinfo.value
    failed = type(error).__name__ == "UnsupportedAnswerError" and type(error).__module__ == "assay.pytest"
    if checks or failed:
        record: dict[str, Any] = {"checks": checks, "file": str(item.path), "test": _test_name(item)}
        if failed:
            record["lines"] = [[line.indent, [list(part) for part in line.parts]] for line in error.lines]  # type: ignore[union-attr]
        report.assay = record  # type: ignore[attr-defined]
    return report


def _junit_properties(check: dict[str, Any]) -> list[tuple[str, object]]:
    claims = check["claims"]
    score = "" if check["score"] is None else round(check["score"], 4)
    return [
        ("assay.action", check["action"]),
        ("assay.score", score),
        ("assay.policy", check["policy"]),
        ("assay.claims", sum(claims.values())),
        *((f"assay.{verdict}", count) for verdict, count in sorted(claims.items())),
        ("assay.accepted", len(check["accepted"])),
    ]


def _test_name(item: pytest.Item) -> str:
    """The name of a test within its file, with classes and parameters."""
    return item.nodeid.partition("::")[2] or item.name


def _marker_defaults(item: pytest.Item) -> dict[str, Any]:
    """The defaults that markers and settings give; the nearest marker wins."""
    defaults: dict[str, Any] = {}
    for marker in item.iter_markers("assay"):
        unknown = sorted(set(marker.kwargs) - _MARKER_OPTIONS)
        if unknown or marker.args:
            offender = unknown[0] if unknown else f"{marker.args[0]!r} without a name"
            raise pytest.UsageError(f"the marker assay takes {', '.join(sorted(_MARKER_OPTIONS))}; got {offender}")
        defaults = {**{key: value for key, value in marker.kwargs.items() if value is not None}, **defaults}
    policy = item.config.getoption("assay_policy") or item.config.getini("assay_policy")
    if policy:
        defaults.setdefault("policy", policy)
    return defaults


class _LazyTest:
    """The running test as `current_test.CURRENT` holds it; the `RunningTest` is made when an assertion asks for it."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._test: Any = None

    def __enter__(self) -> None:
        from assay.pytest import current_test

        self._token = current_test.CURRENT.set(self)

    def __exit__(self, *_: object) -> None:
        from assay.pytest import current_test

        current_test.CURRENT.reset(self._token)

    def resolve(self) -> Any:
        """The test, made on the first call."""
        if self._test is None:
            from assay.pytest.assertions import RunningTest

            accepting = bool(self._item.config.getoption("assay_accept"))
            self._test = RunningTest(
                _test_name(self._item), Path(self._item.path), _marker_defaults(self._item), accepting
            )
        return self._test

    def take_checks(self) -> list[dict[str, Any]]:
        """The checks since the last call, which are handed over once."""
        if self._test is None:
            return []
        checks, self._test.checks = self._test.checks, []
        return list(checks)


_TEST_KEY = pytest.StashKey[_LazyTest]()


class _SummaryReporter:
    """Collects the checks of all tests in the process that writes to the terminal."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._records: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collects the checks that a test report carries."""
        record = getattr(report, "assay", None)
        if record is not None:
            self._records.append({**record, "outcome": report.outcome})

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Writes the snapshots and colours the failures, before pytest prints them and after JUnit has them."""
        if not self._records:
            return
        from assay.pytest import session_summary

        if self._config.getoption("assay_accept"):
            session_summary.write_snapshots(self._records)
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and reporter._tw.hasmarkup:  # noqa: SLF001 pytest tells it in no other way
            for report in [*reporter.stats.get("failed", []), *reporter.stats.get("error", [])]:
                session_summary.colour(report)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Writes the summary of all checks."""
        if self._records:
            from assay.pytest import session_summary

            session_summary.summarise(self._records, terminalreporter, accepting=self._config.getoption("assay_accept"))
