"""The network as it is exported: the last layer for the first token alone, and the token head beside the classifier.

The classifier reads the state of [CLS] after the last layer and nothing else of it, so all other rows of that layer
need not be computed. Its keys and values need not either: with the query q of a head, q · (W h) = (Wᵀ q) · h, and a
sum of (V h) weighted by attention is V applied to the weighted sum of h. The bias of the keys adds the same to every
score and is lost in the softmax; the weights of attention sum to 1, so the bias of the values is added once. What is
left of the layer is a handful of products of single rows.

`train.two_heads` is the same network as it is trained; the token head reads the states before that layer.
"""

from __future__ import annotations

from typing import Any

import torch

from train.two_heads import TwoHeads


class _Attention(torch.autograd.Function):
    """Self-attention of all heads, exported as the one operator `Attention` of ONNX Runtime.

    Written out here rather than found by the optimiser, whose patterns follow one release of transformers each.
    """

    @staticmethod
    def forward(_: Any, states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, heads: int) -> torch.Tensor:
        """States (batch, tokens, width), weight (width, 3 width), bias (3 width) to the heads' outputs side by side."""
        batch, tokens, width = states.shape
        merged = (states @ weight + bias).reshape(batch, tokens, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        mixed = torch.nn.functional.scaled_dot_product_attention(merged[0], merged[1], merged[2])
        return mixed.transpose(1, 2).reshape(batch, tokens, width)

    @staticmethod
    def symbolic(graph: Any, states: Any, weight: Any, bias: Any, heads: int) -> Any:
        """The node of the exported graph."""
        made = graph.op("com.microsoft::Attention", states, weight, bias, num_heads_i=heads)
        made.setType(states.type())
        return made


class MergedAttention(torch.nn.Module):
    """Queries, keys and values of a layer in one product; takes the place of `BertSelfAttention`."""

    def __init__(self, attention: torch.nn.Module, heads: int) -> None:
        super().__init__()
        parts = (attention.query, attention.key, attention.value)
        self.register_buffer("weight", torch.cat([part.weight.detach().T for part in parts], dim=1))
        self.register_buffer("bias", torch.cat([part.bias.detach() for part in parts]))
        self.heads = heads

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """States of shape (batch, tokens, width) in and out."""
        return _Attention.apply(states, self.weight, self.bias, self.heads)


class Layer(torch.nn.Module):
    """A whole encoder layer of BERT."""

    def __init__(self, layer: torch.nn.Module, heads: int) -> None:
        super().__init__()
        self.attention = MergedAttention(layer.attention.self, heads)
        self.attended, self.intermediate, self.output = layer.attention.output, layer.intermediate, layer.output

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """States of shape (batch, tokens, width) in and out."""
        states = self.attended(self.attention(states), states)
        return self.output(self.intermediate(states), states)


class FirstRowLayer(torch.nn.Module):
    """An encoder layer of BERT for the first token only."""

    def __init__(self, layer: torch.nn.Module, heads: int) -> None:
        super().__init__()
        attention = layer.attention.self
        width = attention.query.in_features
        size = width // heads
        self.heads, self.size, self.width = heads, size, width
        self.query, self.value_bias = attention.query, attention.value.bias.detach()
        self.dense, self.norm = layer.attention.output.dense, layer.attention.output.LayerNorm
        self.intermediate, self.output = layer.intermediate, layer.output
        # (heads, size, width) and (heads, width, size), ready for one product a head.
        scale = float(size) ** -0.5
        self.keys = attention.key.weight.detach().reshape(heads, size, width) * scale
        self.values = attention.value.weight.detach().reshape(heads, size, width).transpose(1, 2).contiguous()

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """States of shape (batch, tokens, width) to the new state of the first token, (batch, width)."""
        first = states[:, 0]
        query = self.query(first).reshape(-1, self.heads, 1, self.size)
        look = torch.matmul(query, self.keys).reshape(-1, self.heads, self.width)
        seen = torch.matmul(torch.matmul(look, states.transpose(1, 2)).softmax(-1), states)
        context = torch.matmul(seen.reshape(-1, self.heads, 1, self.width), self.values).reshape(-1, self.width)
        attended = self.norm(self.dense(context + self.value_bias) + first)
        return self.output(self.intermediate(attended), attended)


class Exported(torch.nn.Module):
    """Token numbers in, `logits` (batch, labels) and, with a token head, `token_logits` (batch, tokens) out.

    There is no attention mask: all pairs of a batch have the same length, as pairs are never padded in use.
    """

    def __init__(self, trained: TwoHeads) -> None:
        super().__init__()
        model = trained.network
        layers, heads = model.bert.encoder.layer, model.config.num_attention_heads
        self.embeddings = model.bert.embeddings
        self.layers = torch.nn.ModuleList(Layer(layer, heads) for layer in layers[:-1])
        self.last = FirstRowLayer(layers[-1], heads)
        self.pooler, self.classifier = model.bert.pooler.dense, model.classifier
        self.token_head = trained.token_head

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs, in order."""
        return ("logits", *(("token_logits",) if self.token_head is not None else ()))

    def forward(self, input_ids: torch.Tensor, token_type_ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Judge a batch of shape (batch, tokens)."""
        states = self.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)
        for layer in self.layers:
            states = layer(states)
        logits = self.classifier(torch.tanh(self.pooler(self.last(states))))
        return (logits,) if self.token_head is None else (logits, self.token_head(states).squeeze(-1))
