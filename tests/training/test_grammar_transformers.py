"""The logits processor in `generate` of transformers: a randomly initialised model can only write valid documents."""

import json
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("llguidance")

from assay.models.grammar import GrammarEngine, Vocabulary  # noqa: E402
from assay.models.grammar.transformers_processor import GrammarLogits  # noqa: E402
from assay.verify.documents.json_schema import check_structure  # noqa: E402

END = 256
VOCABULARY = Vocabulary(
    (*(bytes([value]) for value in range(256)), b"<end>", b'"}', b'":', b"true"), frozenset({END}), frozenset({END})
)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 8},
        "degrees": {"type": "integer", "minimum": -60, "maximum": 60},
        "sky": {"enum": ["clear", "rain"]},
    },
    "required": ["city", "degrees", "sky"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(7)
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY.size + 4,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=0,
        eos_token_id=END,
        pad_token_id=1,
    )
    return transformers.LlamaForCausalLM(config).eval()


@pytest.mark.parametrize("how", [{"do_sample": True}, {"num_beams": 3}, {"do_sample": True, "num_return_sequences": 4}])
def test_every_way_of_generating_writes_valid_documents(model: Any, how: dict[str, Any]) -> None:
    torch.manual_seed(1)
    prompt = torch.tensor([list(b"Weather?"), list(b"Tomorrow")])
    processor = GrammarLogits(GrammarEngine(VOCABULARY).compile(SCHEMA), prompt.shape[1], hurry=120)
    mask = torch.ones_like(prompt)
    made = model.generate(prompt, attention_mask=mask, max_new_tokens=200, logits_processor=[processor], **how)
    for row in made.tolist():
        taken = row[prompt.shape[1] :]
        text = VOCABULARY.text(taken[: taken.index(END)])
        assert check_structure(text, SCHEMA) == [], text
        assert set(json.loads(text)) == {"city", "degrees", "sky"}


def test_without_it_the_same_model_writes_none(model: Any) -> None:
    torch.manual_seed(1)
    prompt = torch.tensor([list(b"Weather?")])
    made = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=60, do_sample=True)
    assert check_structure(VOCABULARY.text([t for t in made[0].tolist()[8:] if t < VOCABULARY.size]), SCHEMA)
