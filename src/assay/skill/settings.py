"""The settings of the skill, read from its `config.yaml`."""

from pathlib import Path
from typing import Any, Final, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from assay.errors import PolicyError

MOST_CHARACTERS: Final = 100_000
"""Characters of a settings file that are read."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Detection(_Part):
    """When an answer is checked and what its score means."""

    enabled: bool = True
    auto_active: bool = True
    """Whether the Stop hook checks answers; without it only a command or a person asks for a check."""
    threshold: float = Field(default=0.1, ge=0, le=1)
    """The share of unsupported claims from which the verdict is WARN."""
    critical_threshold: float = Field(default=0.3, ge=0, le=1)
    """The share of unsupported claims from which it is FAIL."""
    on_fail: Literal["revise", "warn"] = "revise"
    """What the hook does on FAIL: send the agent back with the findings, or only tell the user."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.threshold > self.critical_threshold:
            raise ValueError(
                f"threshold is {self.threshold:g}, above critical_threshold, {self.critical_threshold:g}: no answer "
                "could be a WARN"
            )
        return self


class Claims(_Part):
    """Which claims count."""

    max_claims_per_answer: int = Field(default=200, ge=1, le=2_000)
    """An answer with more claims is UNCHECKED."""
    ignore_meta_statements: bool = True
    """Whether statements that make no claim about the world are left out of the count."""


class Performance(_Part):
    """Which results are reused."""

    cache_verifications: bool = True
    cache_ttl_seconds: float = Field(default=600, ge=0, le=31_536_000)
    """For how long the same answer over the same contexts is not checked again."""


class Logging(_Part):
    """What the ledger keeps."""

    enabled: bool = True
    log_unsupported_claims: bool = True
    """Whether the text of unsupported claims is kept; otherwise figures only."""


class SkillSettings(_Part):
    """All settings; each has a default."""

    policy: str = "monitor"
    """The policy that claims are judged under: a preset's name, or a file."""
    detection: Detection = Detection()
    claims: Claims = Claims()
    performance: Performance = Performance()
    logging: Logging = Logging()


def read_settings(path: Path | None) -> SkillSettings:
    """The settings in a file; the defaults where `path` is none.

    Raises:
        PolicyError: the file cannot be read, or has an unknown or invalid setting, which the message names.
    """
    if path is None:
        return SkillSettings()
    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > MOST_CHARACTERS:
            raise PolicyError(f"{path}: has {len(text):,} characters; settings have at most {MOST_CHARACTERS:,}")
        settings: Any = yaml.safe_load(text)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise PolicyError(f"{path}: cannot be read: {error}") from error
    if settings is None:
        return SkillSettings()
    try:
        return SkillSettings.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise PolicyError(f"{path}: {place}: {first['msg']}, got {first['input']!r:.80}") from error
