"""`assay redteam promote` and `review`."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs import read_text
from assay.cli.terminal import one_line, write_text
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.redteam.cases import Case
    from assay.redteam.promotion import Ledger, Proposal


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """What the command line said."""

    ledger: Path
    approve: tuple[str, ...]
    reject: tuple[str, ...]
    edit: str | None
    case: Path | None
    by: str
    reason: str
    suite: Path | None
    format: str


def run_promote(folder: Path, ledger: Path, suite: Path | None, form: str, *, flaky: bool) -> None:
    """Proposes the failures of a run.

    Raises:
        AssayError: the run, the ledger or the suite cannot be read.
    """
    from assay.redteam import read_campaign
    from assay.redteam.cases import read_suite
    from assay.redteam.promotion import Ledger, propose
    from assay.redteam.scores import read_card

    cases, judgements = read_campaign(folder)
    card = read_card(read_text(folder / "summary.json"), str(folder / "summary.json"))
    static = read_suite(suite) if suite is not None and suite.exists() else ()
    book = Ledger(ledger)
    made = propose(book, cases, judgements, card.target, static=static, flaky_too=flaky)
    if form == "json":
        write_text(json.dumps({"proposed": [_as_json(one) for one in made], "head": book.head}) + "\n", sys.stdout)
        return
    lines = [f"{len(made)} proposed; `assay redteam review` decides on them", *(_line(one) for one in made)]
    write_text("\n".join(lines) + "\n", sys.stdout)


def run_review(settings: ReviewSettings) -> None:
    """Lists proposals or decides on them.

    Raises:
        AssayError: a decision cannot be taken; those named before it have been.
    """
    from assay.redteam.promotion import Ledger, approve, carry_out, reject

    if not settings.ledger.exists():
        raise InputError(f"{settings.ledger}: no such ledger; `assay redteam promote` begins one")
    book = Ledger(settings.ledger)
    if (settings.approve or settings.edit) and settings.suite is None:
        raise InputError("expected --suite, the static suite that the case goes into")
    for proposal in settings.reject:
        reject(book, proposal, settings.by, settings.reason)
    if settings.suite is not None:
        for proposal in settings.approve:
            approve(book, proposal, settings.by, settings.reason, settings.suite)
        if settings.edit is not None:
            approve(book, settings.edit, settings.by, settings.reason, settings.suite, edited_case(settings.case))
        carry_out(book, settings.suite)
    _list(book, settings.format)


def edited_case(path: Path | None) -> "Case":
    """The edited case of `--case`. Its id is computed anew, so that nobody has to edit it along.

    Raises:
        InputError: no file is named, or it holds no case.
    """
    from assay.redteam.cases import parse_case

    if path is None:
        raise InputError("expected --case, the file with the edited case")
    text = read_text(path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected one case in JSON ({error})") from error
    if isinstance(value, dict):
        value.pop("id", None)
    return parse_case(json.dumps(value), str(path))


def _list(book: "Ledger", form: str) -> None:
    proposals = list(book.proposals.values())
    if form == "json":
        write_text(
            json.dumps({"proposals": [_as_json(one) for one in proposals], "head": book.head}) + "\n", sys.stdout
        )
        return
    lines = [_line(one) for one in proposals]
    lines.append(f"{sum(one.state == 'open' for one in proposals)} open of {len(proposals)}; head {book.head}")
    write_text("\n".join(lines) + "\n", sys.stdout)


def _line(one: "Proposal") -> str:
    who = f" by {one_line(one.by, 40)}" if one.by else ""
    flaky = " flaky" if one.flaky else ""
    said = one_line(one.case.prompt, 80)
    return f"  {one.proposed_as}  {one.state.value}{who}{flaky}  {one.case.category.value}  {one.match:.2f}  {said}"


def _as_json(one: "Proposal") -> dict[str, object]:
    return {
        "id": one.proposed_as,
        "state": one.state.value,
        "by": one.by,
        "reason": one.reason,
        "match": one.match,
        "rule": one.rule,
        "flaky": one.flaky,
        "target": one.target,
        "case": one.case.model_dump(mode="json"),
    }
