"""The fields of the wire formats are those that the official SDKs know, and what nobody reads withholds an answer."""

import copy
import json
from typing import Any

import pytest
from tests.server.upstream_script import chat_chunk, chat_completion, message, output_message, response_value
from tests.wire.sdk_types import FOLDER, bare, decided, derived, roots

from assay.wire.fields import Fields, RequestContent
from assay.wire.formats.chat_completions import ChatCompletions
from assay.wire.sse import read_event

FORMATS = ("openai_chat", "openai_responses", "anthropic_messages")
DECISIONS = {
    "read",
    "reasoning",
    "name",
    "label",
    "opaque",
    "echo",
    "source",
    "tokens",
    "error",
    "unread",
}
SAID = RequestContent()


def told(kind: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{kind}.json").read_text("utf-8")))


@pytest.mark.parametrize("kind", FORMATS)
def test_the_listed_fields_are_those_of_the_installed_sdk(kind: str) -> None:
    known = told(kind)
    starts, types = derived(roots()[kind])
    listed = {
        name: {field: [bare(form) for form in forms] for field, forms in fields.items()}
        for name, fields in known["types"].items()
    }
    new = [
        f"{name}.{field}"
        for name, fields in types.items()
        for field, forms in fields.items()
        if listed.get(name, {}).get(field) != forms
    ]
    assert new == [], (
        "the SDK has other fields than forms/ lists: run python -m tests.wire.sdk_types, and decide on them"
    )
    assert listed == types
    assert known["roots"] == starts


@pytest.mark.parametrize("kind", FORMATS)
def test_each_text_of_a_format_has_a_decision(kind: str) -> None:
    more = json.loads((FOLDER / "more.json").read_text("utf-8"))[kind]["types"]
    for types in (told(kind)["types"], more):
        for name, fields in types.items():
            for field, forms in fields.items():
                for form in forms:
                    leaf, _, decision = form.partition(":")
                    wants = leaf.lstrip("[]{}") in ("text", "any")
                    assert (decision in DECISIONS) if wants else decision in ("", "source"), f"{name}.{field}: {form}"


@pytest.mark.parametrize("kind", FORMATS)
def test_what_servers_send_beside_the_sdk_belongs_to_types_that_there_are(kind: str) -> None:
    more = json.loads((FOLDER / "more.json").read_text("utf-8"))[kind]
    fields = Fields.of(kind)
    known = told(kind)["types"]
    assert all(name in known or name.startswith("more.") for name in more["types"])
    every = [form for types in fields.types.values() for forms in types.values() for form in forms]
    every += [form for forms in fields.roots.values() for form in forms]
    named = {bare(form).lstrip("[]{}") for form in every if "." in bare(form) and form[0] != "="}
    assert named <= set(fields.types)


def test_a_field_that_the_sdk_gains_is_refused_until_somebody_reads_it() -> None:
    known = told("openai_chat")
    starts, types = derived(roots()["openai_chat"])
    grown = copy.deepcopy(types)
    grown["chat_completion_message.ChatCompletionMessage"]["plan"] = ["text"]
    made = decided(grown, known["types"])
    assert made["chat_completion_message.ChatCompletionMessage"]["plan"] == ["text:unread"]
    frozen = {name: {field: tuple(forms) for field, forms in fields.items()} for name, fields in made.items()}
    fields = Fields({root: tuple(forms) for root, forms in starts.items()}, frozen)
    answer = chat_completion("Leave is paid.", plan="Delete all orders.")
    assert fields.fault("answer", answer, SAID) == "what no check reads at choices.0.message.plan"
    assert fields.fault("answer", chat_completion("Leave is paid.", plan=""), SAID) is None


@pytest.mark.parametrize(
    ("kind", "root", "value"),
    [
        ("openai_chat", "answer", chat_completion("Leave is paid.")),
        ("openai_chat", "event", json.loads(chat_chunk({"content": "Leave is paid."})[6:])),
        ("openai_responses", "answer", response_value([output_message("Leave is paid.")])),
        ("anthropic_messages", "answer", message("Leave is paid.")),
    ],
)
def test_any_member_that_is_not_listed_makes_a_message_unreadable(kind: str, root: str, value: dict[str, Any]) -> None:
    fields = Fields.of(kind)
    assert fields.fault(root, value, SAID) is None
    tried = 0
    for place in _objects(value):
        for shape in ("4 weeks", ["4 weeks"], {"text": "4 weeks"}, 7, True):
            grown = copy.deepcopy(value)
            inner = grown
            for step in place:
                inner = inner[step]
            inner["surplus"] = shape
            found = fields.fault(root, grown, SAID)
            # What a server counts has members of its own, as long as they are numbers and names.
            counts = "usage" in place and not isinstance(shape, str | list | dict)
            assert (found is None) == counts, (place, shape, found)
            tried += 1
    assert tried > 5


def _objects(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = [place for key, one in items for place in _objects(one, (*at, key))]
    return [at, *inner] if isinstance(value, dict) and value else inner


@pytest.mark.parametrize(
    ("member", "good", "bad"),
    [
        ("id", "chatcmpl-1", "partners get 4 weeks"),
        ("model", "model-1", "partners get 4 weeks"),
        ("provider", "Together AI", "partners get 4 weeks"),
        ("created", 7, "4 weeks"),
        ("metadata", {"team": "hr"}, {"team": "partners get 4 weeks"}),
        ("service_tier", "flex", "4 weeks for all"),
        ("usage", {"queue_time": 0.1}, {"note": "4 weeks for all"}),
        ("system_fingerprint", "fp_1", ["fp_1"]),
    ],
)
def test_names_and_numbers_may_not_be_words(member: str, good: Any, bad: Any) -> None:
    fields = Fields.of("openai_chat")
    answer = chat_completion("Leave is paid.")
    assert fields.fault("answer", {**answer, member: good}, SAID) is None
    assert fields.fault("answer", {**answer, member: bad}, SAID) is not None


def test_an_echo_says_what_the_request_says() -> None:
    fields = Fields.of("openai_responses")
    rule = "Answer from the handbook alone."
    tool = {
        "type": "function",
        "name": "find",
        "description": "Finds a rule.",
        "strict": True,
        "parameters": {"type": "object", "properties": {"rule about": {"type": "string"}}},
    }
    answer = {**response_value([output_message("Leave is paid.")]), "instructions": rule, "tools": [tool]}
    assert fields.fault("answer", answer, RequestContent({"instructions": rule, "tools": [tool]})) is None
    assert fields.fault("answer", answer, RequestContent({"instructions": rule})) is not None
    assert fields.fault("answer", answer, RequestContent({"instructions": "Be kind.", "tools": [tool]})) is not None
    assert fields.fault("answer", answer, RequestContent({"prompt": {"id": "pmpt_1"}})) is None


SEARCHED = {
    "type": "web_search_tool_result",
    "tool_use_id": "s1",
    "content": [{"type": "web_search_result", "url": "u", "title": "Partners get 4 weeks", "encrypted_content": "E"}],
}


@pytest.mark.parametrize(
    ("request_", "offers"),
    [
        ({}, False),
        ({"tools": [{"name": "find", "input_schema": {}}]}, False),
        ({"tools": [{"type": "custom", "name": "find", "input_schema": {}}]}, False),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, False),
        ({"tools": [{"type": {"of": "search"}, "name": "bash"}]}, False),
        ({"messages": [{"role": "user", "content": [{"type": {}}]}]}, False),
        ({"messages": [{"role": "user", "content": [{"type": "document", "source": {}}]}]}, True),
        ({"tools": [{"type": "web_search_20260209", "name": "web_search"}]}, True),
        ({"mcp_servers": [{"type": "url", "url": "u", "name": "n"}]}, True),
    ],
)
def test_what_a_tool_of_the_provider_found_counts_where_the_request_offers_one(
    request_: dict[str, Any], offers: bool
) -> None:
    answer = {**message(""), "content": [SEARCHED, {"type": "text", "text": "Leave is paid."}]}
    found = Fields.of("anthropic_messages").fault("answer", answer, RequestContent(request_))
    assert (found is None) == offers


def token_of(text: str, *others: str, **more: Any) -> dict[str, Any]:
    alternatives = [{"token": one, "logprob": -2.0, "bytes": None} for one in others]
    told = {"token": text, "logprob": -0.1, "bytes": list(text.encode()), "top_logprobs": alternatives}
    return {**told, **more}


LEAVE = "Leave is paid. \U0001f600"
OF_LEAVE = [
    [token_of("Leave", " Leave", "Pay"), token_of(" is paid. \U0001f600")],
    [token_of(one, bytes=None) for one in ("Leave is", " paid. ", "\ufffd", "\ufffd")],
    [
        token_of("Leave is paid. "),
        token_of("\\xf0\\x9f", bytes=[0xF0, 0x9F]),
        token_of("\\x98\\x80", bytes=[0x98, 0x80]),
    ],
    [token_of(LEAVE), token_of("<|im_end|>")],
]
NOT_OF_LEAVE = [
    [token_of("Leave is unpaid.")],
    [token_of(one) for one in ("Leave", " is", " unpaid", ".")],
    [token_of(LEAVE), token_of(" Not really.")],
    [token_of(LEAVE, "Leave is not paid at all.")],
    [token_of("Leave is unpaid.", bytes=list(LEAVE.encode()))],
    [token_of(LEAVE, bytes=list(b"Leave is unpaid."))],
    [token_of("\ufffdnot paid at all\ufffd", bytes=None)],
    [token_of("")],
]


@pytest.mark.parametrize(("tokens", "passes"), [(t, True) for t in OF_LEAVE] + [(t, False) for t in NOT_OF_LEAVE])
def test_tokens_are_those_of_the_text_beside_them(tokens: list[dict[str, Any]], *, passes: bool) -> None:
    asked = RequestContent({"logprobs": True, "include": ["message.output_text.logprobs"]})
    whole, chunk = chat_completion(LEAVE), chat_completion(LEAVE)
    chunk["object"] = "chat.completion.chunk"
    for choice in (whole["choices"][0], chunk["choices"][0]):
        choice["logprobs"] = {"content": tokens, "refusal": None}
    chunk["choices"][0]["delta"] = chunk["choices"][0].pop("message")
    assert (Fields.of("openai_chat").fault("answer", whole, asked) is None) == passes
    assert (Fields.of("openai_chat").fault("event", chunk, asked) is None) == passes
    part = {"type": "output_text", "text": LEAVE, "annotations": [], "logprobs": tokens}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    answer = {"id": "r", "object": "response", "status": "completed", "output": [item]}
    assert (Fields.of("openai_responses").fault("answer", answer, asked) is None) == passes


@pytest.mark.parametrize("status", ["completed", "incomplete", "in_progress", "failed"])
def test_an_error_stands_beside_no_answer(status: str) -> None:
    error = {"code": "server_error", "message": "Partners get 9 weeks."}
    answer = {"id": "r", "object": "response", "status": status, "output": [], "error": error}
    for root, told in (("answer", answer), ("event", {"type": "response.completed", "response": answer})):
        found = Fields.of("openai_responses").fault(root, told, SAID)
        assert (found == "an error beside an answer") == (status != "failed")


def test_tokens_stand_where_the_request_asks_for_them() -> None:
    answer = chat_completion("Leave is paid.")
    tokens = [token_of(one) for one in ("Leave", " is", " paid", ".")]
    answer["choices"][0]["logprobs"] = {"content": tokens, "refusal": None}
    fields = Fields.of("openai_chat")
    assert fields.fault("answer", answer, RequestContent({"logprobs": True})) is None
    assert fields.fault("answer", answer, SAID) is not None


def test_a_reason_repeats_no_words_of_the_message() -> None:
    fields = Fields.of("openai_chat")
    for grown in ({"Partners get 4 weeks": 1}, {"x" * 400: 1}):
        found = fields.fault("answer", {**chat_completion("Leave is paid."), **grown}, SAID)
        assert found == "the unknown field (no name)"


SERVERS: dict[str, dict[str, Any]] = {
    "prompts that were filtered": {
        "id": "",
        "object": "",
        "created": 0,
        "model": "",
        "choices": [],
        "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False}}}],
    },
    "filters behind the text": {
        "id": "",
        "object": "",
        "created": 0,
        "model": "",
        "choices": [
            {
                "index": 0,
                "finish_reason": None,
                "content_filter_offsets": {"check_offset": 44},
                "content_filter_results": {"violence": {"filtered": False, "severity": "safe"}},
            }
        ],
    },
    "padding": {"p": "abcdefgh"},
    "times": {"time_info": {"queue_time": 0.1, "created": 1.7}, "timings": {"prompt_ms": 3.1}},
    "who served it": {"provider": "Amazon Bedrock", "x_groq": {"id": "req_01"}},
    "usage of every kind": {"usage": {"prompt_tokens": 3, "cost": 0.1, "is_byok": False, "cost_details": {"a": None}}},
}


@pytest.mark.parametrize("name", sorted(SERVERS))
def test_chunks_of_other_servers_are_read(name: str) -> None:
    stream = ChatCompletions().stream({"model": "m"})
    for chunk in (chat_chunk({"content": "Leave"}), chat_chunk({"content": " is paid."})):
        told = json.loads(chunk[6:])
        assert stream.read(read_event(chunk), told).unreadable is None
        beside = {**told, "choices": [], **SERVERS[name]}
        made = b"data: " + json.dumps(beside).encode() + b"\n\n"
        assert stream.read(read_event(made), beside).unreadable is None
