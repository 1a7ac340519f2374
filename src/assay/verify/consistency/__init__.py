"""Self-consistency: probes of critical claims, and clusters of claims that mean the same in several samples."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.consistency.clusters import Agreement as Agreement
    from assay.verify.consistency.clusters import Consistency as Consistency
    from assay.verify.consistency.clusters import cluster_claims as cluster_claims
    from assay.verify.consistency.clusters import values_differ as values_differ
    from assay.verify.consistency.probes import Prober as Prober
    from assay.verify.consistency.probes import ProbeRequest as ProbeRequest
    from assay.verify.consistency.probes import diverged as diverged
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".clusters": ("Agreement", "Consistency", "cluster_claims", "values_differ"),
            ".probes": ("ProbeRequest", "Prober", "diverged"),
        },
    )
