"""What asking chat models cost in the course of one check."""

from pydantic import Field

from assay.schema.base import Value


class Spending(Value):
    """What one purpose, such as the draft of an answer or its verification, took of one model."""

    purpose: str = Field(pattern=r"^[a-z][a-z_]*$")
    """What was asked for, such as `draft`, `regeneration`, `questions` or `answers`."""
    model: str
    requests: int = Field(ge=0)
    """Questions to the model, whoever answered them."""
    from_cache: int = Field(default=0, ge=0)
    """Those of them that a cache answered: they cost nothing."""
    failures: int = Field(default=0, ge=0)
    """Those of them that got no answer."""
    calls: int = Field(default=0, ge=0)
    """Requests over the network, failed ones and retries included."""
    retries: int = Field(default=0, ge=0)
    """Those of them that repeated a failed one."""
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    """Those of the prompt that the endpoint had in its own cache."""
    estimated: bool = False
    """Whether an endpoint gave no counts, so that they are guessed from the texts' lengths."""
    cost: float | None = Field(default=None, ge=0)
    """Money; none where no price is known."""
    currency: str = "USD"
