"""The verdict cache, which several servers over one database share."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.server.verdicts.cache import VerdictCache as VerdictCache
    from assay.server.verdicts.settings import CacheSettings as CacheSettings
    from assay.server.verdicts.settings import cache_settings as cache_settings
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__, {".cache": ("VerdictCache",), ".settings": ("CacheSettings", "cache_settings")}
    )
