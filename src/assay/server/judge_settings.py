"""Which chat model the server's checks may ask as a judge, and what one check may spend on it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final
from urllib.parse import urlsplit

from assay.errors import PolicyError

MODES: Final = ("policy", "uncertain", "all")
"""Which claims go to the judge: those that the policy says, those that the other tiers are unsure of, or all."""
_BY_STRICTNESS: Final = ("off", "uncertain", "all")


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """The chat model that checks ask as a judge; without one there is no judge, whatever a policy says."""

    model: str
    """Its name, with the form of its endpoint in front where that is not OpenAI's, as in `anthropic:NAME`."""
    base_url: str | None = None
    """Its endpoint; what the environment says by default (`OPENAI_BASE_URL`), else the form's own."""
    key: str | None = field(default=None, repr=False)
    """Its key; what the environment says by default (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`)."""
    mode: str = "uncertain"
    """One of `MODES`. A policy that sends more claims to the judge is kept to."""
    calls: int = 16
    """Requests that one check may send, from 1 up."""
    tokens: int = 60_000
    """Tokens in and out that one check may spend, from 1 up."""
    seconds: float = 15.0
    """Seconds that one check may wait for it, above 0. Claims that are not judged by then are unchecked."""

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PolicyError: a setting is invalid.
        """
        if not isinstance(self.model, str) or not self.model.strip():
            raise PolicyError(f"a judge is a chat model with a name, got {self.model!r}")
        parts = urlsplit(self.base_url) if isinstance(self.base_url, str) else None
        if self.base_url is not None and (parts is None or parts.scheme not in ("http", "https") or not parts.hostname):
            raise PolicyError(
                f"the judge needs an address such as https://models.example.com/v1, got {self.base_url!r}"
            )
        if self.mode not in MODES:
            raise PolicyError(f"the mode of the judge is one of {', '.join(MODES)}; got {self.mode!r}")
        for name in ("calls", "tokens"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 1:
                raise PolicyError(f"the judge's {name} are a whole number from 1 up, got {getattr(self, name)!r}")
        seconds = self.seconds
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
            raise PolicyError(f"the judge's seconds are a number above 0, got {seconds!r}")

    def judge_of(self, policy_judge: str) -> str:
        """Which claims are judged under a policy that says `off`, `uncertain` or `all`: the stricter of both.

        >>> JudgeSettings("m").judge_of("off"), JudgeSettings("m", mode="policy").judge_of("off")
        ('uncertain', 'off')
        >>> JudgeSettings("m").judge_of("all")
        'all'
        """
        own = "off" if self.mode == "policy" else self.mode
        return max(own, policy_judge, key=_BY_STRICTNESS.index)


def judge_settings(section: Mapping[str, Any], environ: Mapping[str, str]) -> JudgeSettings:
    """The section `judge` of a gateway file.

    A key is never written in the file: `key_env` names the variable of the environment that holds it.

    Raises:
        PolicyError: a setting is unknown or invalid, or the variable with the key is not set.
    """
    known = ({one.name for one in fields(JudgeSettings)} - {"key"}) | {"key_env"}
    unknown = sorted(set(map(str, section)) - known)
    if unknown or "model" not in section:
        got = f"got {', '.join(unknown)}" if unknown else "got no model"
        raise PolicyError(f"the judge has a model, and may have {', '.join(sorted(known - {'model'}))}; {got}")
    values = {name: value for name, value in section.items() if name != "key_env"}
    variable = section.get("key_env")
    if variable is not None:
        values["key"] = environ.get(str(variable), "").strip()
        if not values["key"]:
            raise PolicyError(f"the key of the judge is read from {variable}, which is not set")
    return JudgeSettings(**values)
