"""A judge's second look at what an answer leaves out: it may confirm, doubt and add; deny only with the answer's words.

What the rules found stands unless the judge quotes words of the answer that have to do with it. So whoever leads the
judge astray makes no omission go away that the answer says nothing of.
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
from assay.verify.judge.answers import may_ask_again, one_sentence, require_seal
from assay.verify.judge.llm_judge import JudgeOptions, messages_of
from assay.verify.judge.quotes import Source, locate_quote, quoted_span, stems
from assay.verify.omissions.detection import Stated, omission_message, says, touches

PROMPT: Final = "judge_omissions"
MOST_ADDED: Final = 5
KINDS: Final = ("condition", "exception", "deadline", "limit")
LONGEST_ANSWER: Final = 60_000
"""Characters of an answer that the judge is shown; of a longer one it is not asked."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What became of the omissions."""

    omissions: tuple[Omission, ...]
    failed: str | None = None
    """Why the judge's word could not be used, where it could not."""
    requests: int = 0
    """Requests that were made."""


def review_omissions(
    model: ChatModel,
    found: Sequence[Omission],
    claims: Sequence[Stated],
    answer: str,
    question: str | None,
    sources: Sequence[Source],
    index: ExactIndex,
    *,
    most_calls: int = 1,
    confidence: float = 1.0,
    options: JudgeOptions | None = None,
) -> Reviewed:
    """Ask the judge about what the rules found, and for what they did not.

    Args:
        model: the chat model, with its account.
        found: what the rules found.
        claims: what the answer claims.
        answer: all of it.
        question: what it answers.
        sources: the evidence as it is shown.
        index: the same evidence.
        most_calls: requests that may be made; an answer that cannot be read is asked for again within them and the
            attempts of the options.
        confidence: what the judge's word counts.
        options: how it is asked.

    Returns:
        The omissions, each with what the judge says of it. Nothing is raised.
    """
    if len(answer) > LONGEST_ANSWER:
        return _unchecked(found, f"the answer has more than {LONGEST_ANSWER:,} characters")
    how = options or JudgeOptions()
    schema = _schema([source.alias for source in sources])
    value, failed, made = None, "", 0
    for attempt in range(1, min(how.attempts, most_calls) + 1):
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
            temperature=how.temperature,
            max_tokens=attempt * how.tokens_per_claim * (2 + len(found) // 3),
        )
        made += 1
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
        return _unchecked(found, failed.rstrip(".") or "the check may ask it no more", made)
    said = {int(one["qualification"]): one for one in value["answers"]}
    judged = tuple(_judged(one, said.get(number), answer) for number, one in enumerate(found, start=1))
    added = _added(value["more"], judged, claims, answer, question, sources, index, confidence)
    return Reviewed((*judged, *added), requests=made)


def _record(number: int, one: Omission) -> dict[str, Any]:
    return {"qualification": number, "text": one.evidence.text, "sentence": one.statement.text}


def _read(choice: Choice, schema: Mapping[str, Any], seal: str, count: int) -> Any:
    value = read_structured(choice, schema)
    require_seal(value, seal)
    numbers = [int(one["qualification"]) for one in value["answers"]]
    if len(set(numbers)) < len(numbers):
        raise AnswerError("The answer judges a qualification more than once.")
    if any(not 1 <= number <= count for number in numbers):
        raise AnswerError(f"The answer refers to a qualification that does not exist; there are {count}.")
    return value


def _unchecked(found: Sequence[Omission], why: str, requests: int = 0) -> Reviewed:
    kept = tuple(one.model_copy(update={"judged": "unchecked"}) for one in found)
    return Reviewed(kept, f"The judge was of no use for what is left out: {why[:1].lower()}{why[1:300]}.", requests)


def _judged(one: Omission, said: Mapping[str, Any] | None, answer: str) -> Omission:
    if said is None:
        return one.model_copy(update={"judged": "unchecked"})
    outcome = "confirmed" if said["verdict"] == "FAIL" else "doubted"
    if said["verdict"] == "PASS" and _says_so(one, str(said["in_answer"]), answer):
        outcome = "denied"
    return one.model_copy(update={"judged": outcome, "justification": one_sentence(said["because"]) or None})


def _says_so(one: Omission, words: str, answer: str) -> bool:
    """Whether these are words of the answer, and of what it is said to leave out."""
    return locate_quote(words, answer) is not None and touches(words, one.evidence.text)


def _added(
    more: Sequence[Mapping[str, Any]],
    found: Sequence[Omission],
    claims: Sequence[Stated],
    answer: str,
    question: str | None,
    sources: Sequence[Source],
    index: ExactIndex,
    confidence: float,
) -> Iterator[Omission]:
    """What the judge adds: words of the evidence that bear on what was asked or said, and that the answer lacks."""
    by_alias = {source.alias: source for source in sources}
    taken = [(one.evidence.evidence_id, one.evidence.start, one.evidence.end) for one in found]
    about = stems(question or "", answer)
    for entry in more[:MOST_ADDED]:
        words = quoted_span(str(entry["text"]), by_alias[entry["source"]], "related", confidence)
        if words is None or says(answer, words.text) or not claims:
            continue
        place = words.evidence_id, words.start, words.end
        number = _sentence_at(place[0], place[1], index)
        if number is None or any(place[0] == t[0] and place[1] < t[2] and t[1] < place[2] for t in taken):
            continue
        sentence = index.sentences[number]
        whole = index.span(number, sentence.start, max(sentence.end, words.end), "related", confidence)
        if not (stems(whole.text) | index.passages[sentence.passage].heading) & about:
            continue
        taken.append(place)
        near = max(claims, key=lambda claim: len(stems(claim.text) & stems(whole.text)))
        yield Omission(
            kind=entry["kind"],
            message=omission_message(entry["kind"], words),
            evidence=words,
            statement=whole,
            span=near.span,
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
    answer = _object(
        qualification={"type": "integer"},
        verdict={"type": "string", "enum": ["PASS", "FAIL", "UNCERTAIN"]},
        in_answer=text,
        because=text,
    )
    more = _object(
        kind={"type": "string", "enum": list(KINDS)},
        source={"type": "string", "enum": list(aliases)},
        text=text,
        because=text,
    )
    return _object(seal=text, answers={"type": "array", "items": answer}, more={"type": "array", "items": more})


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
