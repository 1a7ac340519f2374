"""The alert for a verifier whose scores are no longer calibrated.

It is based on the decisions of reviewers and a test that keeps its level however often one looks (`calibration_drift`).
"""

from typing import Final

from assay.stats.drift import calibration_drift
from assay.store.alerts import Alert, AlertState, close_alert, list_alerts, raise_alert
from assay.store.db import Store
from assay.store.monitoring import judged_scores

KEY: Final = "verifier:calibration:reviewed"
"""The key of the alert; `verifier:calibration` is the alert about the claims of the last 28 days."""


def tell_calibration(store: Store, tenant: str) -> bool:
    """Raises the alert while the current verifier's scores are significantly off, or closes it.

    Returns:
        Whether they are.

    Raises:
        StoreError: the database cannot be read or written.
    """
    with store.reading(tenant) as connection:
        judged = judged_scores(connection, tenant)
        alerts = list_alerts(connection, tenant, store.now(), (AlertState.OPEN, AlertState.ACKNOWLEDGED))
    drift = calibration_drift([score for score, _ in judged], [right for _, right in judged])
    if drift.alarm is None or drift.mean_score is None or drift.mean_outcome is None:
        if any(one.key == KEY for one in alerts):
            close_alert(store, tenant, KEY)
        return False
    raise_alert(
        store,
        tenant,
        Alert(
            KEY,
            "verifier.calibration",
            f"Of {drift.count:,} outputs that reviewers decided on under this verifier scores average "
            f"{drift.mean_score:.3f}, and {drift.mean_outcome:.3f} of them were right.",
            facts={
                "outputs": drift.count,
                "said": round(drift.mean_score, 4),
                "right": round(drift.mean_outcome, 4),
                "after": drift.alarm,
            },
        ),
    )
    return True
