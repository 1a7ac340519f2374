"""A Haystack pipeline through the gate: replies come out only if the documents support them."""

from contextlib import closing
from typing import Any

import pytest
from tests.integrations.client_site import upstream
from tests.integrations.orders import ASKED, FALSE, FOUND, TRUE, WITHHELD, guard
from tests.server.upstream_script import chat_completion, json_answer

from assay.errors import InputError, WithheldError

pytest.importorskip("haystack", reason="needs the extra haystack: pip install 'assay-ai[haystack]'")

from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.core.errors import PipelineRuntimeError
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.utils import Secret

from assay.integrations.haystack import AssayGate

DOCUMENTS = [Document(id="d1", content=FOUND)]


def told(said: str, gate: AssayGate) -> dict[str, Any]:
    """What a pipeline of prompt, chat model over real HTTP and gate gives."""
    with upstream(json_answer(chat_completion(said))) as here:
        generator = OpenAIChatGenerator(
            api_key=Secret.from_token("k"), model="model-1", api_base_url=f"{here.url}/v1", max_retries=0
        )
        pipeline = Pipeline()
        template = [ChatMessage.from_user("{% for d in documents %}{{ d.content }}{% endfor %} {{ query }}")]
        pipeline.add_component("prompt", ChatPromptBuilder(template=template, required_variables="*"))
        pipeline.add_component("generator", generator)
        pipeline.add_component("gate", gate)
        pipeline.connect("prompt.prompt", "generator.messages")
        pipeline.connect("generator.replies", "gate.replies")
        given = {"documents": DOCUMENTS, "query": ASKED}
        with closing(generator):
            found: dict[str, Any] = pipeline.run({"prompt": given, "gate": given})["gate"]
        return found


def test_a_reply_that_the_documents_bear_out_comes_out() -> None:
    found = told(TRUE, AssayGate(guard))
    assert (found["replies"], found["actions"]) == ([TRUE], ["emit"])
    assert found["reports"][0]["claims"][0]["evidence_spans"][0]["evidence_id"] == "d1"


def test_a_wrong_reply_is_withheld_in_the_policys_words_or_as_an_error() -> None:
    (reply,) = told(FALSE, AssayGate(guard))["replies"]
    assert reply.startswith(WITHHELD)
    assert "9 May" not in reply
    with pytest.raises((WithheldError, PipelineRuntimeError)) as raised:
        told(FALSE, AssayGate(guard, on_withheld="raise"))
    assert isinstance(raised.value, WithheldError) or isinstance(raised.value.__cause__, WithheldError)


def test_texts_are_checked_like_messages_each_by_itself() -> None:
    found = AssayGate(guard).run(replies=[TRUE, FALSE], documents=DOCUMENTS, query=ASKED)
    assert found["actions"][0] == "emit"
    assert found["actions"][1] != "emit"


def test_a_reply_without_a_text_is_refused() -> None:
    call = ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name="cancel", arguments={})])
    with pytest.raises(InputError, match="without"):
        AssayGate(guard).run(replies=[call], documents=DOCUMENTS)
