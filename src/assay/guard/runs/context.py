"""What an agent run adds to the check of its answer: its calls, its claimed actions, its faults."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from assay.guard.check.evidence_index import PreparedEvidence
from assay.guard.check.verdicts import SURE, Judged
from assay.guard.runs.action_claims import (
    FAILURE,
    HALF_SURE,
    RunActions,
    action_issue,
    calls_of,
    claimed_lookups,
    place_actions,
)
from assay.guard.runs.action_evidence import ActionRecords
from assay.guard.runs.changed_results import without_overtaken
from assay.guard.runs.evidence import own_words, questions_in
from assay.guard.runs.small_talk import without_courtesies
from assay.guard.runs.tool_calls import RunFindings
from assay.guard.runs.user_statements import UserStatements, stated, statements_of_users, stems_of
from assay.schema import Coverage, Evidence, ExtractedClaim, Issue, Verdict
from assay.schema.run import Passage, Run, ToolCall, ToolDeclaration, UserInput
from assay.text.rewording import agreed_statement, value_alone
from assay.verify.exact import ExactFinding

_OF_STEP: Final = re.compile(r"step:\d+/")
_USER: Final = re.compile(r"step:\d+/user(?:~\d+)?(?:#\d+)?")
"""The ids of users' own words; tools, records and passages called `user` have others (`evidence`)."""
_OF_USER: Final = re.compile(
    r"\b(?:you|your|yours|yourself|you['’](?:re|ve|d|ll)|user|customer|asked|requested|told me)\b", re.IGNORECASE
)
"""Words of a claim about the user, or about what the user said."""
_DOCUMENT: Final = 60
"""The number of words from which a user's text is a document rather than a statement."""


def _is_document(text: str) -> bool:
    return len(text.split()) >= _DOCUMENT


_VALUES_MISSING: Final = frozenset({"number.missing", "date.missing", "time.missing"})
_SURELY_MISSING: Final = 0.6
"""The confidence from which a value of a claim neither stands in the run nor follows from it."""


_QUOTED: Final = re.compile(r"'([^']{1,80})'")


def _name_of(claim: ExtractedClaim, finding: ExactFinding) -> str:
    """The identifier of a finding as its message quotes it, because its place may be in the sentence before."""
    quoted = _QUOTED.search(finding.message)
    return quoted[1] if quoted is not None else claim.text[finding.claim_start : finding.claim_end]


def _is_seen(name: str, seen: str) -> bool:
    """Whether users or calls have an identifier, or the figure of one that consists of a word and a figure."""
    if name.casefold() in seen:
        return True
    figure = re.search(r"\S*\d\S*", name.casefold())
    return figure is not None and re.search(rf"(?<![\w-]){re.escape(figure[0])}(?![\w-])", seen) is not None


def _without_made_up(claim: ExtractedClaim, judged: Judged, seen: str) -> Judged:
    """The judgement of a claim, bounded if the claim has an identifier or a value that stands nowhere in the run.

    An agent has identifiers from users, tools and passages; any other one was made up, however plausible it looks. So
    was an amount or a date that no result has and that follows from none: beside records networks let those pass.

    Args:
        claim: the claim.
        judged: its judgement.
        seen: the texts of users and calls, including questions and arguments, which are not evidence but known.
    """
    missing = [f for f in judged.exact.findings if f.code == "identifier.missing" and f.confidence >= SURE]
    made_up = any(not _is_seen(_name_of(claim, f), seen) for f in missing) or any(
        f.code in _VALUES_MISSING and f.confidence >= _SURELY_MISSING for f in judged.exact.findings
    )
    if not made_up or judged.judgement is None or judged.judgement.support <= HALF_SURE:
        return judged
    verdict = Verdict.UNSUPPORTED if judged.verdict is Verdict.SUPPORTED else judged.verdict
    return replace(judged, verdict=verdict, judgement=replace(judged.judgement, support=HALF_SURE))


