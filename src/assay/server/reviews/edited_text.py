"""Checking the words of a reviewer as the output was checked that they take the place of."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from assay.errors import ReviewError
from assay.guard import Guard
from assay.guard.authors import with_answer
from assay.schema import Evidence, HallucinationReport
from assay.schema.traces import read_run

_CHECK: Final = ("question", "stakes", "task", "schema", "claim_free", "run_id")
_RUN: Final = ("tools", "now", "sources", "question", "stakes", "task", "claim_free", "run_id")
"""What a recorded check was given that holds for other words too. Citation objects name places in the old words, and
revisions that failed were the model's."""


def recheck(guard: Guard, asked: Mapping[str, Any], evidence: Sequence[Evidence], text: str) -> HallucinationReport:
    """The report of another text in the place of a recorded output.

    Args:
        guard: what checks.
        asked: what the recorded check was given.
        evidence: all evidence there is now, beside what a run carries itself.
        text: the words.

    Raises:
        ReviewError: what was recorded cannot be given again.
        InputError: the text cannot be read.
    """
    everything = tuple(evidence)
    if "run" not in asked:
        given = {name: asked[name] for name in _CHECK if asked.get(name) is not None}
        return guard.check(text, everything, **given)
    given = {name: asked[name] for name in _RUN if asked.get(name) is not None}
    if "now" in given:
        given["now"] = datetime.fromisoformat(str(given["now"]))
    if asked["run"] is None:
        raise ReviewError("expected the run that was checked, and it was not recorded", "refused")
    run = with_answer(read_run(asked["run"], format=asked.get("format")), text)
    return guard.check_run(run, evidence=everything or None, **given)
