"""The MCP server says of answers and runs what the guard says, to a real client in process, on stdio and over HTTP."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from typing import Any

import pytest
from tests.guard.runs import FALSE, FOUND, TOOLS, TRUE, transcript
from tests.integrations.orders import WITHHELD, guard

pytest.importorskip("mcp.server.mcpserver", reason="needs the extra mcp: pip install 'assay-ai[mcp]'")

from mcp import Client, StdioServerParameters

from assay.errors import InputError
from assay.integrations.mcp import mcp_server
from assay.schema import HallucinationReport, Stakes

PASSAGES = [{"id": "orders", "text": FOUND[2]}]


def called(tool: str, server: Any = None, **arguments: Any) -> Any:
    async def call() -> Any:
        async with Client(server or mcp_server(guard)) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(call())


def test_the_tools_say_what_they_take_and_give() -> None:
    async def listed() -> Any:
        async with Client(mcp_server(guard)) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(listed())}
    assert sorted(tools) == ["check", "check_run"]
    assert tools["check"].input_schema["required"] == ["answer"]
    assert set(tools["check"].output_schema["required"]) >= {"action", "overall_score", "say", "claims", "calls"}
    assert all(tool.annotations.read_only_hint for tool in tools.values())


def test_an_answer_that_passes_may_be_said() -> None:
    found = called("check", answer=TRUE, evidence=PASSAGES, question="Where is it?").structured_content
    assert (found["action"], found["say"]) == ("emit", TRUE)
    assert found["claims"][0]["verdict"] == "supported"
    assert found["claims"][0]["evidence"] == ["orders"]


def test_an_answer_that_does_not_pass_comes_with_words_and_reasons() -> None:
    found = called("check", answer=FALSE, evidence=[FOUND[2]]).structured_content
    assert found["action"] == "block"
    assert found["say"].startswith(WITHHELD)
    assert found["claims"][0]["verdict"] == "contradicted"
    assert found["reasons"]
    assert found["report"] is None


@pytest.mark.parametrize(("own", "asked"), [(own, asked) for own in Stakes for asked in (None, *Stakes)])
def test_a_call_has_the_stakes_of_the_server_or_higher_ones(own: Stakes, asked: Stakes | None) -> None:
    server, order = mcp_server(guard, stakes=own), list(Stakes)
    named = {} if asked is None else {"stakes": asked.value}
    for tool, given in (
        ("check", {"answer": TRUE, "evidence": PASSAGES}),
        ("check_run", {"transcript": transcript(TRUE, FOUND)}),
    ):
        found = called(tool, server, full_report=True, **given, **named)
        if asked is not None and order.index(asked) < order.index(own):
            assert found.is_error
            assert f"may raise the stakes from {own.value}" in found.content[0].text
        else:
            assert found.structured_content["report"]["stakes"] == (asked or own).value


def test_stakes_that_there_are_not_are_refused_before_the_server_starts() -> None:
    with pytest.raises(InputError, match="low, medium or high"):
        mcp_server(guard, stakes="huge")


def test_an_answer_without_claims_has_no_score_and_is_no_error() -> None:
    found = called("check", answer="Hello! How can I help you?", evidence=["Leave is 16 weeks."])
    assert not found.is_error
    assert found.structured_content["overall_score"] is None


def test_an_answer_without_evidence_is_no_pass() -> None:
    assert called("check", answer=TRUE).structured_content["action"] != "emit"


def test_the_whole_report_comes_where_it_is_asked_for() -> None:
    found = called("check", answer=TRUE, evidence=PASSAGES, full_report=True).structured_content["report"]
    assert HallucinationReport.model_validate(found).output == TRUE


def test_a_run_is_checked_with_its_calls() -> None:
    found = called("check_run", transcript=transcript(TRUE, FOUND)).structured_content
    assert (found["action"], [call["status"] for call in found["calls"]]) == ("emit", ["accepted"])
    invented = ("get_order", {"order_id": "W-99"}, "Order W-99 is lost.")
    listed = transcript("Order W-99 is lost.", invented, declared=False)
    found = called("check_run", transcript=listed, tools=TOOLS).structured_content
    assert found["action"] != "emit"
    assert found["calls"][0]["status"] == "rejected"
    assert "W-99" in found["calls"][0]["errors"][0]


def test_what_cannot_be_read_is_an_error_for_the_model_and_no_pass() -> None:
    found = called("check_run", transcript={"nothing": "here"})
    assert found.is_error
    assert found.structured_content is None
    assert "format" in found.content[0].text
    assert called("check", answer=TRUE, evidence=[{"no": "text"}]).is_error


def test_the_command_serves_on_standard_input_and_output() -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "assay", "mcp"], env=dict(os.environ))
    found = called(
        "check", server, answer="Partners get 4 weeks of leave.", evidence=["Partners get 2 weeks of leave."]
    )
    assert found.structured_content["action"] == "block"


def test_the_command_serves_over_http_and_on_this_machine_only() -> None:
    command = [sys.executable, "-m", "assay", "mcp", "--http", "--port", "0"]
    refused = subprocess.run([*command, "--host", "0.0.0.0"], capture_output=True, text=True, check=False)  # noqa: S104
    assert refused.returncode == 2
    assert "loopback" in refused.stderr
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = next(found for line in process.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
            found = called("check", f"{address.group()}/mcp", answer="The hall is red.", evidence=["The hall is red."])
            assert found.structured_content["action"] == "emit"
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
