"""Estimates a policy's `prior` from unlabelled outputs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from assay.errors import InputError
from assay.policy import Policy
from assay.schema import Evidence
from assay.stats import PriorEstimate, estimate_prior

if TYPE_CHECKING:
    from assay.guard import Guard
    from assay.models import PairScorer
    from assay.store.db import Store

FEWEST_CLAIMS: Final = 30
"""The fewest claims for an estimate: fewer say next to nothing about a share near 0.9."""
_BATCH_REQUESTS: Final = 16

Requests = list[Mapping[str, Any]]
"""Arguments of `Guard.check`, one for each output."""
BatchScores = Callable[[Iterable[Requests]], Iterator[Sequence[float]]]
"""A map from batches to the scores of their claims, in order: in this process or by workers."""


def prior_of(
    guard: "Guard",
    requests: Iterable[Mapping[str, Any]],
    progress: Callable[[int], None] = lambda _: None,
    scored: BatchScores | None = None,
) -> PriorEstimate:
    """The share of supported claims among those of the outputs.

    Args:
        guard: gives the verifier; its policy's own prior is not used.
        requests: arguments of `Guard.check`, one for each output.
        progress: called with the number of outputs that were checked since the last call.
        scored: a map by workers with an equal `PriorTask`, in place of the guard; the estimate is the same.

    Raises:
        InputError: the outputs hold fewer than `FEWEST_CLAIMS` claims that can be checked.
    """
    sizes: list[int] = []
    scores: list[float] = []
    batch_scores = (scored or partial(map, partial(_scores, _with_fitted_prior(guard))))(_batches(requests, sizes))
    for number, scores_of_batch in enumerate(batch_scores):
        scores += scores_of_batch
        progress(sizes[number])
    if len(scores) < FEWEST_CLAIMS:
        raise InputError(
            f"expected outputs with {FEWEST_CLAIMS} claims or more that can be checked, got {len(scores)}: "
            "so few say nothing of the share that is supported"
        )
    return estimate_prior(scores, guard.fitted_prior)


@dataclass(frozen=True, slots=True)
class PriorTask:
    """The task of workers that estimate a prior: called with the network, it gives the function that scores a batch."""

    policy: Policy

    def __call__(self, scorer: "PairScorer") -> Callable[[Requests], list[float]]:
        """Makes the guard."""
        from assay.config import Guard

        return partial(_scores, _with_fitted_prior(Guard(self.policy, scorer=scorer)))


def _with_fitted_prior(guard: "Guard") -> "Guard":
    return guard.under(guard.policy.model_copy(update={"prior": guard.fitted_prior, "judge": "off"}))


def _scores(guard: "Guard", batch: Requests) -> list[float]:
    return [claim.score for report in guard.check_many(batch) for claim in report.claims if claim.score is not None]


def _batches(requests: Iterable[Mapping[str, Any]], sizes: list[int]) -> Iterator[Requests]:
    remaining = iter(requests)
    while batch := list(islice(remaining, _BATCH_REQUESTS)):
        sizes.append(len(batch))
        yield batch


def recorded_requests(store: "Store", tenant: str, limit: int) -> Iterable[dict[str, Any]]:
    """The newest outputs of a database whose content is complete, as arguments of `Guard.check`.

    Args:
        store: the record.
        tenant: the tenant whose outputs are read.
        limit: the most outputs.
    """
    before: str | None = None
    remaining = limit
    while remaining > 0 and (page := store.page(tenant, before=before, limit=min(remaining, 50))):
        for entry in page:
            before = entry.id
            check = store.check(entry.id, tenant)
            if check is None or not check.asked or not isinstance(check.asked.get("answer"), str):
                continue
            evidence: list[Evidence] = [item for _, _, item in check.evidence if item is not None]
            if len(evidence) == len(check.evidence):
                remaining -= 1
                yield {"answer": check.asked["answer"], "evidence": evidence, "question": check.asked.get("question")}
