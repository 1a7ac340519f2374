"""Revision of failed sentences: feedback, authors, and the loop that keeps the passed sentences unchanged."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.rewrite.revise.authors import EVIDENCE as EVIDENCE
    from assay.rewrite.revise.authors import EvidenceAuthor as EvidenceAuthor
    from assay.rewrite.revise.authors import ModelAuthor as ModelAuthor
    from assay.rewrite.revise.authors import RepairOptions as RepairOptions
    from assay.rewrite.revise.authors import Writer as Writer
    from assay.rewrite.revise.convergence import convergence_of as convergence_of
    from assay.rewrite.revise.feedback import FAILING as FAILING
    from assay.rewrite.revise.feedback import LONGEST as LONGEST
    from assay.rewrite.revise.feedback import MOST_LISTED as MOST_LISTED
    from assay.rewrite.revise.feedback import Feedback as Feedback
    from assay.rewrite.revise.feedback import failed_spans as failed_spans
    from assay.rewrite.revise.feedback import feedback_on as feedback_on
    from assay.rewrite.revise.loop import REVISABLE as REVISABLE
    from assay.rewrite.revise.loop import Author as Author
    from assay.rewrite.revise.loop import Verify as Verify
    from assay.rewrite.revise.loop import arevise as arevise
    from assay.rewrite.revise.loop import failing as failing
    from assay.rewrite.revise.loop import removal as removal
    from assay.rewrite.revise.loop import revise as revise
    from assay.rewrite.revise.loop import with_removal as with_removal
    from assay.rewrite.revise.splicing import changes_between as changes_between
    from assay.rewrite.revise.splicing import parts_of as parts_of
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".authors": ("EVIDENCE", "EvidenceAuthor", "ModelAuthor", "RepairOptions", "Writer"),
            ".convergence": ("convergence_of",),
            ".feedback": ("FAILING", "Feedback", "LONGEST", "MOST_LISTED", "failed_spans", "feedback_on"),
            ".loop": ("Author", "REVISABLE", "Verify", "arevise", "failing", "removal", "revise", "with_removal"),
            ".splicing": ("changes_between", "parts_of"),
        },
    )
