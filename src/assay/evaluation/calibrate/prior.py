"""Estimates a policy's `prior` from outputs that nobody labelled."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from assay.errors import InputError
from assay.schema import Evidence
from assay.stats import PriorEstimate, estimate_prior

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.store.db import Store

FEWEST_CLAIMS: Final = 30
"""Fewer claims say next to nothing of a share near 0.9."""
_BATCH: Final = 16


def prior_of(
    guard: "Guard", requests: Iterable[Mapping[str, Any]], progress: Callable[[int], None] = lambda _: None
) -> PriorEstimate:
    """The share of supported claims among those of the outputs.

    Args:
        guard: with the verifier that is to be used; its policy's own prior plays no part.
        requests: arguments of `Guard.check`, one for each output.
        progress: called with the number of outputs that were checked since the last call.

    Raises:
        InputError: the outputs hold fewer than `FEWEST_CLAIMS` claims that can be checked.
    """
    plain = guard.under(guard.policy.model_copy(update={"prior": guard.fitted_prior, "judge": "off"}))
    scores: list[float] = []
    batch: list[Mapping[str, Any]] = []

    def run() -> None:
        for report in plain.check_many(batch):
            scores.extend(claim.score for claim in report.claims if claim.score is not None)
        progress(len(batch))
        batch.clear()

    for request in requests:
        batch.append(request)
        if len(batch) == _BATCH:
            run()
    if batch:
        run()
    if len(scores) < FEWEST_CLAIMS:
        raise InputError(
            f"expected outputs with {FEWEST_CLAIMS} claims or more that can be checked, got {len(scores)}: "
            "so few say nothing of the share that is supported"
        )
    return estimate_prior(scores, guard.fitted_prior)


def recorded(store: "Store", tenant: str, limit: int) -> Iterable[dict[str, Any]]:
    """The newest outputs that a database remembers whole, as arguments of `Guard.check`."""
    before: str | None = None
    left = limit
    while left > 0 and (page := store.page(tenant, before=before, limit=min(left, 50))):
        for listed in page:
            before = listed.id
            check = store.check(listed.id, tenant)
            if check is None or not check.asked or not isinstance(check.asked.get("answer"), str):
                continue
            evidence: list[Evidence] = [item for _, _, item in check.evidence if item is not None]
            if len(evidence) == len(check.evidence):
                left -= 1
                yield {"answer": check.asked["answer"], "evidence": evidence, "question": check.asked.get("question")}
