"""Whether the verifier's scores still mean what they say, as an alert of its own.

By what reviewers decided, with a test that keeps its level however often one looks (`calibration_drift`).
"""

from typing import Final

from assay.stats.drift import calibration_drift
from assay.store.alerts import Alert, AlertState, close_alert, list_alerts, raise_alert
from assay.store.db import Store
from assay.store.monitoring import judged_scores

KEY: Final = "verifier:calibration:reviewed"
"""The key of the alert; `verifier:calibration` is that of the last 28 days of claims."""


def tell_calibration(store: Store, tenant: str) -> bool:
    """Raise the alert while the scores of the verifier in force are off for sure, or close it; whether they are.

    Raises:
        StoreError: the database cannot be read or written.
    """
    with store.reading(tenant) as connection:
        judged = judged_scores(connection, tenant)
        held = list_alerts(connection, tenant, store.now(), (AlertState.OPEN, AlertState.ACKNOWLEDGED))
    found = calibration_drift([score for score, _ in judged], [right for _, right in judged])
    if found.alarm is None or found.mean_score is None or found.mean_outcome is None:
        if any(one.key == KEY for one in held):
            close_alert(store, tenant, KEY)
        return False
    raise_alert(
        store,
        tenant,
        Alert(
            KEY,
            "verifier.calibration",
            f"Of {found.count:,} outputs that reviewers decided on under this verifier scores average "
            f"{found.mean_score:.3f}, and {found.mean_outcome:.3f} of them were right.",
            facts={
                "outputs": found.count,
                "said": round(found.mean_score, 4),
                "right": round(found.mean_outcome, 4),
                "after": found.alarm,
            },
        ),
    )
    return True
