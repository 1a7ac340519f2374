"""The settings of the verdict cache: how long and how many verdicts are stored, and under which secret."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from assay.errors import PolicyError

LEAST_SECRET: Final = 32
"""Characters that the secret has at least."""
_KNOWN: Final = ("key_env", "max_age_s", "max_entries", "max_mb")


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """The section `cache` of a gateway file."""

    secret: str = field(repr=False)
    """The secret for cache keys and seals, the same for all servers that share the cache. With access to the database
    alone, nobody can find out what was asked or forge a verdict."""
    max_age_s: float = 3_600.0
    """Seconds for which a verdict is reused."""
    max_entries: int = 100_000
    """The most verdicts that are stored for a tenant."""
    max_mb: float = 256.0
    """The most megabytes that they take, compressed."""

    def __post_init__(self) -> None:
        if len(self.secret) < LEAST_SECRET:
            raise PolicyError(f"the secret of the cache has at least {LEAST_SECRET} characters, got {len(self.secret)}")
        for name, most in (("max_age_s", 604_800), ("max_entries", 100_000_000), ("max_mb", 1_000_000)):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number or not 1 <= value <= most:
                raise PolicyError(f"cache.{name} is a number from 1 to {most:,}, got {value!r}")


def cache_settings(given: Mapping[str, Any], environ: Mapping[str, str]) -> CacheSettings:
    """The section `cache` of a gateway file.

    Raises:
        PolicyError: a setting is unknown or invalid, or the variable with the secret is not set.

    >>> cache_settings({"key_env": "K", "max_age_s": 60}, {"K": "x" * 32}).max_age_s
    60
    """
    unknown = sorted(set(given) - set(_KNOWN))
    if unknown or not isinstance(given.get("key_env"), str):
        raise PolicyError(
            f"the section cache has key_env, and may have {', '.join(_KNOWN[1:])}; got {', '.join(map(str, given))}"
        )
    secret = environ.get(given["key_env"], "").strip()
    if not secret:
        raise PolicyError(f"the secret of the cache is read from {given['key_env']}, which is not set")
    return CacheSettings(secret, **{name: value for name, value in given.items() if name != "key_env"})
