"""Alerts: conditions that people are notified of once, and that are acknowledged, silenced and closed."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.store.alerts.acts import ALERT as ALERT
    from assay.store.alerts.acts import acknowledge as acknowledge
    from assay.store.alerts.acts import close_alert as close_alert
    from assay.store.alerts.acts import list_alerts as list_alerts
    from assay.store.alerts.acts import raise_alert as raise_alert
    from assay.store.alerts.acts import read_alert as read_alert
    from assay.store.alerts.acts import runbook_of as runbook_of
    from assay.store.alerts.acts import silence as silence
    from assay.store.alerts.values import Alert as Alert
    from assay.store.alerts.values import AlertItem as AlertItem
    from assay.store.alerts.values import AlertState as AlertState
    from assay.store.alerts.values import Urgency as Urgency
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".acts": (
                "ALERT",
                "acknowledge",
                "close_alert",
                "list_alerts",
                "raise_alert",
                "read_alert",
                "runbook_of",
                "silence",
            ),
            ".values": ("Alert", "AlertItem", "AlertState", "Urgency"),
        },
    )
