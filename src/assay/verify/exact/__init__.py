"""The exact tier: what words, numbers, dates, names and quotations alone show of a claim, without any network.

`index_evidence` reads the evidence once; `check_exact` compares one claim with it. Findings name the characters of the
claim and of the evidence that differ; signals are features in [0, 1] for the calibrated combination of the tiers.
"""

from assay.verify.exact.findings import EXACT_SIGNALS, ExactFinding, ExactResult
from assay.verify.exact.index import ExactIndex, index_evidence
from assay.verify.exact.verifier import check_exact

__all__ = ["EXACT_SIGNALS", "ExactFinding", "ExactIndex", "ExactResult", "check_exact", "index_evidence"]
