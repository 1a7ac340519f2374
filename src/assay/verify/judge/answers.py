"""Strict parsing of a judge's answer.

An answer that is declined, truncated, not JSON, not of the schema, without its seal, or about unknown statements is
rejected as a whole (`AnswerError`). In a valid answer, a statement without exactly one verdict for each of the five
questions is unreadable. A verdict counts only if the words that it quotes are in the evidence, and if it quotes some
where they are required.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import AnswerError
from assay.models.chat import Choice, Finish, read_structured
from assay.schema.report_parts import JudgeAnswer
from assay.verify.judge.quotes import Source, quoted_span

QUESTIONS: Final = 5
MOST_QUOTES: Final = 3
LONGEST_REASON: Final = 300
"""The most characters of a justification that are kept."""
_QUOTES_REQUIRED: Final = {(1, "PASS"), (2, "FAIL"), (4, "FAIL"), (5, "FAIL")}
"""Pairs of question and verdict that must quote the evidence."""
_RELATIONS: Final = {(1, "PASS"): "supports", (2, "FAIL"): "contradicts", (5, "FAIL"): "contradicts"}


class SealError(AnswerError):
    """The answer lacks the seal of its request, so the data may have dictated it."""


@dataclass(frozen=True, slots=True)
class JudgeAnswers:
    """The five answers on one statement, or why there are none."""

    answers: tuple[JudgeAnswer, ...] = ()
    unreadable: str | None = None

    def verdict(self, question: int) -> str:
        """The verdict on a question from 1 to 5: PASS, FAIL or UNCERTAIN."""
        return self.answers[question - 1].verdict

    @property
    def void(self) -> JudgeAnswer | None:
        """The first answer that does not count."""
        return next((answer for answer in self.answers if answer.void is not None), None)


def answers_schema(aliases: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of an answer. It does not fix the seal, or constrained decoding would write it."""
    quote = object_schema(source={"type": "string", "enum": list(aliases)}, text={"type": "string"})
    answer = object_schema(
        statement={"type": "integer"},
        question={"type": "integer", "enum": list(range(1, QUESTIONS + 1))},
        verdict={"type": "string", "enum": ["PASS", "FAIL", "UNCERTAIN"]},
        quotes={"type": "array", "items": quote},
        because={"type": "string"},
    )
    return object_schema(seal={"type": "string"}, answers={"type": "array", "items": answer})


def read_answers(
    choice: Choice, count: int, seal: str, sources: Sequence[Source], confidence: float = 1.0
) -> list[JudgeAnswers]:
    """The answers on each of `count` statements, in order.

    Args:
        choice: the model's answer.
        count: the number of statements, which are numbered from 1.
        seal: the token of the request's fences, which the authors of the fenced data cannot know.
        sources: the evidence that the judge saw.
        confidence: the score of the judge's quotes, in [0, 1].

    Raises:
        AnswerError: it is not a valid answer to this request.
    """
    by_alias = {source.alias: source for source in sources}
    value = read_structured(choice, answers_schema(list(by_alias)))
    require_seal(value, seal)
    answers: dict[tuple[int, int], list[JudgeAnswer]] = {}
    for entry in value["answers"]:
        number = int(entry["statement"])
        if not 1 <= number <= count:
            raise AnswerError(f"The answer refers to statement {number}; there are {count}.")
        answers.setdefault((number, int(entry["question"])), []).append(_parse_answer(entry, by_alias, confidence))
    return [_collect_answers(number, answers) for number in range(1, count + 1)]


def may_ask_again(choice: Choice, error: AnswerError) -> bool:
    """Whether an unusable answer justifies one more request.

    A truncated or malformed one does. A declined one does not, nor one without its seal: an attack in the data gets no
    second attempt.
    """
    declined = choice.finish is Finish.REFUSAL or choice.refusal is not None
    return not declined and not isinstance(error, SealError)


def require_seal(value: Mapping[str, Any], seal: str) -> None:
    """Refuse an answer that the data may have dictated.

    Raises:
        SealError: the seal is not that of the request.
    """
    if not seal or value["seal"] != seal:
        raise SealError("The answer does not carry the seal of its request: it may repeat a text of the data.")


def _collect_answers(number: int, entries: Mapping[tuple[int, int], Sequence[JudgeAnswer]]) -> JudgeAnswers:
    by_question = [entries.get((number, question), ()) for question in range(1, QUESTIONS + 1)]
    if not any(by_question):
        return JudgeAnswers(unreadable="the judge said nothing of it")
    for question, answers in enumerate(by_question, start=1):
        if not answers:
            return JudgeAnswers(unreadable=f"the judge did not answer question {question}")
        if len(answers) > 1:
            return JudgeAnswers(unreadable=f"the judge answered question {question} more than once")
    return JudgeAnswers(tuple(answers[0] for answers in by_question))


def _parse_answer(entry: Mapping[str, Any], sources: Mapping[str, Source], confidence: float) -> JudgeAnswer:
    question, verdict = int(entry["question"]), str(entry["verdict"])
    relation = _RELATIONS.get((question, verdict), "related")
    quotes = entry["quotes"]
    spans = [
        quoted_span(quote["text"], sources[quote["source"]], relation, confidence) for quote in quotes[:MOST_QUOTES]
    ]
    justification = one_sentence(entry["because"])
    void = None
    if len(quotes) > MOST_QUOTES:
        void = f"it has {len(quotes)} quotes, and {MOST_QUOTES} were asked for"
    elif any(span is None for span in spans):
        void = "words that it quotes do not stand in the evidence"
    elif not spans and (question, verdict) in _QUOTES_REQUIRED:
        void = "it quotes nothing of the evidence"
    elif not justification:
        void = "it gives no reason"
    return JudgeAnswer(
        question=question,
        verdict=verdict,
        justification=justification,
        void=void,
        quotes=tuple(dict.fromkeys(span for span in spans if span is not None)),
    )


def one_sentence(text: str) -> str:
    """A model's text on one line, without control characters, cut to `LONGEST_REASON`.

    >>> one_sentence("It says\\n2 weeks.\\u202e")
    'It says 2 weeks.'
    """
    plain = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in text[: 4 * LONGEST_REASON])
    line = " ".join(plain.split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"


def object_schema(**properties: Any) -> dict[str, Any]:
    """The JSON Schema of an object with exactly these properties, all of them required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
