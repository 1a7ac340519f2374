"""The monitor's routes and `/metrics` answer what the OpenAPI document says, whatever is sent."""

from pathlib import Path

from tests.server.fuzzing import fuzz, operations, running, stocked

from assay.store.alerts import Alert, raise_alert


def test_the_monitors_operations_keep_to_the_document(tmp_path: Path) -> None:
    with running(tmp_path) as (here, store):
        ids = stocked(store)
        item, _ = raise_alert(store, "default", Alert("metric:x", "metric.drop", "It fell."))
        found = [one for one in operations(here) if one.path.startswith("/v1/monitor") or one.path == "/metrics"]
        assert len(found) == 10
        for operation in found:
            fuzz(operation, here.url, [*ids, item.id], 3)
