"""The red team's records: runs with their cases, and proposals for the approved suite."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.redteam.erasure import ERASED as ERASED
    from assay.store.redteam.erasure import apply_rules_to_conversations as apply_rules_to_conversations
    from assay.store.redteam.erasure import erase_conversations as erase_conversations
    from assay.store.redteam.erasure import erase_conversations_before as erase_conversations_before
    from assay.store.redteam.pending_answers import KeptAnswer as KeptAnswer
    from assay.store.redteam.pending_answers import drop_answers as drop_answers
    from assay.store.redteam.pending_answers import keep_answer as keep_answer
    from assay.store.redteam.pending_answers import kept_answers as kept_answers
    from assay.store.redteam.proposals import ProposalDecision as ProposalDecision
    from assay.store.redteam.proposals import add_proposals as add_proposals
    from assay.store.redteam.proposals import approved_cases as approved_cases
    from assay.store.redteam.proposals import approved_ids as approved_ids
    from assay.store.redteam.proposals import count_proposals as count_proposals
    from assay.store.redteam.proposals import decide_proposal as decide_proposal
    from assay.store.redteam.proposals import known_ids as known_ids
    from assay.store.redteam.proposals import list_proposals as list_proposals
    from assay.store.redteam.proposals import read_proposal as read_proposal
    from assay.store.redteam.runs import REDTEAM as REDTEAM
    from assay.store.redteam.runs import broken_cases as broken_cases
    from assay.store.redteam.runs import first_run as first_run
    from assay.store.redteam.runs import known_series as known_series
    from assay.store.redteam.runs import last_run as last_run
    from assay.store.redteam.runs import list_runs as list_runs
    from assay.store.redteam.runs import read_cases as read_cases
    from assay.store.redteam.runs import read_run as read_run
    from assay.store.redteam.runs import record_run as record_run
    from assay.store.redteam.runs import spent_by_attacks as spent_by_attacks
    from assay.store.redteam.values import APPROVED as APPROVED
    from assay.store.redteam.values import MOST_CASES as MOST_CASES
    from assay.store.redteam.values import OPEN as OPEN
    from assay.store.redteam.values import REJECTED as REJECTED
    from assay.store.redteam.values import AttackCase as AttackCase
    from assay.store.redteam.values import AttackRun as AttackRun
    from assay.store.redteam.values import ProposedCase as ProposedCase
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".erasure": (
                "ERASED",
                "apply_rules_to_conversations",
                "erase_conversations",
                "erase_conversations_before",
            ),
            ".proposals": (
                "ProposalDecision",
                "add_proposals",
                "approved_cases",
                "approved_ids",
                "count_proposals",
                "decide_proposal",
                "known_ids",
                "list_proposals",
                "read_proposal",
            ),
            ".runs": (
                "REDTEAM",
                "broken_cases",
                "first_run",
                "known_series",
                "last_run",
                "list_runs",
                "read_cases",
                "read_run",
                "record_run",
                "spent_by_attacks",
            ),
            ".pending_answers": (
                "KeptAnswer",
                "drop_answers",
                "keep_answer",
                "kept_answers",
            ),
            ".values": (
                "APPROVED",
                "MOST_CASES",
                "OPEN",
                "REJECTED",
                "AttackCase",
                "AttackRun",
                "ProposedCase",
            ),
        },
        renamed={
            "decide": "decide_proposal",
            "Decision": "ProposalDecision",
        },
    )
