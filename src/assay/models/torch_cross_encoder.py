"""A cross-encoder whose weights are not exported to ONNX, run by PyTorch (extra `torch`).

For trying a model out, and for GPUs; an export to ONNX in int8 is several times faster on a CPU.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import ModelError, VerifierError
from assay.models.fair_queue import current_ticket, turn_of
from assay.models.labels import LabelOrder, read_labels
from assay.models.manifest import read_json, read_manifest, verify_files
from assay.models.pair_tokens import PairTokenizer, load_tokenizer, position_limit
from assay.models.runtime import DEFAULT_RUNTIME, Runtime, known_as

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json", "pytorch_model.bin.index.json")


class TorchCrossEncoder:
    """A scorer of pairs over a `transformers` checkpoint, which judges one pair at a time. Build it with `load`."""

    def __init__(
        self,
        *,
        name: str,
        digest: str,
        model: Any,
        tokenizer: PairTokenizer,
        labels: LabelOrder,
        max_pair_tokens: int,
        device: str = "cpu",
    ) -> None:
        self._name = name
        self._digest = digest
        self._model = model
        self._tokenizer = tokenizer
        self._labels = labels
        self._max_pair_tokens = max_pair_tokens
        self._device, self._placed, self._placement_lock = device, device == "cpu", threading.Lock()

    @classmethod
    def load(cls, directory: Path | str, *, runtime: Runtime = DEFAULT_RUNTIME) -> TorchCrossEncoder:
        """Read a `transformers` checkpoint; code inside the directory is never run.

        Args:
            directory: as `save_pretrained` writes it.
            runtime: `cuda` for a GPU. The weights are moved to it with the first pair: until then a process needs no
                GPU and may be forked.

        Raises:
            ModelError: torch or transformers is not installed, or the checkpoint cannot be read.
        """
        directory = Path(directory)
        try:
            from transformers import AutoModelForSequenceClassification
        except ImportError as error:
            raise ModelError(
                f"{directory}: holds PyTorch weights and no ONNX graph. Export it: "
                f"`pip install optimum-onnx[onnxruntime]` and `optimum-cli export onnx --task text-classification "
                f"--model {directory} {directory}`; or install the extra: `pip install 'assay-ai[torch]'`"
            ) from error
        config = read_json(directory / "config.json")
        tokenizer = load_tokenizer(directory / "tokenizer.json")
        labels = read_labels(config, directory / "config.json")
        try:
            model = AutoModelForSequenceClassification.from_pretrained(directory, local_files_only=True)
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise ModelError(f"{directory}: transformers cannot read the checkpoint: {error}") from error
        parts = sorted({*directory.glob("*.safetensors"), *directory.glob("pytorch_model*.bin")})
        files = [*parts, directory / "tokenizer.json", directory / "config.json"]
        digest = verify_files(directory, files, read_manifest(directory))
        name, digest = known_as(str(config.get("_name_or_path") or directory.name), digest, runtime)
        return cls(
            name=name,
            digest=digest,
            model=model.eval(),
            tokenizer=tokenizer,
            labels=labels,
            max_pair_tokens=position_limit(config, directory),
            device="cuda" if runtime == "cuda" else "cpu",
        )

    @property
    def name(self) -> str:
        """The name in the config, else of the directory."""
        return self._name

    @property
    def digest(self) -> str:
        """The SHA-256 over the digests of weights, tokenizer and config."""
        return self._digest

    @property
    def three_way(self) -> bool:
        """Whether the network has an output for contradiction."""
        return self._labels.three_way

    @property
    def max_pair_tokens(self) -> int:
        """The positions that the network has."""
        return self._max_pair_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text, without special tokens."""
        return self._tokenizer.count(texts)

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Probabilities of shape (len(pairs), 3): entailment, neutral, contradiction.

        Raises:
            VerifierError: a pair is longer than `max_pair_tokens`, or the network failed or gave no numbers.
        """
        import numpy as np

        unique = list(dict.fromkeys(pairs))
        logits = np.zeros((len(unique), self._labels.size), dtype=np.float32)
        ticket = current_ticket()
        for i, pair in enumerate(unique):
            with turn_of(ticket):
                logits[i] = self._judge_one(pair)
        if not np.isfinite(logits).all():
            raise VerifierError(f"{self._name}: the network gave a score that is no number; check the checkpoint")
        place = {pair: i for i, pair in enumerate(unique)}
        return self._labels.probabilities(logits)[[place[pair] for pair in pairs]]

    def _judge_one(self, pair: tuple[str, str]) -> NDArray[np.float32]:
        import inspect

        import torch

        tokens = self._tokenizer.encode([pair])[0]
        if len(tokens.ids) > self._max_pair_tokens:
            raise VerifierError(
                f"{self._name}: a pair has {len(tokens.ids)} tokens, the network reads {self._max_pair_tokens}"
            )
        self._place(torch)
        feed = {
            "input_ids": torch.tensor([tokens.ids], device=self._device),
            "attention_mask": torch.ones(1, len(tokens.ids), dtype=torch.int64, device=self._device),
        }
        if "token_type_ids" in inspect.signature(self._model.forward).parameters:
            feed["token_type_ids"] = torch.tensor([tokens.types], device=self._device)
        try:
            with torch.inference_mode():
                output: NDArray[np.float32] = self._model(**feed).logits[0].float().cpu().numpy()
        except (RuntimeError, IndexError, ValueError) as error:
            raise VerifierError(f"{self._name}: the network failed on a pair: {error}") from error
        return output

    def _place(self, torch: Any) -> None:
        """Moves the weights to their device, once."""
        with self._placement_lock:
            if self._placed:
                return
            if not torch.cuda.is_available():
                raise VerifierError(
                    f"{self._name}: the runtime cuda needs a GPU that PyTorch can use, and this process sees none"
                )
            self._model, self._placed = self._model.to(self._device), True