@dataclass(frozen=True, slots=True)
class RunContext:
    """The run whose answer is checked."""

    run: Run
    findings: RunFindings
    notes: tuple[str, ...] = ()
    """Notes for a reader on what was read, besides those of the findings."""
    tools: tuple[str, ...] = ()
    """The names of tools that the transcript does not declare itself."""
    actions: RunActions = field(default_factory=RunActions)

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the run cannot be taken as it stands."""
        return self.findings.faults

    def states_done(self, claim: ExtractedClaim) -> bool:
        """Whether a claim states an action that a call did."""
        return self.actions.done(claim)

    def claims_action(self, claim: ExtractedClaim) -> bool:
        """Whether a claim states an action of the agent, whatever became of it."""
        return claim in self.actions.at_claim

    def user_questions(self, question: str | None) -> str | None:
        """The questions of all user turns, if the answer rests on passages alone; None if the run calls tools.

        An agent that calls tools decides itself what to look up, and its answer may report the result in any words. Of
        a long text, which is a document, only the sentences that ask are taken.

        Args:
            question: the question that the answer is for: the user's last words unless the caller names another.
        """
        if question is None or any(isinstance(step, ToolCall) for step in self.run.steps):
            return None
        texts = [step.text for step in self.run.steps if isinstance(step, UserInput)]
        if not texts or question.strip() != texts[-1].strip():
            return question
        said = [own_words(text) for text in texts]
        if "?" not in questions_in(said[-1]):
            return None
        return "\n".join(questions_in(text) if _is_document(text) else text for text in said)

    def question_answered(self, claim: ExtractedClaim, question: str | None) -> str | None:
        """The question that a claim answers. If it is a mere value and the last words ask nothing, an earlier question.

        "Everybody knows that it is 5. Please agree." does not name what is 5: the question asked before it does.
        """
        texts = [step.text for step in self.run.steps if isinstance(step, UserInput)]
        if question is None or len(texts) < 2 or question.strip() != texts[-1].strip():
            return question
        value = value_alone(claim.text)
        if value is None or agreed_statement(question, claim.text) or "?" in question:
            return question
        before = next((questions_in(own_words(text)).strip() for text in reversed(texts[:-1]) if "?" in text), "")
        if not before:
            return question
        return f"{before}\n{question}" if value[0].casefold() in question.casefold() else before

    def without_user_words(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        """The evidence without the users' own words, except documents that they give."""
        return [piece for piece in evidence if not _USER.fullmatch(piece.id) or _is_document(piece.text)]

    @property
    def _seen(self) -> str:
        """The texts of users and the arguments of calls, in small letters."""
        users = (step.text for step in self.run.steps if isinstance(step, UserInput))
        calls = (step.arguments.verbatim or "" for step in self.run.steps if isinstance(step, ToolCall))
        return "\n".join((*users, *calls)).casefold()

    def reports_failure(self, claim: ExtractedClaim) -> bool:
        """Whether a claim says that something could not be done, and a call of the run failed."""
        return bool(self.actions.failures) and FAILURE.search(claim.text) is not None

    @property
    def _looked_at_anything(self) -> bool:
        return any(isinstance(step, ToolCall | Passage) for step in self.run.steps)

    def admissible(self, claim: ExtractedClaim, evidence: Sequence[Evidence]) -> list[Evidence]:
        """The evidence that can support a claim: a user's words count only for what the user wants and is.

        No word of a user supports that something was done. A user's own words are no evidence about the world either,
        if the run has looked at anything else or other evidence was given. A long text of a user is a document and
        counts, and so does what is stated in a prompt that is all there is ("Our fee is 40 euros. How much is it?").
        How much of a user's words counts for a claim about the user is decided in `user_statements`.
        """
        action = self.claims_action(claim)
        others = [piece for piece in evidence if not _USER.fullmatch(piece.id)]
        looked = self._looked_at_anything or any(not _OF_STEP.match(piece.id) for piece in others)
        if action or (looked and not _OF_USER.search(claim.text)):
            statements = UserStatements.NOTHING
        elif not looked:
            statements = (
                UserStatements.STATED
                if statements_of_users(claim.text, ()) is not UserStatements.ALL
                else UserStatements.ALL
            )
        else:
            statements = statements_of_users(claim.text, stems_of(others))
        pieces = []
        for piece in evidence:
            if (
                not _USER.fullmatch(piece.id)
                or statements is UserStatements.ALL
                or (not action and _is_document(piece.text))
            ):
                pieces.append(piece)
            elif statements is UserStatements.STATED and (said := stated(piece)) is not None:
                pieces.append(said)
        return pieces

    def with_actions(
        self, claims: Sequence[ExtractedClaim], text: str
    ) -> tuple["RunContext", tuple[ExtractedClaim, ...]]:
        """The context with the claimed actions, and the claims including those that actions add."""
        within = [action for action in self.findings.actions if action.end <= len(text)]
        called = [step.name for step in self.run.steps if isinstance(step, ToolCall | ToolDeclaration)]
        all_claims, at = place_actions(without_courtesies(claims, (*self.tools, *called)), within, text)
        worked, failed, tried = calls_of(self.run, self.findings.outcomes)
        saw = bool(worked) or any(isinstance(step, Passage) for step in self.run.steps)
        return replace(
            self, actions=RunActions({**claimed_lookups(all_claims, saw), **at}, worked, failed, tried)
        ), all_claims

    def settled(
        self, judged: Sequence[tuple[ExtractedClaim, Judged]], evidence: PreparedEvidence, emit: float
    ) -> list[Judged]:
        """The judgements of claims, with regard to the trace; see `RunActions.settle`."""
        seen = self._seen
        judged = [(claim, _without_made_up(claim, without_overtaken(found, self.run), seen)) for claim, found in judged]
        if not self.actions.at_claim and not self.actions.attempts:
            return [found for _, found in judged]
        asked = [step.text for step in self.run.steps if isinstance(step, UserInput)]
        records = ActionRecords(self.actions.calls, evidence.evidence, asked)
        return [self.actions.settle(claim, found, records, emit) for claim, found in judged]

    def issues_at(self, claim: ExtractedClaim, judged: Judged | None) -> tuple[Issue, ...]:
        """The issue about the action that a claim states, if there is one."""
        action = self.actions.at_claim.get(claim)
        issue = action_issue(action, judged) if action is not None else None
        return (issue,) if issue is not None else ()

    def with_notes(self, coverage: Coverage) -> Coverage:
        """The coverage with the notes on the run."""
        reasons = tuple(dict.fromkeys((*coverage.reasons, *self.findings.notes, *self.notes)))
        return coverage.model_copy(update={"reasons": reasons})
