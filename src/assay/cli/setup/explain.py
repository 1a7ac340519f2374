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
    """The codes and words that begin so, each with what it says, for completion in a shell."""
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
        one = explanation_of(code)
        family = [other for name, other in explanations().items() if name.startswith(f"{code.rstrip('.')}.")]
        plain = code.lower().replace(" ", "_")
        words = next((all_of for word, all_of in report_words().items() if word.lower() == plain), ())
        found: list[Explanation | ReportWord] = [one] if one is not None else list(family)
        found += report_words().get(code) or words
        if found:
            return found
        near = get_close_matches(code, [*explanations(), *report_words()], 3, 0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else "`assay explain` lists all"
        raise InputError(f"there is no code {code!r}; {hint}")

    def lines(found: list[Explanation | ReportWord]) -> Iterator[Line]:
        several = sum(isinstance(one, Explanation) for one in found) > 1
        for one in found:
            if isinstance(one, ReportWord):
                yield Line(((one.word, "strong"), (f"  in {one.field}: {one.title}", "")))
                yield Line(((one.meaning, ""),), indent=2)
            elif several:
                yield Line(((f"{one.code:<26} ", "strong"), (one.title, "")))
            else:
                yield Line(((code or one.code, "strong"), (f"  {one.title}", "")))
                yield Line(((one.meaning, ""),), indent=2)
                yield Line((("What to do: ", "strong"), (one.remedy, "")), indent=2)

    with reporting_errors():
        found = chosen()
        if as_json:
            write_text(json.dumps([asdict(one) for one in found], indent=2) + "\n", sys.stdout)
        else:
            write(lines(found), sys.stdout)
