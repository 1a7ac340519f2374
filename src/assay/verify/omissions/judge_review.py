"""An LLM judge reviews the omissions that the rules found: it confirms, doubts, denies and adds.

The judge can deny an omission only by quoting words of the answer that share words with the qualification. An attacker
who manipulates the judge can therefore not remove an omission that the answer does not mention.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import AnswerError, ChatError
from assay.models.chat import ChatModel, ChatRequest, Choice, read_structured
from assay.prompts import Data, load_prompt
from assay.schema.report_parts import Omission
from assay.verify.exact.index import ExactIndex
from assay.verify.judge.answers import may_ask_again, object_schema, one_sentence, require_seal
from assay.verify.judge.llm_judge import JudgeOptions, messages_of
from assay.verify.judge.quotes import Source, locate_quote, quoted_span, stems
from assay.verify.omissions.detection import AnswerClaim, contains_qualification, omission_message, shares_words

PROMPT: Final = "judge_omissions"
MOST_ADDED: Final = 5
KINDS: Final = ("condition", "exception", "deadline", "limit")
LONGEST_ANSWER: Final = 60_000
"""Characters of the longest answer that is reviewed."""


@dataclass(frozen=True, slots=True)
class OmissionReview:
    """The omissions after the judge's review."""

    omissions: tuple[Omission, ...]
    failed: str | None = None
    """Why there is no review, where there is none."""
    requests: int = 0
    """The number of requests that were made."""


