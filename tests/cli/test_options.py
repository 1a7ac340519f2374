"""Options as values: what a command says arrives in the fields of a frozen dataclass, whatever their kind."""

from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from assay.cli.app import app
from assay.cli.options.command import ChatCommand, VerifierCommand, takes
from assay.cli.options.shared import GuardOptions, VerifierOption


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What several verbs have."""

    colour: Annotated[str, typer.Option()] = "red"


@dataclass(frozen=True, kw_only=True)
class Painting(Shared):
    """What one verb has besides."""

    walls: Annotated[tuple[str, ...], typer.Argument()]
    windows: Annotated[tuple[Path, ...], typer.Option("--window")] = ()
    corner: Annotated[tuple[int, int] | None, typer.Option()] = None
    twice: Annotated[bool, typer.Option("--twice")] = False


def told(*arguments: str) -> Painting:
    """What a command was told."""
    got: list[Painting] = []

    @takes(Painting)
    def paint(options: Painting) -> None:
        got.append(options)

    verb = typer.Typer()
    verb.command()(paint)
    result = CliRunner().invoke(verb, list(arguments))
    assert result.exit_code == 0, result.output
    return got[0]


def test_options_that_nobody_names_have_their_defaults() -> None:
    assert told("north") == Painting(walls=("north",), windows=(), corner=None, twice=False, colour="red")


def test_options_of_every_kind_arrive_with_those_that_are_inherited() -> None:
    said = told("north", "south", "--window", "a", "--window", "b", "--corner", "1", "2", "--twice", "--colour", "blue")
    wanted = Painting(
        walls=("north", "south"), windows=(Path("a"), Path("b")), corner=(1, 2), twice=True, colour="blue"
    )
    assert said == wanted
    with pytest.raises(FrozenInstanceError):
        said.colour = "green"  # type: ignore[misc]


def renaming(kind: type[VerifierCommand | ChatCommand]) -> typer.Typer:
    verb = typer.Typer()

    @verb.command(cls=kind)
    def judge(verifier: VerifierOption = None, llm: str | None = None, question: str = "") -> None:
        typer.echo(f"{verifier} {llm} {question}")

    return verb


@pytest.mark.parametrize(
    ("kind", "arguments", "printed"),
    [
        (VerifierCommand, ["--model", "x"], "x None \n"),
        (VerifierCommand, ["--model=x"], "x None \n"),
        (ChatCommand, ["--model", "x"], "None x \n"),
    ],
)
def test_an_old_spelling_still_works_and_warns(
    kind: type[VerifierCommand | ChatCommand], arguments: list[str], printed: str
) -> None:
    result = CliRunner().invoke(renaming(kind), arguments)
    assert result.stdout == printed
    assert "--model is called" in result.stderr


@pytest.mark.parametrize("arguments", [["--verifier", "x"], ["--question", "--model is what?"]])
def test_a_present_spelling_does_not_warn(arguments: list[str]) -> None:
    result = CliRunner().invoke(renaming(VerifierCommand), arguments)
    assert result.exit_code == 0
    assert result.stderr == ""


VERBS = (
    "check",
    "eval",
    "serve",
    "doctor",
    "mcp",
    "calibrate",
    "batch",
    "generate",
    "screen",
    "monitor rescore",
    "audit replay",
)


@pytest.mark.parametrize("verb", VERBS)
def test_one_word_names_the_network_and_help_knows_no_other(verb: str) -> None:
    page = CliRunner(env={"COLUMNS": "100", "TERM": "dumb"}).invoke(app, [*verb.split(), "--help"]).output
    assert "--verifier" in page
    assert "--model" not in page


def test_what_judges_is_declared_once() -> None:
    assert GuardOptions() == GuardOptions(policy=None, verifier=None)
