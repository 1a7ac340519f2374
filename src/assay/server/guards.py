"""The guards of a server: one for each policy that is used, all with the same network."""

import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from assay.config import Guard, knowledge_file, read_knowledge, read_policy, read_settings, scorer_of
from assay.errors import PolicyError
from assay.models import PairScorer
from assay.policy import PRESETS, Policy, requirements
from assay.receipt import open_keys
from assay.server.judge_settings import JudgeSettings

if TYPE_CHECKING:  # loaded only where there is a judge
    from assay.models.chat import Chat
    from assay.server.settings import ServerSettings


class Guards:
    """Guards by the name of their policy, created when first asked for."""

    def __init__(
        self,
        policy: str | Path | None = None,
        *,
        model: Path | None = None,
        scorer: PairScorer | None = None,
        judge: JudgeSettings | None = None,
        database: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Make the default guard, and with it load the network.

        Args:
            policy: a preset or a policy file for requests that name no policy.
            model: the directory of another cross-encoder.
            scorer: a scorer in place of any network, such as one of `assay.testing`.
            judge: the chat model that checks may ask; none by default.
            database: where uses of receipts are stored; the one that `ASSAY_DATABASE_URL` names by default, else
                memory.
            environ: the environment; that of the process by default.

        Raises:
            PolicyError: there is no such policy.
            ModelError: the network cannot be loaded.
            ReceiptError: what `ASSAY_RECEIPT_KEYS` names cannot sign.
        """
        environ = os.environ if environ is None else environ
        keys = read_settings(environ).receipt_keys
        if keys is not None:
            # Fails now rather than at the first answer: with keys that cannot sign, nothing would ever be released.
            open_keys(keys).signer()
        self._model, self._environ, self._judge = model, environ, judge
        self._database = database
        self._chat = None if judge is None else _chat_of(judge)
        # The same sources under every policy: the operator decides which sources are asked, not the caller.
        self._scorer = scorer_of(model, environ) if scorer is None else scorer
        self._knowledge = read_knowledge(knowledge_file(policy, environ), environ, self._scorer)
        self._default = self._make(policy)
        self._by_name: dict[str, Guard] = {}
        self._lock = Lock()

    @property
    def default(self) -> Guard:
        """The guard of requests that name no policy."""
        return self._default

    @property
    def scorer(self) -> PairScorer:
        """The network that all guards share."""
        return self._scorer

    def get(self, name: str | None) -> Guard:
        """The guard of a preset, or the default one. A file is never opened because a request names it.

        Raises:
            PolicyError: there is no such preset.
        """
        if name is None or name == self._default.policy.name:
            return self._default
        if name not in PRESETS:
            raise PolicyError(f"a request names one of the policies {', '.join(PRESETS)}; got {name!r}")
        with self._lock:
            if name not in self._by_name:
                self._by_name[name] = self._make(name)
            return self._by_name[name]

    def close(self) -> None:
        """Close the connections to the judge and to sources of knowledge."""
        if self._chat is not None:
            self._chat.close()
        if self._knowledge is not None:
            self._knowledge.close()

    def _make(self, policy: str | Path | None) -> Guard:
        chosen = read_policy(policy, self._environ)
        judge_options: dict[str, Any] = {}
        if self._judge is not None:
            chosen, judge_options = _with_judge(self._judge, chosen), {"llm": self._chat, **_judge_bounds(self._judge)}
        return Guard(
            chosen,
            model=self._model,
            scorer=self._scorer,
            environ=self._environ,
            uses=self._database,
            knowledge=False if self._knowledge is None else self._knowledge,
            **judge_options,
        )


def require_model(settings: "ServerSettings", environ: Mapping[str, str] | None = None) -> None:
    """Refuse settings under which a policy requires a chat model and none is configured.

    Where a policy has critical claims probed, the gateway may ask the upstream; the judge is never the upstream.

    Raises:
        PolicyError: a policy of the server or of a route needs a model; the message says what to set.
    """
    environ = os.environ if environ is None else environ
    if settings.judge is not None:
        return
    for name in dict.fromkeys((settings.policy, *(route.policy for route in settings.routes.values()))):
        policy = read_policy(name, environ)
        # Probes may go to the upstream that gave the answer; a judge never does.
        needs = [
            f"{one.what} ({one.setting})"
            for one in requirements(policy)
            if one.mandatory and not (one.setting == "consistency_probes" and settings.upstreams)
        ]
        if needs:
            raise PolicyError(
                f"the policy {policy.name} requires {' and '.join(needs)}, and no chat model is configured: start with "
                "--llm NAME (and --base-url URL), set `judge` with a `model` in the gateway file, or choose a policy "
                "that asks none"
            )


def _chat_of(judge: JudgeSettings) -> "Chat":
    from assay.models.chat import Chat, ChatOptions

    return Chat(judge.model, base_url=judge.base_url, api_key=judge.key, options=ChatOptions(timeout=judge.seconds))


def _with_judge(judge: JudgeSettings, policy: Policy) -> Policy:
    """The policy with this server's judge: the same name, another digest."""
    return Policy.model_validate({**policy.model_dump(), "judge": judge.judge_of(policy.judge)})


def _judge_bounds(judge: JudgeSettings) -> dict[str, Any]:
    from assay.models.chat import Budget
    from assay.verify.judge import JudgeOptions

    budget = Budget(calls=judge.calls, tokens=judge.tokens, seconds=judge.seconds)
    return {"budget": budget, "judging": JudgeOptions(most_tokens=judge.tokens, seconds=judge.seconds)}
