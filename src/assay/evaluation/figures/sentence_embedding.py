"""A sentence embedding model of the BERT family in plain numpy, for the cosine baseline only.

It reads a sentence-transformers folder (`config.json`, `model.safetensors`, `tokenizer.json`) as published for
all-MiniLM-L6-v2: the mean of the last layer over the tokens, normalised. It needs no torch, and it is not fast:
the similarity of embeddings is a baseline for comparison; assay never decides by it.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import ModelError

Floats = NDArray[np.float32]

MAX_TOKENS: Final = 256
"""Tokens of a text that the model reads, as all-MiniLM-L6-v2 was trained."""
_BATCH: Final = 32


class SentenceEmbedder:
    """Texts to unit vectors.

    Args:
        folder: the model's folder.

    Raises:
        ModelError: a file is missing or the model is not of the BERT family.
    """

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            self._weights = read_safetensors(folder / "model.safetensors")
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(
                f"{folder}: no embedding model: {error}; expected config.json, model.safetensors and tokenizer.json"
            ) from error
        except (
            Exception
        ) as error:  # the tokenizers package raises plain Exception for a damaged file: a ModelError here
            raise ModelError(f"{folder}/tokenizer.json: cannot be read: {error}") from error
        if config.get("model_type", "bert") != "bert" or config.get("hidden_act") != "gelu":
            kind, act = config.get("model_type"), config.get("hidden_act")
            raise ModelError(f"{folder}/config.json: expected a BERT encoder with gelu, got {kind!r} with {act!r}")
        self._layers = int(config["num_hidden_layers"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config.get("layer_norm_eps", 1e-12))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()
        missing = [name for name in self._required_weights() if name not in self._weights]
        if missing:
            raise ModelError(f"{folder}/model.safetensors: lacks {missing[0]}; expected the weights of a BERT encoder")

    def _required_weights(self) -> list[str]:
        attention_parts = (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
        )
        other_parts = ("attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm")
        blocks = [f"encoder.layer.{n}.{part}" for n in range(self._layers) for part in (*attention_parts, *other_parts)]
        tables = [f"embeddings.{part}_embeddings.weight" for part in ("word", "position", "token_type")]
        return [*tables, *(f"{block}.{kind}" for block in blocks for kind in ("weight", "bias"))]

    def embed(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, one row for each text."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(tokens)), key=lambda index: len(tokens[index]))
        vectors: list[tuple[int, Floats]] = []
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            vectors.extend(zip(chosen, self._encode([tokens[index] for index in chosen]), strict=True))
        return np.stack([vector for _, vector in sorted(vectors, key=lambda item: item[0])])

    def _encode(self, tokens: Sequence[Sequence[int]]) -> Floats:
        width = max(map(len, tokens))
        ids = np.zeros((len(tokens), width), dtype=np.int64)
        mask = np.zeros((len(tokens), width), dtype=np.float32)
        for row, token_ids in enumerate(tokens):
            ids[row, : len(token_ids)] = token_ids
            mask[row, : len(token_ids)] = 1
        weights = self._weights
        states = weights["embeddings.word_embeddings.weight"][ids]
        states = states + weights["embeddings.position_embeddings.weight"][:width]
        states = self._norm("embeddings.LayerNorm", states + weights["embeddings.token_type_embeddings.weight"][0])
        for number in range(self._layers):
            states = self._layer(f"encoder.layer.{number}", states, mask)
        mean = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True), dtype=np.float32)

    def _layer(self, name: str, states: Floats, mask: Floats) -> Floats:
        attended = self._dense(f"{name}.attention.output.dense", self._attend(f"{name}.attention.self", states, mask))
        states = self._norm(f"{name}.attention.output.LayerNorm", states + attended)
        widened = gelu(self._dense(f"{name}.intermediate.dense", states))
        return self._norm(f"{name}.output.LayerNorm", states + self._dense(f"{name}.output.dense", widened))

    def _attend(self, name: str, states: Floats, mask: Floats) -> Floats:
        rows, width, size = states.shape
        parts = (self._dense(f"{name}.{part}", states) for part in ("query", "key", "value"))
        split = [part.reshape(rows, width, self._heads, size // self._heads).transpose(0, 2, 1, 3) for part in parts]
        query, key, value = split
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(size // self._heads))
        scores = scores + (1 - mask[:, None, None, :]) * np.float32(-1e9)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        return np.asarray(mixed.transpose(0, 2, 1, 3).reshape(rows, width, size), dtype=np.float32)

    def _dense(self, name: str, states: Floats) -> Floats:
        return np.asarray(states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"], dtype=np.float32)

    def _norm(self, name: str, states: Floats) -> Floats:
        centred = states - states.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._epsilon)
        return np.asarray(scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"], dtype=np.float32)


def gelu(x: Floats) -> Floats:
    """x * Phi(x), with the error function by Abramowitz and Stegun 7.1.26 (absolute error below 1.5e-7).

    >>> [round(float(v), 4) for v in gelu(np.array([-1.0, 0.0, 1.0], dtype=np.float32))]
    [-0.1587, 0.0, 0.8413]
    """
    z = np.abs(x) / np.float32(math.sqrt(2))
    t = 1 / (1 + 0.3275911 * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - series * np.exp(-z * z))
    return np.asarray(x * (1 + erf) / 2, dtype=np.float32)


def read_safetensors(path: Path) -> dict[str, Floats]:
    """The float32 tensors of a safetensors file: eight bytes of header length, a JSON header, then the data.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not a safetensors file, or holds other types than float32 and integers.
    """
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        raise ValueError(f"{path.name} is not a safetensors file")
    header: Mapping[str, Any] = json.loads(data[8 : 8 + size])
    tensors: dict[str, Floats] = {}
    for name, entry in header.items():
        if name == "__metadata__" or (entry["dtype"].startswith(("I", "U", "B")) and entry["dtype"] != "BF16"):
            continue
        if entry["dtype"] != "F32":
            raise ValueError(f"{path.name} holds {entry['dtype']} numbers; expected F32")
        start, end = (8 + size + offset for offset in entry["data_offsets"])
        tensors[name.removeprefix("bert.")] = np.frombuffer(data[start:end], dtype="<f4").reshape(entry["shape"])
    return tensors
