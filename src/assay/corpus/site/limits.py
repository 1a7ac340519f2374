"""Limits on fetching a site."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from assay.errors import InputError

MAX_REDIRECTS: Final = 5
"""Consecutive redirects that are followed; the limit of RFC 9309 for robots.txt."""
MAX_QUERY_VARIANTS: Final = 100
"""Addresses that differ only in their query and are fetched: a calendar has no end."""
MAX_ADDRESS_LENGTH: Final = 2_000
"""Characters of an address; longer ones are not accepted by all servers."""
MAX_WAIT_S: Final = 30.0
"""The longest pause in seconds that a server can ask for (`Retry-After`, `Crawl-delay`)."""


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """How much of a site is fetched, and how fast."""

    pages: int = 10_000
    """Addresses that are requested in one check."""
    megabytes: int = 1_000
    """Total size of all response bodies, in 10^6 bytes."""
    seconds: float = 3_600.0
    """Time limit of one check; the next one continues from there."""
    page_seconds: float = 30.0
    """Time limit of one response, headers and body."""
    delay: float = 0.0
    """Seconds between two requests; a longer delay in robots.txt is respected."""
    allow_private: bool = False
    """Whether servers may be this machine or in private networks."""
    agent: str = field(default="assay")
    """The name for robots.txt and the `User-Agent` header."""

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            InputError: a limit is not positive, or the delay is negative.
        """
        for name, value in (("pages", self.pages), ("megabytes", self.megabytes), ("seconds", self.seconds)):
            if not value > 0:
                raise InputError(f"the limit of {name} of a site must be above 0, got {value}")
        if not self.page_seconds > 0 or not self.delay >= 0:
            raise InputError("the time for a page must be above 0 and the delay between two at least 0")
