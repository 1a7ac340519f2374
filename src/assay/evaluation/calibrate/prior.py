"""Estimates a policy's `prior` from outputs that nobody labelled."""

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
"""Fewer claims say next to nothing of a share near 0.9."""
_BATCH: Final = 16


Requests = list[Mapping[str, Any]]
"""Arguments of `Guard.check`, one for each output."""
Scored = Callable[[Iterable[Requests]], Iterator[Sequence[float]]]
"""The scores of the claims of batches, in their order: a `map` in this process or by workers."""


def prior_of(
    guard: "Guard",
    requests: Iterable[Mapping[str, Any]],
    progress: Callable[[int], None] = lambda _: None,
    scored: Scored | None = None,
) -> PriorEstimate:
    """The share of supported claims among those of the outputs.

    Args:
        guard: with the verifier that is to be used; its policy's own prior plays no part.
        requests: arguments of `Guard.check`, one for each output.
        progress: called with the number of outputs that were checked since the last call.
        scored: who judges in place of the guard, by an equal `EstimatingPrior`; the estimate is the same.

    Raises:
        InputError: the outputs hold fewer than `FEWEST_CLAIMS` claims that can be checked.
    """
    sizes: list[int] = []
    scores: list[float] = []
    found = (scored or partial(map, partial(_scores, _plain(guard))))(_batches(requests, sizes))
    for number, more in enumerate(found):
        scores += more
        progress(sizes[number])
    if len(scores) < FEWEST_CLAIMS:
        raise InputError(
            f"expected outputs with {FEWEST_CLAIMS} claims or more that can be checked, got {len(scores)}: "
            "so few say nothing of the share that is supported"
        )
    return estimate_prior(scores, guard.fitted_prior)


@dataclass(frozen=True, slots=True)
class EstimatingPrior:
    """What a worker is given for an estimate: called once with its network, it gives what scores claims of batches."""

    policy: Policy

    def __call__(self, scorer: "PairScorer") -> Callable[[Requests], list[float]]:
        """Makes the guard."""
        from assay.config import Guard

        return partial(_scores, _plain(Guard(self.policy, scorer=scorer)))


def _plain(guard: "Guard") -> "Guard":
    return guard.under(guard.policy.model_copy(update={"prior": guard.fitted_prior, "judge": "off"}))


def _scores(guard: "Guard", batch: Requests) -> list[float]:
    return [claim.score for report in guard.check_many(batch) for claim in report.claims if claim.score is not None]


def _batches(requests: Iterable[Mapping[str, Any]], sizes: list[int]) -> Iterator[Requests]:
    waiting = iter(requests)
    while batch := list(islice(waiting, _BATCH)):
        sizes.append(len(batch))
        yield batch


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
