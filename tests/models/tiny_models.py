"""Model directories for tests: a tiny random graph, a tokenizer over a handful of words, and a config."""

import json
import shutil
import string
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

TINY = Path(__file__).parent / "tiny"
TEXT = "partners are entitled to weeks of leave get bridge opened in was cats sleep a lot rain is likely the north"
WORDS = TEXT.split()
UNKNOWN = "[UNK]"
LABELS = ("entailment", "neutral", "contradiction")


def write_tokenizer(path: Path) -> None:
    """A WordPiece tokenizer over letters and a few words, which like published ones says "cut and pad"."""
    signs = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    tokens = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS, *signs, *(f"##{s}" for s in signs)])
    vocabulary = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(path))


def write_model(
    directory: Path, graph: str = "three", labels: tuple[str, ...] | None = LABELS, at: str = "model.onnx"
) -> Path:
    """A model directory; without labels there is no config."""
    (directory / at).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(TINY / f"{graph}.onnx", directory / at)
    write_tokenizer(directory / "tokenizer.json")
    if labels is not None:
        config = {"id2label": {str(i): label for i, label in enumerate(labels)}, "max_position_embeddings": 128}
        (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return directory
