"""Self-consistency: probes of claims, and the consensus of several answers."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.rewrite.probes.document_fields import document_consensus as document_consensus
    from assay.rewrite.probes.sampling import Consensus as Consensus
    from assay.rewrite.probes.sampling import ProbeOptions as ProbeOptions
    from assay.rewrite.probes.sampling import SamplingProber as SamplingProber
    from assay.rewrite.probes.sampling import consensus_of as consensus_of
    from assay.rewrite.probes.sampling import sample_consensus as sample_consensus
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".document_fields": ("document_consensus",),
            ".sampling": ("Consensus", "ProbeOptions", "SamplingProber", "consensus_of", "sample_consensus"),
        },
    )
