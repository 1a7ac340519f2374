"""The published JSON Schemas are those of the values."""

import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest

from assay.schema.publish import PUBLISHED, published_schema, schema_text

FOLDER = Path(__file__).parents[2] / "docs" / "schema"


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_file_is_in_step_with_the_value(name: str) -> None:
    assert (FOLDER / f"{name}.schema.json").read_text(encoding="utf-8") == schema_text(name), (
        f"run: python -m assay.schema.publish {name} > docs/schema/{name}.schema.json"
    )


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_schema_is_a_schema_with_a_name_of_its_own(name: str) -> None:
    schema = published_schema(name)
    assert jsonschema_rs.meta.is_valid(schema)
    assert schema["$id"] == f"urn:assay:{name}:1.0"


def test_every_published_file_belongs_to_a_value() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(f"{name}.schema.json" for name in PUBLISHED)


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay.schema.publish", "reprot"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "expected one of report, run, got reprot" in done.stderr
