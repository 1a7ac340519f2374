"""What a reader of one format returns."""

from dataclasses import dataclass, field
from typing import Any

from assay.schema.run.json_values import Fault
from assay.schema.run.model import Step
from assay.schema.traces.fields import Fields


@dataclass(slots=True)
class ReadTrace:
    """The steps of a transcript, and everything else that was in it."""

    steps: list[Step]
    fields: Fields | None = None
    """The fields of the transcript itself, without those that became steps."""
    faults: list[Fault] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    run_id: str | None = None
    """The id that the transcript has itself."""

    def beside(self) -> dict[str, Any]:
        """Everything that belongs to no step."""
        return self.extra | (self.fields.rest() if self.fields else {})
