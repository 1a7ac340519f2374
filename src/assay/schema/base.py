"""What every value of the schema shares."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value: unknown fields are refused and numbers must be finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)
