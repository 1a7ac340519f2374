"""The chat model of a check, and how a repair is described."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.cli.terminal import Line
    from assay.models.chat import Chat
    from assay.schema import HallucinationReport, Revision

LlmOption = Annotated[
    str | None,
    typer.Option("--llm", metavar="NAME", help="A chat model, for what the policy or --repair needs one for."),
]
BaseUrlOption = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Its endpoint. [default: OPENAI_BASE_URL or OpenAI]")
]
RepairOption = Annotated[
    bool, typer.Option("--repair", help="Correct what fails: by --llm, else with the evidence's own values.")
]
RemoveOption = Annotated[
    bool, typer.Option("--remove", help="With --repair: take out what still fails if the rest passes without it.")
]


@contextmanager
def chat_model(name: str | None, base_url: str | None) -> "Iterator[Chat | None]":
    """The chat model that the options name, if they name one.

    Raises:
        InputError: an endpoint is named without a model.
    """
    if name is None:
        if base_url is not None:
            raise InputError("--base-url goes with --llm NAME: which model should be asked there?")
        yield None
        return
    from assay.models.chat import Chat

    with Chat(name, base_url=base_url) as chat:
        yield chat


def confidence_lines(report: "HallucinationReport") -> "Iterator[Line]":
    """The answers of the model when it was asked again, and whether to answer."""
    from assay.cli.terminal import Line, one_line

    probes = report.consistency_probes
    if probes:
        mean = sum(probe.agreement for probe in probes) / len(probes)
        claims = f"{len(probes)} claim{'' if len(probes) == 1 else 's'}"
        yield Line((("Asked     ", "strong"), (f"again about {claims}, agreement {mean:.2f}", "")))
        for probe in probes:
            if probe.agreement <= 0.5:
                said = "; ".join(one_line(answer, 120) for answer in probe.probe_answers[:3])
                yield Line((("- ", "bad"), (f"{one_line(probe.claim, 200)}  said: {said or 'nothing'}", "")), indent=2)
    abstention = report.abstention
    if abstention is not None:
        sure = "unknown" if abstention.confidence is None else f"{abstention.confidence:.2f}"
        kind = "probability" if abstention.calibrated else "confidence, not fitted,"
        words = f"{abstention.outcome.value} ({abstention.reason.replace('_', ' ')}), {kind} {sure}"
        yield Line((("Answering ", "strong"), (words, "good" if abstention.outcome == "RESPOND" else "doubt")))


def repair_lines(report: "HallucinationReport") -> "Iterator[Line]":
    """The course of a repair: its attempts, whether it converged, and its changes."""
    from assay.cli.terminal import Line, one_line

    revision = report.revision
    if revision is None or (revision.converged and not revision.attempts):
        return
    style = "good" if revision.converged else "bad"
    yield Line((("Repair    ", "strong"), (repair_words(revision), style)))
    for attempt in revision.attempts:
        words = f"{attempt.number}. {attempt.outcome.replace('_', ' ')}: {attempt.reason}"
        yield Line(((one_line(words, 300), ""),), indent=2)
    for change in revision.changes:
        before, after = (one_line(text, 120) for text in (change.before, change.after))
        yield Line((("- ", "bad"), (before or "(nothing)", ""), ("  + ", "good"), (after or "(nothing)", "")), indent=2)


def repair_words(revision: "Revision") -> str:
    """The result of a repair in one line."""
    from assay.cli.terminal import one_line

    count = len(revision.attempts)
    words = f"{'passes now' if revision.converged else 'does not pass'} ({revision.stopped.replace('_', ' ')}), "
    words += f"{count} attempt{'' if count == 1 else 's'}"
    if revision.failed_before is not None and revision.failed_after is not None:
        before = f"{revision.failed_before} finding{'' if revision.failed_before == 1 else 's'}"
        words += f", {before} before, {revision.failed_after} after"
    return words + (f", by {one_line(revision.author, 60)}" if revision.author else "")
