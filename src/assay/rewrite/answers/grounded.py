"""Grounded generation: an answer built from evidence, cited, verified, and held to what it rests on.

See docs/concepts.md#grounded-generation.

1. The evidence that matters most, within a budget, placed where models look, with ids of our own.
2. An answer in statements, each with the passages that it rests on. What cites nothing is left out unread.
3. The answer is checked like any output, and with a chain of verification where the caller wants one.
4. Statements that fail are flagged, removed, or the model is asked again with stricter rules and the reasons. What
   has passed stays to the character, whatever it says the second time; what still fails in the end is removed.
5. Where several answers are asked for, what most of them do not say is treated like what fails.
6. The text that comes of it is checked once more. What is left may be an abstention; it is never a guess.

The number of answers is bounded, and so is everything that they may cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from assay.errors import AnswerError, BudgetError, ChatError, InputError
from assay.models.chat import ChatRequest, Completion
from assay.prompts import Data, Rendered, load_prompt
from assay.rewrite.answers.chain_of_verification import CHAIN_PROMPTS, ChainOptions, Verified, chain_steps
from assay.rewrite.answers.cited_answers import Draft, Statement, Text, asked_schema, read_draft, rendered
from assay.rewrite.answers.confidence_signals import entropy_of
from assay.rewrite.answers.evidence_selection import Attention, PromptContext
from assay.rewrite.answers.steps import Asks, Check, Judge, Steps, messages
from assay.rewrite.revise.feedback import FAILING, failed_spans
from assay.schema import ClaimReport, Evidence, HallucinationReport, Span, Verdict
from assay.schema.report_parts import Generation, ShownEvidence, StatementReport
from assay.stats import samples_wanted

Treatment = Literal["regenerate", "remove", "flag"]
"""What becomes of statements that the evidence does not support: asked for again and removed if they still fail;
removed; or kept with a mark, for the gate and the reader to judge."""
TREATMENTS: Final = ("regenerate", "remove", "flag")
ABSTENTION: Final = "I cannot answer this from the sources that I have."
"""What is said where nothing can be."""
_UNCITED: Final = "It cites no passage that was shown."
MOST_SAMPLES: Final = 9
"""Answers that have a vote at most."""
SAMPLED_AT: Final = 0.7
"""The least temperature of further answers: at 0 the model would only repeat itself."""
_MOST_ROUNDS: Final = 4
"""Rounds of removing: a statement may lose what it refers to with another one."""


@dataclass(frozen=True, slots=True)
class GroundedOptions:
    """How an answer is generated."""

    ungrounded: Treatment = "regenerate"
    attempts: int = 2
    """The most further answers to ask for."""
    regenerate_above: float = 0.5
    """The share of failing statements above which another answer is asked for even where they are removed or flagged
    (docs/concepts.md#grounded-generation)."""
    evidence_tokens: int = 6_000
    """Tokens of evidence that the model is shown, as estimated."""
    max_tokens: int = 1_024
    """Tokens of one answer."""
    temperature: float = 0.0
    samples: int | Literal["adaptive"] = 1
    """Answers whose consensus is kept: a statement of the first one stands if most of them say it. `adaptive` asks for
    1, 3 or 5 by the risk of the first answer (see `assay.stats.agreement.samples_wanted`)."""
    logprobs: bool = False
    """Whether log-probabilities are asked for, so that how sure the model was of its words can count."""
    chain: ChainOptions | None = None
    """How claims are verified by independent questions; none for no chain."""
    attention: Attention = field(default_factory=Attention)

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            InputError: a setting is out of its range.
        """
        if self.ungrounded not in TREATMENTS:
            raise InputError(f"ungrounded is one of {', '.join(TREATMENTS)}, got {self.ungrounded!r}")
        if self.samples != "adaptive" and not (isinstance(self.samples, int) and 1 <= self.samples <= MOST_SAMPLES):
            raise InputError(f"samples is a number from 1 to {MOST_SAMPLES} or 'adaptive', got {self.samples!r}")
        if self.attempts < 0 or self.evidence_tokens < 1 or not 0 <= self.regenerate_above <= 1:
            raise InputError(
                "attempts are 0 or more, evidence_tokens 1 or more and regenerate_above from 0 to 1; got "
                f"{self.attempts}, {self.evidence_tokens}, {self.regenerate_above}"
            )


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One answer and what was found of it."""

    number: int
    draft: Draft
    failing: Mapping[Statement, tuple[str, ...]]
    """What is wrong with each statement that fails."""
    text: Text
    report: HallucinationReport | None
    """None where nothing of it was worth a check."""
    chain: tuple[Verified, ...] = ()
    entropy: float | None = None
    """The normalised entropy of the answer's tokens, where the model gave log-probabilities."""
    sampled: int = 1
    """Answers that had a vote on its statements."""
    said: Draft | None = None
    """The answer as the model gave it, where what had passed before was put into it."""

    @property
    def passing(self) -> tuple[Statement, ...]:
        return tuple(one for one in self.draft.statements if one not in self.failing)

    @property
    def share(self) -> float:
        """How many of its statements fail."""
        stated = len(self.draft.statements) + len(self.draft.quarantined)
        return len(self.failing) / stated if stated else 0.0


@dataclass(frozen=True, slots=True)
class _Course:
    """How the answers came about."""

    attempts: tuple[_Attempt, ...] = ()
    asked: int = 0
    prompts: tuple[str, ...] = ()
    stopped: str = "exhausted"
    missing: str | None = None

    @property
    def all_prompts(self) -> tuple[str, ...]:
        """The prompts that were used, those of the chains included, each once."""
        chained = CHAIN_PROMPTS if any(one.chain for one in self.attempts) else ()
        return tuple(dict.fromkeys((*self.prompts, *(load_prompt(name).identity for name in chained))))

    @property
    def best(self) -> _Attempt | None:
        """The answer with most that holds, of several the one with least that does not, of several the first."""
        ranked = [(len(one.passing), -len(one.failing), -one.number) for one in self.attempts]
        return self.attempts[ranked.index(max(ranked))] if ranked else None


def grounded_steps(
    question: str, context: PromptContext, options: GroundedOptions, model: str
) -> Steps[HallucinationReport]:
    """The pipeline; whoever drives it asks the model and checks.

    Args:
        question: what is to be answered.
        context: the evidence that the model is shown.
        options: how.
        model: the model's name, for the record.

    Returns:
        The report of the text that came of it, with its record.

    Raises:
        ChatError: the model could not be asked, and there is nothing else to go by.
        AnswerError: nothing that it said could be read.
    """
    course = (yield from _answers(question, context, options)) if context.passages else _Course(stopped="no_evidence")
    report, outcomes = yield from _treated(course, options)
    return report.model_copy(update={"generation": _record(course, context, model, outcomes)})


def _answers(question: str, context: PromptContext, options: GroundedOptions) -> Steps[_Course]:
    """Answers until one is grounded, or no further one is allowed or would help."""
    course = _Course()
    unreadable: AnswerError | None = None
    for number in range(1, options.attempts + 2):
        prompt = _prompt(question, context, course.attempts[-1] if course.attempts else None)
        request = _request(prompt, context, options, number if unreadable else None)
        purpose = "draft" if number == 1 else "regeneration"
        (said,) = yield Asks(purpose, (request,))
        if isinstance(said, ChatError):
            if course.best is None:
                raise said
            return replace(course, stopped="budget" if isinstance(said, BudgetError) else "failed")
        course = replace(course, asked=number, prompts=(*course.prompts, prompt.prompt))
        try:
            draft = read_draft(said.choices[0], context)
        except AnswerError as error:
            unreadable = error
            continue
        course = replace(course, missing=draft.missing or course.missing)
        ended = _ended(draft, course)
        if ended:
            return replace(course, stopped=ended)
        merged = yield from _merged(course, draft)
        entropy = entropy_of(said.choices[0].logprobs) if said.choices[0].logprobs else None
        evaluated = yield from _evaluated(number, merged, question, context, options, course, entropy)
        evaluated = yield from _agreed(evaluated, request, context, options)
        attempt = replace(evaluated, said=draft, entropy=entropy)
        course = replace(course, attempts=(*course.attempts, attempt))
        if not attempt.failing:
            return replace(course, stopped="grounded")
        if options.ungrounded != "regenerate" and attempt.share <= options.regenerate_above:
            return replace(course, stopped="treated")
    if not course.attempts and unreadable is not None:
        raise AnswerError(f"none of {course.asked} answers of the model can be used; the last one: {unreadable}")
    return course


def _ended(draft: Draft, course: _Course) -> str:
    """Why an answer is not worth a check; empty where it is."""
    if not draft.statements and not draft.quarantined:
        return "no_answer"
    before = [(one.said.statements, one.said.quarantined) for one in course.attempts if one.said is not None]
    return "unchanged" if (draft.statements, draft.quarantined) in before else ""


def _merged(course: _Course, draft: Draft) -> Steps[Draft]:
    """The answer with every statement that had passed before in it, and without what only repeats one of them."""
    accepted = course.attempts[-1].passing if course.attempts else ()
    fresh = [one for one in draft.statements if one not in accepted]
    if not accepted or not fresh:
        return replace(draft, statements=accepted or draft.statements)
    known = (Evidence(id="accepted", text=" ".join(one.text for one in accepted)),)
    judged = yield Judge(tuple((one.text, known, None) for one in fresh))
    new = {one for one, said in zip(fresh, judged, strict=True) if said.verdict is not Verdict.SUPPORTED}
    repeated = [one for one in draft.statements if one in accepted]
    lost = [one for one in accepted if one not in repeated]
    return replace(draft, statements=(*lost, *(one for one in draft.statements if one in new or one in repeated)))


def _prompt(question: str, context: PromptContext, rejected: _Attempt | None) -> Rendered:
    evidence = Data(tuple(passage.record for passage in context.passages))
    asked = Data.of({"question": question})
    if rejected is None:
        return load_prompt("grounded").render(evidence=evidence, question=asked)
    aliases = {passage.evidence.id: passage.alias for passage in context.passages}
    accepted = tuple(
        {"text": one.text, "sources": [aliases[source] for source in one.sources]} for one in rejected.passing
    )
    listed = tuple({"statement": one.text, "reasons": list(reasons)} for one, reasons in rejected.failing.items())
    return load_prompt("grounded_strict").render(
        evidence=evidence, question=asked, accepted=Data(accepted), rejected=Data(listed)
    )


def _request(prompt: Rendered, context: PromptContext, options: GroundedOptions, seed: int | None) -> ChatRequest:
    # A seed after an answer that could not be read: the same request would get the same answer, from a cache at least.
    return ChatRequest(
        messages(prompt),
        schema=asked_schema([passage.alias for passage in context.passages]),
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        seed=seed,
        logprobs=options.logprobs,
    )


def _evaluated(
    number: int,
    draft: Draft,
    question: str,
    context: PromptContext,
    options: GroundedOptions,
    course: _Course,
    entropy: float | None,
) -> Steps[_Attempt]:
    """What is found of an answer: by the check, and of what passes by the chain."""
    uncited = dict.fromkeys(draft.quarantined, (_UNCITED,))
    text = rendered(draft.statements)
    if not draft.statements:
        return _Attempt(number, draft, uncited, text, None)
    report = yield Check(text.text, entropy)
    failing = failing_statements(draft.statements, text, report)
    chain: tuple[Verified, ...] = ()
    if options.chain is not None:
        before = [one for earlier in course.attempts for one in earlier.chain]
        chain = yield from chain_steps(report, question, context, options.chain, before)
        failed = {one.span: one.reason for one in chain if not one.asked.passed}
        for statement, span in zip(draft.statements, text.spans, strict=True):
            reasons = tuple(reason for at, reason in failed.items() if _meet(at, span))
            if reasons:
                failing[statement] = (*failing.get(statement, ()), *reasons)
    return _Attempt(number, draft, failing | uncited, text, report, chain)


def _agreed(
    attempt: _Attempt, request: ChatRequest, context: PromptContext, options: GroundedOptions
) -> Steps[_Attempt]:
    """The answer with those of its statements failing that most other answers to the same request do not say.

    What an answer is held to is the evidence; a statement that the model does not repeat is withheld besides (Wang et
    al. 2023). Answers that cannot be had or read have no vote.
    """
    wanted = options.samples
    if wanted == "adaptive":
        overall = attempt.report.overall_score if attempt.report is not None else None
        wanted = samples_wanted(1.0 if overall is None else 1 - overall)
    passing = attempt.passing
    if wanted < 2 or not passing:
        return attempt
    again = tuple(_sampled(request, seed) for seed in range(1, wanted))
    said = yield Asks("consensus", again)
    others = [other for one in said if (other := _text_of(one, context)) is not None]
    rows = tuple(
        (statement.text, (Evidence(id=f"sample-{n}", text=other),), None)
        for statement in passing
        for n, other in enumerate(others)
        if other.strip()
    )
    judged = iter((yield Judge(rows)) if rows else ())
    failing = dict(attempt.failing)
    for statement in passing:
        votes = 1 + sum(next(judged).verdict is Verdict.SUPPORTED for other in others if other.strip())
        if 2 * votes <= 1 + len(others):
            failing[statement] = (f"Only {votes} of {1 + len(others)} answers of the model say so.",)
    return replace(attempt, failing=failing, sampled=1 + len(others))


def _sampled(request: ChatRequest, seed: int) -> ChatRequest:
    return replace(request, temperature=max(request.temperature or 0.0, SAMPLED_AT), seed=seed)


def _text_of(said: Completion | ChatError, context: PromptContext) -> str | None:
    """What a further answer states; none where it cannot be had or read."""
    if isinstance(said, ChatError):
        return None
    try:
        return " ".join(one.text for one in read_draft(said.choices[0], context).statements)
    except AnswerError:
        return None


def failing_statements(
    statements: tuple[Statement, ...], text: Text, report: HallucinationReport
) -> dict[Statement, tuple[str, ...]]:
    """The statements of a text that do not pass, with what is wrong with each."""
    failed = failed_spans(report)
    return {
        statement: _reasons(span, report)
        for statement, span in zip(statements, text.spans, strict=True)
        if any(_meet(at, span) for at in failed)
    }


def _reasons(span: Span, report: HallucinationReport) -> tuple[str, ...]:
    claims = [one for one in report.claims if one.status in FAILING and _meet(one.span, span)]
    said = [issue.message for one in claims for issue in one.issues]
    said += [_verdict(one) for one in claims if not one.issues]
    said += [one.message for one in report.citations if one.status != "verified" and _meet(one.span, span)]
    said += [part.reason for part in report.coverage.parts if _meet(part.span, span)]
    return tuple(dict.fromkeys(said)) or ("It could not be checked.",)


def _verdict(claim: ClaimReport) -> str:
    if claim.verdict is Verdict.SUPPORTED:
        return f"The evidence supports it, but not surely enough (score {claim.score or 0.0:.2f}): keep to its words."
    return f"The claim is {claim.verdict.value}."


def _meet(left: Span, right: Span) -> bool:
    return left.start < right.end and right.start < max(left.end, left.start + 1)


_Outcomes = Mapping[Statement, tuple[str, tuple[str, ...]]]
"""What became of each statement of the answer that was taken, and why."""


def _treated(course: _Course, options: GroundedOptions) -> Steps[tuple[HallucinationReport, _Outcomes]]:
    """The report of the text that comes of the best answer."""
    best = course.best
    if best is None:
        return (yield Check(ABSTENTION)), {}
    outcomes: dict[Statement, tuple[str, tuple[str, ...]]] = dict.fromkeys(best.passing, ("kept", ()))
    outcomes |= {one: ("removed", reasons) for one, reasons in best.failing.items()}
    if best.report is not None and not set(best.failing) & set(best.draft.statements):
        return best.report, outcomes
    if options.ungrounded == "flag" and best.draft.statements:
        flagged = {one: reasons for one, reasons in best.failing.items() if one.sources}
        report: HallucinationReport = yield Check(rendered(best.draft.statements, flagged).text, best.entropy)
        return report, outcomes | {one: ("flagged", reasons) for one, reasons in flagged.items()}
    left = best.passing
    for _ in range(_MOST_ROUNDS):
        if not left:
            break
        text = rendered(left)
        report = yield Check(text.text, best.entropy)
        failing = failing_statements(left, text, report)
        if not failing:
            return report, outcomes
        outcomes |= {one: ("removed", reasons) for one, reasons in failing.items()}
        left = tuple(one for one in left if one not in failing)
    outcomes |= dict.fromkeys(left, ("removed", (_ALONE,)))
    return (yield Check(ABSTENTION)), outcomes


_ALONE: Final = "What is left does not hold without what was removed."


def _record(course: _Course, context: PromptContext, model: str, outcomes: _Outcomes) -> Generation:
    best = course.best
    shown = tuple(
        ShownEvidence(
            evidence_id=one.evidence.id, alias=one.alias, characters=one.characters, of=len(one.evidence.text)
        )
        for one in context.passages
    )
    statements = [one for attempt in course.attempts for one in _statements(attempt, outcomes, taken=attempt is best)]
    return Generation(
        model=model,
        prompts=course.all_prompts,
        evidence=shown,
        left_out=context.left_out,
        attempts=course.asked,
        stopped=course.stopped,
        ungrounded=course.attempts[0].share if course.attempts else None,
        statements=tuple(statements),
        samples=best.sampled if best is not None else None,
        missing=course.missing,
        chain=tuple(one.asked for one in best.chain) if best is not None else (),
    )


def _statements(attempt: _Attempt, outcomes: _Outcomes, *, taken: bool) -> list[StatementReport]:
    made = [
        StatementReport(
            text=one.text,
            sources=one.sources,
            attempt=attempt.number,
            outcome=outcomes[one][0] if taken else "rejected",
            reasons=outcomes[one][1] if taken else attempt.failing.get(one, ()),
        )
        for one in attempt.draft.statements
    ]
    return made + [
        StatementReport(text=one.text, attempt=attempt.number, outcome="quarantined", reasons=(_UNCITED,))
        for one in attempt.draft.quarantined
    ]
