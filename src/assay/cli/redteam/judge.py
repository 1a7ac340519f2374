"""`assay redteam judge`."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options.shared import TextOrJson
from assay.cli.terminal import one_line, write_text
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.redteam.cases import Case
    from assay.redteam.judging import Judgement


@dataclass(frozen=True, kw_only=True)
class DecidingSettings:
    """What `assay redteam judge` is told."""

    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run (--out of `run`).")]
    case: Annotated[str | None, typer.Option("--case", metavar="ID", help="The case that is decided.")] = None
    match: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="M", help="How closely its answer does what is expected: 1 wholly, 0 not."),
    ] = None
    by: Annotated[str, typer.Option("--by", metavar="NAME", envvar="ASSAY_REVIEWER", help="Who decides.")] = ""
    reason: Annotated[str, typer.Option(help="Why.")] = ""
    format: Annotated[TextOrJson, typer.Option("--format", "-f", help="How to write the list.")] = TextOrJson.TEXT


def run_judge(settings: DecidingSettings) -> None:
    """Lists what is not sure, or decides one answer and scores the run anew.

    Raises:
        InputError: the folder is none of a run, or the decision cannot be made.
    """
    from assay.cli.redteam.run import keep_reports
    from assay.redteam import Campaign, decide, read_campaign
    from assay.redteam.runs import Spent

    if (settings.case is None) != (settings.match is None):
        raise InputError("expected --case ID and --match M, or neither to see what is not sure")
    if settings.case is not None and settings.match is not None:
        now = datetime.now(UTC)
        card = decide(settings.folder, settings.case, settings.match, settings.by, settings.reason, now)
        keep_reports(settings.folder, Campaign(*read_campaign(settings.folder), card, Spent(0, 0, 0)), None)
    cases, judgements = read_campaign(settings.folder)
    unsure = [(case, one) for case, one in zip(cases, judgements, strict=True) if one.unsure]
    write_text(_listed(unsure, settings.format), sys.stdout)


def _listed(unsure: "list[tuple[Case, Judgement]]", form: TextOrJson) -> str:
    if form is TextOrJson.JSON:
        listed = [
            {
                "case": case.id,
                "outcome": one.outcome.value,
                "expected": case.expected_behavior.value,
                "rule": one.rule,
                "prompt": case.prompt,
                "ground_truth": case.ground_truth,
                "answer": one.answer,
            }
            for case, one in unsure
        ]
        return json.dumps({"unsure": listed}) + "\n"
    lines = []
    for case, one in unsure:
        lines.append(
            f"{case.id}  {one.outcome.value}  expected {case.expected_behavior.value}: {one_line(one.rule, 90)}"
        )
        lines.append(f"    asked   {one_line(case.prompt, 200)}")
        lines.append(f"    said    {one_line(one.answer or '', 300)}")
    lines.append(f"{len(unsure)} not sure")
    return "\n".join(lines) + "\n"
