"""Builds and exports the rows of ``benchmarks/real_rows.py`` with seeded random weights."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import model_sources  # it makes the modules of ``models`` importable
import sources
import torch
import transformers
from export import OPSETS, Example
from real_rows import Row, dims
from torch import Tensor, nn

# timm and detectors import torchvision, whose compiled part may need CUDA. They do not use it, but
# the import needs two operators to be declared.
_DECLARED = torch.library.Library("torchvision", "DEF")
for _name in ("nms", "qnms"):
    _DECLARED.define(f"{_name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


class First(nn.Module):
    """Gives a model its inputs by name, and returns one result."""

    def __init__(self, inner: nn.Module, names: list[str], result: str) -> None:
        super().__init__()
        self.inner, self.names, self.result = inner, names, result

    def forward(self, *tensors: Tensor) -> Tensor:
        out = self.inner(**dict(zip(self.names, tensors, strict=True)))
        return getattr(out, self.result) if self.result else out[0]


class CachedStep(nn.Module):
    """A step of decoding: one token, and caches of a fixed length that come in and go out."""

    def __init__(self, inner: nn.Module, config: Any) -> None:
        super().__init__()
        self.inner, self.config = inner, config

    def forward(self, tokens: Tensor, at: Tensor, *caches: Tensor) -> tuple[Tensor, ...]:
        _, heads, length, width = caches[0].shape
        cache = transformers.StaticCache(self.config, max_cache_len=length)
        cache.early_initialization(1, heads, width, torch.float32, caches[0].device)
        for layer, keys, values in zip(cache.layers, caches[::2], caches[1::2], strict=True):
            layer.keys, layer.values, layer.cumulative_length = keys, values, at[0].clone()
        out = self.inner(
            tokens,
            attention_mask=(torch.arange(length)[None] <= at[:, None])[:, None, None],
            position_ids=at[None],
            past_key_values=cache,
            use_cache=True,
        )
        kept = [x for layer in cache.layers for x in (layer.keys, layer.values)]
        return out.last_hidden_state, *kept


class Bayer(nn.Module):
    """Makes the mosaic that a camera's sensor sees: red, two greens and blue of four pixels."""

    def forward(self, image: Tensor) -> Tensor:
        raw = image.new_zeros(image.shape[0], 1, *image.shape[2:])
        for channel, row, column in ((0, 0, 0), (1, 0, 1), (1, 1, 0), (2, 1, 1)):
            raw[:, 0, row::2, column::2] = image[:, channel, row::2, column::2]
        return raw


class Cameras(nn.Module):
    """Puts six images side by side, three and three, on one canvas."""

    def forward(self, image: Tensor) -> Tensor:
        height, width = image.shape[2:]
        canvas = image.new_zeros(1, 3, 2 * height, 3 * width)
        for i in range(6):
            top, left = i // 3 * height, i % 3 * width
            canvas[0, :, top : top + height, left : left + width] = image[i]
        return canvas


