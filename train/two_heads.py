"""The verifier network: one encoder, one pass, a label for the pair and a score for every token.

The last layer is computed for the first token only, since nothing else of it is read: its keys and values come from
all tokens, its queries, output and feed-forward part from one. The token head reads the layer before. Both facts hold
in training, in the exported graph and in use.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import BertForSequenceClassification
from transformers.models.bert.modeling_bert import BertLayer

TOKEN_HEAD = "token_head.safetensors"  # noqa: S105 a file, no password
"""The file beside a checkpoint that holds the token head: `weight` (1, width) and `bias` (1,)."""


def first_row(layer: BertLayer, states: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """One encoder layer's output for the first token.

    Args:
        layer: the layer.
        states: (batch, tokens, width).
        mask: (batch, 1, 1, tokens), added to the attention scores.

    Returns:
        (batch, 1, width), equal to the first row of the whole layer.
    """
    attention = layer.attention.self
    shape = (states.shape[0], -1, attention.num_attention_heads, attention.attention_head_size)
    first = states[:, :1]
    query = attention.query(first).view(shape).transpose(1, 2)
    key = attention.key(states).view(shape).transpose(1, 2)
    value = attention.value(states).view(shape).transpose(1, 2)
    weights = query @ key.transpose(2, 3) * attention.scaling
    if mask is not None:
        weights = weights + mask
    mixed = (weights.softmax(-1) @ value).transpose(1, 2).reshape(first.shape)
    attended = layer.attention.output(mixed, first)
    output: torch.Tensor = layer.feed_forward_chunk(attended)
    return output


class TwoHeads(torch.nn.Module):
    """A BERT-shaped classifier of pairs with a second head over tokens.

    Args:
        network: encoder and three-way head.
        token_head: width -> 1, or None for a network without; trained to say which tokens of the claim are wrong.
    """

    def __init__(self, network: BertForSequenceClassification, token_head: torch.nn.Linear | None = None) -> None:
        super().__init__()
        self.network = network
        self.token_head = token_head

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None, token_type_ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Logits of the pair (batch, labels) and of being wrong for each token (batch, tokens).

        The attention mask is 1 where there is a token; none says that nothing is padded.
        """
        bert = self.network.bert
        states = bert.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)
        mask = None
        if attention_mask is not None:
            mask = (1.0 - attention_mask[:, None, None, :].to(states.dtype)) * -1e4
        *lower, last = bert.encoder.layer
        for layer in lower:
            states = layer(states, mask)
        tokens = None if self.token_head is None else self.token_head(states).squeeze(-1)
        pooled = bert.pooler(first_row(last, states, mask))
        logits = self.network.classifier(self.network.dropout(pooled))
        return logits, tokens


def load_two_heads(checkpoint: Path) -> TwoHeads:
    """The network of a folder that `save_two_heads` wrote, or of a plain classifier's, then without a token head."""
    network = BertForSequenceClassification.from_pretrained(checkpoint, attn_implementation="eager")
    if not (checkpoint / TOKEN_HEAD).exists():
        return TwoHeads(network)
    head = torch.nn.Linear(network.config.hidden_size, 1)
    head.load_state_dict(load_file(checkpoint / TOKEN_HEAD))
    return TwoHeads(network, head)


def save_two_heads(model: TwoHeads, checkpoint: Path) -> None:
    """Write the encoder and its label head as transformers does, and the token head beside them."""
    model.network.save_pretrained(checkpoint)
    if model.token_head is not None:
        save_file({k: v.contiguous() for k, v in model.token_head.state_dict().items()}, checkpoint / TOKEN_HEAD)
