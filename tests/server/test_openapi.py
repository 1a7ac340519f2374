"""The OpenAPI document is true: no operation answers what it does not say, or with a fault of the server."""

from pathlib import Path

import pytest
from tests.server.fuzzing import fuzz, operations, running, stocked

FEW = ("/v1/reports", "/v1/reports/{id}", "/v1/reports/{id}/feedback", "/v1/retention", "/v1/audit/proof")


def test_a_few_operations_keep_to_the_document(tmp_path: Path) -> None:
    with running(tmp_path) as (here, store):
        ids = stocked(store)
        found = [one for one in operations(here) if one.path in FEW]
        assert len(found) == 7
        for operation in found:
            fuzz(operation, here.url, ids, 3)


@pytest.mark.slow
def test_every_operation_keeps_to_the_document(tmp_path: Path) -> None:
    with running(tmp_path) as (here, store):
        ids = stocked(store)
        for operation in operations(here):
            fuzz(operation, here.url, ids, 40)
