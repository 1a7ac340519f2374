"""A chain of verification: claims are tested by questions that the model answers without seeing the draft.

See docs/concepts.md#chain-of-verification.

1. Claims are selected: those that pass the check but are critical, of high severity, or uncertain.
2. The model writes a question for each. If it writes none, or one that gives the tested value away, the user's own
   question is used.
3. The questions are answered from the evidence in separate contexts that do not contain the draft.
4. The network compares each answer with its claim: does it entail or contradict the claim?
5. A claim stays if the answer confirms it. One that the answer neither confirms nor contradicts stays only if the check
   found it supported by the evidence, and with `strict` not even then.

The cost is one request for the questions, and one for every few of them for the answers. Equal questions are asked
once; a cache of the model serves those that were asked before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import AnswerError, ChatError, InputError
from assay.models.chat import ChatRequest, read_structured
from assay.prompts import Data, load_prompt
from assay.retrieve import terms
from assay.rewrite.answers.cited_answers import closed_object, one_line
from assay.rewrite.answers.evidence_selection import PromptContext
from assay.rewrite.answers.steps import Ask, Judge, Reply, Steps, messages
from assay.schema import ClaimKind, ClaimReport, ClaimStatus, Evidence, HallucinationReport, Span, Verdict
from assay.schema.report_parts import VerificationQuestion

CHAIN_PROMPTS: Final = ("cove_questions", "cove_answers")
MOST_CLAIMS: Final = 40
"""The most claims that one chain tests; the others are decided by the check alone."""
LONGEST_QUESTION: Final = 600
SEVERE: Final = 0.5
"""The severity above which a claim is worth the cost of a chain (docs/concepts.md#chain-of-verification)."""
_TESTED: Final = frozenset({ClaimKind.FACTUAL, ClaimKind.INFERENTIAL, ClaimKind.PROCEDURAL})


@dataclass(frozen=True, slots=True)
class ChainOptions:
    """How claims are selected and tested."""

    confident: float = 0.95
    """A claim that is not critical is tested where its probability of support is below this."""
    every: bool = False
    """Whether all claims are tested, whatever their score."""
    per_request: int = 4
    """Questions per request; 1 gives each its own context, at the cost of sending the evidence with every question."""
    strict: bool = False
    """Whether a claim that no answer confirms is dropped even if the check found it supported."""
    max_tokens: int = 1_024
    """The most tokens of one answer."""

    def __post_init__(self) -> None:
        """Validates the settings.

        Raises:
            InputError: a setting is out of range.
        """
        if self.per_request < 1 or not 0 <= self.confident <= 1:
            raise InputError(
                f"per_request is 1 or more and confident from 0 to 1, got {self.per_request} and {self.confident}"
            )


@dataclass(frozen=True, slots=True)
class Verified:
    """One claim that was tested."""

    span: Span
    """Its place in the text."""
    test: VerificationQuestion

    @property
    def reason(self) -> str:
        """The reason for removing a claim that did not pass."""
        test = self.test
        if test.outcome in ("contradicted", "unconfirmed"):
            relation = "contradicts" if test.outcome == "contradicted" else "does not confirm"
            return f'Asked by itself, "{test.question}" is answered with "{test.answer}", which {relation} the claim.'
        if test.outcome == "unanswered":
            return f'Asked by itself, "{test.question}" has no answer in the evidence.'
        return "The claim could not be verified: its question could not be asked, or its answer not read."


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str = ""
    sources: tuple[str, ...] = ()
    readable: bool = False
    """Whether the model could be asked and answered this question, even if with an empty text."""


def chain_steps(
    report: HallucinationReport,
    question: str,
    context: PromptContext,
    options: ChainOptions,
    before: Sequence[Verified] = (),
) -> Steps[tuple[Verified, ...]]:
    """Tests the claims of a report.

    Args:
        report: the report of the draft.
        question: what the user asked.
        context: the evidence that the model is shown.
        options: which claims are tested, and how.
        before: the tests of earlier answers to the same question; their claims are not tested again.

    Returns:
        The test of each selected claim, in the order of the text.
    """
    selected = chosen_claims(report, options)
    tests = {one.test.claim: one.test for one in before}
    new = list({claim.text: claim for claim in selected if claim.text not in tests}.values())
    if new:
        tests |= yield from _tests(new, question, context, options)
    return tuple(Verified(claim.span, tests[claim.text]) for claim in selected)


def _tests(
    claims: Sequence[ClaimReport], user_question: str, context: PromptContext, options: ChainOptions
) -> Steps[dict[str, VerificationQuestion]]:
    """The test of each claim, by the claim's text."""
    questions = yield from _questions(claims, user_question, options)
    by_question = yield from _answers(list(dict.fromkeys(questions)), context, options)
    answers = [by_question[question] for question in questions]
    rows = tuple(
        (claim.text, (Evidence(id="answer", text=answer.text),), question)
        for claim, answer, question in zip(claims, answers, questions, strict=True)
        if answer.text
    )
    judged = iter((yield Judge(rows)) if rows else [])
    return {
        claim.text: _outcome(claim, question, answer, next(judged) if answer.text else None, options)
        for claim, question, answer in zip(claims, questions, answers, strict=True)
    }


def chosen_claims(report: HallucinationReport, options: ChainOptions) -> list[ClaimReport]:
    """The claims that are worth a question: those that pass so far and are critical, severe or uncertain."""
    passing = [c for c in report.claims if c.status is ClaimStatus.PASS and c.kind in _TESTED]
    worth = [
        c
        for c in passing
        if options.every
        or c.critical
        or (c.score or 0.0) < options.confident
        or (c.severity is not None and c.severity.score > SEVERE)
    ]
    return worth[:MOST_CLAIMS]


def _questions(claims: Sequence[ClaimReport], asked: str, options: ChainOptions) -> Steps[list[str]]:
    """A question for each claim; the user's own where the model gave no usable one."""
    prompt = load_prompt(CHAIN_PROMPTS[0]).render(
        question=Data.of({"question": asked}),
        claims=Data(tuple({"claim": number, "text": claim.text} for number, claim in enumerate(claims, start=1))),
        count=len(claims),
    )
    schema = _schema("questions", "claim", "question")
    request = ChatRequest(messages(prompt), schema=schema, max_tokens=options.max_tokens)
    (reply,) = yield Ask("questions", (request,))
    written = {one["claim"]: one_line(one["question"]) for one in _entries(reply, "questions", schema)}
    return [_usable(written.get(number, ""), claim.text, asked) for number, claim in enumerate(claims, start=1)]


def _usable(question: str, claim: str, asked: str) -> str:
    if question and len(question) <= LONGEST_QUESTION and not gives_away(question, claim, asked):
        return question
    return asked


def gives_away(question: str, claim: str, asked: str) -> bool:
    """Whether a question gives away what it is to test: a number of the claim, or all of its words.

    Numbers and words of the user's own question are no secret, so they may occur in it.

    >>> gives_away("How long does leave last?", "Leave lasts 4 weeks.", "How much leave do I get?")
    False
    >>> gives_away("Does leave last 4 weeks?", "Leave lasts 4 weeks.", "How much leave do I get?")
    True
    """
    known = set(terms(asked))
    tested = set(terms(claim)) - known
    revealed = tested & set(terms(question))
    return bool(revealed) and (revealed == tested or any(term[0].isdigit() for term in revealed))


def _answers(questions: Sequence[str], context: PromptContext, options: ChainOptions) -> Steps[dict[str, _Answer]]:
    """The answer to each question, from the evidence alone."""
    size = options.per_request
    batches = [questions[at : at + size] for at in range(0, len(questions), size)]
    evidence = Data(tuple(passage.record for passage in context.passages))
    schema = _schema("answers", "question", "answer", sources=[passage.alias for passage in context.passages])
    prompt = load_prompt(CHAIN_PROMPTS[1])
    requests = tuple(
        ChatRequest(
            messages(
                prompt.render(
                    evidence=evidence,
                    questions=Data(tuple({"question": n, "text": text} for n, text in enumerate(batch, start=1))),
                    count=len(batch),
                )
            ),
            schema=schema,
            max_tokens=options.max_tokens,
        )
        for batch in batches
    )
    replies: list[Reply] = yield Ask("answers", requests)
    answers: dict[str, _Answer] = {}
    for batch, reply in zip(batches, replies, strict=True):
        by_number = {entry["question"]: entry for entry in _entries(reply, "answers", schema)}
        for number, text in enumerate(batch, start=1):
            answers[text] = _answer(by_number.get(number), context)
    return answers


def _answer(entry: dict[str, Any] | None, context: PromptContext) -> _Answer:
    if entry is None:
        return _Answer()
    passages = [context.by_alias(alias) for alias in entry.get("sources") or ()]
    sources = tuple(dict.fromkeys(one.evidence.id for one in passages if one is not None))
    return _Answer(one_line(entry["answer"]), sources, readable=True)


def _outcome(
    claim: ClaimReport, question: str, answer: _Answer, judged: ClaimReport | None, options: ChainOptions
) -> VerificationQuestion:
    if judged is None:
        outcome = "unanswered" if answer.readable else "unchecked"
    elif judged.verdict is Verdict.SUPPORTED:
        outcome = "consistent"
    elif judged.verdict is Verdict.CONTRADICTED:
        outcome = "contradicted"
    else:
        outcome = "unconfirmed" if judged.verdict is Verdict.UNSUPPORTED else "unchecked"
    supported = claim.verdict is Verdict.SUPPORTED and not options.strict
    return VerificationQuestion(
        claim=claim.text,
        question=question,
        answer=answer.text,
        sources=answer.sources,
        outcome=outcome,
        score=None if judged is None else judged.score,
        # A claim whose question could not be asked or whose answer could not be read was not verified.
        passed=outcome == "consistent" or (supported and outcome in {"unconfirmed", "unanswered"}),
    )


def _entries(reply: Reply, name: str, schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of a reply; empty if the model could not be asked or replied in another form, so that the claims
    stay unchecked."""
    if isinstance(reply, ChatError):
        return []
    try:
        value = read_structured(reply.choices[0], schema)
    except AnswerError:
        return []
    entries: list[dict[str, Any]] = value[name]
    return entries


def _schema(name: str, number: str, text: str, sources: Sequence[str] = ()) -> dict[str, Any]:
    properties: dict[str, Any] = {number: {"type": "integer"}, text: {"type": "string"}}
    if sources:
        properties["sources"] = {"type": "array", "items": {"type": "string", "enum": list(sources)}}
    return closed_object({name: {"type": "array", "items": closed_object(properties)}})
