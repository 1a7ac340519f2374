"""`assay explain`: what a code of a finding means and what to do about it."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from difflib import get_close_matches
from typing import Annotated

import typer

from assay.cli.exit_status import reporting_errors


def explain(
    code: Annotated[
        str | None,
        typer.Argument(metavar="CODE", help="Such as number.mismatch, or the part before the dot. [default: all]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write it as JSON.")] = False,
) -> None:
    """Say what the code of a finding means, and what to do about it."""
    from assay.cli.terminal import Line, write, write_text
    from assay.errors import InputError
    from assay.reporting import Explanation, explanation_of, explanations

    def chosen() -> list[Explanation]:
        if code is None:
            return list(explanations().values())
        one = explanation_of(code)
        if one is not None:
            return [one]
        family = [found for name, found in explanations().items() if name.startswith(f"{code.rstrip('.')}.")]
        if family:
            return family
        near = get_close_matches(code, explanations(), 3, 0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else "`assay explain` lists all"
        raise InputError(f"there is no code {code!r}; {hint}")

    def lines(found: list[Explanation]) -> Iterator[Line]:
        if len(found) > 1:
            for one in found:
                yield Line(((f"{one.code:<26} ", "strong"), (one.title, "")))
            return
        (one,) = found
        yield Line(((code or one.code, "strong"), (f"  {one.title}", "")))
        yield Line(((one.meaning, ""),), indent=2)
        yield Line((("What to do: ", "strong"), (one.remedy, "")), indent=2)

    with reporting_errors():
        found = chosen()
        if as_json:
            write_text(json.dumps([asdict(one) for one in found], indent=2) + "\n", sys.stdout)
        else:
            write(lines(found), sys.stdout)
