"""LlamaIndex: an evaluator, a query engine behind the guard, and a function agent whose calls and answers are checked.

`AssayEvaluator` takes its place among LlamaIndex's evaluators, so that `RetryQueryEngine` asks again with its feedback;
`CheckedQueryEngine` stands outermost and lets out only what passes, against the response's own `source_nodes`.
`CheckedFunctionAgent` is a `FunctionAgent`, alone or in an `AgentWorkflow`: a rejected call comes back as a tool
output with `is_error`, and an answer is corrected or withheld before it is in the memory or an event. What the model
says beside its calls is checked too, and taken out of the message where it does not pass.

Streaming: a streamed response is read to its end and checked before its first word; the agent does not stream tokens.

The extra `llama-index` installs what this needs; tested with llama-index-core 0.14.25.
"""

from collections.abc import Sequence
from typing import Any, Unpack

from assay.errors import CallRejectedError, InputError
from assay.guard import Answer, AskedCheckOptions, Guard, ProtectOptions
from assay.integrations.run_gate import RunGate, missing
from assay.rewrite.revise import Feedback
from assay.schema import Action, HallucinationReport

try:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
    from llama_index.core.base.response.schema import Response
    from llama_index.core.bridge.pydantic import Field
    from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
    from llama_index.core.prompts.mixin import PromptMixinType
    from llama_index.core.tools import adapt_to_async_tool

    from assay.integrations.frameworks.llama_index_agent import CheckedTool, call_key, evidence_of, run_of
    from assay.integrations.frameworks.llama_index_screen import AssayNodePostprocessor
except ImportError as error:
    raise missing("llama-index", error) from error

__all__ = ["AssayEvaluator", "AssayNodePostprocessor", "CheckedFunctionAgent", "CheckedQueryEngine"]


class AssayEvaluator(BaseEvaluator):
    """Whether a response is supported by its contexts, with the findings as feedback."""

    def __init__(self, guard: Guard, **options: Unpack[AskedCheckOptions]) -> None:
        """Make an evaluator of a guard; `options` are those of `Guard.check`, such as `stakes`."""
        self._guard = guard
        self._options = options

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        """There is no prompt in it."""

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,  # noqa: ARG002 the framework's own signature
    ) -> Any:
        """Check a response."""
        report = self._guard.check(response or "", list(contexts or ()), question=query, **self._options)
        return self._result(report, contexts)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,  # noqa: ARG002 the framework's own signature
    ) -> Any:
        """As `evaluate`, off the event loop."""
        report = await self._guard.acheck(response or "", list(contexts or ()), question=query, **self._options)
        return self._result(report, contexts)

    def _result(self, report: HallucinationReport, contexts: Sequence[str] | None) -> Any:
        passing = report.action is Action.EMIT
        feedback = None if passing else RunGate(self._guard).feedback(report, 1) or " ".join(report.decision.reasons)
        return EvaluationResult(
            query=report.question,
            contexts=contexts,
            response=report.output,
            passing=passing,
            feedback=feedback,
            score=report.overall_score,
        )


class CheckedQueryEngine(BaseQueryEngine):
    """A query engine whose responses come out if and only if they pass; their source nodes are the evidence."""

    def __init__(self, query_engine: Any, guard: Guard, **how: Unpack[ProtectOptions]) -> None:
        """Put an engine behind a guard.

        Args:
            query_engine: the engine.
            guard: what checks.
            how: the other arguments of `Guard.protect`: `author`, `attempts`, `stakes`, `on_report` and so on;
                `on_withheld` is `answer` by default.
        """
        super().__init__(query_engine.callback_manager)
        self._engine = query_engine
        self._guard = guard
        self._how: ProtectOptions = {"on_withheld": "answer", **how}

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"query_engine": self._engine}

    def retrieve(self, query_bundle: Any) -> Any:
        """As the engine retrieves."""
        return self._engine.retrieve(query_bundle)

    def _query(self, query_bundle: Any) -> Any:
        found = self._engine.query(query_bundle)
        whole = found.get_response() if hasattr(found, "get_response") else found
        answer = _answer(whole, query_bundle.query_str)
        return _settled(whole, answer, self._guard.protect(lambda: answer, **self._how)())

    async def _aquery(self, query_bundle: Any) -> Any:
        found = await self._engine.aquery(query_bundle)
        # An asynchronous stream is awaited for its text; a synchronous one may come from an asynchronous query.
        whole = found
        if hasattr(found, "aget_response"):
            whole = await found.aget_response()
        elif hasattr(found, "get_response"):
            read = found.get_response()
            whole = await read if hasattr(read, "__await__") else read
        answer = _answer(whole, query_bundle.query_str)

        async def given() -> Answer:
            return answer

        return _settled(whole, answer, await self._guard.protect(given, **self._how)())


