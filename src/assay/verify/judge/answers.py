"""A judge's answer read: strictly, and never believed by half.

An answer that is declined, cut off, no JSON, of another form, without its seal, or about statements that were not
asked about is none (`AnswerError`). Of a well-formed one, a statement without one verdict for each of the five
questions has no reading. A verdict counts only if the words that it quotes are in the evidence, and if it has some
where it needs them.
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
"""Characters of a justification that are kept."""
_NEEDED: Final = {(1, "PASS"), (2, "FAIL"), (4, "FAIL"), (5, "FAIL")}
"""Verdicts that say something of the evidence and so must quote it."""
_RELATIONS: Final = {(1, "PASS"): "supports", (2, "FAIL"): "contradicts", (5, "FAIL"): "contradicts"}


class SealError(AnswerError):
    """The answer does not carry the seal of its request, so somebody else may have written it."""


@dataclass(frozen=True, slots=True)
class JudgeAnswers:
    """What was read of one statement: five answers, or why there are none."""

    answers: tuple[JudgeAnswer, ...] = ()
    unreadable: str | None = None

    def verdict(self, question: int) -> str:
        """PASS, FAIL or UNCERTAIN."""
        return self.answers[question - 1].verdict

    @property
    def void(self) -> JudgeAnswer | None:
        """The first answer that does not count."""
        return next((answer for answer in self.answers if answer.void is not None), None)


def answers_schema(aliases: Sequence[str]) -> dict[str, Any]:
    """The form of an answer; the seal is not fixed in it, or an endpoint would write it by itself."""
    quote = _object(source={"type": "string", "enum": list(aliases)}, text={"type": "string"})
    answer = _object(
        statement={"type": "integer"},
        question={"type": "integer", "enum": list(range(1, QUESTIONS + 1))},
        verdict={"type": "string", "enum": ["PASS", "FAIL", "UNCERTAIN"]},
        quotes={"type": "array", "items": quote},
        because={"type": "string"},
    )
    return _object(seal={"type": "string"}, answers={"type": "array", "items": answer})


def read_answers(
    choice: Choice, count: int, seal: str, sources: Sequence[Source], confidence: float = 1.0
) -> list[JudgeAnswers]:
    """What an answer says of each of `count` statements, in order.

    Args:
        choice: the answer.
        count: how many statements were asked about, numbered from 1.
        seal: the token of the request's fences, which nobody knows who wrote what is in them.
        sources: the evidence that was shown.
        confidence: what the judge's word counts; the score of its quotes.

    Raises:
        AnswerError: it is no answer to this request.
    """
    by_alias = {source.alias: source for source in sources}
    value = read_structured(choice, answers_schema(list(by_alias)))
    require_seal(value, seal)
    said: dict[tuple[int, int], list[JudgeAnswer]] = {}
    for entry in value["answers"]:
        number = int(entry["statement"])
        if not 1 <= number <= count:
            raise AnswerError(f"The answer refers to statement {number}; there are {count}.")
        said.setdefault((number, int(entry["question"])), []).append(_answer(entry, by_alias, confidence))
    return [_reading(number, said) for number in range(1, count + 1)]


def may_ask_again(choice: Choice, error: AnswerError) -> bool:
    """Whether an answer that cannot be used is worth one more request.

    One that was cut off or is of another form is. One that was declined is not, and one without its seal least of all:
    whoever writes the data gets no second try.
    """
    declined = choice.finish is Finish.REFUSAL or choice.refusal is not None
    return not declined and not isinstance(error, SealError)


def require_seal(value: Mapping[str, Any], seal: str) -> None:
    """Refuse an answer that somebody else may have written.

    Raises:
        SealError: the seal is not that of the request.
    """
    if not seal or value["seal"] != seal:
        raise SealError("The answer does not carry the seal of its request: it may repeat a text of the data.")


def _reading(number: int, said: Mapping[tuple[int, int], Sequence[JudgeAnswer]]) -> JudgeAnswers:
    found = [said.get((number, question), ()) for question in range(1, QUESTIONS + 1)]
    if not any(found):
        return JudgeAnswers(unreadable="the judge said nothing of it")
    for question, answers in enumerate(found, start=1):
        if not answers:
            return JudgeAnswers(unreadable=f"the judge did not answer question {question}")
        if len(answers) > 1:
            return JudgeAnswers(unreadable=f"the judge answered question {question} more than once")
    return JudgeAnswers(tuple(answers[0] for answers in found))


def _answer(entry: Mapping[str, Any], sources: Mapping[str, Source], confidence: float) -> JudgeAnswer:
    question, verdict = int(entry["question"]), str(entry["verdict"])
    relation = _RELATIONS.get((question, verdict), "related")
    quotes = entry["quotes"]
    spans = [quoted_span(one["text"], sources[one["source"]], relation, confidence) for one in quotes[:MOST_QUOTES]]
    justification = one_sentence(entry["because"])
    void = None
    if len(quotes) > MOST_QUOTES:
        void = f"it has {len(quotes)} quotes, and {MOST_QUOTES} were asked for"
    elif any(span is None for span in spans):
        void = "words that it quotes do not stand in the evidence"
    elif not spans and (question, verdict) in _NEEDED:
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
    """What a model wrote, on one line, without signs that steer a reader, and not longer than is read.

    >>> one_sentence("It says\\n2 weeks.\\u202e")
    'It says 2 weeks.'
    """
    plain = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in text[: 4 * LONGEST_REASON])
    line = " ".join(plain.split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
