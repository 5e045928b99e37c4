"""A profile for a device that is not listed: a file with comments, which its user completes."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.engine.analysis import interpret
from onnx_scatterx.graphs import all_nodes, called_function, is_scatterx_domain
from onnx_scatterx.targets import check_profile

_TEXT = """\
# What {name} takes: use it as `--target {name}.toml`.
name = {quoted}
onnxruntime = false        # its compiler reads the file; true: ONNX Runtime does, and calls it
{numbers}
operators = [  # Constant is what a model stores; remove it if the compiler does not take it
{operators}
]

# Uses of an operator that it does not take have a table each, for example:
# [limits.Slice]
# steps = false              # no step other than 1
# [limits.Pad]
# no_types = ["int64"]       # no such elements
# An editor completes all keys by the schema that `onnx-scatterx targets --schema` prints.
"""
_NUMBERS = {
    "static_only": ("true", "all sizes must be numbers"),
    "max_rank": ("5", "the most dims of a tensor"),
    "max_opset": ("19", "the newest operator set that it reads"),
    "no_types": ('["double"]', "element types that it lacks; or types = [...]: only these"),
}


_ASKED = {
    "static_only": "static_only (all sizes must be numbers)",
    "max_rank": "max_rank",
    "max_opset": "max_opset",
}


def not_stated(profile: str) -> str:
    """Return the keys that a drafted profile leaves open, in a line; empty if none.

    >>> not_stated(new_profile("npu", ["Add"], fixed_sizes=True))
    'max_rank, max_opset'
    """
    return ", ".join(asked for key, asked in _ASKED.items() if f"\n{key} = " not in profile)


def lacks_constant(operators: Sequence[str], like: ir.Model | None) -> bool:
    """Return whether neither the operators nor the model have Constant, which a profile gets."""
    nodes = () if like is None else all_nodes(like)
    return "Constant" not in {*operators, *(node.op_type for node in nodes)}


def new_profile(
    name: str,
    operators: Sequence[str] = (),
    like: ir.Model | None = None,
    *,
    fixed_sizes: bool = False,
) -> str:
    """Return the text of a profile: of these operators, and of all that a compiled model has.

    The model also says the operator set, the most dims, and whether all sizes are numbers. With
    ``fixed_sizes``, the compiler takes no other sizes. What is not known is a comment. Constant is
    added: it computes nothing, so most lists lack it. Raises ScatterXError if there is no such
    operator.

    >>> print(new_profile("npu", ["Concat", "Add"]).split("# Uses")[0])
    # What npu takes: use it as `--target npu.toml`.
    name = "npu"
    onnxruntime = false        # its compiler reads the file; true: ONNX Runtime does, and calls it
    # static_only = true         # all sizes must be numbers
    # max_rank = 5               # the most dims of a tensor
    # max_opset = 19             # the newest operator set that it reads
    # no_types = ["double"]      # element types that it lacks; or types = [...]: only these
    operators = [  # Constant is what a model stores; remove it if the compiler does not take it
        "Add", "Concat", "Constant",
    ]
    <BLANKLINE>
    """
    known = {} if like is None else _of_model(like)
    if fixed_sizes:
        known["static_only"] = "true"
    names = sorted({"Constant", *operators, *(known.pop("operators", "").split())})
    check_profile({"name": name, "operators": names})
    numbers = []
    for key, (usual, what) in _NUMBERS.items():
        sign, value = ("", known[key]) if key in known else ("# ", usual)
        numbers.append(f"{f'{sign}{key} = {value}':<29}# {what}")
    listed = textwrap.fill(", ".join(f'"{each}"' for each in names) + ",", 96)
    return _TEXT.format(
        name=name,
        quoted=json.dumps(name),
        numbers="\n".join(numbers),
        operators=textwrap.indent(listed, "    "),
    )


def _of_model(model: ir.Model) -> dict[str, str]:
    """Return the keys of a profile that takes a model, as texts."""
    calls = [node for node in all_nodes(model) if called_function(model, node) is None]
    names = {
        node.op_type if not node.domain else f"{node.domain}.{node.op_type}"
        for node in calls
        if not is_scatterx_domain(node.domain)
    }
    values = interpret(model).values.values()
    shapes = [value.shape for value in values if value.shape is not None]
    is_static = len(shapes) == len(values) and all(
        s.constant is not None for t in shapes for s in t
    )
    keys = {
        "operators": " ".join(names),
        "max_rank": str(max((len(shape) for shape in shapes), default=1) or 1),
        "max_opset": str(model.opset_imports.get("", 0)),
    }
    return keys | ({"static_only": "true"} if is_static else {})
