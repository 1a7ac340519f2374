"""Grounded generation: an answer built from evidence, with citations, and verified against the evidence.

See docs/concepts.md#grounded-generation.

1. The most relevant evidence is selected within a budget, placed where models attend to it, and given our own ids.
2. The model answers in statements, each with the passages that it rests on. A statement that cites nothing is dropped.
3. The answer is checked like any output, and by a chain of verification if the caller wants one.
4. Failing statements are flagged or removed, or the model is asked again with stricter rules and the reasons. Passed
   statements are kept to the character, whatever a later answer says; what still fails in the end is removed.
5. If several answers are requested, statements that most of them do not make are treated as failing.
6. The resulting text is checked once more. It may be an abstention; it is never a guess.

The number of answers is bounded, and so is their cost.
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
from assay.rewrite.answers.steps import Ask, Check, Judge, Steps, messages
from assay.rewrite.revise.feedback import FAILING, failed_spans, touches
from assay.schema import ClaimReport, Evidence, HallucinationReport, Span, Verdict
from assay.schema.report_parts import Generation, ShownEvidence, StatementReport
from assay.stats import samples_wanted

Treatment = Literal["regenerate", "remove", "flag"]
"""How statements that the evidence does not support are treated: the model is asked again and they are removed if they
still fail; they are removed at once; or they are kept with a mark, for the gate and the reader to judge."""
TREATMENTS: Final = ("regenerate", "remove", "flag")
ABSTENTION: Final = "I cannot answer this from the sources that I have."
"""The text of an answer for which the evidence gives nothing."""
_UNCITED: Final = "It cites no passage that was shown."
MOST_SAMPLES: Final = 9
"""The most answers that can vote on a statement."""
SAMPLED_AT: Final = 0.7
"""The lowest temperature of further answers; at 0 the model would only repeat itself."""
_MOST_ROUNDS: Final = 4
"""The most rounds of removal: removing a statement may take away what another one refers to."""


@dataclass(frozen=True, slots=True)
class GroundedOptions:
    """How an answer is generated."""

    ungrounded: Treatment = "regenerate"
    attempts: int = 2
    """The most further answers to ask for."""
    regenerate_above: float = 0.5
    """The share of failing statements above which another answer is requested even if failing statements are removed or
    flagged (docs/concepts.md#grounded-generation)."""
    evidence_tokens: int = 6_000
    """The estimated tokens of evidence that the model is shown."""
    max_tokens: int = 1_024
    """The most tokens of one answer."""
    temperature: float = 0.0
    samples: int | Literal["adaptive"] = 1
    """How many answers vote: a statement of the first one is kept if most of them make it. `adaptive` asks for 1, 3 or
    5 by the risk of the first answer (see `assay.stats.agreement.samples_wanted`)."""
    logprobs: bool = False
    """Whether log-probabilities are requested, so that the model's certainty about its own words can count."""
    chain: ChainOptions | None = None
    """How claims are verified by independent questions; none for no chain."""
    attention: Attention = field(default_factory=Attention)

    def __post_init__(self) -> None:
        """Validates the settings.

        Raises:
            InputError: a setting is out of range.
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
    """One answer and the result of checking it."""

    number: int
    draft: Draft
    failing: Mapping[Statement, tuple[str, ...]]
    """The failing statements, with what is wrong with each."""
    text: Text
    report: HallucinationReport | None
    """The report of the check; None if the answer had no statement to check."""
    chain: tuple[Verified, ...] = ()
    entropy: float | None = None
    """The normalised entropy of the answer's tokens, where the model gave log-probabilities."""
    sampled: int = 1
    """The number of answers that voted on its statements."""
    original: Draft | None = None
    """The answer as the model gave it, before statements that had passed earlier were merged into it."""

    @property
    def passing(self) -> tuple[Statement, ...]:
        return tuple(one for one in self.draft.statements if one not in self.failing)

    @property
    def share(self) -> float:
        """The share of its statements that fail, in [0, 1]."""
        statements = len(self.draft.statements) + len(self.draft.quarantined)
        return len(self.failing) / statements if statements else 0.0


@dataclass(frozen=True, slots=True)
class _History:
    """The attempts at an answer so far."""

    attempts: tuple[_Attempt, ...] = ()
    asked: int = 0
    """The number of answers requested."""
    prompts: tuple[str, ...] = ()
    stopped: str = "exhausted"
    missing: str | None = None

    @property
    def all_prompts(self) -> tuple[str, ...]:
        """The prompts that were used, including those of the chains, each once."""
        chained = CHAIN_PROMPTS if any(one.chain for one in self.attempts) else ()
        return tuple(dict.fromkeys((*self.prompts, *(load_prompt(name).identity for name in chained))))

    @property
    def best(self) -> _Attempt | None:
        """The attempt with the most passing statements; of several the one with the fewest failing, then the first."""
        ranked = [(len(one.passing), -len(one.failing), -one.number) for one in self.attempts]
        return self.attempts[ranked.index(max(ranked))] if ranked else None


def grounded_steps(
    question: str, context: PromptContext, options: GroundedOptions, model: str
) -> Steps[HallucinationReport]:
    """The pipeline as a generator; its driver asks the model and makes the checks.

    Args:
        question: the question to answer.
        context: the evidence that the model is shown.
        options: how the answer is generated.
        model: the model's name, for the record.

    Returns:
        The report of the resulting text, with the record of its generation.

    Raises:
        ChatError: the model could not be asked, and there is no earlier answer.
        AnswerError: none of its answers could be read.
    """
    history = (yield from _answers(question, context, options)) if context.passages else _History(stopped="no_evidence")
    report, outcomes = yield from _treated(history, options)
    return report.model_copy(update={"generation": _record(history, context, model, outcomes)})


def _answers(question: str, context: PromptContext, options: GroundedOptions) -> Steps[_History]:
    """Requests answers until one is grounded, or no further one is allowed or would help."""
    history = _History()
    unreadable: AnswerError | None = None
    for number in range(1, options.attempts + 2):
        prompt = _prompt(question, context, history.attempts[-1] if history.attempts else None)
        request = _request(prompt, context, options, number if unreadable else None)
        purpose = "draft" if number == 1 else "regeneration"
        (reply,) = yield Ask(purpose, (request,))
        if isinstance(reply, ChatError):
            if history.best is None:
                raise reply
            return replace(history, stopped="budget" if isinstance(reply, BudgetError) else "failed")
        history = replace(history, asked=number, prompts=(*history.prompts, prompt.prompt))
        try:
            draft = read_draft(reply.choices[0], context)
        except AnswerError as error:
            unreadable = error
            continue
        history = replace(history, missing=draft.missing or history.missing)
        ended = _ended(draft, history)
        if ended:
            return replace(history, stopped=ended)
        merged = yield from _merged(history, draft)
        entropy = entropy_of(reply.choices[0].logprobs) if reply.choices[0].logprobs else None
        evaluated = yield from _evaluated(number, merged, question, context, options, history, entropy)
        evaluated = yield from _agreed(evaluated, request, context, options)
        attempt = replace(evaluated, original=draft, entropy=entropy)
        history = replace(history, attempts=(*history.attempts, attempt))
        if not attempt.failing:
            return replace(history, stopped="grounded")
        if options.ungrounded != "regenerate" and attempt.share <= options.regenerate_above:
            return replace(history, stopped="treated")
    if not history.attempts and unreadable is not None:
        raise AnswerError(f"none of {history.asked} answers of the model can be used; the last one: {unreadable}")
    return history


def _ended(draft: Draft, history: _History) -> str:
    """Why an answer is not worth a check; empty where it is."""
    if not draft.statements and not draft.quarantined:
        return "no_answer"
    originals = [one.original for one in history.attempts if one.original is not None]
    earlier = [(one.statements, one.quarantined) for one in originals]
    return "unchanged" if (draft.statements, draft.quarantined) in earlier else ""


def _merged(history: _History, draft: Draft) -> Steps[Draft]:
    """The answer with all statements that passed before, and without statements that only repeat one of them."""
    accepted = history.attempts[-1].passing if history.attempts else ()
    fresh = [one for one in draft.statements if one not in accepted]
    if not accepted or not fresh:
        return replace(draft, statements=accepted or draft.statements)
    known = (Evidence(id="accepted", text=" ".join(one.text for one in accepted)),)
    judged = yield Judge(tuple((one.text, known, None) for one in fresh))
    new = {one for one, report in zip(fresh, judged, strict=True) if report.verdict is not Verdict.SUPPORTED}
    repeated = [one for one in draft.statements if one in accepted]
    lost = [one for one in accepted if one not in repeated]
    return replace(draft, statements=(*lost, *(one for one in draft.statements if one in new or one in repeated)))


def _prompt(question: str, context: PromptContext, rejected: _Attempt | None) -> Rendered:
    evidence = Data(tuple(passage.record for passage in context.passages))
    question_data = Data.of({"question": question})
    if rejected is None:
        return load_prompt("grounded").render(evidence=evidence, question=question_data)
    aliases = {passage.evidence.id: passage.alias for passage in context.passages}
    accepted = tuple(
        {"text": one.text, "sources": [aliases[source] for source in one.sources]} for one in rejected.passing
    )
    listed = tuple({"statement": one.text, "reasons": list(reasons)} for one, reasons in rejected.failing.items())
    return load_prompt("grounded_strict").render(
        evidence=evidence, question=question_data, accepted=Data(accepted), rejected=Data(listed)
    )


def _request(prompt: Rendered, context: PromptContext, options: GroundedOptions, seed: int | None) -> ChatRequest:
    # A seed after an unreadable answer: the same request would get the same answer, at least from a cache.
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
    history: _History,
    entropy: float | None,
) -> Steps[_Attempt]:
    """The evaluation of an answer: by the check and, for what passes it, by the chain."""
    uncited = dict.fromkeys(draft.quarantined, (_UNCITED,))
    text = rendered(draft.statements)
    if not draft.statements:
        return _Attempt(number, draft, uncited, text, None)
    report = yield Check(text.text, entropy)
    failing = failing_statements(draft.statements, text, report)
    chain: tuple[Verified, ...] = ()
    if options.chain is not None:
        before = [one for earlier in history.attempts for one in earlier.chain]
        chain = yield from chain_steps(report, question, context, options.chain, before)
        failed = {one.span: one.reason for one in chain if not one.test.passed}
        for statement, span in zip(draft.statements, text.spans, strict=True):
            if reasons := tuple(reason for at, reason in failed.items() if touches(at, span)):
                failing[statement] = (*failing.get(statement, ()), *reasons)
    return _Attempt(number, draft, failing | uncited, text, report, chain)


