"""Revision through the guard: an answer, or the final answer of a run, goes back to its author until it passes.

The functions with `self` are methods of `Guard` (docs/adr/0080).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Unpack, cast

from assay.errors import InputError
from assay.guard.options import CheckOptions, RunOptions
from assay.guard.parts import Checker, HasParts
from assay.guard.request import EvidenceLike
from assay.policy import with_escalation
from assay.rewrite.revise import Author
from assay.rewrite.revise import arevise as auntil_it_passes
from assay.rewrite.revise import revise as until_it_passes
from assay.schema import HallucinationReport
from assay.schema.run import ModelTurn, Run, RunBuilder, TextPart

Checked = tuple[Callable[[], HallucinationReport], Callable[[str, int], HallucinationReport]]
"""The check of the first version, and the check of every further one."""


def revise(
    self: Checker,
    answer: str | bytes,
    evidence: EvidenceLike = None,
    *,
    author: Author,
    attempts: int | None = None,
    **options: Unpack[CheckOptions],
) -> HallucinationReport:
    """Check an answer, and have what fails revised by its author (docs/concepts.md#revision).

    Passed sentences stay unchanged, whatever the author does with them.

    Args:
        answer: the first version.
        evidence: as in `check`.
        author: takes an `assay.rewrite.revise.feedback.Feedback`, whose `text` is a message for a model, and returns
            a new text, or replacements for the failed sentences by number.
        attempts: the most versions to ask for; the policy's `max_revisions` by default.
        options: further options of `check`.

    Returns:
        The report of the best version. `output` is its text and `revision` the record; if it still fails,
        `revision.escalation_required` is set and the action is never `emit`.

    Raises:
        InputError: an argument cannot be read, or the author returns no version.
    """
    first, again = checks(self, answer, evidence, options)
    return settled(self, until_it_passes(first(), author, again, attempts_of(self, attempts)))


async def arevise(
    self: Checker,
    answer: str | bytes,
    evidence: EvidenceLike = None,
    *,
    author: Author,
    attempts: int | None = None,
    **options: Unpack[CheckOptions],
) -> HallucinationReport:
    """As `revise`, with an author that may be asynchronous and the checks off the event loop."""
    import asyncio

    first, again = checks(self, answer, evidence, options)
    report = await asyncio.to_thread(first)
    return settled(self, await auntil_it_passes(report, author, again, attempts_of(self, attempts)))


def revise_run(
    self: Checker,
    run: Run | RunBuilder | object,
    *,
    author: Author,
    attempts: int | None = None,
    **options: Unpack[RunOptions],
) -> HallucinationReport:
    """As `revise` for the final answer of a run; its tool calls stay unchanged.

    Args:
        run: as in `check_run`.
        author: as in `revise`.
        attempts: as in `revise`.
        options: further options of `check_run`.
    """
    first, again = run_checks(self, run, options)
    return settled(self, until_it_passes(first(), author, again, attempts_of(self, attempts)))


async def arevise_run(
    self: Checker,
    run: Run | RunBuilder | object,
    *,
    author: Author,
    attempts: int | None = None,
    **options: Unpack[RunOptions],
) -> HallucinationReport:
    """As `revise_run`, with an author that may be asynchronous and the checks off the event loop."""
    import asyncio

    first, again = run_checks(self, run, options)
    report = await asyncio.to_thread(first)
    return settled(self, await auntil_it_passes(report, author, again, attempts_of(self, attempts)))


def settled(self: HasParts, report: HallucinationReport) -> HallucinationReport:
    """A revised report with its escalation, where the revision ended with one."""
    return with_escalation(self._parts.policy, report)


def attempts_of(self: HasParts, attempts: int | None) -> int:
    """The most versions to ask for: the caller's number, or else the policy's `max_revisions`."""
    return self._parts.policy.max_revisions if attempts is None else attempts


def checks(self: Checker, answer: str | bytes, evidence: EvidenceLike, options: CheckOptions) -> Checked:
    """The check of the first version of an answer, and the check of every further one."""
    kept = tuple(evidence) if isinstance(evidence, Iterator) else evidence  # every version reads it again
    failed = _failed(options)

    def first() -> HallucinationReport:
        return self.check(answer, kept, **options)

    def again(text: str, more: int) -> HallucinationReport:
        later: CheckOptions = {**options, "revisions_failed": failed + more}
        return self.check(text, kept, **later)

    return first, again


def run_checks(self: Checker, run: Run | RunBuilder | object, options: RunOptions) -> Checked:
    """The same for the final answer of a run."""
    from assay.schema.traces import read_run

    read = run.run() if isinstance(run, RunBuilder) else read_run(run, format=options.get("format"))
    kept = {
        name: tuple(value) if isinstance(value, Iterator) else value  # every version reads it again
        for name, value in options.items()
        if name != "format"
    }
    settings, failed = cast("RunOptions", kept), _failed(options)

    def first() -> HallucinationReport:
        return self.check_run(read, **settings)

    def again(text: str, more: int) -> HallucinationReport:
        later: RunOptions = {**settings, "revisions_failed": failed + more}
        return self.check_run(with_answer(read, text), **later)

    return first, again


def _failed(options: CheckOptions | RunOptions) -> int:
    failed = options.get("revisions_failed", 0)
    if not isinstance(failed, int) or isinstance(failed, bool) or failed < 0:
        raise InputError(f"revisions_failed must be a whole number from 0 up, got {failed!r}.")
    return failed


def with_answer(run: Run, text: str) -> Run:
    """The run with another final answer instead of its own, or after its last step if it has none.

    >>> run = Run(run_id="r").append(ModelTurn(content=(TextPart(text="4"),)))
    >>> with_answer(run, "5").final_answer
    '5'
    """
    final = set(run.final_turns)
    kept = tuple(step for index, step in enumerate(run.steps) if index not in final)
    phase = next((step.phase for i in final if isinstance(step := run.steps[i], ModelTurn)), None)
    return run.model_copy(update={"steps": (*kept, ModelTurn(content=(TextPart(text=text),), phase=phase))})
