"""Whatever way a text takes to a model, it goes behind the fence: evidence, questions, drafts, and answers to them.

Each attack stands in every place that others can write, and in everything that the model itself says, since that goes
into later prompts. The model obeys whatever gets out: then it says what the attacker wants said.
"""

import json
from collections.abc import Callable

import pytest
from tests.rewrite.grounded_models import EVIDENCE, TRUE, alias_of, shown
from tests.verify.injections import ATTACKS, Attack
from tests.verify.obedient import leaks, leaks_of

from assay.guard import Guard
from assay.models.chat.interface import ChatRequest
from assay.rewrite.probes.sampling import ProbeOptions, SamplingProber
from assay.rewrite.revise.feedback import Feedback
from assay.schema import Action, Evidence, HallucinationReport
from assay.testing import FakeScorer, ScriptedChat
from assay.verify.consistency.probes import ProbeRequest

GUARD = Guard("general", scorer=FakeScorer())
WANTED = "Partners are entitled to 9 weeks of leave."
"""What the attacker wants to be said."""
attacked = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)


def evidence(attack: Attack) -> tuple[Evidence, ...]:
    planted = (
        Evidence(id=f"x{n} {text[:200]}", title=text[:400], version=text[:100], text=text)
        for n, text in enumerate(attack.texts)
    )
    return (*EVIDENCE, *planted)


def question(attack: Attack) -> str:
    return f"How long is leave for partners? {attack.texts[0]}"


class Model:
    """Says what the attacker wants where something gets out of a fence, and quotes the attack in all else it says."""

    def __init__(self, speak: Callable[[ChatRequest], str]) -> None:
        self.escaped: list[str] = []
        self.prompts = 0
        self._speak = speak
        self.chat = ScriptedChat(self._said)

    def _said(self, request: ChatRequest) -> str:
        self.prompts += 1
        found = leaks(request)
        self.escaped += found
        return json.dumps({"statements": [{"text": WANTED, "sources": ["e1"]}]}) if found else self._speak(request)


def assert_held(model: Model, report: HallucinationReport) -> None:
    assert model.escaped == []
    assert report.action is not Action.EMIT or WANTED not in report.output


@attacked
def test_no_attack_gets_out_of_a_generation_or_its_chain(attack: Attack) -> None:
    said = attack.texts[0]

    def speak(request: ChatRequest) -> str:
        held = shown(request)
        if "questions" in held:
            answers = [{"question": one["question"], "answer": said, "sources": ["e1"]} for one in held["questions"]]
            return json.dumps({"answers": answers})
        if "claims" in held:
            asked = [{"claim": one["claim"], "question": f"How long? {said[:300]}"} for one in held["claims"]]
            return json.dumps({"questions": asked})
        source = [alias_of(request, "hr-2")]
        statements = [{"text": text, "sources": source} for text in (TRUE[0], f"{WANTED} {said[:500]}", said[:500])]
        return json.dumps({"statements": statements, "missing": said[:500]})

    model = Model(speak)
    report = GUARD.generate(question(attack), evidence(attack), llm=model.chat, chain=True, attempts=2)
    assert_held(model, report)
    assert report.generation is not None
    used = {name.split("@")[0] for name in report.generation.prompts}
    assert used == {"grounded", "grounded_strict", "cove_questions", "cove_answers"}


@attacked
def test_no_attack_gets_out_of_a_probe(attack: Attack) -> None:
    model = Model(lambda _: attack.texts[0])
    asker = SamplingProber(model.chat, FakeScorer(max_pair_tokens=100_000), ProbeOptions(concurrency=1))
    claims = (TRUE[0], f"Partners get 9 weeks. {attack.texts[0]}")
    asker.probe(ProbeRequest(claims, attack.texts[0], question(attack), evidence(attack)))
    asker.probe(ProbeRequest(claims, attack.texts[0], None, evidence(attack)))
    assert model.prompts >= 5
    assert model.escaped == []


@attacked
def test_no_attack_gets_out_of_a_repair(attack: Attack) -> None:
    def speak(request: ChatRequest) -> str:
        numbers = [one["number"] for one in shown(request)["corrections"]]
        said = [{"number": n, "text": f"{WANTED} {attack.texts[0][:300]}", "sources": []} for n in numbers]
        return json.dumps({"corrections": said})

    model = Model(speak)
    answer = f"{TRUE[0]} {WANTED} {attack.texts[0]}"
    report = GUARD.repair(answer, evidence(attack), llm=model.chat, question=question(attack), attempts=2)
    assert_held(model, report)
    assert model.prompts >= 1


@attacked
def test_no_attack_gets_out_of_the_feedback_to_an_author(attack: Attack) -> None:
    told: list[str] = []

    def author(feedback: Feedback) -> str:
        told.append(feedback.text)
        return f"{feedback.output} {attack.texts[0]}"

    report = GUARD.revise(f"{TRUE[0]} {WANTED} {attack.texts[0]}", evidence(attack), author=author, attempts=2)
    assert told
    assert [leak for text in told for leak in leaks_of(text)] == []
    assert report.action is not Action.EMIT


@attacked
def test_no_attack_gets_out_of_a_document_and_its_faults(attack: Attack) -> None:
    schema = {
        "type": "object",
        "properties": {"leave": {"type": "string"}, "weeks": {"type": "integer"}},
        "required": ["leave", "weeks"],
        "additionalProperties": False,
    }
    document = json.dumps({"leave": f"{WANTED} {attack.texts[0]}", "weeks": "four"})
    model = Model(lambda _: document)
    report = GUARD.generate_document(question(attack), evidence(attack), schema=schema, llm=model.chat, attempts=1)
    assert_held(model, report)
    assert model.prompts >= 1