def _agreed(
    attempt: _Attempt, request: ChatRequest, context: PromptContext, options: GroundedOptions
) -> Steps[_Attempt]:
    """The attempt in which statements also fail that most other answers to the same request do not make.

    An answer is held to the evidence; in addition, statements that the model does not repeat are withheld (Wang et al.
    2023). Answers that cannot be obtained or read do not vote.
    """
    samples = options.samples
    if samples == "adaptive":
        overall = attempt.report.overall_score if attempt.report is not None else None
        samples = samples_wanted(1.0 if overall is None else 1 - overall)
    passing = attempt.passing
    if samples < 2 or not passing:
        return attempt
    replies = yield Ask("consensus", tuple(_sampled(request, seed) for seed in range(1, samples)))
    others = [other for reply in replies if (other := _text_of(reply, context)) is not None]
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


def _text_of(reply: Completion | ChatError, context: PromptContext) -> str | None:
    """The statements of a further answer; None if it cannot be obtained or read."""
    if isinstance(reply, ChatError):
        return None
    try:
        return " ".join(one.text for one in read_draft(reply.choices[0], context).statements)
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
        if any(touches(at, span) for at in failed)
    }


def _reasons(span: Span, report: HallucinationReport) -> tuple[str, ...]:
    claims = [one for one in report.claims if one.status in FAILING and touches(one.span, span)]
    reasons = [issue.message for one in claims for issue in one.issues]
    reasons += [_verdict(one) for one in claims if not one.issues]
    reasons += [one.message for one in report.citations if one.status != "verified" and touches(one.span, span)]
    reasons += [part.reason for part in report.coverage.parts if touches(part.span, span)]
    return tuple(dict.fromkeys(reasons)) or ("It could not be checked.",)


