"""A whole answer on its way to its reader: unchanged, with the decision added, or replaced by a notice."""

import json
import re
from typing import Final

from assay.guard import Ruling
from assay.policy import Mode, disclosure_of
from assay.wire.exchange import Exchange, read_object
from assay.wire.interface import FIELD, Json
from assay.wire.parts.reasoning import without_reasoning
from assay.wire.sse import compact_json


def settled(exchange: Exchange, body: bytes, mode: Mode, *, hides: bool = False) -> tuple[bytes, Ruling]:
    """The answer as its reader gets it, and the ruling on it.

    Args:
        exchange: the request.
        body: the answer as the model sent it.
        mode: what happens to an answer that does not pass.
        hides: whether the text of the model's reasoning is removed (`assay.wire.parts.reasoning`).

    Raises:
        InputError: the answer is no JSON object.
    """
    answer = read_object(body, "the model's answer")
    if hides and (quiet := without_reasoning(exchange.wire.name, answer)) is not answer:
        answer, body = quiet, encoded(quiet)
    ruling = exchange.whole(answer)
    summary = ruling.summary(exchange.report_id)
    if mode is Mode.SHADOW:
        return body, ruling
    if mode is Mode.ANNOTATE:
        if ruling.passes and ruling.notice is None and not ruling.untold:
            return body, ruling
        return with_member(body, summary), ruling
    if not ruling.passes:
        return encoded(exchange.wire.withhold(answer, ruling.notice or "", summary)), ruling
    if ruling.notice is not None:
        shown = disclosed(exchange, answer, ruling)
        return encoded({**shown, FIELD: summary} if ruling.untold else shown), ruling
    return (with_member(body, summary) if ruling.untold else body), ruling


def disclosed(exchange: Exchange, answer: Json, ruling: Ruling) -> Json:
    """An answer that passes, with the disclosure of each text after it."""
    disclosures = {report.output: words for report in ruling.reports if (words := disclosure_of(report)) is not None}
    texts = exchange.wire.shown(answer).texts
    return exchange.wire.disclose(
        answer, {name: disclosures[text] for name, text in texts.items() if text in disclosures}
    )


_ANSWER_MEMBERS: Final = {
    "openai_chat": ("choices",),
    "openai_responses": ("output", "output_text"),
    "anthropic_messages": ("content", "completion"),
}
"""The members of an answer that hold the model's words."""
_EVENT_LINE: Final = re.compile(rb"(?:\A|[\r\n])(?:\xef\xbb\xbf)?data:")
"""A line of a stream of events."""


def has_answer(name: str, body: bytes) -> bool:
    """Whether the body of an error holds an answer, which a client that ignores the status would show.

    The body is read as leniently as any client reads it: bytes that are no UTF-8 are replaced, control characters may
    stand in strings, and the names of members match in upper or lower case. Events of a stream count as an answer
    whatever the content type is, and so does JSON that is nested too deep to be read.

    Args:
        name: the name of the format.
        body: the body as the upstream sent it.

    >>> has_answer("openai_chat", b'{"error": {"message": "busy"}}'), has_answer("openai_chat", b'{"choices": []}')
    (False, True)
    """
    if _EVENT_LINE.search(body):
        return True
    try:
        value = json.loads(body.decode(json.detect_encoding(body), "replace"), strict=False)
    except RecursionError:
        return True
    except ValueError:
        return False
    members = {member.casefold() for member in value} if isinstance(value, dict) else set[str]()
    return not members.isdisjoint(_ANSWER_MEMBERS[name])


def resettled(exchange: Exchange, answer: Json, ruling: Ruling, disclosures: Json) -> bytes:
    """An answer as its reader gets it after the model was asked again; `disclosures` sums up the revision."""
    summary = {**ruling.summary(exchange.report_id), "revision": disclosures}
    if not ruling.passes:
        return encoded(exchange.wire.withhold(answer, ruling.notice or "", summary))
    shown = answer if ruling.notice is None else disclosed(exchange, answer, ruling)
    return encoded({**shown, FIELD: summary})


def with_member(body: bytes, summary: Json) -> bytes:
    """The answer's own bytes with one more member at the end.

    >>> with_member(b'{"id": 1}', {"action": "emit"})
    b'{"id": 1,"assay":{"action":"emit"}}'
    """
    end = body.rindex(b"}")
    comma = b"" if body[:end].rstrip().endswith(b"{") else b","
    return body[:end].rstrip() + comma + f'"{FIELD}":'.encode() + encoded(summary) + body[end:]


def encoded(value: Json) -> bytes:
    """A JSON object as compact UTF-8."""
    return compact_json(value).encode("utf-8", "backslashreplace")
