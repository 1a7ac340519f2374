"""`assay redteam judge`: lists the judgements of a run that are not sure, and records decisions on them."""

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
class JudgeSettings:
    """The options of `assay redteam judge`."""

    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run (--out of `run`).")]
    case: Annotated[str | None, typer.Option("--case", metavar="ID", help="The case that is decided.")] = None
    match: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="M", help="How closely its answer does what is expected: 1 wholly, 0 not."),
    ] = None
    by: Annotated[str, typer.Option("--by", metavar="NAME", envvar="ASSAY_REVIEWER", help="Who decides.")] = ""
    reason: Annotated[str, typer.Option(help="Why.")] = ""
    format: Annotated[TextOrJson, typer.Option("--format", "-f", help="How to write the list.")] = TextOrJson.TEXT


def run_judge(settings: JudgeSettings) -> None:
    """Records a decision and scores the run again, if there is one; then lists the judgements that are not sure.

    Raises:
        InputError: the folder is not that of a run, or the decision cannot be made.
    """
    from assay.cli.redteam.run import keep_reports
    from assay.redteam import Campaign, decide, read_campaign
    from assay.redteam.runs import RunUsage

    if (settings.case is None) != (settings.match is None):
        raise InputError("expected --case ID and --match M, or neither to see what is not sure")
    if settings.case is not None and settings.match is not None:
        now = datetime.now(UTC)
        card = decide(settings.folder, settings.case, settings.match, settings.by, settings.reason, now)
        keep_reports(settings.folder, Campaign(*read_campaign(settings.folder), card, RunUsage(0, 0, 0)), None)
    cases, judgements = read_campaign(settings.folder)
    unsure = [(case, one) for case, one in zip(cases, judgements, strict=True) if one.unsure]
    write_text(_unsure_text(unsure, settings.format), sys.stdout)


def _unsure_text(unsure: "list[tuple[Case, Judgement]]", form: TextOrJson) -> str:
    if form is TextOrJson.JSON:
        listed = [
            {
                "case": case.id,
                "outcome": judgement.outcome.value,
                "expected": case.expected_behavior.value,
                "rule": judgement.rule,
                "prompt": case.prompt,
                "ground_truth": case.ground_truth,
                "answer": judgement.answer,
            }
            for case, judgement in unsure
        ]
        return json.dumps({"unsure": listed}) + "\n"
    lines = []
    for case, judgement in unsure:
        expected = f"expected {case.expected_behavior.value}: {one_line(judgement.rule, 90)}"
        lines.append(f"{case.id}  {judgement.outcome.value}  {expected}")
        lines.append(f"    asked   {one_line(case.prompt, 200)}")
        lines.append(f"    said    {one_line(judgement.answer or '', 300)}")
    lines.append(f"{len(unsure)} not sure")
    return "\n".join(lines) + "\n"
