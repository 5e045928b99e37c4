"""Forms that avoid a fault of a compiler: each at its pattern alone, with the same bits.

Come here for what is written in place of nodes that a compiler takes and then mistakes, and for the
operators of its pattern. Each form writes by a function of a candidate, which says whether it wrote
anything. Not for nodes that a target refuses (``engine.write.forms``), nor for which compiler has
which fault (``targets``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.fitting.faults import (
    angles,
    attentions,
    chains,
    channels,
    constants,
    convs,
    cuts,
    divisions,
    equal_sizes,
    functions,
    gathers,
    images,
    lines,
    masks,
    names,
    norms,
    outputs,
    picked,
    powers,
    products,
    rotations,
    scatters,
    sizes,
    slices,
    sums,
    transposes,
    unrolled,
    vectors,
)
from onnx_scatterx.fitting.faults.candidate import Candidate as Candidate
from onnx_scatterx.graphs import Inventory, is_operator, made_by


class Form(NamedTuple):
    """A form: how it is written, and without which operators there is nothing to write.

    A candidate is one of the operators ``at``, or any if there are none; all those ``beside`` it
    are in the model, too. It ``fits`` if what stands around it may be the pattern: this is asked
    before the model is read.
    """

    write: Callable[[Candidate], bool]
    at: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    fits: Callable[[ir.Node], bool] = lambda _: True

    def is_at(self, node: ir.Node) -> bool:
        """Return whether a node is one of its operators."""
        return not self.at or is_operator(node, self.at)

    def may_be_in(self, held: Inventory) -> bool:
        """Return whether a model may have the pattern."""
        nodes = held.of(*self.at) if self.at else held.nodes
        return all(map(held.has, self.beside)) and any(map(self.fits, nodes))


def reads(node: ir.Node, op_type: str) -> bool:
    """Return whether an operator makes the first input of a node."""
    return made_by(node.inputs[0] if node.inputs else None, op_type) is not None


FORMS: Mapping[str, Form] = {
    "elements_of_gathers": Form(gathers.elements_of_gathers, ("Gather", "GatherND")),
    "gather_as_rows": Form(channels.gather_as_rows, ("Gather",)),
    "leaky_relu_of_groups": Form(
        picked.leaky_relu_of_groups, picked.OPERATORS, fits=picked.has_groups
    ),
    "shapes_of_scatters": Form(scatters.shapes_of_scatters, ("ScatterND",)),
    "relu_behind_softmax": Form(
        attentions.relu_behind_softmax, ("MatMul", "Einsum"), beside=("Softmax",)
    ),
    "relu_of_one_query": Form(
        attentions.relu_of_one_query, ("MatMul",), fits=lambda node: reads(node, "Softmax")
    ),
    "relu_of_many_images": Form(
        attentions.relu_of_many_images, ("MatMul",), fits=lambda node: reads(node, "Softmax")
    ),
    "slice_before_reshape": Form(cuts.slice_before_reshape, ("Reshape",), beside=("Conv",)),
    "rows_of_products": Form(products.rows_of_products, ("Reshape",), beside=("MatMul",)),
    "merged_with_constants": Form(sums.merged_with_constants, ("Add", "Sub", "Mul", "Div")),
    "sum_for_difference": Form(chains.sum_for_difference, ("Sub",)),
    "apart_from_constant": Form(chains.apart_from_constant, ("Add", "Sub", "Mul", "Div")),
    "split_before_slice": Form(slices.split_before_slice, ("Slice",)),
    "slices_without_steps": Form(cuts.slices_without_steps, ("Concat",), beside=("Slice",)),
    "slices_of_gathers": Form(unrolled.slices_of_gathers, ("Gather",)),
    "one_division": Form(unrolled.one_division, ("Concat",), beside=("Div",)),
    "expand_for_and": Form(masks.expand_for_and, ("And",)),
    "weight_behind_norm": Form(norms.weight_behind_norm, ("Mul",), fits=norms.reads_norm),
    "scale_as_vector": Form(
        attentions.scale_as_vector, ("Softmax",), fits=lambda node: reads(node, "Mul")
    ),
    "images_as_channels": Form(convs.images_as_channels, ("Conv",), fits=convs.has_blocks),
    "norm_of_images": Form(images.norm_of_images, ("BatchNormalization", "InstanceNormalization")),
    "one_axis_in_front": Form(equal_sizes.one_axis_in_front, ("Reshape", "Transpose")),
    "transpose_of_equal_sizes": Form(transposes.transpose_of_equal_sizes, ("Transpose",)),
    "turned_rotation": Form(rotations.turned_rotation, ("Add",), beside=("Mul", "Concat", "Neg")),
    "no_idle_output": Form(
        outputs.no_idle_output, ("Reshape",), fits=lambda node: node.outputs[0].is_graph_output()
    ),
    "stored_constants": Form(constants.stored_constants, ("Constant",)),
    "few_channels": Form(convs.few_channels, ("Conv",), fits=convs.has_steps),
    "short_lines": Form(lines.short_lines, ("Conv",), fits=lines.has_odd_step),
    "square_of_sine": Form(powers.square_of_sine, ("Pow",), fits=lambda node: reads(node, "Sin")),
    "apart_from_conv": Form(
        functions.apart_from_conv, functions.OF_CONV, fits=functions.may_be_function
    ),
    "apart_from_matmul": Form(
        functions.apart_from_matmul, functions.OF_MATMUL, fits=functions.may_be_function
    ),
    "many_divisors": Form(divisions.many_divisors, ("Div",), fits=divisions.is_of_integers),
    "table_of_angles": Form(angles.table_of_angles, angles.OPERATORS),
    "limit_as_size": Form(sizes.limit_as_size, ("Cast",), beside=("Range", "Shape")),
    "flat_indices": Form(
        vectors.flat_indices, ("Gather",), fits=lambda node: reads(node, "Reshape")
    ),
    "forget_names": Form(names.forget_names),
    "short_names": Form(names.short_names),
    "many_scales": Form(attentions.many_scales, ("Mul", "Div"), beside=("MatMul", "Softmax")),
}
"""The forms, by the names that profiles use, in the order in which they are tried at a node."""
