"""Exports architectures of transformers, small and with random weights, and removes their scatters.

    pip install torch==2.13.0 transformers
    python benchmarks/fresh_exports.py [CLASS ...] [--exporter ts] [--limit 60] [--save FOLDER]

A class is the name of a model, ``MixtralModel`` say, that takes token ids and a mask, or an image.
Each is exported in a process of its own, which ends at the limit. All dims but the channels are
symbolic. The table has the numbers of scatters before and after, why some are kept, and the answer
of ``verify`` on drawn inputs of many sizes. ``docs/fresh_exports.md`` has such a table of many more
models.
"""

from __future__ import annotations

import argparse
import collections
import tempfile
import time
from pathlib import Path
from typing import Any

import onnx
import torch
import transformers
from apart import apart

import onnx_scatterx
from onnx_scatterx.errors import VerifyError

CLASSES = [
    "BeitModel", "BigBirdPegasusForConditionalGeneration", "CvtModel", "Data2VecVisionModel",
    "GptOssModel", "GraniteMoeModel", "JambaModel", "LongformerModel", "MambaModel",
    "MBartForSequenceClassification", "MixtralModel", "OlmoeModel", "RecurrentGemmaModel",
    "RwkvModel", "SegformerModel", "XmodModel",
]  # fmt: skip
# Each of these names is set if a configuration has it; architectures use different names.
WIDTH = 32
SMALL = {
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "embed_dim", "embedding_size"), WIDTH),
    **dict.fromkeys(("intermediate_size", "moe_intermediate_size", "d_ff", "d_inner"), 2 * WIDTH),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "ffn_dim"), 2 * WIDTH),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    "num_experts_per_tok": 2,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "d_kv": 8,
    "vocab_size": 99,
    "max_position_embeddings": 64,
    "image_size": 32,
    "patch_size": 8,
    "pad_token_id": 0,
    "use_cache": False,
}


def small(config_class: Any) -> Any:
    """Return a configuration of a class with a few narrow layers."""
    have = config_class().to_dict()
    kept = {k: v for k, v in SMALL.items() if isinstance(have.get(k), int | type(None))}
    config = config_class(**{k: v for k, v in kept.items() if k in have})
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    return config


def export(name: str, exporter: str, path: str) -> None:
    """Export one class of transformers."""
    torch.manual_seed(0)
    model = getattr(transformers, name)(small(getattr(transformers, name).config_class)).eval()
    if model.main_input_name == "pixel_values":
        names = ["pixel_values"]
        given = (torch.randn(2, 3, 32, 32),)
        free = [{0: "batch", 2: "height", 3: "width"}]
    else:
        names = ["input_ids", "attention_mask"]
        mask = torch.ones(2, 7, dtype=torch.int64)
        mask[1, -2:] = 0
        given = (torch.randint(3, 99, (2, 7)), mask)
        free = [{0: "batch", 1: "length"}] * 2

    class Positional(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Any) -> Any:
            return self.model(**dict(zip(names, tensors, strict=True)))[0]

    common: dict[str, Any] = {"input_names": names, "output_names": ["first"]}
    if exporter == "ts":
        axes = dict(zip(names, free, strict=True))
        common.update(dynamo=False, opset_version=18, dynamic_axes=axes)
    else:
        auto = tuple(dict.fromkeys(axes, torch.export.Dim.AUTO) for axes in free)
        common.update(dynamo=True, opset_version=20, dynamic_shapes=(auto,), external_data=False)
    with torch.no_grad():
        torch.onnx.export(Positional(), given, path, verbose=False, **common)


def row(name: str, exporter: str, path: Path) -> list[Any]:
    """Optimize an export, compare the two models, and return a line of the table."""
    start = time.process_time()
    result = onnx_scatterx.optimize(str(path), target="standard")
    seconds = time.process_time() - start
    report = result.report
    stays = collections.Counter(s.reason.value for s in report.scatters if s.reason is not None)
    try:
        outcome: object = onnx_scatterx.verify(str(path), result.model, samples=12)
    except VerifyError as error:
        outcome = error
    nodes = len(onnx.load(path, load_external_data=False).graph.node)
    left = len(report.scatters) - report.removed
    why = "; ".join(stays)
    return [name, exporter, nodes, len(report.scatters), left, f"{seconds:.2f}", why, outcome]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("classes", nargs="*", default=CLASSES, metavar="CLASS")
    parser.add_argument("--exporter", choices=["ts", "dynamo"], default="ts")
    parser.add_argument("--limit", type=float, default=60, help="seconds that one export may take")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="keep the exports there")
    args = parser.parse_args()
    torch.set_num_threads(1)  # a forked process has none of the others
    print("| class | exporter | nodes | scatters | left | CPU s | why | verify |")
    print("|---|---|---:|---:|---:|---:|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.save or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in args.classes:
            path = folder / f"{name}_{args.exporter}.onnx"
            ended = apart("fork", export, name, args.exporter, str(path), wait=args.limit)
            failed = ended and ended["failed"]
            cells = [name, args.exporter, failed] if failed else row(name, args.exporter, path)
            print("|", " | ".join(str(c).splitlines()[0] if str(c) else "" for c in cells), "|")


if __name__ == "__main__":
    main()
