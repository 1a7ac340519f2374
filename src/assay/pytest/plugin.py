"""The plugin of pytest: options, marker, fixture, summary, JUnit properties and the snapshot of accepted claims.

Loaded by pytest at its start in every project that has assay installed, so it imports nothing but pytest: the rest is
loaded when a test asserts something. Under pytest-xdist the workers tell the process that runs them what they checked,
with the reports of their tests; that process alone sums up and writes.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.pytest.asserting import AssayGuard

_MARKER = (
    "assay(policy=None, evidence=None, question=None, stakes=None): what assert_supported and assay_guard use in this "
    "test where a call names nothing else"
)
_ALLOWED = {"policy", "evidence", "question", "stakes"}


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
    """Declares the marker, and sums up where this process is not a worker of pytest-xdist."""
    config.addinivalue_line("markers", _MARKER)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Summing(config), "assay-summing")


@pytest.fixture
def assay_guard() -> AssayGuard:
    """Checks and assertions with the policy and the evidence of the test's marker."""
    from assay.pytest.asserting import AssayGuard

    return AssayGuard()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Tells assertions which test runs; costs nothing where the test makes none."""
    test = _Lazy(item)
    item.stash[_TEST] = test
    with test:
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Puts what was checked on the report of the phase, as JSON values, and the counts into the JUnit properties."""
    test = item.stash.get(_TEST, None)
    checks = [] if test is None else test.taken()
    for one in checks:
        item.user_properties.extend(_properties(one))
    report = yield
    error = None if call.excinfo is None else call.excinfo.value
    failed = type(error).__name__ == "UnsupportedAnswerError" and type(error).__module__ == "assay.pytest"
    if checks or failed:
        record: dict[str, Any] = {"checks": checks, "file": str(item.path), "test": _name(item)}
        if failed:
            record["lines"] = [[line.indent, [list(part) for part in line.parts]] for line in error.lines]  # type: ignore[union-attr]
        report.assay = record  # type: ignore[attr-defined]
    return report


def _properties(check: dict[str, Any]) -> list[tuple[str, object]]:
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


def _name(item: pytest.Item) -> str:
    """The name within the file, with classes and parameters."""
    return item.nodeid.partition("::")[2] or item.name


def _defaults(item: pytest.Item) -> dict[str, Any]:
    """What markers and settings say; the nearest marker counts."""
    found: dict[str, Any] = {}
    for marker in item.iter_markers("assay"):
        unknown = sorted(set(marker.kwargs) - _ALLOWED)
        if unknown or marker.args:
            wrong = unknown[0] if unknown else f"{marker.args[0]!r} without a name"
            raise pytest.UsageError(f"the marker assay takes {', '.join(sorted(_ALLOWED))}; got {wrong}")
        found = {**{key: value for key, value in marker.kwargs.items() if value is not None}, **found}
    policy = item.config.getoption("assay_policy") or item.config.getini("assay_policy")
    if policy:
        found.setdefault("policy", policy)
    return found


class _Lazy:
    """Stands for the running test where assertions look for it, and makes it when one does."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._test: Any = None

    def __enter__(self) -> None:
        from assay.pytest import running

        self._token = running.CURRENT.set(self)

    def __exit__(self, *_: object) -> None:
        from assay.pytest import running

        running.CURRENT.reset(self._token)

    def test(self) -> Any:
        """The test, made when an assertion asks for it."""
        if self._test is None:
            from assay.pytest.asserting import RunningTest

            accepting = bool(self._item.config.getoption("assay_accept"))
            self._test = RunningTest(_name(self._item), Path(self._item.path), _defaults(self._item), accepting)
        return self._test

    def taken(self) -> list[dict[str, Any]]:
        """What was checked since it was asked last."""
        if self._test is None:
            return []
        found, self._test.checks = self._test.checks, []
        return list(found)


_TEST = pytest.StashKey[_Lazy]()


class _Summing:
    """Hears of every test in the process that writes to the terminal."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._records: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps what a test checked."""
        record = getattr(report, "assay", None)
        if record is not None:
            self._records.append({**record, "outcome": report.outcome})

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Writes the snapshots and colours the failures, before pytest prints them and after JUnit has them."""
        if not self._records:
            return
        from assay.pytest import summing

        if self._config.getoption("assay_accept"):
            summing.write_snapshots(self._records)
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and reporter._tw.hasmarkup:  # noqa: SLF001 pytest tells it in no other way
            for report in [*reporter.stats.get("failed", []), *reporter.stats.get("error", [])]:
                summing.colour(report)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Writes what was checked in all."""
        if self._records:
            from assay.pytest import summing

            summing.summarise(self._records, terminalreporter, accepting=self._config.getoption("assay_accept"))
