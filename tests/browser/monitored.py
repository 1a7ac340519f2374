"""What the demo has besides its runs: sources of knowledge, retrievals of nothing, changes, control charts, alerts."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from tests.knowledge.test_served import configured

from assay.config import Guard
from assay.models.interface import PairScorer
from assay.monitor import Charts, MonitorSettings, Series, WatchSettings
from assay.policy import preset
from assay.schema import coerce_evidence
from assay.server.monitoring.service import Monitor
from assay.server.panels.worker import PanelWorker
from assay.store.alerts import Alert, Urgency, acknowledge, close_alert, raise_alert, silence
from assay.store.db.store import Store
from assay.store.monitoring import AlarmRow, ChangeRow, StoredState, add_changes, advance_charts, read_state
from assay.store.records import micros
from assay.store.records.interface import CheckRecord

PRICES = "The Heron costs EUR 149.50. The Aria 2 costs 79 euros. The Lark is the best speaker under 30 euros."
"""An answer on which a database of products has something to say: right, wrong and nothing."""
LOUDSPEAKERS = "The Lark, the Heron and the Aria 2 are loudspeakers of the house. They are sold in three colours."

UNRETRIEVED = (
    ("Is there a canteen at the office in Graz?", "Yes, the canteen in Graz is open from 11 to 2."),
    ("is there a canteen in Graz", "I do not know."),
    (
        "Who is the works council's contact for the new shift model of the logistics centre in Wiener Neustadt?",
        "The contact is Ms Leitner in building 4.",
    ),
)
"""Questions for which nothing was retrieved."""

CHANGES = (
    (150.0, "model", "chat-large-2026-02"),
    (70.0, "prompt", "support-answer v14: cite the handbook by section"),
    (31.0, "index", "handbook 2026-03 (1,204 passages)"),
    (9.5, "policy", "general"),
)
"""Changes of the system: hours ago, kind and what it is now."""

ALERTS = (
    Alert(
        "service:messages",
        "service.messages",
        "3 messages to the webhook of the pharmacy could not be delivered.",
        Urgency.INFO,
        {"waiting": 3},
    ),
    Alert(
        "metric:retrieval_null",
        "metric.retrieval_null",
        "Retrieval null rate: 0.310 (0.224 to 0.413) over the last 7 days, 0.121 before (alert above 0.250).",
        Urgency.WARNING,
        {"value": 0.31, "before": 0.121, "outputs": 87},
    ),
    Alert(
        "monitor:agent:pharmacy-app",
        "monitor.drift",
        "The rate of wrong claims of one agent rose: 0.180 since 2 days ago, 0.050 before.",
        Urgency.CRITICAL,
        {"rate": 0.18, "baseline": 0.05, "runs": ["4e" * 16, "5f" * 16, "60" * 16]},
    ),
)
"""Alerts: one is silenced, one somebody looks at, one is over."""


def show_knowledge(store: Store, scorer: PairScorer, folder: Path) -> None:
    """A run whose claims a database of products was asked about, and runs for which nothing was retrieved."""
    asking = Guard(configured(folder), scorer=scorer, environ={})
    question = "Which loudspeakers do you have, and what do they cost?"
    report = asking.check(PRICES, [LOUDSPEAKERS], question=question)
    asked = {"answer": PRICES, "question": question, "stakes": "medium"}
    given = coerce_evidence([LOUDSPEAKERS])
    store.record(CheckRecord(report, asked, given, asking.policy, "check", "shop-agent"))
    general = Guard(preset("general"), scorer=scorer, environ={})
    for question, answer in UNRETRIEVED:
        report = general.check(answer, (), question=question)
        asked = {"answer": answer, "question": question, "stakes": "low"}
        store.record(CheckRecord(report, asked, (), general.policy, "check", "intranet"))


def show_monitor(store: Store, clock: Callable[[datetime], None], now: datetime) -> None:
    """Changes, charts with an alarm, and alerts in every state; the record is counted."""
    rows = [
        ChangeRow(f"change-{at}", micros(now - timedelta(hours=hours)), kind, ref)
        for at, (hours, kind, ref) in enumerate(CHANGES)
    ]
    add_changes(store, "default", rows)
    Monitor(store, MonitorSettings(WatchSettings(baselines={"bad": 0.2, "score": 0.3}))).run("default")
    with store.reading("default") as connection:
        state = read_state(connection, "default")
    onset = micros(now - timedelta(hours=30))
    alarm = AlarmRow("a" * 32, Series("agent", "pharmacy-app", "bad").key, "up", onset, {"onset": onset})
    following = state or StoredState(micros(now), Charts().wire())
    advance_charts(store, "default", state, following, [alarm], 0)
    for at, alert in enumerate(ALERTS):
        clock(now - timedelta(hours=26 - 9 * at))
        item, _ = raise_alert(store, "default", alert)
        if at == 0:
            silence(store, "default", item.key, now + timedelta(hours=20), "ada", "user:ada")
        if at == 1:
            acknowledge(store, "default", item.id, "rosa", "user:rosa")
    clock(now - timedelta(days=3))
    over = Alert("metric:faithfulness", "metric.drop", "Faithfulness: 0.712 (0.640 to 0.778), 0.861 before.")
    raise_alert(store, "default", over)
    clock(now - timedelta(days=2))
    close_alert(store, "default", over.key)


def count(store: Store) -> None:
    """Counts the record into sketches and looks at the rules of alerts, as a server does by itself."""
    PanelWorker(store, "demo").run_once()


def show_hostile(store: Store, texts: Sequence[str]) -> None:
    """Hostile names of changes, and alerts that say what no alert of ours says."""
    for at, text in enumerate(texts):
        plain = text.replace("\x00", "")[:180]
        add_changes(store, "default", [ChangeRow(f"hostile-{at}", micros(store.now()), "prompt", plain)])
        raise_alert(store, "default", Alert(f"hostile:{at}", "monitor.drift", plain, facts={"name": plain}))
    count(store)
