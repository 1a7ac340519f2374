"""A runner for the command with a stand-in for the guard."""

from pathlib import Path

import pytest
from tests.cli.standin import Run, StandIn
from typer.testing import CliRunner, Result

from assay.cli import check as check_verb
from assay.cli import evaluate as eval_verb
from assay.cli.app import app


@pytest.fixture
def guard() -> StandIn:
    return StandIn()


@pytest.fixture
def run(guard: StandIn, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in this process; `stdin=` is what standard input holds."""

    def open_guard(policy: str | None, model: Path | None) -> StandIn:
        return guard

    monkeypatch.setattr(check_verb, "open_guard", open_guard)
    monkeypatch.setattr(eval_verb, "open_guard", open_guard)

    def invoke(*arguments: object, stdin: bytes | None = None) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, catch_exceptions=False)

    return invoke
