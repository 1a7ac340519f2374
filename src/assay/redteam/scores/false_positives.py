"""How often a suite fails systems that people know to be good: its false positive rate, kept beside it.

A failure of a good system is a mistake of the case or of the judge. The rate is the share of its judged cases that
fail, over all runs of good systems, with Wilson's interval; cases are asked of several systems, so that the interval is
somewhat too narrow where the same case fails everywhere.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from assay.errors import InputError
from assay.evaluation.rows import write_file
from assay.redteam.cases import Case, suite_digest
from assay.redteam.judging import Judgement, Outcome
from assay.schema.base import Value
from assay.stats import wilson

ENDING: Final = ".good.json"
"""What stands behind the name of a suite in the name of the file beside it."""


class GoodSystems(Value):
    """What a suite says of good systems."""

    suite: str
    """The digest of the suite."""
    runs: int = Field(ge=1)
    judged: int = Field(ge=0)
    """Cases that were judged, over all runs."""
    failed: int = Field(ge=0)
    rate: float | None = None
    """The false positive rate; none where nothing was judged."""
    low: float | None = None
    high: float | None = None
    cases: dict[str, int] = Field(default_factory=dict)
    """How many of the runs fail a case, of those that any fails."""


def good_systems(cases: Sequence[Case], runs: Sequence[tuple[Path, Sequence[Judgement]]]) -> GoodSystems:
    """The false positive rate of a suite.

    Args:
        cases: the suite.
        runs: folders of runs of good systems with their judgements, over this suite or one that has its cases.

    Raises:
        InputError: there are no runs, or one has no case of the suite.
    """
    if not runs:
        raise InputError("expected at least one run of a good system")
    wanted = {case.id for case in cases}
    counted: dict[str, int] = {}
    judged = 0
    for folder, judgements in runs:
        own = [one for one in judgements if one.case in wanted]
        if not own:
            raise InputError(f"{folder}: has no case of the suite")
        judged += sum(one.outcome is not Outcome.UNJUDGED for one in own)
        for one in own:
            if one.outcome is Outcome.FAILED:
                counted[one.case] = counted.get(one.case, 0) + 1
    failed = sum(counted.values())
    bounds = {} if not judged else dict(zip(("low", "high"), wilson(failed, judged), strict=True))
    return GoodSystems(
        suite=suite_digest(cases),
        runs=len(runs),
        judged=judged,
        failed=failed,
        rate=failed / judged if judged else None,
        cases=dict(sorted(counted.items())),
        **bounds,
    )


def keep_good_systems(suite: Path, found: GoodSystems) -> Path:
    """Writes the rate beside a suite.

    Raises:
        InputError: it cannot be written.
    """
    place = suite.with_name(suite.name + ENDING)
    write_file(place, json.dumps(found.model_dump(mode="json"), indent=1) + "\n")
    return place


def known_good_systems(suite: Path, cases: Sequence[Case]) -> GoodSystems | None:
    """The rate that is kept beside a suite; none where there is none, or where it is of another version of the suite.

    Raises:
        InputError: the file beside it is damaged.
    """
    place = suite.with_name(suite.name + ENDING)
    try:
        found = GoodSystems.model_validate_json(place.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise InputError(f"{place}: cannot be read as what the suite says of good systems") from error
    return found if found.suite == suite_digest(cases) else None


def failing_most(found: GoodSystems) -> Mapping[str, int]:
    """The cases that good systems fail, those that most fail first."""
    return dict(sorted(found.cases.items(), key=lambda one: (-one[1], one[0])))
