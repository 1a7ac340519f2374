"""The guard around a LangChain chain: a runnable whose answer comes out if and only if it passes."""

from collections.abc import Callable, Mapping
from typing import Any, Unpack

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda

from assay.errors import InputError
from assay.guard import Answer, Guard, ProtectAnswerOptions
from assay.integrations.frameworks.langchain_messages import is_plain, with_text


def checked_chain(
    chain: Any,
    guard: Guard,
    *,
    evidence: str | Callable[[Any, Any], Any] = "context",
    question: str | Callable[[Any, Any], str | None] | None = "input",
    answer: str = "answer",
    **how: Unpack[ProtectAnswerOptions],
) -> Any:
    """A chain whose answer comes out if and only if it passes.

    A stream of it gives the whole answer at its end: the inner chain is invoked, not streamed.

    Args:
        chain: a runnable that gives text, a message, or a mapping such as retrieval chains give.
        guard: what checks.
        evidence: the key of the passages in the chain's output or input, or a function of both.
        question: the key of the question in the input, or a function of input and output.
        answer: the key of the answer, where the chain gives a mapping.
        how: the other arguments of `Guard.protect`, such as `on_withheld`, `author` and `stakes`.
    """

    def brought(given: Any, made: Any) -> Answer:
        found = evidence(given, made) if callable(evidence) else _under(evidence, made, given)
        asked = question(given, made) if callable(question) else _under(question, given)
        text = made[answer] if isinstance(made, Mapping) else made
        asked = asked if isinstance(asked, str) else given if isinstance(given, str) else None
        return Answer(_text_of(text), passages_of(found), asked)

    def run(given: Any, config: RunnableConfig) -> Any:
        made = chain.invoke(given, config)
        settled: Answer = guard.protect(lambda: brought(given, made), **how)()
        return _put_back(made, answer, brought(given, made).text, settled.text)

    async def arun(given: Any, config: RunnableConfig) -> Any:
        made = await chain.ainvoke(given, config)

        async def ready() -> Answer:
            return brought(given, made)

        settled: Answer = await guard.protect(ready, **how)()
        return _put_back(made, answer, brought(given, made).text, settled.text)

    return RunnableLambda(run, afunc=arun, name="assay")


def _under(key: str | None, *places: Any) -> Any:
    """What stands under a key in the first mapping that has it."""
    return next((place[key] for place in places if isinstance(place, Mapping) and key in place), None)


def passages_of(found: Any) -> Any:
    """Evidence of what a chain calls its context: documents become evidence, everything else stays."""
    if isinstance(found, Document):
        return [_passage(1, found)]
    if isinstance(found, list | tuple):
        return [_passage(number, one) for number, one in enumerate(found, start=1)]
    return found


def _passage(number: int, one: Any) -> Any:
    if not isinstance(one, Document):
        return one
    source = one.metadata.get("source")
    return {
        "id": str(one.id or number),
        "text": one.page_content,
        **({"source": source} if isinstance(source, str) else {}),
    }


def _text_of(said: Any) -> str:
    """The text of an answer.

    Raises:
        InputError: it has none.
    """
    if isinstance(said, BaseMessage):
        return str(said.text)
    if isinstance(said, str):
        return said
    raise InputError(f"a checked chain gives text, a message, or a mapping with one; got {type(said).__name__}")


def _put_back(made: Any, answer: str, before: str, after: str) -> Any:
    """What the chain gave, with another answer where it is another; of a message that was read, nothing else."""
    said = made[answer] if isinstance(made, Mapping) else made
    if after == before and (not isinstance(said, BaseMessage) or is_plain(said)):
        return made
    said = with_text(said, after) if isinstance(said, BaseMessage) else after
    return {**made, answer: said} if isinstance(made, Mapping) else said
