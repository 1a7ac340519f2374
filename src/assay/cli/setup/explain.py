"""`assay explain`: what a code of a finding or a word of a report means, and what to do about it."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from difflib import get_close_matches
from typing import Annotated

import typer

from assay.cli.exit_status import reporting_errors


def complete_code(incomplete: str) -> list[tuple[str, str]]:
    """The codes and words that begin with a text, each with its title, for completion in a shell."""
    from assay.reporting import explanations, report_words

    codes = [(code, one.title) for code, one in explanations().items()]
    words = [(word, found[0].title) for word, found in report_words().items()]
    return [(name, title) for name, title in (*codes, *words) if name.startswith(incomplete)]


def explain(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE",
            help="A code such as number.mismatch, the part before its dot, or a word of a report such as "
            "retrieval_miss. [default: all codes]",
            autocompletion=complete_code,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write it as JSON.")] = False,
) -> None:
    """Say what the code of a finding or a word of a report means, and what to do about it."""
    from assay.cli.terminal import Line, write, write_text
    from assay.errors import InputError
    from assay.reporting import Explanation, ReportWord, explanation_of, explanations, report_words

    def chosen() -> list[Explanation | ReportWord]:
        if code is None:
            return list(explanations().values())
        explanation = explanation_of(code)
        family = [other for name, other in explanations().items() if name.startswith(f"{code.rstrip('.')}.")]
        plain = code.lower().replace(" ", "_")
        words = next((all_of for word, all_of in report_words().items() if word.lower() == plain), ())
        entries: list[Explanation | ReportWord] = [explanation] if explanation is not None else list(family)
        entries += report_words().get(code) or words
        if entries:
            return entries
        near = get_close_matches(code, [*explanations(), *report_words()], 3, 0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else "`assay explain` lists all"
        raise InputError(f"there is no code {code!r}; {hint}")

    def lines(entries: list[Explanation | ReportWord]) -> Iterator[Line]:
        several = sum(isinstance(explanation, Explanation) for explanation in entries) > 1
        for explanation in entries:
            if isinstance(explanation, ReportWord):
                yield Line(((explanation.word, "strong"), (f"  in {explanation.field}: {explanation.title}", "")))
                yield Line(((explanation.meaning, ""),), indent=2)
            elif several:
                yield Line(((f"{explanation.code:<26} ", "strong"), (explanation.title, "")))
            else:
                yield Line(((code or explanation.code, "strong"), (f"  {explanation.title}", "")))
                yield Line(((explanation.meaning, ""),), indent=2)
                yield Line((("What to do: ", "strong"), (explanation.remedy, "")), indent=2)

    with reporting_errors():
        entries = chosen()
        if as_json:
            write_text(json.dumps([asdict(explanation) for explanation in entries], indent=2) + "\n", sys.stdout)
        else:
            write(lines(entries), sys.stdout)