class Chain(nn.Module):
    """Writes to one tensor many times, in five ways in turn, at drawn places."""

    def __init__(self, writes: int) -> None:
        super().__init__()
        self.places = [int(p) for p in torch.randint(0, 60, (writes,))]

    def forward(self, x: Tensor, u: Tensor) -> Tensor:
        x = x.clone()
        for i, p in enumerate(self.places):
            if i % 5 == 0:
                x[:, p : p + 4] = u[:, p : p + 4]
            elif i % 5 == 1:
                x[..., p % 4 :: 4] = float(i)
            elif i % 5 == 2:
                x[:, [p, p + 2, p + 1]] = u[:, :3]
            elif i % 5 == 3:
                x[:, p + 1 : -p - 1, p // 2 : p // 2 + 8] += u[:, p : p + 1, :8]
            else:
                x[..., -1, p] = u[:, i % 64, p]
        return x


def drawn(row: Row, text: str, batch: int) -> Tensor:
    """Return the tensor of an input."""
    kind, shape, names = dims(text)
    shape = [batch if names.get(i) == "batch" else size for i, size in enumerate(shape)]
    if kind == "words":
        return torch.randint(3, row.config.get("vocab_size", 30), shape)
    if kind == "ones":
        return torch.ones(shape, dtype=torch.int64)
    if kind in ("mask", "bits"):
        return (torch.rand(shape) < 0.2).to(torch.bool if kind == "mask" else torch.int64)
    return torch.randn(shape) if kind == "noise" else torch.rand(shape)


def configured(row: Row, config_class: Any, **more: Any) -> Any:
    """Return the configuration of a row."""
    given = dict(row.config) | more
    backbone = given.get("backbone_config")
    if backbone:
        name, _, stages = backbone.partition(":")
        given["backbone_config"] = getattr(transformers, name)(out_features=stages.split(","))
        given |= {"use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None}
    config = config_class(**given)
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    return config


def built(row: Row) -> nn.Module:
    """Return a model of transformers. Tied layers are copies that share the first one's weights."""
    kind = getattr(transformers, row.model)
    config = configured(row, kind.config_class)
    if not row.tied:
        return kind(config).eval()
    model = kind(configured(row, kind.config_class, num_hidden_layers=1)).eval()
    layers = model.get_submodule(row.tied)
    shared = {id(t): t for t in (*layers[0].parameters(), *layers[0].buffers())}
    for _ in range(1, config.num_hidden_layers):
        layers.append(copy.deepcopy(layers[0], dict(shared)))
    for i, layer in enumerate(layers):
        for part in (part for part in layer.modules() if hasattr(part, "layer_idx")):
            part.layer_idx = i
    for part in (part for part in model.modules() if hasattr(part, "config")):
        part.config = config
    return model


def cached_step(row: Row, shape: list[int]) -> Example:
    """Return a step of decoding at position 700, with caches of this shape in each layer."""
    config = configured(row, getattr(transformers, row.model).config_class)
    layers = range(config.num_hidden_layers)
    caches = {f"{w}_{i}": torch.randn(shape) for i in layers for w in ("keys", "values")}
    inputs = {"tokens": torch.randint(3, 4096, (1, 1)), "at": torch.tensor([700]), **caches}
    outputs = ("hidden", *(f"{name}_out" for name in caches))
    return Example(lambda: CachedStep(built(row).eval(), config), inputs, outputs)


def example(name: str, row: Row, batch: int) -> Example:
    """Return the module and the inputs of a row."""
    torch.manual_seed(0)
    if row.model == "model_sources":
        return model_sources.examples()[name]
    if "cache" in row.inputs:
        return cached_step(row, dims(row.inputs["cache"])[1])
    inputs = {n: drawn(row, text, batch) for n, text in row.inputs.items()}
    sizes = {n: dims(text)[2] for n, text in row.inputs.items()}

    def build() -> nn.Module:
        if own := globals().get(row.model, getattr(sources, row.model, None)):
            return own(**row.config)
        if row.model.startswith("timm:"):
            import timm

            return timm.create_model(row.model.removeprefix("timm:"), **row.config)
        if row.model.startswith("ultralytics:"):
            from ultralytics.nn.tasks import PoseModel

            pose = PoseModel(row.model.removeprefix("ultralytics:"), verbose=False)
            return First(pose.eval(), list(inputs), "")
        return First(built(row), list(inputs), row.result)

    return Example(build, inputs, sizes=sizes)


def like_trained(module: nn.Module) -> nn.Module:
    """Let no weight of a module have equal elements, such as the zeros of biases at their start.

    A bias of zeros, a norm of ones and a head of zeros stand in no trained model. A compiler may
    fold them, and a head of zeros hides every error. So do weights that are 0 in float16, such as
    those of the encoder of Segment Anything at their start.
    """
    draws = torch.Generator().manual_seed(0)
    moments = ((n, t) for n, t in module.named_buffers() if n.endswith(("_mean", "_var")))
    with torch.no_grad():
        for _, tensor in (*module.named_parameters(), *moments):
            if not tensor.is_floating_point() or tensor.numel() < 2:
                continue
            if (tensor == tensor.min()).all() or not tensor.half().any():
                tensor += 0.02 * torch.randn(tensor.shape, generator=draws).to(tensor)
    return module


def export(name: str, row: Row, how: str, path: Path) -> None:
    """Write the export of a row; weights above 2 GB, or of dynamo, lie beside it."""
    exporter, _, dynamic = how.partition("_")
    # For the dynamo exporter a size of 1 is a constant.
    traced = example(name, row, 2 if how == "dynamo_dynamic" else 1)
    sizes = {n: traced.sizes.get(n, {}) for n in traced.inputs} if dynamic else None
    torch.manual_seed(0)
    module = like_trained(traced.module().eval())
    names = {"input_names": list(traced.inputs), "output_names": list(traced.outputs)}
    options: dict[str, Any] = {**names, "opset_version": OPSETS[exporter], "verbose": False}
    arguments = tuple(tensor.clone() for tensor in traced.inputs.values())
    if exporter == "ts":
        options["dynamic_axes"] = sizes
    elif sizes is not None:
        auto = tuple(dict.fromkeys(axes, torch.export.Dim.AUTO) for axes in sizes.values())
        options["dynamic_shapes"] = (auto,) if isinstance(module, First) else auto
    with torch.no_grad():
        torch.onnx.export(module, arguments, path, dynamo=exporter == "dynamo", **options)
