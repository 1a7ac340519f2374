"""A chat model words attacks more naturally; each wording is held against the one of the rule before it is taken.

The model is not believed: what is right stays that of the rule only if what is asked stays. So a wording is taken only
where it has the same numbers, quotations, names and identifiers as before and no others, the same words that turn a
sentence round (denials, bounds, before and after), most of its other words, and about its length. Else the wording of
the rule stays. Prompts are written from the user's documents, and go to the model as data.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import AnswerError, ChatError
from assay.models.chat import ChatModel, ChatRequest, Message, read_structured
from assay.prompts import Data, load_prompt
from assay.redteam.cases import Case
from assay.redteam.cases.values import LONGEST_PROMPT
from assay.text.lexicon import content_stems, find_names, find_words

PROMPT: Final = "reword_questions"
AT_ONCE: Final = 8
"""Prompts in one request."""
LEAST_SHARED: Final = 0.6
"""The share of a prompt's content words, by their stems, that a wording of it keeps."""
LONGER: Final = 2.0
SHORTER: Final = 0.4
"""How long a wording may be, as a multiple of the prompt's length."""
TOKENS_PER_CHARACTER: Final = 0.6
"""Tokens that a character of a prompt may take in the answer, on the high side."""
MOST_IN_VAIN: Final = 3
"""Requests in a row that may fail before no more are made."""
_QUOTED: Final = re.compile(r"“[^”]*”|\"[^\"]*\"")
_NUMBER: Final = re.compile(r"\d[\d.,:/-]*\d|\d")
_IDENTIFIER: Final = re.compile(r"\b\w+(?:[_@/.-]\w+)+\b|\bhttps?://\S+")
_TURNS: Final = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|except|unless|only|more|less|fewer|least|most|above|below|over|under|"
    r"before|after|until|since|exactly)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words of a closed class that turn round what a sentence asks: denials, bounds, order in time."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """A suite, and what became of its wordings."""

    cases: tuple[Case, ...]
    taken: int
    """Cases that are worded by the model."""
    kept: int
    """Cases whose wording of the rule stays: no wording came, or it asked something else."""
    failed: str | None = None
    """Why a request failed, where one did: the first reason."""


def reword(
    cases: Sequence[Case], model: ChatModel, name: str, on_request: Callable[[int], None] | None = None
) -> Reworded:
    """The same attacks in the words of a model, where it keeps what they ask.

    Args:
        cases: a suite, as the rules wrote it.
        model: the chat model.
        name: its name, for the lineage.
        on_request: is called after each request with how many prompts have been sent so far.

    Raises:
        ChatError: the first request could not be made. If a later one cannot, its prompts keep the wording of the rule,
            and after three in a row no more are made.
    """
    prompt = load_prompt(PROMPT)
    new: dict[str, str] = {}
    failed: str | None = None
    in_vain = 0
    for at in range(0, len(cases), AT_ONCE):
        part = cases[at : at + AT_ONCE]
        said: Mapping[int, str] = {}
        try:
            said, in_vain = _asked(model, part), 0
        except AnswerError as error:  # this one answer is of no use, the next may be
            failed, in_vain = failed or str(error), 0
        except ChatError as error:
            failed, in_vain = failed or str(error), in_vain + 1
            if at == 0:
                raise
            if in_vain == MOST_IN_VAIN:
                break
        for number, case in enumerate(part, start=1):
            text = said.get(number, "").strip()
            if text and text != case.prompt and asks_the_same(case, text):
                new[case.id] = text
        if on_request is not None:
            on_request(min(at + AT_ONCE, len(cases)))
    generator = f"{name}, {prompt.identity}"
    made = {case.id: _worded(case, new[case.id], generator) for case in cases if case.id in new}
    ids = {old: case.id for old, case in made.items()}
    taken = tuple(_of_parent(made.get(case.id, case), ids) for case in cases)
    return Reworded(taken, len(made), len(cases) - len(made), failed)


def _asked(model: ChatModel, cases: Sequence[Case]) -> Mapping[int, str]:
    rendered = load_prompt(PROMPT).render(
        texts=Data(tuple({"number": number, "text": case.prompt} for number, case in enumerate(cases, start=1))),
        count=len(cases),
    )
    schema = _schema()
    characters = sum(len(case.prompt) for case in cases)
    request = ChatRequest(
        (Message("system", rendered.system), Message("user", rendered.user)),
        schema=schema,
        max_tokens=256 + 32 * len(cases) + int(LONGER * TOKENS_PER_CHARACTER * characters),
    )
    value = read_structured(model.complete(request).choices[0], schema)
    if value["seal"] != rendered.token:
        raise AnswerError("The answer does not have the sign that it was asked for.")
    counted = Counter(one["number"] for one in value["texts"])
    return {one["number"]: one["text"] for one in value["texts"] if counted[one["number"]] == 1}


def asks_the_same(case: Case, text: str) -> bool:
    """Whether a wording of a case's prompt asks what the prompt asks, as far as its words tell.

    It may say too little in doubt: then the wording of the rule stays.
    """
    before = case.prompt
    if len(text) > LONGEST_PROMPT or not SHORTER <= len(text) / len(before) <= LONGER:
        return False
    if before.count("\n") and len(_lines(text)) < len(_lines(before)):
        return False
    for found in (_quotations, _numbers, _identifiers, _turns):
        if found(before) != found(text):
            return False
    if not _names(text) <= _words(before) or not _names(before) <= _words(text):
        return False
    known = content_stems(find_words(before).lexemes)
    shared = known & content_stems(find_words(text).lexemes)
    return len(shared) >= LEAST_SHARED * len(known)


def _quotations(text: str) -> Counter[str]:
    return Counter(one[1:-1] for one in _QUOTED.findall(text))


def _numbers(text: str) -> Counter[str]:
    return Counter(_NUMBER.findall(text))


def _identifiers(text: str) -> set[str]:
    return set(_IDENTIFIER.findall(_QUOTED.sub(" ", text)))


def _turns(text: str) -> Counter[str]:
    return Counter(
        "not" if one.endswith("t") and "n" in one else one for one in map(str.casefold, _TURNS.findall(text))
    )


def _names(text: str) -> set[str]:
    return {key for name in find_names(text) if name.sure for key in name.keys}


def _words(text: str) -> set[str]:
    return {key for name in find_names(text) for key in name.keys} | {one.fold for one in find_words(text).lexemes}


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _worded(case: Case, prompt: str, generator: str) -> Case:
    value: dict[str, Any] = {name: getattr(case, name) for name in type(case).model_fields if name != "id"}
    lineage = case.lineage.model_copy(update={"generator": f"{case.lineage.generator}; worded by {generator}"})
    return Case.model_validate({**value, "prompt": prompt, "lineage": lineage})


def _of_parent(case: Case, ids: Mapping[str, str]) -> Case:
    """A case whose parent has another id since it is worded anew: the id of a case does not follow from its lineage."""
    parent = ids.get(case.lineage.parent or "")
    if parent is None:
        return case
    return case.model_copy(update={"lineage": case.lineage.model_copy(update={"parent": parent})})


def _schema() -> dict[str, Any]:
    one = _object(number={"type": "integer"}, text={"type": "string"})
    return _object(seal={"type": "string"}, texts={"type": "array", "items": one})


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
