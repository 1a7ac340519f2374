"""The search for the frontier: looks for attacks that break a system, within a budget of calls."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.redteam.search.aim import RecentChange as RecentChange
    from assay.redteam.search.frontier import Arm as Arm
    from assay.redteam.search.frontier import SearchResult as SearchResult
    from assay.redteam.search.frontier import search as search
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {".aim": ("RecentChange",), ".frontier": ("Arm", "SearchResult", "search")},
        renamed={
            "Found": "SearchResult",
            "Changed": "RecentChange",
        },
    )
