"""`assay monitor`: charts over the record. What a verb needs is imported when it runs."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.exit_status import reporting_errors

app = typer.Typer(
    name="monitor",
    help="Watch outputs over time: design charts, run them over the record, judge recorded outputs again.",
    epilog="Exit status: 0 done, 1 alarms or changed decisions, 2 misuse or unreadable input.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class Format(StrEnum):
    """How a result is written."""

    TEXT = "text"
    JSON = "json"


class Kind(StrEnum):
    """What observations are."""

    RATE = "rate"
    SCORE = "score"


class Side(StrEnum):
    """Which shifts are looked for."""

    UP = "up"
    DOWN = "down"
    BOTH = "both"


FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to write the result.")]


@app.command()
def design(
    baseline: Annotated[float, typer.Option("--baseline", metavar="P", help="The rate or mean score without a shift.")],
    shift: Annotated[float, typer.Option("--shift", metavar="D", help="The change that is to be found.")],
    false_alarm_every: Annotated[
        float, typer.Option("--false-alarm-every", metavar="N", help="Observations between false alarms, at least.")
    ],
    kind: Annotated[Kind, typer.Option(help="Observations are 0 or 1, or scores from 0 to 1.")] = Kind.RATE,
    direction: Annotated[Side, typer.Option(help="Which shifts; both draws a chart for each.")] = Side.BOTH,
    spread: Annotated[
        float | None,
        typer.Option(metavar="SD", help="The standard deviation of scores. [default: half of that of a rate]"),
    ] = None,
    sample: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Scores that were seen, one on a line, in place of --spread.")
    ] = None,
    baseline_of: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Of how many outputs the baseline was estimated; shows what that costs."),
    ] = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Find slack and threshold of a CUSUM chart, with its exact run lengths in and out of control."""
    from assay.cli.monitoring.design import DesignOptions, run_design
    from assay.cli.terminal import write_text

    with reporting_errors():
        options = DesignOptions(
            baseline, shift, false_alarm_every, kind.value, direction.value, spread, sample, baseline_of,
            format_ is Format.JSON,
        )  # fmt: skip
        write_text(run_design(options), sys.stdout)
