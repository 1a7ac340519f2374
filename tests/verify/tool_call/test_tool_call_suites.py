"""The public JSON Schema test suites, all drafts: every case that needs no remote document."""

import gzip
import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.verify.documents.json_schema import compile_schema

SUITES = Path(__file__).resolve().parents[4] / "shared" / "data" / "tool"
DRAFTS = {"4": "draft4", "6": "draft6", "7": "draft7", "201909": "draft2019-09", "202012": "draft2020-12"}


@pytest.mark.shared
@pytest.mark.parametrize("name", DRAFTS)
def test_every_case_of_the_suite_is_judged_as_it_says(name: str) -> None:
    path = SUITES / f"jsonschema_draft{name}.test.jsonl.gz"
    if not path.exists():
        pytest.skip("the labelled data beside the project is absent")
    wrong = []
    let_through = []
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            formats = "only an annotation by default" not in row["meta"]["test"]
            wanted = row["label"] == "supported"
            try:
                validator = compile_schema(json.loads(row["evidence"][0]), DRAFTS[name], formats=formats)
                valid = validator.is_valid(json.loads(row["claim"]))
            except InputError:
                valid = None
            if valid is not wanted and not row["meta"]["needs_remotes"]:
                wrong.append(row["id"])
            if valid and not wanted:
                let_through.append(row["id"])
    assert wrong == []
    assert let_through == []


def test_a_draft_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="draft4, draft6"):
        compile_schema({}, "draft5")


def test_the_draft_decides_how_a_schema_is_read() -> None:
    tuple_form = {"items": [{"type": "string"}]}
    assert not compile_schema(tuple_form, "draft7").is_valid([1])
    assert compile_schema({"prefixItems": [{"type": "string"}]}, "draft7").is_valid([1])
