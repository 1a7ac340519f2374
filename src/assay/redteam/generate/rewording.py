"""A chat model rewords attacks more naturally; each new wording is compared with the original before it is accepted.

The model is not trusted: the right answer stays the same only if the question does. A wording is accepted only if it
has the same numbers, quotations, names and identifiers as the original and no others, the same words that reverse the
meaning of a sentence (negations, bounds, before and after), most of its other words, and about its length. Otherwise
the original stays. Prompts are written from the user's documents and are passed to the model as data.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import AnswerError, ChatError
from assay.models.chat import ChatModel
from assay.prompts import Data, load_prompt
from assay.redteam.cases import Case
from assay.redteam.cases.values import LONGEST_PROMPT
from assay.redteam.sealed import ask_sealed, object_schema
from assay.text.lexicon import content_stems, find_names, find_words

PROMPT: Final = "reword_questions"
BATCH: Final = 8
"""Prompts in one request."""
LEAST_SHARED: Final = 0.6
"""The least share of a prompt's content words, by their stems, that a new wording has to keep."""
LONGEST_RATIO: Final = 2.0
SHORTEST_RATIO: Final = 0.4
"""The bounds of a new wording's length, as multiples of the prompt's length."""
TOKENS_PER_CHARACTER: Final = 0.6
"""An upper estimate of the tokens in the answer for each character of a prompt."""
MOST_FAILURES_IN_ROW: Final = 3
"""The number of consecutive failures after which no more requests are made."""
_QUOTED: Final = re.compile(r"“[^”]*”|\"[^\"]*\"")
_NUMBER: Final = re.compile(r"\d[\d.,:/-]*\d|\d")
_IDENTIFIER: Final = re.compile(r"\b\w+(?:[_@/.-]\w+)+\b|\bhttps?://\S+")
_REVERSING_WORDS: Final = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|except|unless|only|more|less|fewer|least|most|above|below|over|under|"
    r"before|after|until|since|exactly)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words of a closed class that reverse what a sentence asks: negations, bounds, order in time."""


@dataclass(frozen=True, slots=True)
class RewordingResult:
    """A suite, and how many of its cases were reworded."""

    cases: tuple[Case, ...]
    reworded: int
    """Cases with a wording by the model."""
    unchanged: int
    """Cases that keep their original wording: the model gave none, or asked something else."""
    failure: str | None = None
    """The reason for the first request that failed, if any did."""


def reword(
    cases: Sequence[Case], model: ChatModel, name: str, on_request: Callable[[int], None] | None = None
) -> RewordingResult:
    """Rewords attacks with a chat model, where it keeps what they ask.

    Args:
        cases: a suite, as the rules wrote it.
        model: the chat model.
        name: the name of the model, for the lineage.
        on_request: called after each request with the number of prompts sent so far.

    Raises:
        ChatError: the first request failed. If a later one fails, its prompts keep their original wording, and after
            three consecutive failures no more requests are made.
    """
    prompt = load_prompt(PROMPT)
    accepted: dict[str, str] = {}
    failure: str | None = None
    failures_in_row = 0
    for at in range(0, len(cases), BATCH):
        batch = cases[at : at + BATCH]
        wordings: Mapping[int, str] = {}
        try:
            wordings, failures_in_row = _ask_model(model, batch), 0
        except AnswerError as error:  # this answer is unusable, the next may not be
            failure, failures_in_row = failure or str(error), 0
        except ChatError as error:
            failure, failures_in_row = failure or str(error), failures_in_row + 1
            if at == 0:
                raise
            if failures_in_row == MOST_FAILURES_IN_ROW:
                break
        for number, case in enumerate(batch, start=1):
            text = wordings.get(number, "").strip()
            if text and text != case.prompt and asks_the_same(case, text):
                accepted[case.id] = text
        if on_request is not None:
            on_request(min(at + BATCH, len(cases)))
    generator = f"{name}, {prompt.identity}"
    reworded = {case.id: _with_prompt(case, accepted[case.id], generator) for case in cases if case.id in accepted}
    new_ids = {old: case.id for old, case in reworded.items()}
    suite = tuple(_with_new_parent(reworded.get(case.id, case), new_ids) for case in cases)
    return RewordingResult(suite, len(reworded), len(cases) - len(reworded), failure)


def _ask_model(model: ChatModel, cases: Sequence[Case]) -> Mapping[int, str]:
    rendered = load_prompt(PROMPT).render(
        texts=Data(tuple({"number": number, "text": case.prompt} for number, case in enumerate(cases, start=1))),
        count=len(cases),
    )
    characters = sum(len(case.prompt) for case in cases)
    max_tokens = 256 + 32 * len(cases) + int(LONGEST_RATIO * TOKENS_PER_CHARACTER * characters)
    value = ask_sealed(model, rendered, _schema(), max_tokens)
    occurrences = Counter(text["number"] for text in value["texts"])
    return {text["number"]: text["text"] for text in value["texts"] if occurrences[text["number"]] == 1}


def asks_the_same(case: Case, text: str) -> bool:
    """Whether a new wording of a case's prompt asks the same as the prompt, judged by its words.

    In doubt the answer is no, so that the original wording stays.
    """
    original = case.prompt
    if len(text) > LONGEST_PROMPT or not SHORTEST_RATIO <= len(text) / len(original) <= LONGEST_RATIO:
        return False
    if original.count("\n") and len(_lines(text)) < len(_lines(original)):
        return False
    for signals in (_quotations, _numbers, _identifiers, _reversing_words):
        if signals(original) != signals(text):
            return False
    if not _names(text) <= _words(original) or not _names(original) <= _words(text):
        return False
    stems = content_stems(find_words(original).lexemes)
    shared = stems & content_stems(find_words(text).lexemes)
    return len(shared) >= LEAST_SHARED * len(stems)


def _quotations(text: str) -> Counter[str]:
    return Counter(one[1:-1] for one in _QUOTED.findall(text))


def _numbers(text: str) -> Counter[str]:
    return Counter(_NUMBER.findall(text))


def _identifiers(text: str) -> set[str]:
    return set(_IDENTIFIER.findall(_QUOTED.sub(" ", text)))


def _reversing_words(text: str) -> Counter[str]:
    return Counter(
        "not" if one.endswith("t") and "n" in one else one for one in map(str.casefold, _REVERSING_WORDS.findall(text))
    )


def _names(text: str) -> set[str]:
    return {key for name in find_names(text) if name.sure for key in name.keys}


def _words(text: str) -> set[str]:
    return {key for name in find_names(text) for key in name.keys} | {one.fold for one in find_words(text).lexemes}


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _with_prompt(case: Case, prompt: str, generator: str) -> Case:
    value: dict[str, Any] = {name: getattr(case, name) for name in type(case).model_fields if name != "id"}
    lineage = case.lineage.model_copy(update={"generator": f"{case.lineage.generator}; worded by {generator}"})
    return Case.model_validate({**value, "prompt": prompt, "lineage": lineage})


def _with_new_parent(case: Case, ids: Mapping[str, str]) -> Case:
    """A case with the new id of its parent, if that was reworded. Its own id does not depend on its lineage."""
    parent = ids.get(case.lineage.parent or "")
    if parent is None:
        return case
    return case.model_copy(update={"lineage": case.lineage.model_copy(update={"parent": parent})})


def _schema() -> dict[str, Any]:
    text = object_schema(number={"type": "integer"}, text={"type": "string"})
    return object_schema(seal={"type": "string"}, texts={"type": "array", "items": text})
