"""Options that several verbs of `assay redteam` take."""

from pathlib import Path
from typing import Annotated

import typer

SuiteArgument = Annotated[Path, typer.Argument(metavar="SUITE", help="The cases, JSON Lines.")]
EvidenceOption = Annotated[
    list[str], typer.Option("--evidence", "-e", metavar="PATH", help="A file or folder; may be repeated.")
]
SeedOption = Annotated[int, typer.Option(help="What all choices follow from.")]
TargetOption = Annotated[
    str,
    typer.Option(
        "--target",
        "-t",
        metavar="TARGET",
        help="An OpenAI-compatible URL, python:MODULE:FUNCTION, command:PROGRAM with its arguments, "
        "langchain:MODULE:NAME, or file:TARGET.yaml, which declares an HTTP service or a tool of an MCP server.",
    ),
]
ModelOption = Annotated[
    str | None, typer.Option("--target-model", metavar="NAME", help="The model at a URL. [default: OPENAI_MODEL]")
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Seconds that one answer may take.")]
PolicyOption = Annotated[
    str | None, typer.Option("--policy", metavar="NAME|FILE", help="The policy of the verifier that judges.")
]
VerifierOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A cross-encoder's folder in place of the shipped network.")
]
VersionOption = Annotated[
    str,
    typer.Option(
        "--target-version", metavar="VERSION", help="Which version of the system it is; stands in records and evidence."
    ),
]
ConcurrencyOption = Annotated[int, typer.Option(min=1, max=256, help="Calls at once.")]
RateOption = Annotated[
    float | None, typer.Option("--rate", min=0.001, metavar="N", help="Calls that begin in a second.")
]
MostCallsOption = Annotated[int | None, typer.Option(min=1, metavar="N", help="Calls at most, now.")]
MostSecondsOption = Annotated[
    float | None, typer.Option("--most-seconds", min=0, metavar="S", help="No call begins after so many seconds.")
]
MostTokensOption = Annotated[
    int | None, typer.Option("--most-tokens", min=1, metavar="N", help="Tokens at most, over all runs into one folder.")
]
MostCostOption = Annotated[
    float | None,
    typer.Option("--most-cost", min=0, metavar="AMOUNT", help="Money at most, over all runs into one folder."),
]
PriceInOption = Annotated[
    float | None, typer.Option("--price-in", min=0, metavar="AMOUNT", help="What a million tokens of requests cost.")
]
PriceOutOption = Annotated[
    float | None, typer.Option("--price-out", min=0, metavar="AMOUNT", help="What a million tokens of answers cost.")
]
