"""The tables. Every key begins with the tenant, so that no query ever has to read another tenant's rows.

Moments are whole microseconds since 1970 in UTC. What a person may ask to have erased (texts, arguments, comments) is
in nullable columns; what remains after an erasure are decisions, scores and digests of policies and verifiers.
"""

from assay.store.db.packed_json import Packed, pack, unpack, unpack_bytes
from assay.store.db.tables.access import access_tokens, api_keys, login_tries, sessions, tenants, users
from assay.store.db.tables.audit import audit_anchors, audit_checkpoints, audit_entries, audit_logs, audit_tiles
from assay.store.db.tables.checks import (
    IS_GAP,
    claims,
    decisions,
    evidence,
    hourly,
    idempotency_keys,
    policies,
    receipt_uses,
    report_search,
    reports,
    retention,
    run_evidence,
    runs,
    sketch_cursors,
    sketches,
    tool_calls,
    turns,
    verdict_cache,
    verifiers,
    worst_outputs,
)
from assay.store.db.tables.datasets import dataset_rows, datasets, experiment_rows, experiments, saved_views
from assay.store.db.tables.definition import metadata
from assay.store.db.tables.monitoring import alarms, changes, chart_states, consequences, observations
from assay.store.db.tables.redteam import redteam_answers, redteam_cases, redteam_proposals, redteam_runs
from assay.store.db.tables.reviews import alert_silences, alerts, feedback, outbox, review_items
from assay.store.db.tables.schedules import golden_results, golden_runs, passing, passing_states, schedules

__all__ = [
    "IS_GAP",
    "Packed",
    "access_tokens",
    "alarms",
    "alert_silences",
    "alerts",
    "api_keys",
    "audit_anchors",
    "audit_checkpoints",
    "audit_entries",
    "audit_logs",
    "audit_tiles",
    "changes",
    "chart_states",
    "claims",
    "consequences",
    "dataset_rows",
    "datasets",
    "decisions",
    "evidence",
    "experiment_rows",
    "experiments",
    "feedback",
    "golden_results",
    "golden_runs",
    "hourly",
    "idempotency_keys",
    "login_tries",
    "metadata",
    "observations",
    "outbox",
    "pack",
    "passing",
    "passing_states",
    "policies",
    "receipt_uses",
    "redteam_answers",
    "redteam_cases",
    "redteam_proposals",
    "redteam_runs",
    "report_search",
    "reports",
    "retention",
    "review_items",
    "run_evidence",
    "runs",
    "saved_views",
    "schedules",
    "sessions",
    "sketch_cursors",
    "sketches",
    "tenants",
    "tool_calls",
    "turns",
    "unpack",
    "unpack_bytes",
    "users",
    "verdict_cache",
    "verifiers",
    "worst_outputs",
]
