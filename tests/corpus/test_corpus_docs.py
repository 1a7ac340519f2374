"""docs/corpus.md names every finding, every field of the JSON and every option there is."""

import re
from pathlib import Path

from typer.main import get_command

from assay.cli.app import app
from assay.corpus import FINDINGS, CorpusReport
from assay.corpus.formats import ENDINGS

PAGE = (Path(__file__).parents[2] / "docs" / "corpus.md").read_text(encoding="utf-8")


def test_every_kind_of_finding_is_in_the_table() -> None:
    told = re.findall(r"`(\w+)`", PAGE.split("| finding")[1].split("Exit status")[0])
    assert set(FINDINGS) <= set(told)


def test_every_field_of_the_report_is_in_the_table_of_the_json() -> None:
    table = PAGE.split("## The JSON")[1].split("Its JSON Schema")[0]
    told = set(re.findall(r"`(\w+)`", table))
    schema = CorpusReport.model_json_schema()
    fields = set(schema["properties"])
    for part in schema["$defs"].values():
        fields |= set(part.get("properties", ()))
    assert fields - told - {"name", "digest", "overlays"} == set(), "those three are parts of an identity"


def test_every_option_that_is_named_exists() -> None:
    command = get_command(app).commands["corpus"].commands["check"]  # type: ignore[attr-defined]
    options = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) - options == set()


def test_every_kind_of_file_that_is_read_is_named() -> None:
    words = PAGE.split("## What is read")[1].split("## ")[0].lower()
    names = {
        ".md": "markdown",
        ".rst": "restructuredtext",
        ".html": "html",
        ".csv": "csv",
        ".tsv": "tsv",
        ".docx": "docx",
        ".pdf": "pdf",
        ".txt": "plain text",
    }
    assert set(names) <= ENDINGS
    assert all(name in words for name in names.values())
