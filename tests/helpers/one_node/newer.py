"""Operators that came with operator set 26 or later, those of strings, and of optional values.

The weights, states and heads of a layer do not always fit each other: ONNX Runtime runs what ONNX
defines these layers by, and that may broadcast.
"""

from typing import Any

import numpy as np
import onnx
from onnx.inliner import inline_selected_functions

from tests.helpers.one_node.source import WRAPPING, Draws, OneNode

LACKING = (
    "SwiGLU",
    "Swish",
)  # no kernel of ONNX Runtime is for this operator, or what it is made of


def by_definition(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model with definitions in the place of operators that ONNX Runtime does not have."""
    if not any(node.op_type in LACKING[:1] for node in model.graph.node):
        return model
    for op in LACKING:
        model = inline_selected_functions(model, [("", op)], inline_schema_functions=True)
    return model


AS_WIDE = {
    "float32": (1, 6, 12),
    "int64": (7, 11, 13),
    "int32": (1, 6, 12),
    "uint8": (2, 3, 9),
    "float16": (4, 5, 10),
}
"""The numbers of the types that are as wide as a type."""


def bit_cast(d: Draws) -> OneNode:
    dtype = d.pick(*AS_WIDE)
    to = d.pick(*AS_WIDE[dtype]) if d.flag(0.9) else d.pick(1, 7, 3)
    return OneNode([d.any(d.shape(), dtype)], {"to": to})


def swiglu(d: Draws) -> OneNode:
    shape = d.shape()
    other = shape if d.flag(0.6) else d.beside(shape)
    pair = [d.floats(shape), d.floats(other)]
    d.rng.shuffle(pair)
    return OneNode([*pair], {"alpha": d.pick(1.0, 1.5)})


def causal_convolution(d: Draws) -> OneNode:
    b, c, n, k = d.extent(), d.some(), d.extent(), d.some()
    if d.flag(0.1):
        n, c = d.pick(0, 1, 5), d.pick(1, 4)
    near = [m if d.flag(0.8) else d.pick(0, 1, 2) for m in (b, c, n, c, k - 1, k)]
    x, weight = d.floats([b, c, n]), d.floats([near[3], d.pick(1, 1, 1, 2), k])
    bias = d.floats([near[1]]) if d.flag() else None
    past = d.floats([near[0], c, near[4]]) if d.flag() else None
    attributes = {"activation": d.pick("none", "silu", "swish")} if d.flag() else {}
    return OneNode([x, weight, bias, past], attributes, 2)


def linear_attention(d: Draws) -> OneNode:
    b, t, heads, wide, tall = d.some(), d.some(), d.some(), d.some(), d.some()
    queries = heads * d.pick(1, 1, 2)
    rule = d.pick("linear", "gated", "delta", "gated_delta")
    near = [n if d.flag(0.9) else d.pick(1, 2) for n in (b, t, heads * tall, t, b, heads, wide)]
    inputs: list[np.ndarray | None] = [
        d.floats([b, t, queries * wide]),
        d.floats([b, near[1], heads * wide]),
        d.floats([near[0], near[3], near[2]]),
        d.floats([*near[4:], tall]) if d.flag() else None,
        d.floats([b, t, heads * d.pick(1, wide)]) if "gated" in rule else None,
        d.floats([b, t, d.pick(1, heads)]) if "delta" in rule else None,
    ]
    attributes: dict[str, Any] = {"q_num_heads": queries, "kv_num_heads": heads}
    return OneNode(inputs, attributes | {"update_rule": rule}, 2)


def _strings(d: Draws, shape: list[int]) -> np.ndarray:
    words = [d.pick("", "a", "b a", "a,b", "A b c") for _ in range(int(np.prod(shape, dtype=int)))]
    return np.array(words, object).reshape(shape)


def full_match(d: Draws) -> OneNode:
    return OneNode([_strings(d, d.shape())], {"pattern": "a.*"})


def split_strings(d: Draws) -> OneNode:
    attributes: dict[str, Any] = {"delimiter": d.pick(",", " ", "")} if d.flag() else {}
    if d.flag():
        attributes["maxsplit"] = d.pick(0, 1, 2)
    return OneNode([_strings(d, d.shape())], attributes, 2)


def normalize_strings(d: Draws) -> OneNode:
    cases = d.pick("LOWER", "UPPER", "NONE")
    attributes: dict[str, Any] = {"case_change_action": cases, "locale": "C"}
    if d.flag():
        attributes |= {"stopwords": ["a", "b a", "A b c"], "is_case_sensitive": d.pick(0, 1)}
    shape = d.pick([d.some()], [1, d.some()], [d.extent()], [d.extent(), 2], [])
    return OneNode([_strings(d, shape)], attributes)


def tf_idf(d: Draws) -> OneNode:
    attributes: dict[str, Any] = {
        "mode": d.pick("TF", "IDF", "TFIDF"),
        "min_gram_length": 1,
        "max_gram_length": 2,
        "max_skip_count": d.pick(0, 1),
        "ngram_counts": [0, 2],
        "ngram_indexes": d.pick([0, 1, 2], [4, 0, 2]),
    }
    shape = d.pick([d.extent()], [d.extent(), d.extent()], [1, 2, d.extent()], [])
    if d.flag():
        attributes["pool_strings"] = ["a", "b a", "a", "a,b"]
        return OneNode([_strings(d, shape)], attributes)
    attributes["pool_int64s"] = [1, 2, 1, 3]
    return OneNode([d.ints(shape, 0, 3, d.pick(*WRAPPING))], attributes)


def has_element(d: Draws) -> OneNode:
    return OneNode([d.data()] if d.flag(0.9) else [])


def get_element(d: Draws) -> OneNode:
    return OneNode([d.data()])
