"""What fetching a site may cost, and where it may lead."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from assay.errors import InputError

MOST_REDIRECTS: Final = 5
"""Redirects one after another that are followed, as RFC 9309 has it for robots.txt."""
MOST_QUERIES: Final = 100
"""Addresses that differ in their query alone and are fetched: a calendar has no end."""
LONGEST_ADDRESS: Final = 2_000
"""Characters of an address; servers take no longer ones for sure."""
LONGEST_WAIT: Final = 30.0
"""Seconds that are waited at most where a server asks for patience (`Retry-After`, `Crawl-delay`)."""


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """How much of a site is fetched."""

    pages: int = 10_000
    """Addresses that are asked for."""
    megabytes: int = 1_000
    """Bodies of all answers together, in 10^6 bytes."""
    seconds: float = 3_600.0
    """The time for all of it; the next check goes on from there."""
    page_seconds: float = 30.0
    """The time for one answer, its head and its body."""
    delay: float = 0.0
    """Seconds between two requests; a longer one in robots.txt is kept."""
    allow_private: bool = False
    """Whether addresses may be of this machine and of private networks."""
    agent: str = field(default="assay")
    """The name in robots.txt and of the header `User-Agent`."""

    def __post_init__(self) -> None:
        """Refuse limits that nothing meets.

        Raises:
            InputError: a limit is not positive, or the delay negative.
        """
        for name, value in (("pages", self.pages), ("megabytes", self.megabytes), ("seconds", self.seconds)):
            if not value > 0:
                raise InputError(f"the limit of {name} of a site must be above 0, got {value}")
        if not self.page_seconds > 0 or not self.delay >= 0:
            raise InputError("the time for a page must be above 0 and the delay between two at least 0")
