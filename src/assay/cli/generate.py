"""`assay generate`: a model answers a question from evidence; the checked answer goes to standard output."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli.exit_status import CLEAN, FINDINGS, reporting_errors
from assay.cli.options.command import takes
from assay.cli.options.shared import BaseUrlOption, EvidenceOption, GuardOptions, OutOption, Stakes
from assay.cli.options.shared import TextJsonOrHtml as Format
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.cli.terminal import Line
    from assay.models.chat import Chat, Price
    from assay.schema import Evidence, HallucinationReport


class Ungrounded(StrEnum):
    """What to do with statements that the evidence does not support."""

    REGENERATE = "regenerate"
    REMOVE = "remove"
    FLAG = "flag"


@dataclass(frozen=True, kw_only=True)
class GenerateOptions(GuardOptions):
    """The options of `assay generate`."""

    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is to be answered, or @FILE.")]
    evidence: EvidenceOption
    llm: Annotated[
        str,
        typer.Option("--llm", "-m", metavar="NAME", help="The chat model; anthropic:NAME or azure:NAME for those."),
    ]
    base_url: BaseUrlOption = None
    stakes: Annotated[Stakes, typer.Option(help="How much depends on the answer.")] = Stakes.MEDIUM
    ungrounded: Annotated[
        Ungrounded, typer.Option(help="What to do with statements that the evidence does not support.")
    ] = Ungrounded.REGENERATE
    attempts: Annotated[int, typer.Option(min=0, max=10, help="The most further answers to ask for.")] = 2
    samples: Annotated[
        str,
        typer.Option(metavar="N|adaptive", help="Keep what most of N answers say; adaptive: 1, 3 or 5 by the risk."),
    ] = "1"
    chain: Annotated[bool, typer.Option("--chain", help="Verify claims by questions that are answered separately.")] = (
        False
    )
    evidence_tokens: Annotated[int, typer.Option(min=1, help="Tokens of evidence that the model is shown.")] = 6_000
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens of one answer.")] = 1_024
    most_tokens: Annotated[int, typer.Option(min=1, help="The most tokens in total.")] = 400_000
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that one request may take.")] = 120.0
    cache: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the model's answers here for a week, and reuse them.")
    ] = None
    price: Annotated[
        str | None, typer.Option(metavar="IN,OUT", help="Money for a million tokens in and out, as in 0.5,2.")
    ] = None
    format: Annotated[Format, typer.Option("--format", "-f", help="The answer, or the whole report.")] = Format.TEXT
    out: OutOption = None


@takes(GenerateOptions)
def generate(options: GenerateOptions) -> None:
    """Answer a question from evidence, with citations; what the evidence does not support is left out.

    The answer goes to standard output, what was found to standard error.
    """
    with reporting_errors():
        raise typer.Exit(CLEAN if run_generate(options) else FINDINGS)


def run_generate(options: GenerateOptions) -> bool:
    """Asks, checks and writes.

    Returns:
        Whether the gate emits the answer.

    Raises:
        AssayError: an option or a file cannot be used, or the model cannot be asked.
    """
    from assay.cli.check import open_guard
    from assay.cli.inputs import read_evidence, read_question, warn_skipped
    from assay.cli.terminal import write
    from assay.models.chat import Budget

    samples = read_samples(options.samples)
    evidence, skipped = read_evidence(options.evidence)
    warn_skipped(skipped)
    question = read_question(options.question) or ""
    with open_model(options) as llm:
        report = open_guard(options.policy, options.verifier).generate(
            question,
            evidence,
            llm=llm,
            ungrounded=options.ungrounded.value,
            attempts=options.attempts,
            samples=samples,
            chain=options.chain,
            evidence_tokens=options.evidence_tokens,
            max_tokens=options.max_tokens,
            budget=Budget(tokens=options.most_tokens),
            stakes=options.stakes.value,
        )
    write(notes(report), sys.stderr)
    _write(options, report, evidence)
    return report.action == "emit"


def read_samples(text: str) -> int | Literal["adaptive"]:
    """The number of answers that are compared, or `adaptive`.

    Raises:
        InputError: the text is neither.

    >>> read_samples("3"), read_samples("adaptive")
    (3, 'adaptive')
    """
    if text == "adaptive":
        return "adaptive"
    if not text.isascii() or not text.isdigit():
        raise InputError(f"--samples: expected a number or adaptive, got {text!r}")
    return int(text)


def open_model(options: GenerateOptions) -> "Chat":
    """The chat model that the options name."""
    from assay.models.chat import Chat, ChatOptions

    settings = ChatOptions(timeout=options.timeout, cache=options.cache, price=read_price(options.price))
    return Chat(options.llm, base_url=options.base_url, options=settings)


def read_price(text: str | None) -> "Price | None":
    """The price of `--price`, for a million tokens in and out.

    >>> read_price("0.5,2").completion
    2.0

    Raises:
        InputError: it is not two numbers from 0 up.
    """
    from assay.models.chat import Price

    if text is None:
        return None
    parts = text.split(",")
    try:
        prompt, completion = (float(part) for part in parts)
    except ValueError as error:
        raise InputError(f"--price is two numbers as in 0.5,2; got {text!r}") from error
    if not (0 <= prompt < float("inf") and 0 <= completion < float("inf")):
        raise InputError(f"--price is two numbers from 0 up; got {text!r}")
    return Price(prompt, completion)


def _write(options: GenerateOptions, report: "HallucinationReport", evidence: "Sequence[Evidence]") -> None:
    from assay.cli.terminal import clean, write_text
    from assay.evaluation.rows import write_file

    if options.format == "json":
        from assay.cli.check import json_text

        text = json_text(report, lines=False)
    elif options.format == "html":
        from assay.cli.reports.html_report import html_report
        from assay.rewrite.answers import citable

        text = html_report("generated answer", report, citable(evidence))
    else:
        from assay.policy import answer_of

        text = f"{clean(answer_of(report))}\n"
    if options.out is None:
        write_text(text, sys.stdout)
    else:
        write_file(options.out, text)


def notes(report: "HallucinationReport") -> Iterator["Line"]:
    """The remarks on the answer: the decision, the outcome of its statements, and the cost."""
    from assay.cli.terminal import Line, one_line

    generation = report.generation
    style = "good" if report.action == "emit" else "bad"
    yield Line(((report.action.value.upper(), style), (f"  {one_line(report.decision.route.replace('_', ' '))}", "")))
    if generation is None:
        return
    counts = {name: sum(statement.outcome == name for statement in generation.statements) for name in _OUTCOMES}
    parts = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    answers = (
        f"{generation.attempts} answer{'' if generation.attempts == 1 else 's'}, {generation.stopped.replace('_', ' ')}"
    )
    yield Line(((f"{answers}; statements: {parts or 'none'}", ""),))
    for statement in generation.statements:
        if statement.outcome in ("removed", "flagged", "quarantined"):
            why = one_line(" ".join(statement.reasons), 300)
            described = (
                (f"{statement.outcome}: ", "doubt"),
                (f"{one_line(statement.text, 200)}  ", ""),
                (why, "faint"),
            )
            yield Line(described, indent=2)
    for probe in generation.chain:
        if not probe.passed:
            yield Line(
                ((f"{probe.outcome}: ", "doubt"), (one_line(f"{probe.question} {probe.answer}", 300), "")), indent=2
            )
    if generation.missing:
        yield Line((("not in the evidence, the model says: ", "faint"), (one_line(generation.missing, 300), "")))
    if generation.left_out:
        yield Line(((f"not shown for want of room: {one_line(', '.join(generation.left_out), 200)}", "faint"),))
    yield Line(((cost_words(report), "faint"),))


_OUTCOMES = ("kept", "flagged", "removed", "quarantined", "rejected")


def cost_words(report: "HallucinationReport") -> str:
    """The cost of the calls in one line."""
    spending = report.spending
    calls = sum(entry.calls for entry in spending)
    prompt, completion = (
        sum(getattr(entry, name) for entry in spending) for name in ("prompt_tokens", "completion_tokens")
    )
    words = f"{calls} call{'' if calls == 1 else 's'}, {prompt:,} tokens in, {completion:,} out"
    if any(entry.estimated for entry in spending):
        words += " (estimated)"
    cached = sum(entry.from_cache for entry in spending)
    if cached:
        words += f", {cached} from the cache"
    if report.generation is not None and report.generation.relative_cost is not None:
        words += f", {report.generation.relative_cost:.1f} times a plain answer"
    costs = [entry.cost for entry in spending if entry.cost is not None]
    if costs:
        words += f", {sum(costs):.4f} {spending[0].currency}"
    return words
