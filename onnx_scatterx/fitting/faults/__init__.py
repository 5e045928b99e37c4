"""Forms that avoid a fault of a compiler: each at its pattern alone, with the same bits.

Come here for what is written in place of nodes that a compiler takes and then mistakes. Each form
is a function of a candidate, which says whether it wrote anything. Not for nodes that a target
refuses (``engine.write.forms``), nor for which compiler has which fault (``targets``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from onnx_scatterx.fitting.faults import (
    attentions,
    constants,
    convs,
    cuts,
    gathers,
    images,
    masks,
    names,
    norms,
    outputs,
    powers,
    products,
    rotations,
    scatters,
    sizes,
    sums,
    transposes,
)
from onnx_scatterx.fitting.faults.candidate import Candidate as Candidate

FORMS: Mapping[str, Callable[[Candidate], bool]] = {
    "elements_of_gathers": gathers.elements_of_gathers,
    "shapes_of_scatters": scatters.shapes_of_scatters,
    "relu_behind_softmax": attentions.relu_behind_softmax,
    "relu_of_one_query": attentions.relu_of_one_query,
    "slice_before_reshape": cuts.slice_before_reshape,
    "rows_of_products": products.rows_of_products,
    "merged_with_constants": sums.merged_with_constants,
    "slices_without_steps": cuts.slices_without_steps,
    "expand_for_and": masks.expand_for_and,
    "weight_behind_norm": norms.weight_behind_norm,
    "scale_as_vector": attentions.scale_as_vector,
    "images_as_channels": convs.images_as_channels,
    "norm_of_images": images.norm_of_images,
    "transpose_of_equal_sizes": transposes.transpose_of_equal_sizes,
    "turned_rotation": rotations.turned_rotation,
    "no_idle_output": outputs.no_idle_output,
    "stored_constants": constants.stored_constants,
    "few_channels": convs.few_channels,
    "square_of_sine": powers.square_of_sine,
    "limit_as_size": sizes.limit_as_size,
    "forget_names": names.forget_names,
    "many_scales": attentions.many_scales,
}
"""The forms, by the names that profiles use, in the order in which they are tried at a node."""
