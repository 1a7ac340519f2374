"""Publishes the JSON Schema of what goes over the wire, one file for each value of `PUBLISHED`:

    python -m assay.schema.publish report > docs/schema/report.schema.json
    python -m assay.schema.publish run > docs/schema/run.schema.json

A test keeps these files in step with the values, so that readers in other languages can rely on them.
"""

import json
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from assay.schema.base import Value
from assay.schema.report import SPEC_VERSION, HallucinationReport
from assay.schema.run.model import RUN_VERSION, Run

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The draft of JSON Schema that pydantic writes."""

PUBLISHED: Final[Mapping[str, tuple[type[Value], str]]] = MappingProxyType(
    {"report": (HallucinationReport, SPEC_VERSION), "run": (Run, RUN_VERSION)}
)
"""The published values by name, each with the version of its form."""


def published_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a published value on the wire, as its `model_dump(mode="json")` writes it.

    >>> published_schema("run")["$id"]
    'urn:assay:run:1.0'
    """
    value, version = PUBLISHED[name]
    return {"$schema": DIALECT, "$id": f"urn:assay:{name}:{version}", **value.model_json_schema(mode="serialization")}


def report_schema() -> dict[str, Any]:
    """The JSON Schema of a report on the wire, as `report.model_dump(mode="json")` writes it.

    >>> report_schema()["properties"]["run_id"]["type"]
    'string'
    """
    return published_schema("report")


def schema_text(name: str = "report") -> str:
    """The schema as it is in the published file: sorted keys, two spaces, a newline at the end."""
    return json.dumps(published_schema(name), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    names = sys.argv[1:] or ["report"]
    if len(names) != 1 or names[0] not in PUBLISHED:
        sys.exit(f"expected one of {', '.join(PUBLISHED)}, got {' '.join(names)}")
    sys.stdout.write(schema_text(names[0]))
