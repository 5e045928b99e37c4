"""The rows of ``benchmarks/gallery.py``: models that people name, at published configurations.

A row of ``benchmarks/real_rows.py`` is taken by its name, or it is written here in the same form.
Each has a title, the exporter, and the thread where somebody names the model, if one is known.
The smallest models come first, so that a run that is interrupted has many rows. No torch is needed
here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from real_rows import ROWS, Row, image, labelled, pairs, stack


@dataclass(frozen=True)
class Shown:
    """A model of the gallery; ``row`` is a row of its own, else that of the same name is taken."""

    title: str
    how: str = "dynamo"
    thread: str = ""
    row: Row | None = field(default=None)
    promises: tuple[str, ...] = ()
    """What is assumed of the inputs for each target: shown in the row."""
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What is assumed for the profile of one compiler, too: shown in the row."""
    fixed: Mapping[str, int] = field(default_factory=dict)
    """The sizes of the inputs that are fixed for each compiler: shown in the row."""

    @property
    def options(self) -> list[str]:
        """Return the options for a compiler's profile, as the command has them."""
        sizes = [f"--fix {name}={size}" for name, size in self.fixed.items()]
        return [*sizes, *(f"--assume '{promise}'" for promise in self.promises)]

    def assumed(self, compiler: str) -> tuple[str, ...]:
        """Return what is assumed for a compiler's profile, or for another target."""
        return (*self.promises, *self.more.get(compiler, ()))

    @property
    def for_one(self) -> list[str]:
        """Return the options for the profile of one compiler alone, as a row shows them."""
        return [
            f"for {compiler} `--assume '{promise}'`"
            for compiler, promises in self.more.items()
            for promise in promises
        ]

    def built_from(self, name: str) -> Row:
        """Return the row that is exported."""
        return self.row or ROWS[name]


def pose(name: str) -> Row:
    """Return a model of ultralytics with 17 keypoints."""
    return Row(f"ultralytics:{name}", {"x": "image batch=1 3 640 640"})


MBART = pairs(12, 12, 1024, 16, vocab_size=250027)
TALK = pairs(8, 8, 512, 16, vocab_size=54944)
CODE = pairs(6, 6, 768, 12, vocab_size=50005)
NLLB = pairs(12, 12, 1024, 16, vocab_size=128112)
TINYLLAMA = stack(22, 2048, 5632, 32, 32000, num_key_value_heads=4)
PHI = stack(32, 2560, 10240, 32, 51200, partial_rotary_factor=0.4)

TOKENS = "input_ids: nonnegative"
LABELS = ("labels: nonnegative",)  # a caller who wants no loss has no label of -100
TEXTS = (*LABELS, TOKENS)  # a token is a row of a table, not one from its end
WHOLE_TEXTS = ("labels >= 2", TOKENS)  # 0 and 1 begin and pad a text
STEP = ("tokens: nonnegative", "0 <= at < 2048")  # a caller counts positions from the start
STEPS = dict.fromkeys(("ncnn", "qnn", "rknn"), STEP)
WHOLE = "attention_mask == 1"  # nothing is padded, as in a batch of one
LONG = {"batch": 1, "length": 4096}

