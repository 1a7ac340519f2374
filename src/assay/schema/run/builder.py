"""A run while it grows: adding a step and looking up a call take constant time, however long the run is."""

from collections.abc import Iterable
from typing import Any

from assay.errors import InputError
from assay.schema.run.json_values import Fault
from assay.schema.run.model import Executor, Run, Step, ToolCall, ToolDeclaration, ToolResult


class RunBuilder:
    """Collects the steps of one run, and keeps its tools and its open calls up to date.

    A checker of a growing run looks at each step as it is added, and at earlier ones by `declaration` and `call`;
    `run()` returns the frozen run so far. A builder belongs to one run and is not shared between threads.

    >>> from assay.schema.run.arguments import read_arguments
    >>> builder = RunBuilder("r-1")
    >>> builder.add(ToolCall(id="c1", name="find_order", arguments=read_arguments("{}")))
    0
    >>> [call.name for call in builder.open_calls()]
    ['find_order']
    >>> builder.add(ToolResult(call_id="c1"))
    1
    >>> builder.open_calls(), len(builder.run().steps)
    ((), 2)
    """

    def __init__(self, run_id: str, *, format: str | None = None, extra: dict[str, Any] | None = None) -> None:  # noqa: A002
        if not run_id:
            raise InputError("a run needs an id: got an empty text")
        self.run_id = run_id
        self._format = format
        self._extra = extra or {}
        self._faults: tuple[Fault, ...] = ()
        self._steps: list[Step] = []
        self._declared: dict[str, ToolDeclaration] = {}
        self._calls: dict[str, ToolCall] = {}
        self._open: dict[int, ToolCall] = {}
        self._open_by_id: dict[str, list[int]] = {}

    @classmethod
    def from_run(cls, run: Run) -> "RunBuilder":
        """A builder that continues a run."""
        builder = cls(run.run_id, format=run.format, extra=dict(run.extra))
        builder._faults = run.faults
        builder.extend(run.steps)
        return builder

    def __len__(self) -> int:
        return len(self._steps)

    def add(self, step: Step) -> int:
        """Adds one step and returns its place in the run."""
        index = len(self._steps)
        self._steps.append(step)
        if isinstance(step, ToolDeclaration):
            self._declared[step.name] = step
        elif isinstance(step, ToolCall):
            if step.executor is Executor.CLIENT:
                self._open[index] = step
            if step.id is not None:
                self._calls[step.id] = step
                self._open_by_id.setdefault(step.id, []).append(index)
        elif isinstance(step, ToolResult):
            self._close(step)
        return index

    def extend(self, steps: Iterable[Step]) -> None:
        """Adds steps in order."""
        for step in steps:
            self.add(step)

    def declaration(self, name: str) -> ToolDeclaration | None:
        """The declaration of a tool that is in force: the last one of that name."""
        return self._declared.get(name)

    def declarations(self) -> tuple[ToolDeclaration, ...]:
        """The declarations in force, in the order in which their names first came."""
        return tuple(self._declared.values())

    def call(self, call_id: str) -> ToolCall | None:
        """The last call with that id."""
        return self._calls.get(call_id)

    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls that the agent's own program has yet to answer, in order; a provider executes what it calls."""
        return tuple(self._open.values())

    def run(self) -> Run:
        """The run so far; what is added later does not change it. Costs one copy of the list of references."""
        return Run.model_construct(
            run_id=self.run_id,
            format=self._format,
            steps=tuple(self._steps),
            extra=dict(self._extra),
            faults=self._faults,
        )

    def _close(self, result: ToolResult) -> None:
        """A result answers the first open call of its id; one without an id the first open call of its tool."""
        if result.call_id is not None:
            waiting = self._open_by_id.get(result.call_id)
            if waiting:
                self._open.pop(waiting.pop(0), None)
            return
        for index, call in self._open.items():
            if call.id is None and (result.name is None or call.name == result.name):
                del self._open[index]
                return
