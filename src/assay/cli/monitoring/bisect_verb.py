"""The options of `assay bisect`. What the verb needs is imported when it runs."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.monitoring.monitor import FormatOption
from assay.cli.options.completion import complete_policy
from assay.cli.options.shared import TextOrJson as Format


def bisect(
    changes: Annotated[
        Path,
        typer.Option("--changes", metavar="FILE", help="The changes: JSON Lines, or what `assay changes list` gives."),
    ],
    rows: Annotated[Path, typer.Option("--rows", metavar="FILE", help="The rows that states answer, as JSON Lines.")],
    run: Annotated[
        str,
        typer.Option(
            "--run",
            metavar="COMMAND",
            help="The command that deploys a state and answers rows; see docs/monitoring.md.",
        ),
    ],
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="FILE", help="Outcomes are kept here. [default: a file for each search]"),
    ] = None,
    alpha: Annotated[float, typer.Option(help="The probability of naming a wrong change.")] = 0.05,
    shift: Annotated[float, typer.Option(help="The rise of the mean that matters.")] = 0.03,
    good: Annotated[float | None, typer.Option(metavar="P", help="The mean before, where it is known.")] = None,
    bad: Annotated[float | None, typer.Option(metavar="P", help="The mean after, where it is known.")] = None,
    most: Annotated[int, typer.Option(min=1, help="Evaluations of one state.")] = 20_000,
    batch: Annotated[int, typer.Option(min=1, help="Rows for each run of the command.")] = 50,
    seed: Annotated[int, typer.Option(help="The seed of the sample of rows.")] = 0,
    timeout: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="For each run of the command.")] = 3_600.0,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy", metavar="NAME|FILE", autocompletion=complete_policy, help="The policy that judges the answers."
        ),
    ] = None,
    format_: FormatOption = Format.TEXT,
) -> None:
    """Find which change made outputs worse, by deploying states. Exit status 1: a change is named."""
    from assay.cli.monitoring.bisect import Bisection, BisectOptions, judge_with, result_json, result_lines
    from assay.cli.terminal import clean, write_text
    from assay.monitor import SearchOptions

    with reporting_errors():
        search = SearchOptions(alpha, shift, max(most, batch), batch, good, bad)
        options = BisectOptions(changes, rows, run, state, search, seed, timeout, policy)
        bisection = Bisection(options, judge_with(policy), lambda line: write_text(f"{clean(line)}\n", sys.stderr))
        result = bisection.run()
        summary = result_json(result, bisection.changes, search)
        lines = result_lines(result, bisection.changes, search)
        write_text((json.dumps(summary, indent=2) if format_ is Format.JSON else "\n".join(lines)) + "\n", sys.stdout)
        raise typer.Exit(FINDINGS if result.verdict == "found" else CLEAN)
