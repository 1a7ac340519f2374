"""The judge and the search for omissions: their options, and their results in the words of the reports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.cli.terminal import Line
    from assay.policy import Policy
    from assay.schema import HallucinationReport


class Judge(StrEnum):
    """Which claims the chat model is asked about."""

    OFF = "off"
    UNCERTAIN = "uncertain"
    ALL = "all"


class Omissions(StrEnum):
    """The consequence of an omission."""

    OFF = "off"
    NOTE = "note"
    REVISE = "revise"


JudgeOption = Annotated[
    Judge | None,
    typer.Option(
        "--judge", help="Ask --llm about claims that the other tiers are not sure of, or all. [default: policy]"
    ),
]
OmissionsOption = Annotated[
    Omissions | None,
    typer.Option("--omissions", help="Report what the answer leaves out, or send it back for that. [default: policy]"),
]
_KEYS: Final = ("calls", "prompt_tokens", "completion_tokens")


def adjusted_policy(
    policy: str | None,
    judge: str | None,
    omissions: str | None,
    llm: str | None,
    environ: Mapping[str, str] = os.environ,
) -> Policy | str | None:
    """The policy with the changes of --judge and --omissions; without these options the policy as it was named.

    Raises:
        InputError: a judge is to be asked and no model is named.
        PolicyError: there is no such policy.
    """
    if judge not in (None, Judge.OFF) and llm is None:
        raise InputError("--judge goes with --llm NAME: which model should judge?")
    switches = {name: value for name, value in (("judge", judge), ("omissions", omissions)) if value is not None}
    if not switches:
        return policy
    from assay.config import read_policy

    base = read_policy(policy, environ)
    changed = {**base.model_dump(), **switches}
    if changed != base.model_dump():
        changed["name"] = f"{base.name}-adjusted"
    return type(base).model_validate(changed)


def judge_lines(report: HallucinationReport) -> Iterator[Line]:
    """The part of the judge, its results and its cost; no line without a judge."""
    from assay.cli.terminal import Line, one_line

    if report.judge is None:
        return
    yield Line((("Judge     ", "strong"), (one_line(judge_words(report), 300), "bad" if report.judge.notes else "")))
    for note in report.judge.notes[:5]:
        yield Line((("- " + one_line(note, 300), ""),), indent=2)


def judge_words(report: HallucinationReport) -> str:
    """The results and the cost of the judge in one sentence."""
    judge = report.judge
    if judge is None or judge.model is None:
        return "not asked"
    claims = "1 claim" if judge.chosen == 1 else f"{judge.chosen} claims"
    words = f"{judge.model} on {claims} ({judge.mode}): {judge.changed} changed, {judge.unchecked} unchecked"
    if judge.asked_again:
        words += f", {judge.asked_again} asked again"
    if judge.remembered:
        words += f", {judge.remembered} known from before"
    if not judge.evidence_complete:
        words += "; shown a part of the evidence"
    judge_spending = [one for one in report.spending if one.purpose.startswith("judge")]
    calls, prompt, completion = (sum(getattr(one, name) for one in judge_spending) for name in _KEYS)
    return f"{words}; {calls} call{'' if calls == 1 else 's'}, {prompt:,} tokens in, {completion:,} out"
