"""Web search through SearXNG and Brave, with the credibility of results by domain.

Disabled by default, because every query leaves the organisation. A result counts as much as its domain's credibility on
the operator's list, or the default credibility for other domains; results below the minimum are not read at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from assay.errors import PolicyError
from assay.knowledge.extraction import Extraction
from assay.knowledge.interface import Deadline, Inquiry, Limits, SourceAnswer
from assay.knowledge.kinds.http import HttpSettings, HttpSource

Shape = Literal["searxng", "brave"]
_FORMS: Final[Mapping[Shape, tuple[str, Extraction]]] = {
    "searxng": (
        "{endpoint}?q={{query}}&format=json",
        Extraction("/results", (("text", "/content"),), "{text}", "/title", "/url", "/publishedDate"),
    ),
    "brave": (
        "{endpoint}?q={{query}}&count=10",
        Extraction("/web/results", (("text", "/description"),), "{text}", "/title", "/url", "/page_age"),
    ),
}


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The settings of one search engine."""

    endpoint: str
    """An address such as `https://search.example/search` or `https://api.search.brave.com/res/v1/web/search`."""
    shape: Shape = "searxng"
    asks: Literal["entity", "terms", "claim"] = "terms"
    """The parameter that is searched for."""
    domains: tuple[tuple[str, float], ...] = ()
    """Domains with their credibility in [0, 1]; a subdomain without an entry of its own has that of its domain."""
    default: float = 0.2
    """The credibility of every other domain."""
    least: float = 0.5
    """The lowest credibility of results that are read."""
    credential: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class SearchSource:
    """A search engine as a source."""

    def __init__(self, settings: SearchSettings, limits: Limits | None = None) -> None:
        """Build the request template.

        Raises:
            PolicyError: the endpoint is not an address, or already has a query.
        """
        if "?" in settings.endpoint or "{" in settings.endpoint:
            raise PolicyError(f"expected the address of a search engine without a query, got {settings.endpoint!r}")
        address, answer = _FORMS[settings.shape]
        url = address.format(endpoint=settings.endpoint).replace("{query}", "{" + settings.asks + "}")
        self._settings = settings
        self._limits = limits or Limits()
        # Results are filtered by domain before the limit on passages applies.
        wide = replace(self._limits, passages=max(50, self._limits.passages))
        self._http = HttpSource(HttpSettings(url, credential=settings.credential, answer=answer), wide)
        self._domains = {name.lower().strip("."): value for name, value in settings.domains}

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter that is searched for."""
        return self._http.names

    @property
    def digest(self) -> str:
        """The digest of the request and the domains."""
        import hashlib

        s = self._settings
        settings = repr((self._http.digest, sorted(self._domains.items()), s.default, s.least))
        return hashlib.sha256(settings.encode()).hexdigest()

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> SourceAnswer:
        """The results from domains that are credible enough.

        Raises:
            SourceError: the engine could not be asked.
        """
        found = self._http.ask(inquiry, deadline)
        rated = [replace(one, id=one.link or one.id, credibility=self.credibility(one.link)) for one in found.passages]
        read = [one for one in rated if (one.credibility or 0.0) >= self._settings.least]
        # Each address once: a page may be among the results several times.
        unique = list({one.id: one for one in reversed(read)}.values())[::-1]
        notes = list(found.notes)
        if len(read) < len(rated):
            notes.append(f"{len(rated) - len(read)} results of domains that are not believed enough were not read.")
        return SourceAnswer(tuple(unique[: self._limits.passages]), found.asked, found.size, tuple(notes))

    def credibility(self, link: str | None) -> float:
        """The credibility of an address: that of the longest listed domain that it belongs to."""
        host = (urlsplit(link).hostname or "").lower().rstrip(".") if link else ""
        parts = host.split(".")
        for at in range(len(parts)):
            value = self._domains.get(".".join(parts[at:]))
            if value is not None:
                return value
        return self._settings.default if host else 0.0

    def close(self) -> None:
        """Do nothing; no connection is kept open."""
