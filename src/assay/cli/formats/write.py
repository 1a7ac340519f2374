"""Renders an outcome in one of the formats, and writes it to the files of `--write`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from assay.cli.formats.cases import Outcome
from assay.errors import InputError
from assay.evaluation.rows import write_file

FORMATS: Final = ("junit", "sarif", "github", "markdown")
"""The formats for other programs, in addition to text, JSON and HTML."""


def rendered(format_: str, outcome: Outcome) -> str:
    """The text of one of `FORMATS`."""
    if format_ == "junit":
        from assay.cli.formats.junit import junit

        return junit(outcome)
    if format_ == "sarif":
        from assay.cli.formats.sarif import sarif

        return sarif(outcome)
    if format_ == "github":
        from assay.cli.formats.github import github

        return github(outcome)
    from assay.cli.formats.markdown import markdown

    return markdown(outcome)


def read_targets(texts: Sequence[str]) -> list[tuple[str, Path]]:
    """The files of `--write FORMAT=FILE`.

    Raises:
        InputError: a text has another form, or there is no such format.

    >>> read_targets(["sarif=out/assay.sarif"])[0][0]
    'sarif'
    """
    targets = []
    for text in texts:
        name, equals, file = text.partition("=")
        if not equals or name not in FORMATS or not file:
            raise InputError(
                f"--write {text}: expected FORMAT=FILE with a format of {', '.join(FORMATS)}, such as sarif=assay.sarif"
            )
        targets.append((name, Path(file)))
    return targets


def write_targets(targets: Sequence[tuple[str, Path]], outcome: Outcome) -> None:
    """Writes each file whole or not at all.

    Raises:
        InputError: a file cannot be written.
    """
    for name, path in targets:
        write_file(path, rendered(name, outcome))
