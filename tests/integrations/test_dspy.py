"""A DSPy program through the guard: what does not pass does not come out, and programs are scored by what passes."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.integrations.client_site import upstream
from tests.integrations.orders import ASKED, FALSE, FOUND, TRUE, WITHHELD, guard
from tests.server.upstream_script import chat_completion, json_answer

from assay.errors import InputError, WithheldError
from assay.schema import Action, HallucinationReport

pytest.importorskip("dspy", reason="needs the extra dspy: pip install 'assay-ai[dspy]'")

import dspy

from assay.integrations.dspy import Checked, Fields, metric, reward


@contextmanager
def model(*said: str) -> Iterator[None]:
    """A model that says what a test wrote down, in DSPy's own format, over real HTTP."""
    with upstream(*(json_answer(chat_completion(answer(text))) for text in said)) as here:
        made = dspy.LM("openai/model-1", api_base=f"{here.url}/v1", api_key="k", cache=False, num_retries=0)
        with dspy.context(lm=made, adapter=dspy.ChatAdapter()):
            yield


def answer(text: str) -> str:
    return f"[[ ## answer ## ]]\n{text}\n\n[[ ## completed ## ]]"


class Rag(dspy.Module):
    """Retrieves by itself, and says what it found."""

    def __init__(self) -> None:
        super().__init__()
        self.write = dspy.Predict("context, question -> answer")

    def forward(self, question: str) -> Any:
        written = self.write(context=[FOUND], question=question)
        return dspy.Prediction(answer=written.answer, context=[FOUND])

    async def aforward(self, question: str) -> Any:
        written = await self.write.acall(context=[FOUND], question=question)
        return dspy.Prediction(answer=written.answer, context=[FOUND])


def run(program: Any, *said: str) -> Any:
    with model(*said):
        return program(question=ASKED)


def test_an_answer_that_passes_comes_out_with_its_report() -> None:
    seen: list[HallucinationReport] = []
    told = run(Checked(Rag(), guard, on_report=seen.append), TRUE)
    assert (told.answer, told.assay_action, told.context) == (TRUE, "emit", [FOUND])
    assert told.assay_report["run_id"] == seen[0].run_id


def test_an_answer_that_does_not_pass_is_an_error_or_the_policys_words() -> None:
    with pytest.raises(WithheldError) as withheld:
        run(Checked(Rag(), guard), FALSE)
    report = withheld.value.report
    assert isinstance(report, HallucinationReport)
    assert report.action is not Action.EMIT
    told = run(Checked(Rag(), guard, on_withheld="answer"), FALSE)
    assert told.answer.startswith(WITHHELD)
    assert "9 May" not in told.answer


def test_the_reasoning_of_an_answer_that_is_withheld_is_withheld_as_well() -> None:
    class Reasoning(Rag):
        def forward(self, question: str) -> Any:
            told = super().forward(question)
            return dspy.Prediction(**dict(told.items()), reasoning=FALSE)

    told = run(Checked(Reasoning(), guard, on_withheld="answer"), FALSE)
    assert sorted(told.keys()) == ["answer", "assay_action", "assay_report", "context"]


@pytest.mark.parametrize("own", [[FALSE], FALSE, [FOUND, FALSE]])
def test_a_model_cannot_bring_the_evidence_for_what_it_says(own: Any) -> None:
    class Obliging(dspy.Module):
        def forward(self, question: str, context: Any) -> Any:
            assert context == [FOUND]
            return dspy.Prediction(answer=FALSE, context=own)

    with pytest.raises(WithheldError):
        Checked(Obliging(), guard)(question=ASKED, context=[FOUND])
    told = Checked(Obliging(), guard, on_withheld="answer")(question=ASKED, context=[FOUND])
    assert "9 May" not in told.answer
    assert sorted(told.keys()) == ["answer", "assay_action", "assay_report"]
    assert metric(guard)(dspy.Example(question=ASKED, context=[FOUND]), Obliging()(ASKED, [FOUND])) < 1


def test_the_same_holds_where_a_program_is_awaited() -> None:
    async def awaited(said: str) -> Any:
        with model(said):
            return await Checked(Rag(), guard).acall(question=ASKED)

    assert asyncio.run(awaited(TRUE)).answer == TRUE
    with pytest.raises(WithheldError):
        asyncio.run(awaited(FALSE))


def test_the_best_of_several_answers_is_the_one_that_passes() -> None:
    best = dspy.BestOfN(module=Rag(), N=3, reward_fn=reward(guard), threshold=1.0)
    assert run(Checked(best, guard), FALSE, TRUE).answer == TRUE


def test_a_reward_is_one_for_what_is_emitted_and_less_for_anything_else() -> None:
    worth = reward(guard)
    args = {"question": ASKED, "context": [FOUND]}
    assert worth(args, dspy.Prediction(answer=TRUE)) == 1.0
    assert worth(args, dspy.Prediction(answer=FALSE)) < 1.0


def test_a_metric_scores_examples_and_lets_optimisers_keep_only_what_passes() -> None:
    scored = metric(guard)
    example = dspy.Example(question=ASKED, context=[FOUND]).with_inputs("question", "context")
    assert scored(example, dspy.Prediction(answer=TRUE)) == 1.0
    assert scored(example, dspy.Prediction(answer=TRUE), trace=[]) == 1.0
    assert scored(example, dspy.Prediction(answer=FALSE), trace=[]) == 0.0
    with model(TRUE, FALSE):
        program = dspy.Predict("context, question -> answer")
        evaluate = dspy.Evaluate(devset=[example] * 2, metric=scored, num_threads=1, display_progress=False)
        found = evaluate(program)
    assert 50 <= found.score < 100


def test_fields_may_have_other_names_and_what_is_missing_is_named() -> None:
    names = Fields(answer="reply", evidence="passages")
    report = names.check(guard, {"passages": [FOUND]}, dspy.Prediction(reply=TRUE))
    assert report.action is Action.EMIT
    with pytest.raises(InputError, match="'reply'"):
        names.check(guard, {"passages": [FOUND]}, dspy.Prediction(answer=TRUE))
    with pytest.raises(InputError, match="'passages'"):
        names.check(guard, {}, dspy.Prediction(reply=TRUE))