# fmt: off
GALLERY: dict[str, Shown] = {
    "yolov8n_pose": Shown("YOLOv8 pose, nano, 640 x 640", "ts", "ultralytics/ultralytics#8443",
        pose("yolov8n-pose.yaml")),
    "yolo11s_pose": Shown("YOLO11 pose, small, 640 x 640", "dynamo",
        "ultralytics/ultralytics#23236", pose("yolo11s-pose.yaml")),
    "rt_detr_r50": Shown("RT-DETR, ResNet-50, 640 x 640", "dynamo", "Tencent/ncnn#5817"),
    "deformable_detr_r50": Shown("Deformable DETR, ResNet-50, 800 x 1066", "dynamo",
        "huggingface/transformers#22330"),
    "conditional_detr_r50": Shown("Conditional DETR, ResNet-50, 800 x 1066"),
    "swin_tiny": Shown("Swin, tiny, 224 x 224", "ts", "microsoft/onnxruntime#21968"),
    "swinv2_tiny": Shown("Swin v2, tiny, 256 x 256", "ts", "huggingface/transformers#19780"),
    "swin_base": Shown("Swin, base, 224 x 224", "ts"),
    "mvitv2_tiny": Shown("MViTv2, tiny, 224 x 224", "ts", "pytorch/vision#7003"),
    "mvitv2_base": Shown("MViTv2, base, 224 x 224", "ts"),
    "oneformer_swin_tiny": Shown("OneFormer, Swin tiny, 512 x 512", "ts",
        "microsoft/onnxruntime#20297", Row("OneFormerForUniversalSegmentation",
        {**image("512 512"), "task_inputs": "noise 1 77"}, {"num_queries": 150},
        "masks_queries_logits")),
    "efficient_loftr": Shown("Efficient LoFTR, 480 x 640", "dynamo", "Tencent/ncnn#4219", Row(
        "EfficientLoFTRForKeypointMatching", {"pixel_values": "image batch=1 2 3 480 640"},
        {"hidden_size": 256}, "matching_scores")),
    "groupvit": Shown("GroupViT, 224 x 224", more={"ncnn": (TOKENS, WHOLE)}),
    "tapas_base": Shown("TAPAS, base, 512 tokens", "dynamo", "pytorch/pytorch#73388",
        more={"ncnn": (TOKENS, "token_type_ids: nonnegative")}),
    "speech_to_text_small": Shown("Speech2Text, small, 10 s", promises=LABELS,
        more={"ncnn": ("labels >= 2", WHOLE)}),
    "wav2vec2_base": Shown("Wav2Vec2, base, 10 s", "dynamo", "huggingface/transformers#16004"),
    "hubert_base": Shown("HuBERT, base, 10 s"),
    "wavlm_base": Shown("WavLM, base, 10 s"),
    "conformer_large": Shown("Wav2Vec2-Conformer, large, 10 s", row=Row("Wav2Vec2ConformerModel",
        {"input_values": "noise batch=1 160000", "mask_time_indices": "mask batch=1 499"},
        stack(24, 1024, 4096, 16, 32, position_embeddings_type="relative"))),
    "vits": Shown("VITS, 100 characters", "ts", "LlmKira/VitsServer#14"),
    "marian": Shown("Marian, 512 tokens", promises=TEXTS),
    "blenderbot_small": Shown("BlenderBot, 90 M, 512 tokens", promises=TEXTS,
        row=labelled("BlenderbotSmallForConditionalGeneration", TALK)),
    "bart_base": Shown("BART, base, 512 tokens", promises=TEXTS),
    "plbart_base": Shown("PLBART, base, 512 tokens",
        promises=WHOLE_TEXTS, row=labelled("PLBartForConditionalGeneration", CODE)),
    "t5_base": Shown("T5, base, 512 tokens", "dynamo", "huggingface/optimum#1092",
        promises=TEXTS),
    "mbart_large": Shown("mBART, large, 512 tokens", "dynamo", "tenstorrent/tt-xla#911",
        labelled("MBartForConditionalGeneration", MBART), WHOLE_TEXTS),
    "nllb_418m": Shown("M2M-100, 418 M, 512 tokens",
        promises=TEXTS, row=labelled("M2M100ForConditionalGeneration", NLLB)),
    "whisper_small": Shown("Whisper, small, 30 s", promises=LABELS),
    "sam_vit_base": Shown("Segment Anything, ViT-B, 1024 x 1024", "dynamo",
        "huggingface/transformers#22915"),
    "sam2_hiera_tiny": Shown("Segment Anything 2, Hiera tiny, 1024 x 1024", "dynamo",
        "facebookresearch/sam2#702", Row("Sam2Model",
        {**image("1024 1024"), "input_points": "noise batch=1 1 1 2",
         "input_labels": "ones batch=1 1 1"}, {"initializer_range": 0.02}, "pred_masks"),
        more={"ncnn": ("input_labels: nonnegative",)}),
    "smollm2_360m_caches": Shown("SmolLM2, 360 M, a step with caches of 2048", "dynamo",
        "pytorch/pytorch#155862", more=STEPS),
    "qwen2_500m_caches": Shown("Qwen2, 0.5 B, a step with caches of 2048", "dynamo",
        "tracel-ai/burn#3412", more=STEPS),
    "tinyllama_caches": Shown("TinyLlama, 1.1 B, a step with caches of 2048", row=Row("LlamaModel",
        {"cache": "steps 1 4 2048 64"}, TINYLLAMA, tied="layers"), more=STEPS),
    "phi_2_caches": Shown("Phi 2, 2.7 B, a step with caches of 2048", "dynamo",
        "tenstorrent/tt-forge-onnx#1924", Row("PhiModel", {"cache": "steps 1 32 2048 80"}, PHI,
        tied="layers"), more=STEPS),
    "pegasus_x_base": Shown("PEGASUS-X, base, 4096 tokens", promises=TEXTS),
    "longformer_4096": Shown("Longformer, 4096 tokens", "ts_dynamic",
        "huggingface/transformers#12385", fixed=LONG),
    "led_4096": Shown("LED, 4096 tokens", "ts_dynamic", promises=TEXTS,
        fixed=LONG | {"heard": 64}),
    "rwkv_169m": Shown("RWKV, 169 M, 128 tokens", "ts", more={"ncnn": (TOKENS,)}),
}
# fmt: on

FOLDED = "with fixed sizes the TorchScript exporter folds its masks, and no scatter is left"
LEFT_OUT = {
    ("RF-DETR", "roboflow/rf-detr#1155"): "the dynamo exporter writes no scatter",
    ("Mask2Former", "huggingface/optimum#1063"): FOLDED,
    ("MaskFormer", "open-mmlab/mmdetection#7343"): FOLDED,
    ("RT-DETR v2", ""): "the dynamo exporter does not export it",
    ("DeepSeek V3", "iree-org/iree#20968"): "the experts of one layer have 45 GB of weights",
    ("CenterPoint", "CarkusL/CenterPoint#1"): "its package needs a compiler of CUDA",
    ("BEVFormer", "DerryHub/BEVFormer_tensorrt#59"): "its package needs a compiler of CUDA",
    ("Faster R-CNN", "microsoft/onnxruntime#17434"): "its package needs operators of torchvision",
}
"""The models without a row: title, thread, and the reason."""
