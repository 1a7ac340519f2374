"""`assay init`: settings, an example that is blocked for a reason, and a file for CI; existing files are kept."""

import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from assay.cli.exit_status import reporting_errors
from assay.cli.options.completion import complete_preset

PRESETS: Final = ("general", "rag", "support-desk", "high-stakes", "monitor")
"""The presets that are offered, the default first."""


class Ci(StrEnum):
    """The CI systems for which a file can be written."""

    GITHUB = "github"
    GITLAB = "gitlab"
    NONE = "none"


CONFIG: Final = """\
# The policy of this project: `assay check ANSWER --evidence PATH --policy assay.yaml`, or ASSAY_CONFIG=assay.yaml.
# What is not named here is as the preset has it; `assay doctor --policy assay.yaml` says what it requires.
version: 1
policy:
  preset: {preset}

  # The probability of support from which a claim counts as supported. Higher: fewer wrong claims pass, and more right
  # ones are held back. `assay calibrate` fits it to rows of your own.
  # support_threshold: 0.4

  # Citations: off, verify those that are there, require one for each claim, or strict.
  # citations: require

  # Which claims a chat model of yours is asked about: off, uncertain or all. It goes with --llm NAME --base-url URL.
  # judge: uncertain

# Sources outside of the evidence, asked about claims that it does not support (docs/knowledge.md):
# knowledge:
#   - {{name: handbook, kind: files, authority: organisation, path: handbook}}
"""
ANSWER: Final = """\
Partners are entitled to 4 weeks of leave [leave]. The leave is paid in full.
"""
EVIDENCE: Final = """\
Partners are entitled to 2 weeks of leave after the birth of a child. The leave is paid in full.
"""
TEST: Final = '''\
"""Checks the answers of this project against its documents: run `pytest`.

The example fails, and names the wrong words; with a 2 in the place of its 4 it passes.
"""

from pathlib import Path

import pytest
from assay.pytest import assert_supported

HERE = Path(__file__).parent


@pytest.mark.parametrize("answer", sorted(HERE.glob("answers/*.md")), ids=lambda path: path.stem)
def test_an_answer_keeps_to_the_documents(answer):
    text = answer.read_text(encoding="utf-8")
    assert_supported(text, HERE / "evidence", policy=str(HERE / "assay.yaml"))
'''
GITHUB: Final = """\
# Holds the answers of this project against their evidence with every change.
name: assay
on: [push, pull_request]
permissions: {contents: read}
jobs:
  assay:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.12"}
      - run: pip install assay-ai
      - run: |
          assay check {folder}/answers --evidence {folder}/evidence --policy {folder}/assay.yaml \\
            --format github --write junit=assay.xml --write sarif=assay.sarif
      - uses: actions/upload-artifact@v4
        if: always()
        with: {name: assay, path: "assay.*"}
"""
GITLAB: Final = """\
# Holds the answers of this project against their evidence with every change; include it in .gitlab-ci.yml.
assay:
  image: python:3.12-slim
  before_script:
    - pip install --quiet assay-ai
  script:
    - >-
      assay check {folder}/answers --evidence {folder}/evidence --policy {folder}/assay.yaml
      --write junit=assay.xml --write sarif=assay.sarif
  artifacts:
    when: always
    paths: [assay.xml, assay.sarif]
    reports: {junit: assay.xml}
"""
_CI_FILES: Final = {Ci.GITHUB: (".github/workflows/assay.yml", GITHUB), Ci.GITLAB: ("assay.gitlab-ci.yml", GITLAB)}


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; created if it is missing.")] = Path(),
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="PRESET", autocompletion=complete_preset, help="The preset to begin with."),
    ] = None,
    ci: Annotated[Ci | None, typer.Option("--ci", help="The CI system to write a file for.")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask nothing: general, and no CI file, unless named.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Start a project: a commented assay.yaml, an example with a test, and a CI file. Asks for what is not given."""
    with reporting_errors():
        interactive = not yes and sys.stdin.isatty()
        preset = policy or (_ask("Which policy", PRESETS) if interactive else PRESETS[0])
        system = ci or (Ci(_ask("A file for which CI", tuple(one.value for one in Ci))) if interactive else Ci.NONE)
        run_init(folder, preset, system, force=force)


def _ask(question: str, choices: tuple[str, ...]) -> str:
    """Asks for one of the choices; the first is the default."""
    while True:
        typed = str(typer.prompt(f"{question} ({', '.join(choices)})", default=choices[0])).strip()
        if typed in choices:
            return typed
        typer.echo(f"expected one of {', '.join(choices)}")


def run_init(folder: Path, preset: str, ci: Ci, *, force: bool = False) -> None:
    """Writes the files.

    Raises:
        PolicyError: there is no such preset.
        InputError: a file exists already, in which case nothing is written, or cannot be written.
    """
    from assay.cli.terminal import clean, write_text
    from assay.errors import InputError
    from assay.evaluation.rows import write_file
    from assay.policy import preset as preset_of

    preset_of(preset)
    files = _files(folder, preset, ci)
    existing = [path for path in files if path.exists()]
    if existing and not force:
        names = ", ".join(str(path) for path in existing)
        raise InputError(f"{names}: there already, and nothing was written; --force writes over it")
    for path, text in files.items():
        write_file(path, text)
        write_text(f"written: {clean(str(path))}\n", sys.stdout)
    if ci is Ci.GITLAB:
        write_text("in .gitlab-ci.yml: include: {local: assay.gitlab-ci.yml}\n", sys.stdout)
    cd_command = "" if folder == Path() else f"cd {folder} && "
    write_text(
        f"\nNext: {cd_command}assay check answers --evidence evidence --policy assay.yaml\n"
        "It withholds the example, and names the wrong words. With pytest installed, `pytest` does the same.\n",
        sys.stdout,
    )


def _files(folder: Path, preset: str, ci: Ci) -> Mapping[Path, str]:
    files = {
        folder / "assay.yaml": CONFIG.format(preset=preset),
        folder / "answers" / "leave.md": ANSWER,
        folder / "evidence" / "leave.md": EVIDENCE,
        folder / "test_answers.py": TEST,
    }
    if ci in _CI_FILES:
        name, text = _CI_FILES[ci]
        root = _root(folder)
        inner = os.path.relpath(folder.absolute(), root).replace(os.sep, "/")
        files[root / name] = text.replace("{folder}", inner)
    return files


def _root(folder: Path) -> Path:
    """The root of the repository with the folder, where CI systems look; the folder itself outside of a repository."""
    whole = folder.absolute()
    return next((one for one in (whole, *whole.parents) if (one / ".git").exists()), whole)
