"""Which output of a classifier means what, read from the `config.json` beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENTAILMENT = frozenset({"entailment", "entail", "entails", "entailed", "supported", "supports", "consistent"})
CONTRADICTION = frozenset({"contradiction", "contradict", "contradicts", "contradicted", "refuted", "refutes"})
NEUTRAL = frozenset({"neutral", "not_enough_info", "nei", "unknown"})
NOT_ENTAILMENT = frozenset(
    {"not_entailment", "non_entailment", "not_supported", "unsupported", "inconsistent", "hallucinated"}
)
ADVICE = (
    'write what each output means into config.json, for example "id2label": '
    '{"0": "entailment", "1": "neutral", "2": "contradiction"}'
)


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """The columns of a model's output; a single column is a score whose sigmoid is entailment."""

    size: int
    """The number of outputs."""
    entailment: int = 0
    contradiction: int | None = None
    """None for a model that only tells entailment from the rest."""

    @property
    def three_way(self) -> bool:
        """Whether contradiction has an output of its own."""
        return self.contradiction is not None

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """Entailment, neutral and contradiction of each row of logits, by softmax (sigmoid for a single score).

        Args:
            logits: finite, of shape (n, size).

        Returns:
            Shape (n, 3); the rows sum to 1. What is neither entailment nor contradiction is neutral.
        """
        import numpy as np

        result = np.zeros((len(logits), 3), dtype=np.float64)
        if self.size == 1:
            result[:, 0] = 0.5 * (1.0 + np.tanh(0.5 * logits[:, 0].astype(np.float64)))
        else:
            powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
            shares = powers / powers.sum(axis=1, keepdims=True)
            result[:, 0] = shares[:, self.entailment]
            if self.contradiction is not None:
                result[:, 2] = shares[:, self.contradiction]
        result[:, 1] = np.maximum(0.0, 1.0 - result[:, 0] - result[:, 2])
        return result.astype(np.float32)


def _names(config: Mapping[str, object], path: Path) -> list[str]:
    """The labels in the order of the outputs; empty where the config names none."""
    by_id, by_label = config.get("id2label"), config.get("label2id")
    try:
        if isinstance(by_id, Mapping) and by_id:
            numbered = {int(key): str(value) for key, value in by_id.items()}
        elif isinstance(by_label, Mapping) and by_label:
            numbered = {int(value): str(key) for key, value in by_label.items()}
        else:
            return []
    except (TypeError, ValueError) as error:
        raise ModelError(f"{path}: the keys of id2label must be output numbers; {ADVICE}") from error
    if sorted(numbered) != list(range(len(numbered))):
        raise ModelError(f"{path}: id2label numbers its outputs {sorted(numbered)}, expected 0, 1, 2 ...; {ADVICE}")
    return [numbered[i].strip().lower().replace("-", "_").replace(" ", "_") for i in range(len(numbered))]


def read_labels(config: Mapping[str, object], path: Path, outputs: int | None = None) -> LabelOrder:
    """What the outputs of a model mean, in any order and case of the labels.

    Args:
        config: the content of `config.json`, empty where there is none.
        path: the file, for messages.
        outputs: the number of outputs that the graph really has, where known.

    Raises:
        ModelError: the labels are nameless, unknown, or not as many as the outputs, or the only output has a name that
            means the opposite of entailment.

    >>> read_labels({"id2label": {"0": "CONTRADICTION", "1": "ENTAILMENT", "2": "NEUTRAL"}}, Path("config.json"))
    LabelOrder(size=3, entailment=1, contradiction=0)
    >>> read_labels({"num_labels": 1}, Path("config.json")).three_way
    False
    """
    names = _names(config, path)
    declared = len(names) or config.get("num_labels") or outputs
    if outputs is not None and declared != outputs:
        raise ModelError(f"{path}: {declared} labels are declared but the network has {outputs} outputs; {ADVICE}")
    if declared == 1:
        if names and names[0] in CONTRADICTION | NEUTRAL | NOT_ENTAILMENT:
            raise ModelError(
                f"{path}: the only output is called {names[0]}, but a single score has to grow with entailment; "
                f"{ADVICE}"
            )
        return LabelOrder(size=1)
    if not names or all(name.startswith("label_") for name in names):
        raise ModelError(f"{path}: the {declared} outputs have no names, so none can be called entailment; {ADVICE}")
    found = {
        "entailment": [i for i, name in enumerate(names) if name in ENTAILMENT],
        "contradiction": [i for i, name in enumerate(names) if name in CONTRADICTION],
        "rest": [i for i, name in enumerate(names) if name in NEUTRAL or name in NOT_ENTAILMENT],
    }
    counts = [len(found["entailment"]), len(found["contradiction"]), len(found["rest"])]
    if len(names) == 3 and counts == [1, 1, 1]:
        return LabelOrder(size=3, entailment=found["entailment"][0], contradiction=found["contradiction"][0])
    if len(names) == 2 and counts == [1, 0, 1]:
        return LabelOrder(size=2, entailment=found["entailment"][0])
    raise ModelError(
        f"{path}: the labels are {names}; expected entailment, neutral and contradiction, or entailment and "
        f"not_entailment, or one nameless score; {ADVICE}"
    )
