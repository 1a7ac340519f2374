"""Schemathesis over the whole API: every operation of the OpenAPI document, with what fits it and what does not."""

import asyncio
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from tests.server.gateway_site import Site, site
from tests.store.making import KEYS, record_of

from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.db.store import Store
from assay.store.records.run_events import give_feedback

ENDLESS = ("/v1/reviews/events", "/v1/reviews/{id}/events")
"""Streams that go on until the client leaves."""
DEAD_ENDS = (
    "missing_required_header",
    "unsupported_method",
    "ignored_auth",
    "use_after_free",
    "ensure_resource_availability",
    "positive_data_acceptance",
)
"""Checks that say nothing here: ids are made up, so most of what fits the document asks for what is not there.

That what fits the document is not refused for its form is asserted for each answer (`_try`)."""

REFUSALS = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
"""Answers to what does not fit the document: those that schemathesis expects, and 413, because a text that is longer
than its field may be longer than the whole request may be."""


@contextmanager
def running(folder: Path, **more: Any) -> Iterator[tuple[Site, Store]]:
    """A server with a database in which something stands, on a thread of its own."""
    ready, found = threading.Event(), list[Site]()
    stop: list[Callable[[], object]] = []

    async def serve(store: Store) -> None:
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        async with site(store=store, keys=KEYS, **more) as here:
            found.append(here)
            stop.append(lambda: loop.call_soon_threadsafe(ended.set))
            ready.set()
            await ended.wait()

    with Store(str(folder / "assay.db")) as store:
        thread = threading.Thread(target=lambda: asyncio.run(serve(store)), daemon=True)
        thread.start()
        assert ready.wait(60)
        try:
            yield found[0], store
        finally:
            stop[0]()
            thread.join(60)


def stocked(store: Store) -> list[str]:
    """Ids of reports that are there, one of them erased."""
    ids = [store.record(record_of(f"Partners get {number} weeks of leave.", caller="desk")).id for number in range(4)]
    give_feedback(store, ids[0], "wrong", comment="No.", claim=0)
    make_checkpoint(store, KEYS, "default")
    return ids


def operations(here: Site) -> list[Any]:
    """The operations of a server's document."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import schemathesis
        from schemathesis.config import SchemathesisConfig

        config = SchemathesisConfig.from_dict({"checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}}})
        schema = schemathesis.openapi.from_dict(here.app.api.openapi(), config=config)
        made: list[Any] = list(schema.get_all_operations())
    return [one.ok() for one in made if one.ok().path not in ENDLESS]


def fuzz(operation: Any, url: str, ids: list[str], examples: int) -> int:
    """Tries one operation; fails with what schemathesis finds, and returns how many requests were sent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from schemathesis import GenerationMode

        sent = _try(operation, url, ids, examples, GenerationMode.POSITIVE)
        with suppress(Unsatisfiable):  # nothing can be sent to it that does not fit
            sent += _try(operation, url, ids, examples, GenerationMode.NEGATIVE)
    return sent


def _try(operation: Any, url: str, ids: list[str], examples: int, mode: Any) -> int:
    from schemathesis import checks
    from schemathesis.checks import load_all_checks

    load_all_checks()
    left_out = [checks.CHECKS.get_one(name) for name in DEAD_ENDS]
    sent: list[str] = []

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode), known=st.sampled_from([None, *ids]))
    def tried(case: Any, known: str | None) -> None:
        # A made-up id leads nowhere: most times it is one of something that is there.
        if mode.value == "positive" and known is not None and "id" in (case.path_parameters or {}):
            case.path_parameters["id"] = known
        sent.append(case.method)
        answer = case.call_and_validate(base_url=url, excluded_checks=left_out, timeout=60)
        if mode.value == "positive":
            said = answer.json().get("detail", "") if answer.status_code in (422, 428) else ""
            assert answer.status_code != 428, f"the document does not ask for a version, and the server does: {said}"
            form = said.startswith("at /") and "Value error" not in said
            assert not form, f"the document allows what the server refuses for its form: {said} ({case.query!r:.400})"

    tried()
    return len(sent)
