"""Faults of a compiler that another form of the same nodes avoids."""

from __future__ import annotations

from typing import NamedTuple

FORMS = {
    "apart_from_constant": "a maximum between two sums or products with constants",
    "apart_from_conv": "a maximum between a Conv and a Tanh or Gelu of it",
    "apart_from_matmul": "a maximum between a long product of matrices and a function of it",
    "few_channels": "parts of a depthwise Conv of 3 x 3 elements with steps of 4",
    "flat_indices": "flat indices of a vector that a Reshape makes, not of several dims",
    "forget_names": "no names of sizes inside of the model",
    "images_as_channels": "images as channels in a depthwise Conv, if a Reshape makes them",
    "norm_of_images": "norms of images as one image, or as Mul and Add, if a Reshape makes them",
    "no_idle_output": "no Reshape that changes no shape as an output of the model",
    "limit_as_size": "the limit of a Range in place of a size that is cast to float",
    "many_divisors": "many equal numbers in place of the power of two that divides integers",
    "many_scales": "many equal numbers in place of one that scales an attention",
    "elements_of_gathers": "GatherElements in place of all Gathers of one tensor but one",
    "gather_as_rows": "a Gather of many floats at constants along the third axis",
    "leaky_relu_of_groups": "a LeakyRelu behind a Conv of groups whose channels are picked",
    "one_axis_in_front": "an axis in front of a tensor that is reshaped, if the others are as long",
    "one_division": "one Div of joined numbers in place of many that a Concat joins",
    "relu_behind_softmax": "a Relu behind the Softmax of some attentions",
    "rows_of_products": "the rows of a product as one axis, if its sum with a bias is reshaped",
    "merged_with_constants": "fewer dims of a sum or product with a constant",
    "relu_of_one_query": "a Relu behind the Softmax of an attention, if its query is a matrix",
    "relu_of_many_images": "a Relu behind the Softmax of an attention of several images",
    "expand_for_and": "an Expand in place of an And with a mask of which all is true",
    "scale_as_vector": "the scale in front of a Softmax of another axis than the last as a vector",
    "shapes_of_scatters": "another shape of the data of all ScatterNDs into one tensor but one",
    "short_lines": "parts of a Conv along one long axis, if its step is not a power of two",
    "short_names": "short names of the values of a model of many nodes",
    "slice_before_reshape": "Slices in front of a Reshape of a Conv, not behind it",
    "slices_of_gathers": "Slices in place of many Gathers of one tensor, each at one position",
    "slices_without_steps": "two Slices that a Concat joins without steps of 1",
    "split_before_slice": "a Split in front of a Slice of more axes than another of the tensor",
    "square_of_sine": "the product of a sine with itself, in place of its square",
    "stored_constants": "an initializer for a Constant of integers, or in a product that is cast",
    "table_of_angles": "rows of a table in place of sines and cosines of a position of the run",
    "sum_for_difference": "the sum with a negative constant, if a constant is subtracted from it",
    "transpose_of_equal_sizes": "the first axis of a Transpose in place, if two axes are as long",
    "turned_rotation": "the products of a rotary embedding in another order",
    "weight_behind_norm": "the weight of a norm as the second factor, any other factor hidden",
}
"""The forms that avoid a fault, and what they write: the same numbers."""


class Fault(NamedTuple):
    """A fault of one version of a compiler.

    ``form`` is what is written at the pattern. ``switch`` is the compiler's own option that turns
    the faulty part off, if it has one.
    """

    form: str
    version: str
    switch: str = ""

    def __str__(self) -> str:
        return f"{FORMS[self.form]} (a fault of {self.version})"
