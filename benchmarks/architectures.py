"""Whole architectures at the widths that are in use, with few layers and random weights.

    pip install torch==2.13.0 transformers

All layers are alike, so two of them show how much a scatter matters beside its layers. Vocabularies
are small, because they are one product at the end. Each export has the inputs that a server would
give it: a step of decoding with its caches, a page, a clip, a graph.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from export import Example

_WORDS = 4096  # of each vocabulary


class Only(nn.Module):
    """Returns one result of a module, whose inputs have names."""

    def __init__(self, inner: nn.Module, names: tuple[str, ...], result: str) -> None:
        super().__init__()
        self.inner, self.names, self.result = inner, names, result

    def forward(self, *inputs: Tensor) -> Tensor:
        given = dict(zip(self.names, inputs, strict=True))
        return getattr(self.inner(**given, return_dict=True), self.result)


def filled(
    config: Any, tensors: tuple[Tensor, ...], at: Tensor | None = None
) -> transformers.StaticCache:
    """Return a cache that holds keys and values of each layer, up to position ``at``."""
    _, heads, length, width = tensors[0].shape
    cache = transformers.StaticCache(config, max_cache_len=length)
    cache.early_initialization(1, heads, width, torch.float32, tensors[0].device)
    for layer, keys, values in zip(cache.layers, tensors[::2], tensors[1::2], strict=True):
        layer.keys, layer.values = keys, values
        if at is not None:
            layer.cumulative_length = at[0].clone()
    return cache


class Step(nn.Module):
    """A step of decoding: one token, and caches of a fixed length that come in and go out."""

    def __init__(self, inner: nn.Module, config: Any) -> None:
        super().__init__()
        self.inner, self.config = inner, config

    def forward(self, tokens: Tensor, at: Tensor, *caches: Tensor) -> tuple[Tensor, ...]:
        cache = filled(self.config, caches, at)
        mask = torch.arange(caches[0].shape[2])[None] <= at[:, None]
        out = self.inner(
            tokens,
            attention_mask=mask[:, None, None],
            position_ids=at[None],
            past_key_values=cache,
            use_cache=True,
        )
        kept = [x for layer in cache.layers for x in (layer.keys, layer.values)]
        return out.last_hidden_state, *kept


class SpeechStep(nn.Module):
    """A step of Whisper: the keys and values of the speech come in, too, and are only read."""

    def __init__(self, inner: nn.Module, config: Any) -> None:
        super().__init__()
        self.inner, self.config = inner, config

    def forward(
        self, tokens: Tensor, at: Tensor, speech: Tensor, *caches: Tensor
    ) -> tuple[Tensor, ...]:
        half = len(caches) // 2
        own = filled(self.config, caches[:half], at)
        heard = filled(self.config, caches[half:])
        cache = transformers.EncoderDecoderCache(own, heard)
        cache.is_updated = dict.fromkeys(range(half // 2), True)
        mask = torch.arange(caches[0].shape[2])[None] <= at[:, None]
        out = self.inner(
            tokens,
            attention_mask=mask[:, None, None],
            encoder_hidden_states=speech,
            position_ids=at[None],
            past_key_values=cache,
            use_cache=True,
        )
        kept = [x for layer in own.layers for x in (layer.keys, layer.values)]
        return out.last_hidden_state, *kept


class Convolutions(nn.Module):
    """A graph network: messages along edges, summed at nodes, then means of the graphs."""

    def __init__(self, width: int, layers: int, edge: bool) -> None:
        super().__init__()
        self.first = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.attention = nn.ModuleList(nn.Linear(2 * width, 4) for _ in range(layers))
        self.weighted = edge

    def forward(self, nodes: Tensor, edges: Tensor, batch: Tensor, graphs: Tensor) -> Tensor:
        source, target = edges[0], edges[1]
        for layer, attention in zip(self.first, self.attention, strict=True):
            x = layer(nodes)
            if self.weighted:  # GAT
                e = attention(torch.cat((x[source], x[target]), 1)).exp()
                total = torch.zeros(nodes.shape[0], 4).index_add(0, target, e)
                share = e / total[target]
                parts = x[source].view(-1, 4, x.shape[1] // 4) * share[:, :, None]
                messages = parts.reshape(-1, x.shape[1])
            else:  # GCN
                ones = torch.ones_like(target, dtype=x.dtype)
                degree = torch.zeros(nodes.shape[0]).index_add(0, target, ones).clamp(min=1)
                messages = x[source] * (degree[source] * degree[target]).rsqrt()[:, None]
            nodes = torch.zeros_like(x).index_add(0, target, messages).relu()
        ones = torch.ones_like(batch, dtype=nodes.dtype)
        count = torch.zeros(graphs.shape[0]).index_add(0, batch, ones).clamp(min=1)
        return torch.zeros_like(graphs).index_add(0, batch, nodes) / count[:, None]


def words(*shape: int) -> Tensor:
    """Return tokens."""
    return torch.randint(3, _WORDS, shape)


def of(name: str, config: Any, inputs: dict[str, Tensor], result: str) -> Example:
    """Return a model of transformers."""

    def build() -> nn.Module:
        inner = getattr(transformers, name)(config).eval()
        return Only(inner, tuple(inputs), result)

    return Example(build, inputs, exports=("dynamo",))


def caches(name: str, layers: int, heads: int, length: int, width: int) -> dict[str, Tensor]:
    """Return keys and values of each layer."""
    return {
        f"{name}{what}_{i}": torch.randn(1, heads, length, width)
        for i in range(layers)
        for what in ("keys", "values")
    }


def step(build: Callable[[], nn.Module], config: Any, heads: int, width: int) -> Example:
    """Return a step of decoding with caches of 2048 positions."""
    own = caches("", config.num_hidden_layers, heads, 2048, width)
    inputs = {"tokens": words(1, 1), "at": torch.tensor([700]), **own}
    outputs = ("hidden", *(f"{name}_out" for name in own))
    return Example(lambda: Step(build().eval(), config), inputs, outputs, exports=("dynamo",))


def speech_step() -> Example:
    """Return a step of Whisper small, two layers: 448 positions of text, 1500 of speech."""
    layers, heads, width = 2, 12, 64
    config = transformers.WhisperConfig(
        vocab_size=_WORDS,
        d_model=heads * width,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        decoder_ffn_dim=4 * heads * width,
        pad_token_id=0,
    )
    own = caches("", layers, heads, 448, width)
    heard = caches("speech_", layers, heads, 1500, width)
    speech = torch.randn(1, 1500, heads * width)
    inputs = {
        "tokens": words(1, 1), "at": torch.tensor([100]), "speech": speech, **own, **heard
    }  # fmt: skip
    outputs = ("hidden", *(f"{name}_out" for name in own))

    def build() -> nn.Module:
        inner = transformers.WhisperModel(config).get_decoder().eval()
        return SpeechStep(inner, config)

    return Example(build, inputs, outputs, exports=("dynamo",))


def graph(nodes: int, edges: int, width: int, *, attends: bool) -> Example:
    """Return a graph network on a batch of 32 graphs."""
    inputs = {
        "nodes": torch.randn(nodes, width),
        "edges": torch.randint(0, nodes, (2, edges)),
        "batch": torch.randint(0, 32, (nodes,)).sort().values,
        "graphs": torch.zeros(32, width),
    }
    return Example(lambda: Convolutions(width, 2, attends), inputs, exports=("dynamo",))


def decoder(
    config: Callable[..., Any], *, hidden: int, inner: int, heads: int, caches: int, **more: Any
) -> Any:
    """Return the configuration of a decoder of two layers, with fewer caches than heads."""
    return config(
        vocab_size=_WORDS,
        hidden_size=hidden,
        intermediate_size=inner,
        num_hidden_layers=2,
        num_attention_heads=heads,
        num_key_value_heads=caches,
        **more,
    )


def examples() -> dict[str, Example]:
    """Return the architectures by name."""
    t, few = transformers, {"vocab_size": _WORDS}
    bart = t.BartConfig(**few, encoder_layers=2, decoder_layers=2)
    llama = decoder(t.LlamaConfig, hidden=2048, inner=8192, heads=32, caches=8)
    qwen = decoder(t.Qwen2Config, hidden=896, inner=4864, heads=14, caches=2)
    mistral = decoder(
        t.MistralConfig, hidden=1024, inner=3584, heads=16, caches=4, sliding_window=None
    )
    mbart = t.MBartConfig(**few, encoder_layers=2, decoder_layers=2)
    speech = t.Wav2Vec2Config(num_hidden_layers=2)
    conformer = t.Wav2Vec2ConformerConfig(num_hidden_layers=2, position_embeddings_type=None)
    hubert = t.HubertConfig(num_hidden_layers=2)
    detr = t.ConditionalDetrConfig(
        encoder_layers=2,
        decoder_layers=2,
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        backbone=None,
        backbone_config=t.ResNetConfig(out_features=["stage4"]),
    )
    tapas = t.TapasConfig(**few, num_hidden_layers=2)
    clip = {"input_values": torch.randn(1, 16000)}
    masked = torch.zeros(1, 49, dtype=torch.bool)
    masked[:, 10:20] = True
    text = {"input_ids": words(1, 512)}
    return {
        "bart": of(
            "BartForConditionalGeneration", bart, {**text, "labels": words(1, 64)}, "logits"
        ),
        "llama": step(lambda: t.LlamaModel(llama), llama, 8, 64),
        "qwen": step(lambda: t.Qwen2Model(qwen), qwen, 2, 64),
        "mistral": step(lambda: t.MistralModel(mistral), mistral, 4, 64),
        "whisper": speech_step(),
        "mbart": of(
            "MBartForConditionalGeneration", mbart, {**text, "labels": words(1, 64)}, "logits"
        ),
        "wav2vec2": of(
            "Wav2Vec2Model", speech, {**clip, "mask_time_indices": masked}, "last_hidden_state"
        ),
        "conformer": of(
            "Wav2Vec2ConformerModel",
            conformer,
            {**clip, "mask_time_indices": masked},
            "last_hidden_state",
        ),
        "hubert": of(
            "HubertModel", hubert, {**clip, "mask_time_indices": masked}, "last_hidden_state"
        ),
        "detr": of(
            "ConditionalDetrForObjectDetection",
            detr,
            {"pixel_values": torch.rand(1, 3, 480, 640)},
            "pred_boxes",
        ),
        "tapas": of(
            "TapasModel",
            tapas,
            {**text, "token_type_ids": torch.randint(0, 2, (1, 512, 7))},
            "last_hidden_state",
        ),
        "gcn": graph(3000, 20_000, 128, attends=False),
        "gat": graph(3000, 20_000, 128, attends=True),
    }
