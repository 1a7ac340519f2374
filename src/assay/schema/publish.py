"""Publishes the JSON Schema of the report: `python -m assay.schema.publish > docs/schema/report.schema.json`.

A test keeps that file in step with the values, so that readers in other languages can rely on it.
"""

import json
import sys
from typing import Any

from assay.schema.report import SPEC_VERSION, HallucinationReport

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The draft of JSON Schema that pydantic writes."""


def report_schema() -> dict[str, Any]:
    """The JSON Schema of a report on the wire, as `report.model_dump(mode="json")` writes it.

    >>> report_schema()["properties"]["run_id"]["type"]
    'string'
    """
    schema = HallucinationReport.model_json_schema(mode="serialization")
    return {"$schema": DIALECT, "$id": f"urn:assay:report:{SPEC_VERSION}", **schema}


def schema_text() -> str:
    """The schema as it stands in the published file: sorted keys, two spaces, a newline at the end."""
    return json.dumps(report_schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