def _verdict(claim: ClaimReport) -> str:
    if claim.verdict is Verdict.SUPPORTED:
        return f"The evidence supports it, but not surely enough (score {claim.score or 0.0:.2f}): keep to its words."
    return f"The claim is {claim.verdict.value}."


_Outcomes = Mapping[Statement, tuple[str, tuple[str, ...]]]
"""The outcome of each statement of the best answer, and the reasons."""


def _treated(history: _History, options: GroundedOptions) -> Steps[tuple[HallucinationReport, _Outcomes]]:
    """The report of the text made from the best answer, and the outcome of each of its statements."""
    best = history.best
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


def _record(history: _History, context: PromptContext, model: str, outcomes: _Outcomes) -> Generation:
    best = history.best
    shown = tuple(
        ShownEvidence(
            evidence_id=one.evidence.id, alias=one.alias, characters=one.characters, of=len(one.evidence.text)
        )
        for one in context.passages
    )
    statements = [one for attempt in history.attempts for one in _statements(attempt, outcomes, taken=attempt is best)]
    return Generation(
        model=model,
        prompts=history.all_prompts,
        evidence=shown,
        left_out=context.left_out,
        attempts=history.asked,
        stopped=history.stopped,
        ungrounded=history.attempts[0].share if history.attempts else None,
        statements=tuple(statements),
        samples=best.sampled if best is not None else None,
        missing=history.missing,
        chain=tuple(one.test for one in best.chain) if best is not None else (),
    )


def _statements(attempt: _Attempt, outcomes: _Outcomes, *, taken: bool) -> list[StatementReport]:
    statements = [
        StatementReport(
            text=one.text,
            sources=one.sources,
            attempt=attempt.number,
            outcome=outcomes[one][0] if taken else "rejected",
            reasons=outcomes[one][1] if taken else attempt.failing.get(one, ()),
        )
        for one in attempt.draft.statements
    ]
    return statements + [
        StatementReport(text=one.text, attempt=attempt.number, outcome="quarantined", reasons=(_UNCITED,))
        for one in attempt.draft.quarantined
    ]
