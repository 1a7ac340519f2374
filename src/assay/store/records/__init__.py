"""Recorded checks: recording, lists, search, feedback, receipt uses, idempotency keys, retention and erasure."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.db.column_values import checked_tenant as checked_tenant
    from assay.store.db.column_values import micros as micros
    from assay.store.db.column_values import moment_at as moment_at
    from assay.store.records.deferred_receipt_uses import UsesAt as UsesAt
    from assay.store.records.erasure import erase_before as erase_before
    from assay.store.records.erasure import erase_evidence as erase_evidence
    from assay.store.records.erasure import erase_runs as erase_runs
    from assay.store.records.erasure import find_runs as find_runs
    from assay.store.records.idempotency_keys import ClaimedCheck as ClaimedCheck
    from assay.store.records.idempotency_keys import ClaimOutcome as ClaimOutcome
    from assay.store.records.idempotency_keys import RequestKey as RequestKey
    from assay.store.records.idempotency_keys import claim_request as claim_request
    from assay.store.records.idempotency_keys import drop_old_keys as drop_old_keys
    from assay.store.records.idempotency_keys import note_issued as note_issued
    from assay.store.records.idempotency_keys import note_record as note_record
    from assay.store.records.idempotency_keys import recorded_report as recorded_report
    from assay.store.records.idempotency_keys import release_request as release_request
    from assay.store.records.interface import DEFAULT_TENANT as DEFAULT_TENANT
    from assay.store.records.interface import CheckRecord as CheckRecord
    from assay.store.records.interface import new_id as new_id
    from assay.store.records.receipt_uses import StoredUse as StoredUse
    from assay.store.records.receipt_uses import list_uses as list_uses
    from assay.store.records.report_details import StoredCheckpoint as StoredCheckpoint
    from assay.store.records.report_details import StoredFeedback as StoredFeedback
    from assay.store.records.report_details import has_run as has_run
    from assay.store.records.report_details import list_checkpoints as list_checkpoints
    from assay.store.records.report_details import read_claims as read_claims
    from assay.store.records.report_details import read_decisions as read_decisions
    from assay.store.records.report_details import read_feedback as read_feedback
    from assay.store.records.report_details import read_log as read_log
    from assay.store.records.report_details import read_policies as read_policies
    from assay.store.records.report_details import read_policy as read_policy
    from assay.store.records.report_details import read_source_answers as read_source_answers
    from assay.store.records.report_details import read_tool_calls as read_tool_calls
    from assay.store.records.report_lists import Page as Page
    from assay.store.records.report_lists import ReportFilter as ReportFilter
    from assay.store.records.report_lists import ReportRow as ReportRow
    from assay.store.records.report_lists import read_listed as read_listed
    from assay.store.records.report_lists import read_page as read_page
    from assay.store.records.retention import LONGEST_DAYS as LONGEST_DAYS
    from assay.store.records.retention import MOST_RULES as MOST_RULES
    from assay.store.records.retention import ChangedError as ChangedError
    from assay.store.records.retention import Rule as Rule
    from assay.store.records.retention import Rules as Rules
    from assay.store.records.retention import apply_rules as apply_rules
    from assay.store.records.retention import read_rules as read_rules
    from assay.store.records.retention import tenants_with_rules as tenants_with_rules
    from assay.store.records.retention import write_rules as write_rules
    from assay.store.records.row_evidence import NoRow as NoRow
    from assay.store.records.row_evidence import why_no_row as why_no_row
    from assay.store.records.run_events import LONGEST_COMMENT as LONGEST_COMMENT
    from assay.store.records.run_events import give_feedback as give_feedback
    from assay.store.records.run_events import receipt_change as receipt_change
    from assay.store.records.run_events import receipt_entry as receipt_entry
    from assay.store.records.search_words import LONGEST_QUERY as LONGEST_QUERY
    from assay.store.records.verdict_cache import KeptVerdict as KeptVerdict
    from assay.store.records.verdict_cache import find_verdict as find_verdict
    from assay.store.records.verdict_cache import keep_verdict as keep_verdict
    from assay.store.records.verdict_cache import prune_verdicts as prune_verdicts
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".deferred_receipt_uses": ("UsesAt",),
            ".erasure": ("erase_before", "erase_evidence", "erase_runs", "find_runs"),
            ".idempotency_keys": (
                "ClaimedCheck",
                "ClaimOutcome",
                "RequestKey",
                "claim_request",
                "drop_old_keys",
                "release_request",
                "note_issued",
                "note_record",
                "recorded_report",
            ),
            ".interface": ("CheckRecord", "DEFAULT_TENANT", "new_id"),
            ".receipt_uses": ("StoredUse", "list_uses"),
            "assay.store.db.column_values": ("checked_tenant", "micros", "moment_at"),
            ".report_details": (
                "StoredFeedback",
                "StoredCheckpoint",
                "has_run",
                "read_claims",
                "read_decisions",
                "read_feedback",
                "read_log",
                "read_policies",
                "read_policy",
                "list_checkpoints",
                "read_source_answers",
                "read_tool_calls",
            ),
            ".report_lists": ("Page", "ReportFilter", "ReportRow", "read_listed", "read_page"),
            ".retention": (
                "ChangedError",
                "LONGEST_DAYS",
                "MOST_RULES",
                "Rule",
                "Rules",
                "apply_rules",
                "read_rules",
                "tenants_with_rules",
                "write_rules",
            ),
            ".row_evidence": ("NoRow", "why_no_row"),
            ".run_events": ("LONGEST_COMMENT", "give_feedback", "receipt_change", "receipt_entry"),
            ".search_words": ("LONGEST_QUERY",),
            ".verdict_cache": ("KeptVerdict", "find_verdict", "keep_verdict", "prune_verdicts"),
        },
        renamed={
            "Said": "StoredFeedback",
            "Signed": "StoredCheckpoint",
            "read_signed": "list_checkpoints",
            "Claiming": "ClaimOutcome",
            "Check": "ClaimedCheck",
            "LONGEST": "LONGEST_DAYS",
            "give_up": "release_request",
        },
    )