def review_omissions(
    model: ChatModel,
    found: Sequence[Omission],
    claims: Sequence[AnswerClaim],
    answer: str,
    question: str | None,
    sources: Sequence[Source],
    index: ExactIndex,
    *,
    most_calls: int = 1,
    confidence: float = 1.0,
    options: JudgeOptions | None = None,
) -> OmissionReview:
    """Ask the judge about the omissions that the rules found, and for others.

    Args:
        model: the chat model, with its budget.
        found: the omissions that the rules found.
        claims: the claims of the answer.
        answer: the whole text of the answer.
        question: the question that it answers.
        sources: the evidence as the judge sees it.
        index: the same evidence.
        most_calls: the most requests; an answer that cannot be parsed is requested again within this limit and that of
            the options.
        confidence: the confidence of an omission that the judge adds, in [0, 1].
        options: the settings of the requests.

    Returns:
        The omissions, each with the judge's verdict. Nothing is raised: after a failure all are `unchecked`.
    """
    if len(answer) > LONGEST_ANSWER:
        return _unchecked(found, f"the answer has more than {LONGEST_ANSWER:,} characters")
    settings = options or JudgeOptions()
    schema = _schema([source.alias for source in sources])
    value, failed, requests = None, "", 0
    for attempt in range(1, min(settings.attempts, most_calls) + 1):
        rendered = load_prompt(PROMPT).render(
            evidence=Data(tuple(source.record for source in sources)),
            question=Data.of({"question": question or ""}),
            answer=Data.of({"answer": answer}),
            qualifications=Data(tuple(_record(n, one) for n, one in enumerate(found, start=1))),
            count=len(found),
            attempt=attempt,
        )
        request = ChatRequest(
            messages_of(rendered),
            schema=schema,
            temperature=settings.temperature,
            max_tokens=attempt * settings.tokens_per_claim * (2 + len(found) // 3),
        )
        requests += 1
        try:
            choice = model.complete(request).choices[0]
        except ChatError as error:
            failed = str(error)
            break
        try:
            value = _read(choice, schema, rendered.token, len(found))
            break
        except AnswerError as error:
            failed = str(error)
            if not may_ask_again(choice, error):
                break
    if value is None:
        return _unchecked(found, failed.rstrip(".") or "the check may ask it no more", requests)
    answers = {int(one["qualification"]): one for one in value["answers"]}
    judged = tuple(_judged(one, answers.get(number), answer) for number, one in enumerate(found, start=1))
    added = _added(value["more"], judged, claims, answer, question, sources, index, confidence)
    return OmissionReview((*judged, *added), requests=requests)


def _record(number: int, omission: Omission) -> dict[str, Any]:
    return {"qualification": number, "text": omission.evidence.text, "sentence": omission.statement.text}


def _read(choice: Choice, schema: Mapping[str, Any], seal: str, count: int) -> Any:
    value = read_structured(choice, schema)
    require_seal(value, seal)
    numbers = [int(one["qualification"]) for one in value["answers"]]
    if len(set(numbers)) < len(numbers):
        raise AnswerError("The answer judges a qualification more than once.")
    if any(not 1 <= number <= count for number in numbers):
        raise AnswerError(f"The answer refers to a qualification that does not exist; there are {count}.")
    return value


def _unchecked(found: Sequence[Omission], why: str, requests: int = 0) -> OmissionReview:
    kept = tuple(one.model_copy(update={"judged": "unchecked"}) for one in found)
    return OmissionReview(
        kept, f"The judge was of no use for what is left out: {why[:1].lower()}{why[1:300]}.", requests
    )


def _judged(omission: Omission, entry: Mapping[str, Any] | None, answer: str) -> Omission:
    if entry is None:
        return omission.model_copy(update={"judged": "unchecked"})
    outcome = "confirmed" if entry["verdict"] == "FAIL" else "doubted"
    if entry["verdict"] == "PASS" and _is_in_answer(omission, str(entry["in_answer"]), answer):
        outcome = "denied"
    return omission.model_copy(update={"judged": outcome, "justification": one_sentence(entry["because"]) or None})


def _is_in_answer(omission: Omission, quote: str, answer: str) -> bool:
    """Whether the answer contains these words, and they share a word with the omitted qualification."""
    return locate_quote(quote, answer) is not None and shares_words(quote, omission.evidence.text)


def _added(
    more: Sequence[Mapping[str, Any]],
    found: Sequence[Omission],
    claims: Sequence[AnswerClaim],
    answer: str,
    question: str | None,
    sources: Sequence[Source],
    index: ExactIndex,
    confidence: float,
) -> Iterator[Omission]:
    """The omissions that the judge adds: words of the evidence that the answer lacks, in a sentence on its subject."""
    by_alias = {source.alias: source for source in sources}
    taken_spans = [(one.evidence.evidence_id, one.evidence.start, one.evidence.end) for one in found]
    subject_stems = stems(question or "", answer)
    for entry in more[:MOST_ADDED]:
        quote = quoted_span(str(entry["text"]), by_alias[entry["source"]], "related", confidence)
        if quote is None or contains_qualification(answer, quote.text) or not claims:
            continue
        span = quote.evidence_id, quote.start, quote.end
        number = _sentence_at(span[0], span[1], index)
        if number is None or any(span[0] == t[0] and span[1] < t[2] and t[1] < span[2] for t in taken_spans):
            continue
        sentence = index.sentences[number]
        sentence_span = index.span(number, sentence.start, max(sentence.end, quote.end), "related", confidence)
        if not (stems(sentence_span.text) | index.passages[sentence.passage].heading) & subject_stems:
            continue
        taken_spans.append(span)
        nearest_claim = max(claims, key=lambda claim: len(stems(claim.text) & stems(sentence_span.text)))
        yield Omission(
            kind=entry["kind"],
            message=omission_message(entry["kind"], quote),
            evidence=quote,
            statement=sentence_span,
            span=nearest_claim.span,
            confidence=confidence,
            found_by="judge",
            judged="confirmed",
            justification=one_sentence(entry["because"]) or None,
        )


def _sentence_at(evidence_id: str, start: int, index: ExactIndex) -> int | None:
    for passage in index.passages:
        if passage.evidence_id == evidence_id:
            within = range(passage.first, passage.last)
            return next((n for n in within if index.sentences[n].start <= start < index.sentences[n].end), None)
    return None


def _schema(aliases: Sequence[str]) -> dict[str, Any]:
    text = {"type": "string"}
    answer = object_schema(
        qualification={"type": "integer"},
        verdict={"type": "string", "enum": ["PASS", "FAIL", "UNCERTAIN"]},
        in_answer=text,
        because=text,
    )
    more = object_schema(
        kind={"type": "string", "enum": list(KINDS)},
        source={"type": "string", "enum": list(aliases)},
        text=text,
        because=text,
    )
    return object_schema(seal=text, answers={"type": "array", "items": answer}, more={"type": "array", "items": more})
