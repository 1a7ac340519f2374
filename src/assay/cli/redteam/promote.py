"""`assay redteam promote` and `review`: proposals for the static suite, and decisions on them."""

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
    """The options of `assay redteam review`."""

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
    ledger_file = Ledger(ledger)
    proposals = propose(ledger_file, cases, judgements, card.target, static=static, flaky_too=flaky)
    if form == "json":
        write_text(
            json.dumps({"proposed": [_proposal_json(proposal) for proposal in proposals], "head": ledger_file.head})
            + "\n",
            sys.stdout,
        )
        return
    lines = [
        f"{len(proposals)} proposed; `assay redteam review` decides on them",
        *(_proposal_line(proposal) for proposal in proposals),
    ]
    write_text("\n".join(lines) + "\n", sys.stdout)


def run_review(settings: ReviewSettings) -> None:
    """Lists proposals or decides on them.

    Raises:
        AssayError: a decision cannot be made; those named before it have been made.
    """
    from assay.redteam.promotion import Ledger, apply_approvals, approve, reject

    if not settings.ledger.exists():
        raise InputError(f"{settings.ledger}: no such ledger; `assay redteam promote` begins one")
    ledger = Ledger(settings.ledger)
    if (settings.approve or settings.edit) and settings.suite is None:
        raise InputError("expected --suite, the static suite that the case goes into")
    for proposal in settings.reject:
        reject(ledger, proposal, settings.by, settings.reason)
    if settings.suite is not None:
        for proposal in settings.approve:
            approve(ledger, proposal, settings.by, settings.reason, settings.suite)
        if settings.edit is not None:
            approve(ledger, settings.edit, settings.by, settings.reason, settings.suite, edited_case(settings.case))
        apply_approvals(ledger, settings.suite)
    _list(ledger, settings.format)


def edited_case(path: Path | None) -> "Case":
    """The edited case of `--case`; its id is computed again from its content.

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


def _list(ledger: "Ledger", form: str) -> None:
    proposals = list(ledger.proposals.values())
    if form == "json":
        write_text(
            json.dumps({"proposals": [_proposal_json(proposal) for proposal in proposals], "head": ledger.head}) + "\n",
            sys.stdout,
        )
        return
    lines = [_proposal_line(proposal) for proposal in proposals]
    lines.append(
        f"{sum(proposal.state == 'open' for proposal in proposals)} open of {len(proposals)}; head {ledger.head}"
    )
    write_text("\n".join(lines) + "\n", sys.stdout)


def _proposal_line(proposal: "Proposal") -> str:
    who = f" by {one_line(proposal.by, 40)}" if proposal.by else ""
    flaky = " flaky" if proposal.flaky else ""
    prompt = one_line(proposal.case.prompt, 80)
    state = f"{proposal.state.value}{who}{flaky}"
    return f"  {proposal.proposed_as}  {state}  {proposal.case.category.value}  {proposal.match:.2f}  {prompt}"


def _proposal_json(proposal: "Proposal") -> dict[str, object]:
    return {
        "id": proposal.proposed_as,
        "state": proposal.state.value,
        "by": proposal.by,
        "reason": proposal.reason,
        "match": proposal.match,
        "rule": proposal.rule,
        "flaky": proposal.flaky,
        "target": proposal.target,
        "case": proposal.case.model_dump(mode="json"),
    }
