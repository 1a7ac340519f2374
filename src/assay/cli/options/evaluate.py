"""The options of `assay eval`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options.completion import complete_tool
from assay.cli.options.shared import GuardOptions, LimitOption, LimitOptions, ReportFormat, WorkerOptions


@dataclass(frozen=True, kw_only=True)
class EvalOptions(GuardOptions, LimitOptions, WorkerOptions):
    """The options of `assay eval`, as values."""

    files: Annotated[
        tuple[Path, ...],
        typer.Argument(metavar="FILE...", help="Rows: .jsonl, .jsonl.gz, .json, .csv, .csv.gz or .parquet."),
    ] = ()
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Keep results here; a run that was stopped goes on from them."),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the page with the curves here, such as eval.html."),
    ] = None
    format: Annotated[ReportFormat, typer.Option("--format", "-f", help="How to write the summary.")] = (
        ReportFormat.TEXT
    )
    limit: LimitOption = None
    threshold: Annotated[
        float | None, typer.Option(metavar="T", help="Flag below this score. [default: the verdict decides]")
    ] = None
    slices: Annotated[
        tuple[str, ...], typer.Option("--slice", metavar="KEY", help="A name in meta to slice by; may be repeated.")
    ] = ()
    baselines: Annotated[bool, typer.Option("--baselines", help="Show simple baselines next to the guard.")] = False
    fit: Annotated[
        tuple[Path, ...],
        typer.Option("--fit", metavar="FILE", help="Rows to choose the thresholds of the baselines on."),
    ] = ()
    embedding_model: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A sentence-transformers folder for the cosine baseline.")
    ] = None
    worst: Annotated[
        int, typer.Option(min=0, metavar="N", help="Write the N worst errors to worst.jsonl in --out.")
    ] = 0
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Compare two finished runs (folders of --out) in place of judging."),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TOOL",
            autocompletion=complete_tool,
            help="Their format: ragas, deepeval, trulens, langfuse, phoenix, promptfoo, langsmith, ragtruth, otel.",
        ),
    ] = None
    mapped: Annotated[
        tuple[str, ...],
        typer.Option(
            "--map",
            metavar="OURS=THEIRS,...",
            help="Which field is what, such as answer=response,evidence=contexts; may be repeated.",
        ),
    ] = ()
