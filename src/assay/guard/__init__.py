"""The guard: it takes an answer and its evidence and returns a report. It knows interfaces only."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.guard.api import Guard as Guard
    from assay.guard.check.evidence_index import Limits as Limits
    from assay.guard.commit.receipts import Idempotent as Idempotent
    from assay.guard.commit.receipts import ReceiptDesk as ReceiptDesk
    from assay.guard.conflicts.document_titles import says_that_it_replaces as says_that_it_replaces
    from assay.guard.evidence_files import passage_of_file as passage_of_file
    from assay.guard.options import AskedCheckOptions as AskedCheckOptions
    from assay.guard.options import CheckOptions as CheckOptions
    from assay.guard.options import ProtectAnswerOptions as ProtectAnswerOptions
    from assay.guard.options import ProtectOptions as ProtectOptions
    from assay.guard.options import RunOptions as RunOptions
    from assay.guard.options import TaskOptions as TaskOptions
    from assay.guard.options import require_options as require_options
    from assay.guard.protect.functions import Answer as Answer
    from assay.guard.request import CheckRequest as CheckRequest
    from assay.guard.request import EvidenceLike as EvidenceLike
    from assay.guard.rulings import UNCHECKED as UNCHECKED
    from assay.guard.rulings import Ruling as Ruling
    from assay.guard.rulings import joint_ruling as joint_ruling
    from assay.guard.rulings import ruling_on_calls as ruling_on_calls
    from assay.guard.rulings import ruling_on_part as ruling_on_part
    from assay.guard.rulings import ruling_on_report as ruling_on_report
    from assay.guard.rulings import ruling_on_structure as ruling_on_structure
    from assay.guard.rulings import unchecked as unchecked
    from assay.guard.runs.watch import CallDecision as CallDecision
    from assay.guard.runs.watch import RunWatch as RunWatch
    from assay.guard.screening import have_same_values as have_same_values
    from assay.guard.screening import says_the_same as says_the_same
    from assay.guard.screening.pairs import Pair as Pair
    from assay.guard.screening.pairs import Statement as Statement
    from assay.guard.screening.pairs import statements_of as statements_of
    from assay.guard.screening.pairs import what_differs as what_differs
    from assay.guard.screening.versions import Known as Known
    from assay.guard.screening.versions import keys_of as keys_of
    from assay.guard.screening.versions import replaced_by as replaced_by
    from assay.guard.screening.versions import versions_of as versions_of
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".api": ("Guard",),
            ".check.evidence_index": ("Limits",),
            ".commit.receipts": ("Idempotent", "ReceiptDesk"),
            ".conflicts.document_titles": ("says_that_it_replaces",),
            ".evidence_files": ("passage_of_file",),
            ".options": (
                "AskedCheckOptions",
                "CheckOptions",
                "ProtectAnswerOptions",
                "ProtectOptions",
                "RunOptions",
                "TaskOptions",
                "require_options",
            ),
            ".protect.functions": ("Answer",),
            ".request": ("CheckRequest", "EvidenceLike"),
            ".rulings": (
                "Ruling",
                "UNCHECKED",
                "ruling_on_calls",
                "ruling_on_part",
                "ruling_on_report",
                "ruling_on_structure",
                "joint_ruling",
                "unchecked",
            ),
            ".runs.watch": ("CallDecision", "RunWatch"),
            ".screening.pairs": ("Pair", "Statement", "statements_of", "what_differs"),
            ".screening.versions": ("Known", "keys_of", "replaced_by", "versions_of"),
            ".screening": ("have_same_values", "says_the_same"),
        },
        renamed={
            "on_calls": "ruling_on_calls",
            "on_part": "ruling_on_part",
            "on_report": "ruling_on_report",
            "on_structure": "ruling_on_structure",
            "together": "joint_ruling",
        },
    )
