"""Web search in the forms of SearXNG and Brave, with the credibility of what is found by its domain.

Off unless it is switched on: whatever is asked leaves the house. A result counts as far as its domain is believed, by
the operator's list; one of a domain that is not on it is as good as the default says, and below the least it is not
read at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from assay.errors import PolicyError
from assay.knowledge.extracting import Extraction
from assay.knowledge.interface import Deadline, Found, Inquiry, Limits
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
    """One search engine."""

    endpoint: str
    """Such as `https://search.example/search` or `https://api.search.brave.com/res/v1/web/search`."""
    shape: Shape = "searxng"
    asks: Literal["entity", "terms", "claim"] = "terms"
    """What is searched for."""
    domains: tuple[tuple[str, float], ...] = ()
    """Domains with their credibility in [0, 1]; subdomains count as their domain unless they have one of their own."""
    default: float = 0.2
    """The credibility of every other domain."""
    least: float = 0.5
    """Results below it are not read."""
    credential: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class SearchSource:
    """Asks a search engine."""

    def __init__(self, settings: SearchSettings, limits: Limits | None = None) -> None:
        """Make the request.

        Raises:
            PolicyError: the endpoint is no address, or has a query already.
        """
        if "?" in settings.endpoint or "{" in settings.endpoint:
            raise PolicyError(f"expected the address of a search engine without a query, got {settings.endpoint!r}")
        address, answer = _FORMS[settings.shape]
        url = address.format(endpoint=settings.endpoint).replace("{query}", "{" + settings.asks + "}")
        self._settings = settings
        self._limits = limits or Limits()
        # Results are told apart by their domain before they are counted.
        wide = replace(self._limits, passages=max(50, self._limits.passages))
        self._http = HttpSource(HttpSettings(url, credential=settings.credential, answer=answer), wide)
        self._domains = {name.lower().strip("."): value for name, value in settings.domains}

    @property
    def names(self) -> tuple[str, ...]:
        """The parameter that is searched for."""
        return self._http.names

    @property
    def digest(self) -> str:
        """Of the request and the domains."""
        import hashlib

        s = self._settings
        settings = repr((self._http.digest, sorted(self._domains.items()), s.default, s.least))
        return hashlib.sha256(settings.encode()).hexdigest()

    def ask(self, inquiry: Inquiry, deadline: Deadline) -> Found:
        """The results of domains that are believed.

        Raises:
            SourceError: the engine could not be asked.
        """
        found = self._http.ask(inquiry, deadline)
        rated = [replace(one, id=one.link or one.id, credibility=self.credibility(one.link)) for one in found.passages]
        read = [one for one in rated if (one.credibility or 0.0) >= self._settings.least]
        # Each address once: the same page may be found several times.
        unique = list({one.id: one for one in reversed(read)}.values())[::-1]
        notes = list(found.notes)
        if len(read) < len(rated):
            notes.append(f"{len(rated) - len(read)} results of domains that are not believed enough were not read.")
        return Found(tuple(unique[: self._limits.passages]), found.asked, found.size, tuple(notes))

    def credibility(self, link: str | None) -> float:
        """How far an address is to be believed: as the longest domain on the list that it belongs to."""
        host = (urlsplit(link).hostname or "").lower().rstrip(".") if link else ""
        parts = host.split(".")
        for at in range(len(parts)):
            value = self._domains.get(".".join(parts[at:]))
            if value is not None:
                return value
        return self._settings.default if host else 0.0

    def close(self) -> None:
        """Nothing is held."""
