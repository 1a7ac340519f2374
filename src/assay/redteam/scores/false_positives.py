"""The false positive rate of a suite: how often it fails systems that are known to be good. It is kept beside it.

A failure of a good system is a mistake of the case or of the judge. The rate is the share of judged cases that fail,
over all runs of good systems, with Wilson's interval. As the same case is asked of several systems, the interval is
somewhat too narrow where a case fails everywhere.
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

FILE_SUFFIX: Final = ".good.json"
"""Appended to the file name of a suite, it gives the name of the file with its rate."""


class GoodSystems(Value):
    """The results of known-good systems on a suite."""

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
    """The number of runs that fail each case, for cases that at least one run fails."""


def good_systems(cases: Sequence[Case], runs: Sequence[tuple[Path, Sequence[Judgement]]]) -> GoodSystems:
    """Computes the false positive rate of a suite.

    Args:
        cases: the suite.
        runs: folders of runs of good systems with their judgements, on this suite or on one that shares its cases.

    Raises:
        InputError: there are no runs, or one of them has no case of the suite.
    """
    if not runs:
        raise InputError("expected at least one run of a good system")
    suite_ids = {case.id for case in cases}
    failures: dict[str, int] = {}
    judged = 0
    for folder, judgements in runs:
        of_suite = [judgement for judgement in judgements if judgement.case in suite_ids]
        if not of_suite:
            raise InputError(f"{folder}: has no case of the suite")
        judged += sum(judgement.outcome is not Outcome.UNJUDGED for judgement in of_suite)
        for judgement in of_suite:
            if judgement.outcome is Outcome.FAILED:
                failures[judgement.case] = failures.get(judgement.case, 0) + 1
    failed = sum(failures.values())
    bounds = {} if not judged else dict(zip(("low", "high"), wilson(failed, judged), strict=True))
    return GoodSystems(
        suite=suite_digest(cases),
        runs=len(runs),
        judged=judged,
        failed=failed,
        rate=failed / judged if judged else None,
        cases=dict(sorted(failures.items())),
        **bounds,
    )


def keep_good_systems(suite: Path, rate: GoodSystems) -> Path:
    """Writes the rate beside a suite; returns the path of its file.

    Raises:
        InputError: it cannot be written.
    """
    path = suite.with_name(suite.name + FILE_SUFFIX)
    write_file(path, json.dumps(rate.model_dump(mode="json"), indent=1) + "\n")
    return path


def known_good_systems(suite: Path, cases: Sequence[Case]) -> GoodSystems | None:
    """Reads the rate kept beside a suite; none where it is missing or belongs to another version of the suite.

    Raises:
        InputError: the file beside it is damaged.
    """
    path = suite.with_name(suite.name + FILE_SUFFIX)
    try:
        rate = GoodSystems.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise InputError(f"{path}: cannot be read as what the suite says of good systems") from error
    return rate if rate.suite == suite_digest(cases) else None


def failing_most(rate: GoodSystems) -> Mapping[str, int]:
    """The number of failing runs of each case that good systems fail, most first."""
    return dict(sorted(rate.cases.items(), key=lambda item: (-item[1], item[0])))
