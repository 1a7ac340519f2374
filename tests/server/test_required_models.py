"""A server whose policy requires a chat model does not start without one."""

import pytest

from assay.cli.operations.serve import startable_settings
from assay.cli.options.serve import ServerOptions
from assay.errors import PolicyError
from assay.server.app import create_app
from assay.server.guards import require_model
from assay.server.judge_settings import JudgeSettings
from assay.server.settings import Route, ServerSettings, Upstream

UPSTREAM = Upstream("default", "http://127.0.0.1:9/v1")
JUDGE = JudgeSettings("some-model", "http://127.0.0.1:9/v1")


def test_a_policy_that_probes_needs_a_model_and_the_message_says_what_to_set() -> None:
    with pytest.raises(PolicyError, match=r"high-stakes requires critical claims asked about again.*--llm NAME"):
        create_app(ServerSettings(policy="high-stakes"))


def test_so_does_a_route_of_the_gateway() -> None:
    routes = {"chat_completions": Route(policy="high-stakes")}
    with pytest.raises(PolicyError, match="no chat model is configured"):
        require_model(ServerSettings(routes=routes))


@pytest.mark.parametrize(
    "settings",
    [
        ServerSettings(),
        ServerSettings(policy="rag"),
        ServerSettings(policy="high-stakes", judge=JUDGE),
        ServerSettings(policy="high-stakes", upstreams=(UPSTREAM,)),
    ],
)
def test_a_judge_or_for_probes_an_upstream_is_enough(settings: ServerSettings) -> None:
    require_model(settings)


def test_the_command_refuses_before_anything_starts() -> None:
    with pytest.raises(PolicyError, match="choose a policy that asks none"):
        startable_settings(ServerOptions(port=0, policy="high-stakes"), {})
