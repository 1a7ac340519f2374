"""The audit log: an append-only Merkle tree with signed checkpoints, its proofs and their verification."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.audit.across import tenants_of as tenants_of
    from assay.store.audit.across import tenants_without_log as tenants_without_log
    from assay.store.audit.entries import RECEIPT as RECEIPT
    from assay.store.audit.entries import read_entry_data as read_entry_data
    from assay.store.audit.export import export_log as export_log
    from assay.store.audit.export import export_run as export_run
    from assay.store.audit.export import run_content as run_content
    from assay.store.audit.log import Entry as Entry
    from assay.store.audit.log import Head as Head
    from assay.store.audit.log import entries_of as entries_of
    from assay.store.audit.log import last_checkpoint as last_checkpoint
    from assay.store.audit.log import read_entry as read_entry
    from assay.store.audit.log import read_head as read_head
    from assay.store.audit.merkle.anchors import WitnessKey as WitnessKey
    from assay.store.audit.merkle.anchors import anchor_at_witness as anchor_at_witness
    from assay.store.audit.merkle.anchors import anchor_in_file as anchor_in_file
    from assay.store.audit.merkle.anchors import read_notes as read_notes
    from assay.store.audit.merkle.anchors import read_witness_key as read_witness_key
    from assay.store.audit.merkle.anchors import split_notes as split_notes
    from assay.store.audit.merkle.checkpoint import read_checkpoint as read_checkpoint
    from assay.store.audit.merkle.checkpoint_signing import make_checkpoint as make_checkpoint
    from assay.store.audit.merkle.proofs import EntryProof as EntryProof
    from assay.store.audit.merkle.proofs import prove_entry as prove_entry
    from assay.store.audit.merkle.proofs import prove_growth as prove_growth
    from assay.store.audit.merkle.signed_notes import verifier_key as verifier_key
    from assay.store.audit.verification.incremental import VerificationState as VerificationState
    from assay.store.audit.verification.incremental import read_verification_state as read_verification_state
    from assay.store.audit.verification.incremental import verify_contents_since as verify_contents_since
    from assay.store.audit.verification.log import Finding as Finding
    from assay.store.audit.verification.log import FindingCode as FindingCode
    from assay.store.audit.verification.log import LogVerification as LogVerification
    from assay.store.audit.verification.log import verify_log as verify_log
    from assay.store.audit.verification.run_contents import verify_contents as verify_contents
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".across": ("tenants_of", "tenants_without_log"),
            ".entries": ("RECEIPT", "read_entry_data"),
            ".export": ("export_log", "export_run", "run_content"),
            ".log": ("Entry", "Head", "entries_of", "last_checkpoint", "read_entry", "read_head"),
            ".merkle.anchors": (
                "WitnessKey",
                "anchor_at_witness",
                "anchor_in_file",
                "read_notes",
                "read_witness_key",
                "split_notes",
            ),
            ".merkle.checkpoint": ("read_checkpoint",),
            ".merkle.checkpoint_signing": ("make_checkpoint",),
            ".merkle.proofs": ("EntryProof", "prove_entry", "prove_growth"),
            ".merkle.signed_notes": ("verifier_key",),
            ".verification.incremental": ("VerificationState", "read_verification_state", "verify_contents_since"),
            ".verification.log": ("Finding", "FindingCode", "LogVerification", "verify_log"),
            ".verification.run_contents": ("verify_contents",),
        },
        renamed={
            "with_contents": "verify_contents",
            "with_contents_since": "verify_contents_since",
            "Verified": "VerificationState",
            "read_verified": "read_verification_state",
            "without_log": "tenants_without_log",
        },
    )