def _answer(response: Any, question: str) -> Answer:
    if not isinstance(response, Response):
        raise InputError(f"a checked query engine gives text with its sources, got {type(response).__name__}")
    return Answer(response.response or "", evidence_of(response.source_nodes), question)


def _settled(response: Any, before: Answer, after: Answer) -> Any:
    if after.text == before.text:
        return response
    return Response(response=after.text, source_nodes=response.source_nodes, metadata=response.metadata)


class CheckedFunctionAgent(FunctionAgent):
    """A `FunctionAgent` that executes no call and says no answer that does not pass.

    The errors of a run are `CallRejectedError`, where the model does not stop sending calls that are wrong, and
    `WithheldError`; with `RunGate(guard, on_withheld="answer")` the policy's words are the answer instead.
    """

    gate: Any = Field(exclude=True)
    """The `assay.integrations.run_gate.RunGate`, or a guard."""

    def __init__(self, **options: Any) -> None:
        """Make an agent: the options of `FunctionAgent`, and `gate`.

        Raises:
            InputError: it is to give structured output, which LlamaIndex makes of an answer after it is checked, or has
                a `tool_retriever`, whose tools would go around the check.
        """
        for name in ("output_cls", "structured_output_fn"):
            if options.get(name) is not None:
                raise InputError(f"{name} makes another output of a checked answer, and nothing checks that one")
        if options.get("tool_retriever") is not None:
            raise InputError("a tool_retriever brings tools that nothing checks; give the agent its tools themselves")
        gate = options.pop("gate")
        gate = gate if isinstance(gate, RunGate) else RunGate(gate)
        super().__init__(**{**options, "streaming": False}, gate=gate)
        # Put in their place here and not when they are asked for: an AgentWorkflow takes them from the agent directly.
        made: Any = self
        made.tools = [CheckedTool(tool) for tool in map(adapt_to_async_tool, made.tools or ())]

    async def take_step(self, ctx: Any, llm_input: Any, tools: Any, memory: Any) -> Any:
        """Ask the model and check what it wants to call or to say."""
        before = list(await ctx.store.get(self.scratchpad_key, default=[]))
        output = await super().take_step(ctx, llm_input, tools, memory)
        history = [*llm_input, *before]
        said = None
        if output.tool_calls:
            try:
                await ctx.store.set("assay_calls", await self._decided(history, tools, output.tool_calls))
            except CallRejectedError as error:
                said = self.gate.instead_of_calls(error)
        else:
            said = await self._answer(history, tools, output.response.content or "")
        if said is None and output.tool_calls:
            quiet = await self._quiet(history, tools, output)
            if quiet is not output:
                await ctx.store.set(self.scratchpad_key, [*before, quiet.response])
            return quiet
        if said is None or said == output.response.content:
            return output
        message = ChatMessage(role=MessageRole.ASSISTANT, content=said)
        await ctx.store.set(self.scratchpad_key, [*before, message])
        return output.model_copy(update={"response": message, "tool_calls": [], "raw": None})

    async def _quiet(self, history: Any, tools: Any, output: Any) -> Any:
        """A step without what the model says beside its calls, where that does not pass."""
        text = output.response.content or ""
        if not text.strip() or await self.gate.abeside(run_of(self.gate, tools, self.llm, history, text)):
            return output
        blocks = [block for block in output.response.blocks if not isinstance(block, TextBlock)]
        message = output.response.model_copy(update={"blocks": blocks})
        return output.model_copy(update={"response": message, "raw": None})  # the provider's own form has the text too

    async def _decided(self, history: Any, tools: Any, calls: Any) -> dict[str, str]:
        """The message to each call, empty where it may be executed; of equal calls all get the first refusal."""
        messages: dict[str, str] = {}
        checked = {tool.metadata.get_name() for tool in tools if isinstance(tool, CheckedTool)}
        for number, call in enumerate(calls):
            if call.tool_name in checked:
                run = run_of(self.gate, tools, self.llm, history, calls[: number + 1])
                earlier = run.model_copy(update={"steps": run.steps[:-1]})
                decision = await self.gate.adecide(earlier, run.steps[-1])
                key = call_key(call.tool_name, call.tool_kwargs)
                messages[key] = messages.get(key) or decision.message
        return messages

    async def _answer(self, history: Any, tools: Any, text: str) -> str:
        async def author(feedback: Feedback) -> str:
            more = [
                ChatMessage(role=MessageRole.ASSISTANT, content=feedback.output),
                ChatMessage(role=MessageRole.USER, content=feedback.text),
            ]
            found = await self._get_response([*history, *more], tools)
            calls = self.llm.get_tool_calls_from_response(found, error_on_no_tool_call=False)
            return feedback.output if calls else found.message.content or ""

        said: str = await self.gate.aanswer(run_of(self.gate, tools, self.llm, history, text), author)
        return said
