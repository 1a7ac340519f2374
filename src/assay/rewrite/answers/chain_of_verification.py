"""A chain of verification: claims tested by questions that are answered without the draft.

See docs/concepts.md#chain-of-verification.

1. Claims are chosen: those that pass the check but are critical, of high severity, or not sure.
2. The model writes a question for each. One that gives the tested value away, or none, gives way to the question that
   the user asked.
3. The questions are answered from the evidence in contexts of their own. The draft is in none of them.
4. The network compares: does the answer entail the claim, or contradict it?
5. A claim stays if the answer confirms it; one that the answer neither confirms nor contradicts stays only where the
   check had found it supported by the evidence, and with `strict` not even then.

The cost is one request for the questions, and one for every few of them for the answers. Questions that are equal are
asked once; a cache of the model serves those that were asked before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import AnswerError, ChatError, InputError
from assay.models.chat import ChatRequest, read_structured
from assay.prompts import Data, load_prompt
from assay.retrieve import terms
from assay.rewrite.answers.cited_answers import one_line
from assay.rewrite.answers.evidence_selection import PromptContext
from assay.rewrite.answers.steps import Asks, Judge, Said, Steps, messages
from assay.schema import ClaimKind, ClaimReport, ClaimStatus, Evidence, HallucinationReport, Span, Verdict
from assay.schema.report_parts import VerificationQuestion

CHAIN_PROMPTS: Final = ("cove_questions", "cove_answers")
MOST_CLAIMS: Final = 40
"""Claims that one chain tests; the others are decided by the check alone."""
LONGEST_QUESTION: Final = 600
SEVERE: Final = 0.5
"""The severity from which a chain is worth its cost (docs/concepts.md#chain-of-verification)."""
_TESTED: Final = frozenset({ClaimKind.FACTUAL, ClaimKind.INFERENTIAL, ClaimKind.PROCEDURAL})


@dataclass(frozen=True, slots=True)
class ChainOptions:
    """How claims are chosen and asked about."""

    confident: float = 0.95
    """A claim that is not critical is tested where its probability of support is below this."""
    every: bool = False
    """Whether all claims are tested, whatever their score."""
    per_request: int = 4
    """Questions that are answered in one request; 1 gives each a context of its own at the price of the evidence."""
    strict: bool = False
    """Whether a claim that no answer confirms is dropped though the check had found it supported."""
    max_tokens: int = 1_024
    """Tokens of one answer."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            InputError: a setting is out of its range.
        """
        if self.per_request < 1 or not 0 <= self.confident <= 1:
            raise InputError(
                f"per_request is 1 or more and confident from 0 to 1, got {self.per_request} and {self.confident}"
            )


@dataclass(frozen=True, slots=True)
class Verified:
    """One claim that was tested."""

    span: Span
    """Where it is in the text."""
    asked: VerificationQuestion

    @property
    def reason(self) -> str:
        """What is to be said of a claim that does not stay."""
        asked = self.asked
        if asked.outcome in ("contradicted", "unconfirmed"):
            said = "contradicts" if asked.outcome == "contradicted" else "does not confirm"
            return f'Asked by itself, "{asked.question}" is answered with "{asked.answer}", which {said} the claim.'
        if asked.outcome == "unanswered":
            return f'Asked by itself, "{asked.question}" has no answer in the evidence.'
        return "The claim could not be verified: its question could not be asked, or its answer not read."


@dataclass(frozen=True, slots=True)
class _Answered:
    text: str = ""
    sources: tuple[str, ...] = ()
    readable: bool = False
    """Whether the model could be asked and gave an answer to this question, an empty one included."""


def chain_steps(
    report: HallucinationReport,
    question: str,
    context: PromptContext,
    options: ChainOptions,
    before: Sequence[Verified] = (),
) -> Steps[tuple[Verified, ...]]:
    """Test the claims of a report.

    Args:
        report: the report of the draft.
        question: what the user asked.
        context: the evidence that is shown.
        options: which claims, and how.
        before: what was asked about earlier answers to the same question; a claim that is there is not asked again.

    Returns:
        What was asked of each claim that was chosen, in the order of the text.
    """
    chosen = chosen_claims(report, options)
    known = {one.asked.claim: one.asked for one in before}
    new = list({claim.text: claim for claim in chosen if claim.text not in known}.values())
    if new:
        known |= yield from _asked(new, question, context, options)
    return tuple(Verified(claim.span, known[claim.text]) for claim in chosen)


def _asked(
    claims: Sequence[ClaimReport], question: str, context: PromptContext, options: ChainOptions
) -> Steps[dict[str, VerificationQuestion]]:
    """What is asked and answered of each claim, by its text."""
    questions = yield from _questions(claims, question, options)
    answers = yield from _answers(list(dict.fromkeys(questions)), context, options)
    found = [answers[one] for one in questions]
    rows = tuple(
        (claim.text, (Evidence(id="answer", text=answer.text),), asked)
        for claim, answer, asked in zip(claims, found, questions, strict=True)
        if answer.text
    )
    judged = iter((yield Judge(rows)) if rows else [])
    return {
        claim.text: _outcome(claim, asked, answer, next(judged) if answer.text else None, options)
        for claim, asked, answer in zip(claims, questions, found, strict=True)
    }


def chosen_claims(report: HallucinationReport, options: ChainOptions) -> list[ClaimReport]:
    """The claims that are worth a question: those that pass so far, and are critical, severe or not sure."""
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
    """A question for each claim; the user's own where the model gave none that can be used."""
    prompt = load_prompt(CHAIN_PROMPTS[0]).render(
        question=Data.of({"question": asked}),
        claims=Data(tuple({"claim": number, "text": claim.text} for number, claim in enumerate(claims, start=1))),
        count=len(claims),
    )
    schema = _schema("questions", "claim", "question")
    request = ChatRequest(messages(prompt), schema=schema, max_tokens=options.max_tokens)
    (said,) = yield Asks("questions", (request,))
    written = {one["claim"]: one_line(one["question"]) for one in _listed(said, "questions", schema)}
    return [_usable(written.get(number, ""), claim.text, asked) for number, claim in enumerate(claims, start=1)]


def _usable(question: str, claim: str, asked: str) -> str:
    return question if question and len(question) <= LONGEST_QUESTION and not leads(question, claim, asked) else asked


def leads(question: str, claim: str, asked: str) -> bool:
    """Whether a question gives away what it is to test: a number of the claim, or all of its words.

    What the user asked is no secret, so numbers and words of it may be in the question.

    >>> leads("How long does leave last?", "Leave lasts 4 weeks.", "How much leave do I get?")
    False
    >>> leads("Does leave last 4 weeks?", "Leave lasts 4 weeks.", "How much leave do I get?")
    True
    """
    known = set(terms(asked))
    tested = set(terms(claim)) - known
    given = tested & set(terms(question))
    return bool(given) and (given == tested or any(term[0].isdigit() for term in given))


def _answers(questions: Sequence[str], context: PromptContext, options: ChainOptions) -> Steps[dict[str, _Answered]]:
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
    said: list[Said] = yield Asks("answers", requests)
    found: dict[str, _Answered] = {}
    for batch, one in zip(batches, said, strict=True):
        by_number = {answer["question"]: answer for answer in _listed(one, "answers", schema)}
        for number, text in enumerate(batch, start=1):
            found[text] = _answered(by_number.get(number), context)
    return found


def _answered(value: dict[str, Any] | None, context: PromptContext) -> _Answered:
    if value is None:
        return _Answered()
    passages = [context.by_alias(alias) for alias in value.get("sources") or ()]
    sources = tuple(dict.fromkeys(one.evidence.id for one in passages if one is not None))
    return _Answered(one_line(value["answer"]), sources, readable=True)


def _outcome(
    claim: ClaimReport, question: str, answer: _Answered, judged: ClaimReport | None, options: ChainOptions
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
        # A claim whose question could not be asked or read was not verified, whatever else supports it.
        passed=outcome == "consistent" or (supported and outcome in {"unconfirmed", "unanswered"}),
    )


def _listed(said: Said, name: str, schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of an answer; none where the model could not be asked or said something else: unchecked, then."""
    if isinstance(said, ChatError):
        return []
    try:
        value = read_structured(said.choices[0], schema)
    except AnswerError:
        return []
    entries: list[dict[str, Any]] = value[name]
    return entries


def _schema(name: str, number: str, text: str, sources: Sequence[str] = ()) -> dict[str, Any]:
    properties: dict[str, Any] = {number: {"type": "integer"}, text: {"type": "string"}}
    if sources:
        properties["sources"] = {"type": "array", "items": {"type": "string", "enum": list(sources)}}
    entry = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {name: {"type": "array", "items": entry}},
        "required": [name],
        "additionalProperties": False,
    }
