"""The rows of ``benchmarks/real_sizes.py``: architectures and statements at published sizes.

The numbers are those of the published configurations, so nothing is downloaded. An input is its
kind and its dims, as in ``"words batch=1 length=4096"``: a dim with a name is symbolic in a dynamic
export. No torch is needed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

HOWS = ("ts", "ts_dynamic", "dynamo", "dynamo_dynamic")
KINDS = ("words", "ones", "noise", "image", "mask", "bits", "steps")


@dataclass(frozen=True)
class Row:
    """A model: its class (or its name in timm), its inputs, its configuration.

    ``result`` is the output that is kept (the first one if empty). The layers of ``tied`` share
    one set of weights: all are there, but only one is stored, so that large models fit.
    """

    model: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    tied: str = ""


def dims(text: str) -> tuple[str, list[int], dict[int, str]]:
    """Return the kind, the shape and the names of symbolic dims of an input.

    >>> dims("words batch=1 length=4096")
    ('words', [1, 4096], {0: 'batch', 1: 'length'})
    """
    kind, *rest = text.split()
    pairs = [word.rpartition("=") for word in rest]
    names = {i: name for i, (name, _, _) in enumerate(pairs) if name}
    return kind, [int(size) for _, _, size in pairs], names


def words(length: int, **more: str) -> dict[str, str]:
    """Return tokens and their mask."""
    shape = f"batch=1 length={length}"
    return {"input_ids": f"words {shape}", "attention_mask": f"ones {shape}", **more}


def image(size: str) -> dict[str, str]:
    """Return an image of a height and a width."""
    return {"pixel_values": f"image batch=1 3 {size}"}


def labelled(model: str, config: dict[str, Any], **inputs: str) -> Row:
    """Return a model with 64 labels, which its decoder shifts to the right."""
    given = inputs or {"input_ids": "words batch=1 length=512"}
    return Row(model, given | {"labels": "words batch=1 heard=64"}, config, "logits")


def free(name: str, size: int) -> Row:
    """Return a model of timm that computes its masks, as height and width are symbolic."""
    return Row(f"timm:{name}", image(f"height={size} width={size}"), {"strict_img_size": False})


def pairs(encoder: int, decoder: int, width: int, heads: int, **more: Any) -> dict[str, Any]:
    """Return the configuration of an encoder and a decoder with these layers."""
    parts = {"encoder": encoder, "decoder": decoder}
    layers = {f"{part}_layers": number for part, number in parts.items()}
    layers |= dict.fromkeys((f"{part}_ffn_dim" for part in parts), 4 * width)
    layers |= dict.fromkeys((f"{part}_attention_heads" for part in parts), heads)
    return {"d_model": width, **layers, **more}


def stack(layers: int, width: int, inner: int, heads: int, vocabulary: int, **more: Any) -> dict:
    """Return the configuration of a stack of layers."""
    names = ("num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads")
    sizes = zip(names, (layers, width, inner, heads), strict=True)
    return {**dict(sizes), "vocab_size": vocabulary, **more}


def detector(name: str, stages: str) -> Row:
    """Return a detector on stages of a ResNet-50, at 800 x 1066."""
    backbone = {"backbone_config": f"ResNetConfig:{stages}"}
    return Row(f"{name}ForObjectDetection", image("800 1066"), backbone, "pred_boxes")


def speech(name: str) -> Row:
    """Return an encoder of 12 layers, on 10 s at 16 kHz with masked steps."""
    inputs = {"input_values": "noise batch=1 160000", "mask_time_indices": "mask batch=1 499"}
    return Row(name, inputs, stack(12, 768, 3072, 12, 32))


LONGFORMER = stack(12, 768, 3072, 12, 50265, max_position_embeddings=4098, pad_token_id=1)
LONGFORMER |= {"attention_window": 512, "type_vocab_size": 1}
LED = pairs(6, 6, 768, 12, vocab_size=50265, attention_window=1024)
MARIAN = dict.fromkeys(("pad_token_id", "decoder_start_token_id"), 58100) | {"vocab_size": 58101}
T5 = {
    "decoder_start_token_id": 0,
    "d_model": 768,
    "d_ff": 3072,
    "num_layers": 12,
    "num_heads": 12,
    "vocab_size": 32128,
}
GRANITE = stack(24, 1024, 512, 16, 49155, num_key_value_heads=8)
GRANITE |= {"num_local_experts": 32, "num_experts_per_tok": 8}
OLMOE = stack(16, 2048, 1024, 16, 50304, num_experts=64, num_experts_per_tok=8)
QWEN_MOE = stack(24, 2048, 5632, 16, 151936, num_experts=60, num_experts_per_tok=4)
QWEN_MOE |= {"moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632}
RWKV = {"num_hidden_layers": 12, "hidden_size": 768, "vocab_size": 50277, "use_cache": False}
XLSTM = RWKV | {"num_hidden_layers": 32, "hidden_size": 4096, "vocab_size": 50304}
QUIET = {"noise_scale": 0.0, "noise_scale_duration": 0.0}  # so that runs can be compared
BOXES = "pred_boxes"
TOKENS = {"input_ids": "words batch=1 length=128"}
TURNED = dict.fromkeys(("cos", "sin"), "noise time=1024 64")
CHAINED = {"x": "noise batch=1 rows=256 64", "u": "noise batch=1 64 64"}
SOUND = {"input_features": "noise batch=1 time=1000 80", "attention_mask": "ones batch=1 time=1000"}

# fmt: off
ROWS: dict[str, Row] = {
    **{f"mvitv2_{size}": Row(f"timm:mvitv2_{size}", image("224 224"))
       for size in ("tiny", "small", "base")},
    **{f"longformer_{n}": Row("LongformerModel", words(n), LONGFORMER) for n in (1024, 4096)},
    "led_4096": labelled("LEDForConditionalGeneration", LED, input_ids="words batch=1 length=4096"),
    "rotary_1024": Row("RotaryInterleaved", {"x": "noise batch=1 8 time=1024 64", **TURNED}),
    "strided_256": Row("InverseWavelet", {"bands": "noise batch=1 64 height=128 width=128"}),
    "bayer_1080": Row("Bayer", {"image": "image batch=1 3 height=1080 width=1920"}),
    "cameras_1080": Row("Cameras", {"image": "image 6 3 height=1080 width=1920"}),
    **{f"chain_{n}": Row("Chain", CHAINED, {"writes": n}) for n in (10, 100, 300, 1000)},
    "swin_tiny": free("swin_tiny_patch4_window7_224", 224),
    "swin_base": free("swin_base_patch4_window7_224", 224),
    "swinv2_tiny": free("swinv2_tiny_window8_256", 256),
    "swinv2_cr_tiny": free("swinv2_cr_tiny_224", 224),
    "s3_tiny": free("swin_s3_tiny_224", 224),
    "volo_d1": Row("timm:volo_d1_224", image("224 224")),
    "bigbird_4096": Row("BigBirdModel", words(4096), stack(12, 768, 3072, 12, 50358)),
    "rwkv_169m": Row("RwkvModel", TOKENS, RWKV),
    "xlstm_7b": Row("xLSTMModel", TOKENS, XLSTM, tied="blocks"),
    "t5_base": labelled("T5ForConditionalGeneration", T5),
    "bart_base": labelled("BartForConditionalGeneration", pairs(6, 6, 768, 12, vocab_size=50265)),
    "marian": labelled("MarianMTModel", pairs(6, 6, 512, 8, **MARIAN)),
    "whisper_small": labelled("WhisperForConditionalGeneration",
        pairs(12, 12, 768, 12, vocab_size=51865), input_features="noise batch=1 80 3000"),
    "pegasus_x_base": labelled("PegasusXForConditionalGeneration",
        pairs(12, 12, 768, 12, vocab_size=96103), input_ids="words batch=1 length=4096"),
    "speech_to_text_small": labelled("Speech2TextForConditionalGeneration",
        pairs(12, 6, 256, 4, vocab_size=10000), **SOUND),
    "wav2vec2_base": speech("Wav2Vec2Model"),
    "hubert_base": speech("HubertModel"),
    "wavlm_base": speech("WavLMModel"),
    "vits": Row("VitsModel", words(100), {"vocab_size": 38, "hidden_size": 192, **QUIET}),
    "rt_detr_r50": Row("RTDetrForObjectDetection", image("640 640"), {"num_queries": 300}, BOXES),
    "d_fine_l": Row("DFineForObjectDetection", image("640 640"), {"num_queries": 300}, BOXES),
    "detr_r50": detector("Detr", "stage4"),
    "conditional_detr_r50": detector("ConditionalDetr", "stage4"),
    "deformable_detr_r50": detector("DeformableDetr", "stage2,stage3,stage4"),
    "sam_vit_base": Row("SamModel", {**image("1024 1024"), "input_points": "noise batch=1 1 2 2"},
        result="pred_masks"),
    "mask2former_swin_tiny": Row("Mask2FormerForUniversalSegmentation",
        image("height=512 width=512"), result="masks_queries_logits"),
    "tapas_base": Row("TapasModel", words(512, token_type_ids="bits batch=1 length=512 7"),
        stack(12, 768, 3072, 12, 30522)),
    "vit_mae_base": Row("ViTMAEModel", image("224 224"), {"hidden_size": 768, "mask_ratio": 0.75}),
    "groupvit": Row("GroupViTModel", {**image("224 224"), "input_ids": "words 1 77",
        "attention_mask": "ones 1 77"}, result="logits_per_image"),
    "granite_moe_1b": Row("GraniteMoeModel", words(128), GRANITE, tied="layers"),
    "olmoe_7b": Row("OlmoeModel", words(128), OLMOE, tied="layers"),
    "qwen_moe_14b": Row("Qwen2MoeModel", words(128), QWEN_MOE, tied="layers"),
    "smollm2_360m_caches": Row("LlamaModel", {"cache": "steps 1 5 2048 64"},
        stack(32, 960, 2560, 15, 49152, num_key_value_heads=5), tied="layers"),
    "qwen2_500m_caches": Row("Qwen2Model", {"cache": "steps 1 2 2048 64"},
        stack(24, 896, 4864, 14, 151936, num_key_value_heads=2), tied="layers"),
    **{name: Row("model_sources") for name in (
        "yolox_640", "yolox_1280", "pose_640", "pose_1280", "cache_step", "prefill", "rotary",
        "swin_mask", "pillars", "experts", "masked_pooling", "segment_sums", "decoder",
        "letterbox_4k")},
}
# fmt: on
