"""`assay skill`: checks answers of coding agents, by hand or from a hook, and prints the figures over all of them."""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.skill import Ledger, SkillCheck, SkillSettings, Turn, Verification

app = typer.Typer(
    name="skill",
    help="The skill for coding agents: checks, figures, hook.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="The skill's config.yaml. [default: of the installed skill]"),
]
LedgerOption = Annotated[
    Path | None,
    typer.Option(
        "--metrics-file",
        metavar="FILE",
        envvar="ASSAY_SKILL_METRICS",
        help="Where figures are kept. [default: in the user's state folder]",
    ),
]


@app.command()
def check(
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="A file, or - for standard input.")],
    context: Annotated[
        list[Path],
        typer.Option("--context", "-c", metavar="FILE", help="A context that the answer is based on; may be repeated."),
    ],
    question: Annotated[str | None, typer.Option("--question", "-q", help="What was asked.")] = None,
    config: ConfigOption = None,
    metrics_file: LedgerOption = None,
) -> None:
    """Check one answer against its contexts and print PASS, WARN, FAIL or UNCHECKED with the claims, as JSON.

    Exit status 1: the result is not PASS.
    """
    with reporting_errors():
        text = sys.stdin.read() if answer == "-" else _read(Path(answer))
        settings = _settings(config)
        found = _skill_check(settings, _ledger(metrics_file)).verify(text, [_read(path) for path in context], question)
        _print_json(found.as_json())
        raise typer.Exit(CLEAN if found.verdict == "PASS" else FINDINGS)


@app.command()
def hook(config: ConfigOption = None, metrics_file: LedgerOption = None) -> None:
    """Answer the Stop hook of Claude Code: its input on standard input, what is to be done on standard output."""
    from assay.skill import answer_hook

    with reporting_errors():
        settings = _settings(config)

        def verify(turn: "Turn") -> "Verification":
            return _skill_check(settings, _ledger(metrics_file)).verify(turn.answer, turn.contexts, turn.question)

        _print_json(answer_hook(sys.stdin.read(), settings, verify))


@app.command()
def metrics(
    metrics_file: LedgerOption = None,
    reset: Annotated[bool, typer.Option("--reset", help="Reset them afterwards.")] = False,
) -> None:
    """Print the figures over all checks, as JSON."""
    with reporting_errors():
        ledger = _ledger(metrics_file)
        _print_json(asdict(ledger.totals()))
        if reset:
            ledger.reset()


@app.command()
def install(
    client: Annotated[str, typer.Option("--client", help="claude, codex or agents.")] = "claude",
    user: Annotated[bool, typer.Option("--user", help="For all projects of this user, not for this folder.")] = False,
    hook: Annotated[bool, typer.Option("--hook", help="Check as each turn ends (Claude Code).")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an older version.")] = False,
) -> None:
    """Install the skill where a client looks for skills; with --hook it checks answers automatically."""
    from assay.cli.terminal import write_text
    from assay.skill import install as put

    with reporting_errors():
        for path in put(client, Path.home() if user else Path.cwd(), hook=hook, replace=replace):
            write_text(f"wrote {path}\n", sys.stdout)


def _settings(config: Path | None) -> "SkillSettings":
    from assay.skill import read_settings

    return read_settings(_installed_settings() if config is None else config)


def _installed_settings() -> Path | None:
    """The settings of the installed skill: of this folder or one above it, else of this user."""
    from assay.skill.installing import CLIENTS, NAME

    here = Path.cwd()
    for folder in (here, *here.parents, Path.home()):
        for client in CLIENTS.values():
            path = folder / client / "skills" / NAME / "config.yaml"
            if path.is_file():
                return path
    return None


def _ledger(path: Path | None) -> "Ledger":
    from assay.skill import Ledger

    if path is None:
        state = os.environ.get("XDG_STATE_HOME", "").strip()
        path = (Path(state) if state else Path.home() / ".local" / "state") / "assay" / "skill.sqlite"
    return Ledger(path)


def _skill_check(settings: "SkillSettings", ledger: "Ledger") -> "SkillCheck":
    from assay.skill import SkillCheck

    def guard() -> "Guard":
        from assay.cli.check import open_guard

        return open_guard(settings.policy, None)

    return SkillCheck(guard, settings, ledger, basis=_basis(settings.policy))


def _basis(policy: str) -> str | None:
    """What results under a policy depend on: its content, which may change under one name, and the runtime. None where
    there are sources of knowledge, or a verifier is named: documents and networks may change where they lie.

    Raises:
        PolicyError: the policy cannot be read.
    """
    from assay._version import __version__
    from assay.config import knowledge_file, read_policy, read_section, read_settings

    path = knowledge_file(policy, os.environ)
    if path is not None and read_section(path, "knowledge") is not None:
        return None
    given = read_settings(os.environ)
    digest = read_policy(policy, os.environ).digest
    return None if given.verifier is not None else f"{__version__} {digest} {given.runtime}"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text: {error}") from error


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
