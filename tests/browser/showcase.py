"""The runs of the demo that have something of everything: long answers, agents, repairs, second askings, receipts."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from tests.guard.runs import transcript

from assay.config import Guard
from assay.models.chat.interface import ChatRequest
from assay.models.interface import PairScorer
from assay.policy import Policy, preset
from assay.schema import Action, Evidence, HallucinationReport
from assay.store.db.store import Store
from assay.store.records.erasure import erase_runs
from assay.store.records.interface import CheckRecord
from assay.store.records.run_events import give_feedback, note_receipt
from assay.testing import ScriptedChat

HANDBOOK = (
    Evidence(
        id="hr-leave",
        title="Parental leave",
        source="handbook",
        version="2026-03",
        text=(
            "Employees are entitled to 16 weeks of paid parental leave. The request is made to the team lead at least "
            "8 weeks before the leave begins. Partners receive 4 weeks of paid leave, to be taken within 6 months of "
            "the birth. Leave may be split into at most 3 parts. While on leave the employee keeps the company phone."
        ),
    ),
    Evidence(
        id="hr-adoption",
        title="Adoption",
        source="handbook",
        version="2025-11",
        text=(
            "Adoptive parents are treated as parents by birth from the day on which the child comes to live with them. "
            "The certificate of the agency is handed in within 4 weeks."
        ),
    ),
    Evidence(
        id="payroll-faq",
        title="Questions to payroll",
        source="intranet",
        text=(
            "Pay during leave is 100 percent of the base salary. Bonuses are paid in March of the following year. "
            "The car allowance of 300 euros a month is not paid during leave."
        ),
    ),
)

LONG: Final = (
    "Employees are entitled to 16 weeks of paid parental leave [hr-leave]. The request is made to the team lead at "
    "least 6 weeks before the leave begins [hr-leave]. Leave may be split into at most 3 parts.\n\n"
    "Pay during leave is 100 percent of the base salary [payroll-faq]. The car allowance of 300 euros a month is paid "
    "during leave as well. Bonuses are paid in March of the following year [payroll-faq].\n\n"
    "Adoptive parents are treated as parents by birth from the day on which the child comes to live with them "
    "[hr-adoption]. The company also pays for a place in a kindergarten of your choice. I hope this helps!"
)
"""An answer with something right, something wrong and something that nobody said."""

ORDER: Final = json.dumps(
    {
        "order": "W-2231",
        "status": "shipped",
        "carrier": "DHL",
        "arrives": "2026-05-03",
        "total": 84.5,
        "city": "Hamburg",
    }
)
FOUND: Final = ("get_order", {"order_id": "W-2231"}, ORDER)
INVENTED: Final = ("get_order", {"order_id": "W-2213"}, None)
RUNS: Final[tuple[tuple[str, Any, str], ...]] = (
    (
        "Where is my order W-2231?",
        transcript("Order W-2231 has shipped. It is in Hamburg.", FOUND, user="Where is my order W-2231?"),
        "shop-agent",
    ),
    (
        "Where is my order W-2231, and what did it cost?",
        transcript(
            "Order W-2231 was shipped with DHL. The total is 94.50 euros.",
            FOUND,
            user="Where is my order W-2231, and what did it cost?",
        ),
        "shop-agent",
    ),
    (
        "Cancel order W-2231, please.",
        transcript("I have cancelled your order W-2231.", FOUND, INVENTED, user="Cancel order W-2231, please."),
        "shop-agent",
    ),
)
"""Runs of an agent: what was asked, the transcript, and who asked. The last one says what it has not done."""


def show(store: Store, scorer: PairScorer, clock: Callable[[datetime], None], now: datetime, keys: Any) -> None:
    """Adds the runs to a store, spread over the last two days, the one with the most to see last."""
    times = (now - timedelta(hours=40 - 3 * step) for step in range(14))

    def keep(
        guard: Guard,
        report: HallucinationReport,
        asked: dict[str, Any],
        given: tuple[Evidence, ...] = (),
        kind: str = "check",
        caller: str = "hr-assistant",
    ) -> str:
        clock(next(times))
        return store.record(CheckRecord(report, asked, given, guard.policy, kind, caller)).id

    general = Guard(preset("general"), scorer=scorer, environ={}, keys=keys)
    for question, messages, caller in RUNS:
        report = general.check_run(messages, question=question)
        keep(general, report, {"run": messages, "question": question, "stakes": "medium"}, (), "run", caller)

    question = "How much paid leave do partners get?"
    wrong = "Partners receive 6 weeks of paid leave, to be taken within 6 months of the birth."
    repaired = general.revise(
        wrong, HANDBOOK, question=question, author=lambda told: told.output.replace("6 weeks", "4 weeks"), attempts=2
    )
    run = keep(general, repaired, {"answer": wrong, "question": question, "stakes": "medium"}, HANDBOOK)
    give_feedback(store, run, "right", author="lena", comment="Now it is what the handbook says.")

    asks = ScriptedChat(_again, name="demo-model")
    doubting = Policy.model_validate(
        {**preset("general").model_dump(), "name": "probing", "consistency_probes": True, "description": "Asks twice."}
    )
    prober = Guard(doubting, scorer=scorer, llm=asks, environ={})
    question, said = "When do I have to ask for leave?", "The request is made at least 8 weeks before the leave begins."
    report = prober.check(said, HANDBOOK, question=question)
    keep(prober, report, {"answer": said, "question": question, "stakes": "medium"}, HANDBOOK)

    gone = general.check("Ms Weber receives 16 weeks of paid parental leave.", HANDBOOK, question="And Ms Weber?")
    erased = keep(general, gone, {"answer": gone.output, "question": gone.question, "stakes": "medium"}, HANDBOOK)
    erase_runs(store, [erased], "request of the person", "default")

    right = general.check(
        "Employees are entitled to 16 weeks of paid parental leave [hr-leave].", HANDBOOK, question="How long is leave?"
    )
    run = keep(general, right, {"answer": right.output, "question": right.question, "stakes": "medium"}, HANDBOOK)
    if right.action is Action.EMIT:
        note_receipt(store, run, general.issue(right))

    question = "How long is parental leave, what am I paid meanwhile, and does it count for adoptions?"
    report = general.check(LONG, HANDBOOK, question=question)
    clock(now - timedelta(minutes=6))
    run = store.record(
        CheckRecord(
            report,
            {"answer": LONG, "question": question, "stakes": "medium"},
            HANDBOOK,
            general.policy,
            "gateway",
            "hr-assistant",
        )
    ).id
    give_feedback(store, run, "wrong", author="lena", claim=1, comment="It is 8 weeks, see the handbook.")


def _again(request: ChatRequest) -> str:
    """What the model says when it is asked again: not twice the same."""
    _again_count.append(0)
    weeks = (8, 8, 6, 8, 12)[len(_again_count) % 5]
    return f"The request is made at least {weeks} weeks before the leave begins."


_again_count: list[int] = []
