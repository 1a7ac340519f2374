"""No attack gets out of its fence in any prompt that there is: prompts are found by themselves."""

import pytest
from tests.verify.injections import ATTACKS, Attack
from tests.verify.obedient import leaks_of

from assay.prompts import Data, Prompt, load_prompt, prompt_names, unfenced


def test_there_are_sixty_attacks_of_many_kinds_in_every_place() -> None:
    assert len({attack.texts for attack in ATTACKS}) == len(ATTACKS) >= 60
    assert {attack.place for attack in ATTACKS} == {"evidence", "answer", "question", "tool"}
    assert len({attack.kind for attack in ATTACKS}) >= 9


@pytest.mark.parametrize("name", prompt_names())
def test_no_attack_gets_out_of_any_prompt(name: str) -> None:
    for attack in ATTACKS:
        _stays_inside(load_prompt(name), attack)


def _stays_inside(prompt: Prompt, attack: Attack) -> None:
    records = Data(tuple({"id": f"e{n}", "text": text} for n, text in enumerate(attack.texts, start=1)))
    values = {place: records if place in prompt.data_places else 3 for place in prompt.places}
    made = prompt.render(**values)
    assert leaks_of(made.system) == leaks_of(made.user) == [], attack.name
    assert made.token
    assert made.token not in "".join(attack.texts)
    for _, held in unfenced(made.user)[1]:
        assert [one["text"] for one in held] == [_whole(text) for text in attack.texts]


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_reader_would_see_a_leak(attack: Attack) -> None:
    # The proof that the proof proves something: without a fence nearly every attack is obeyed.
    leaky = Prompt("leaky", "Say. {{fence}}\n=====\n{{evidence}}")
    user = leaky.render(evidence=Data.of({"text": "x"})).user.replace('{"text": "x"}', "\n".join(attack.texts))
    read_as_data = attack.texts[0].startswith('{"') and "\n" not in attack.texts[0]
    assert leaks_of(user) or read_as_data
