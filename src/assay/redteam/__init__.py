"""The red team: writes attacks from a corpus, runs them against a system, judges the answers and scores them."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.campaigns import Campaign as Campaign
    from assay.redteam.campaigns import decide as decide
    from assay.redteam.campaigns import keep as keep
    from assay.redteam.campaigns import read_campaign as read_campaign
    from assay.redteam.campaigns import run_campaign as run_campaign
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__, {".campaigns": ("Campaign", "decide", "keep", "read_campaign", "run_campaign")}
    )
