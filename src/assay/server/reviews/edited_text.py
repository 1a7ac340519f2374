"""Checking another text with the arguments of a recorded check: the text of a reviewer, or other evidence."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from assay.errors import ReviewError
from assay.guard import Guard
from assay.guard.authors import with_answer
from assay.schema import Evidence, HallucinationReport
from assay.schema.traces import read_run

_CHECK_ARGUMENTS: Final = ("question", "stakes", "task", "schema", "claim_free", "run_id")
_RUN_ARGUMENTS: Final = ("tools", "now", "sources", "question", "stakes", "task", "claim_free", "run_id")
"""The arguments of a recorded check that apply to another text too. Citation objects do not, since they name places in
the original text, nor do failed revisions, since they were the model's."""


def recheck(guard: Guard, asked: Mapping[str, Any], evidence: Sequence[Evidence], text: str) -> HallucinationReport:
    """Checks a text in place of a recorded output.

    Args:
        guard: the guard to check with.
        asked: the arguments of the recorded check.
        evidence: all evidence that is known now, besides what an agent run contains itself.
        text: the text to check.

    Raises:
        ReviewError: the recorded arguments are not sufficient to check again.
        InputError: the text cannot be read.
    """
    all_evidence = tuple(evidence)
    if "run" not in asked:
        arguments = {name: asked[name] for name in _CHECK_ARGUMENTS if asked.get(name) is not None}
        return guard.check(text, all_evidence, **arguments)
    arguments = {name: asked[name] for name in _RUN_ARGUMENTS if asked.get(name) is not None}
    if "now" in arguments:
        arguments["now"] = datetime.fromisoformat(str(arguments["now"]))
    if asked["run"] is None:
        raise ReviewError("expected the run that was checked, and it was not recorded", "refused")
    run = with_answer(read_run(asked["run"], format=asked.get("format")), text)
    return guard.check_run(run, evidence=all_evidence or None, **arguments)
