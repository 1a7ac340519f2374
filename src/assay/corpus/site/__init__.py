"""A corpus on the web: the pages below one address, fetched into a local folder and kept up to date."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.corpus.site.addresses import Scope as Scope
    from assay.corpus.site.crawl import Site as Site
    from assay.corpus.site.limits import SiteLimits as SiteLimits
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__, {".addresses": ("Scope",), ".crawl": ("Site",), ".limits": ("SiteLimits",)}
    )
