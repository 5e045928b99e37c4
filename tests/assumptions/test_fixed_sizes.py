"""Sizes that a user fixes: names are found, and a contradiction is an error of one line."""

import onnx_ir as ir
import pytest

from onnx_scatterx.assumptions.clauses import at_sizes, read_clauses
from onnx_scatterx.assumptions.fixed_sizes import (
    Fix,
    FixedSizes,
    fix_template,
    places_of,
    sizes_of,
)
from onnx_scatterx.errors import ScatterXError


def model(**inputs: list[int | str | None] | None) -> ir.Model:
    """Make a model of these inputs, one after the other."""
    values = [
        ir.Value(
            name=name.replace("_", "."),
            type=ir.TensorType(ir.DataType.FLOAT),
            shape=None if dims is None else ir.Shape(dims),
        )
        for name, dims in inputs.items()
    ]
    return ir.Model(ir.Graph(values, [], nodes=[], opset_imports={"": 18}), ir_version=8)


IMAGES = model(x=["batch", 3, "height", "width"], mask=["batch", "height*width"], k=[None, -1])


def shapes(given: ir.Model, fix: Fix, **options: bool) -> dict[str, list[int | None]]:
    return {n: list(s) for n, s in FixedSizes.of(given, fix, **options).shapes.items()}


def test_every_dim_of_a_name() -> None:
    assert shapes(IMAGES, {"batch": 2}) == {"x": [2, None, None, None], "mask": [2, None]}
    assert shapes(IMAGES, {"height": 4, "width": 5})["mask"] == [None, 20]
    assert shapes(IMAGES, {"height": 0, "width": 1}) == {"x": [None, None, 0, 1], "mask": [None, 0]}


def test_a_shape_fixes_its_names_everywhere() -> None:
    fixed = FixedSizes.of(IMAGES, {"x": [1, 3, 2, 4]})
    assert str(fixed) == "batch = 1, height = 2, width = 4"
    assert fixed.shapes == {"x": (1, 3, 2, 4), "mask": (1, 8)}
    assert shapes(IMAGES, {"x": (1, 3, 2, 4)}, distrust_dims=True) == {"x": [1, 3, 2, 4]}
    assert shapes(IMAGES, {"x": (1, 3, 2, 4), "mask": [7, 9]}, distrust_dims=True) == {
        "x": [1, 3, 2, 4],
        "mask": [7, 9],
    }


def test_dims_without_a_name() -> None:
    assert shapes(IMAGES, {"k[0]": 5}) == {"k": [5, None]}
    assert shapes(IMAGES, {"k": [5, 6]}) == {"k": [5, 6]}
    assert shapes(IMAGES, {"x[2]": 5, "width": 2})["mask"] == [None, 10]
    assert shapes(model(x=None), {"x": [2, 3]}) == {"x": [2, 3]}
    assert shapes(model(x=None), {"x": []}) == {}


def test_a_size_that_is_already_a_number_changes_nothing() -> None:
    assert shapes(model(x=[2, 3]), {"x": [2, 3]}) == {}
    assert shapes(IMAGES, None) == {}
    assert shapes(IMAGES, {}) == {}


ERRORS: dict[str, Fix] = {
    "the model has no size 'bacth'; did you mean 'batch'?": {"bacth": 1},
    "the model has no size 'q'; it has batch, height, width, height*width, k[0], k[1]": {"q": 1},
    "the model has no input 'masc'; did you mean 'mask'?": {"masc": [1, 2]},
    "the model has no input 'q'; it has x, mask, k": {"q": [1, 2]},
    "'x' is an input, not a size: --fix x:N,3,N,N": {"x": 4},
    "the input 'x' has 4 dims, and --fix x:1,2 has 2": {"x": [1, 2]},
    "the dim 1 of the input 'x' is 3: --fix x:1,4,2,2 contradicts": {"x": [1, 4, 2, 2]},
    "the size 'batch' is 2 by --fix batch=2 and 1 by --fix x:1,3,2,2": {
        "batch": 2,
        "x": [1, 3, 2, 2],
    },
    "the dim 1 of the input 'mask' is height*width, which is 6 and not 7": {
        "height": 2,
        "width": 3,
        "mask": [1, 7],
    },
    "the dim 2 of the input 'x' is fixed at 5: --fix x:1,3,2,2": {"x[2]": 5, "x": [1, 3, 2, 2]},
    "a size of 'batch' is -1, and must be from 0": {"batch": -1},
    "a size of 'batch' is 2147483648, and must be from 0 to 2147483647": {"batch": 2**31},
    "the size of 'batch' is a number or a list, not True": {"batch": True},
    "the size of 'batch' is a number or a list, not '4'": {"batch": "4"},  # type: ignore[dict-item]  # wrong on purpose
    "a size of 'x' is 1.5, and must be a whole number": {"x": [1, 3, 1.5, 2]},  # type: ignore[list-item]
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors(message: str) -> None:
    with pytest.raises(ScatterXError) as raised:
        FixedSizes.of(IMAGES, ERRORS[message])
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_a_dim_that_would_be_negative() -> None:
    with pytest.raises(ScatterXError, match="the dim 0 of the input 'x' would be -2"):
        FixedSizes.of(model(x=["n - 4"]), {"n": 2})


def test_an_initializer_that_is_an_input_keeps_its_size() -> None:
    given = model(w=["N"], x=["N"])
    value = given.graph.inputs[0]
    value.const_value = ir.tensor([1.0, 2.0, 3.0], name="w")
    given.graph.initializers.add(value)
    assert shapes(given, {"N": 3}) == {"w": [3], "x": [3]}
    with pytest.raises(ScatterXError, match="the dim 0 of 'w' cannot be 4: its initializer has 3"):
        FixedSizes.of(given, {"N": 4})


def test_a_model_of_numbers() -> None:
    with pytest.raises(ScatterXError, match="no size 'N'; all sizes of its inputs are numbers"):
        FixedSizes.of(model(x=[1, 2]), {"N": 1})


@pytest.mark.parametrize("sizes", [1, 12, 13])
def test_sizes_that_a_model_has_are_listed(sizes: int) -> None:
    names = [f"n{i}" for i in range(sizes)]
    with pytest.raises(ScatterXError) as raised:
        FixedSizes.of(model(x=[*names]), {"batch": 1})
    listed = ", ".join(names[:12]) + (", ..." if sizes > 12 else "")
    assert str(raised.value) == f"the model has no size 'batch'; it has {listed}"


def test_names_and_templates() -> None:
    assert sizes_of(IMAGES.graph.inputs) == [
        *("batch", "height", "width", "height*width", "k[0]", "k[1]")
    ]
    assert fix_template(IMAGES, {"batch": 4}) == (
        "--fix batch=4 --fix height=N --fix width=N --fix 'k[0]=N' --fix 'k[1]=N'"
    )
    assert fix_template(model(x=[1, 2])) == ""
    assert fix_template(model(x=None)) == "--fix x:N,N"
    assert fix_template(model(x=["a b", "it's"])) == """--fix 'a b=N' --fix 'it'"'"'s=N'"""


@pytest.mark.parametrize(
    "dim", ["f(x)", "True", "a if b else c", "not a", "a and b", "a ** b", "a == b", "1.5"]
)
def test_a_dim_that_is_no_expression_of_sizes_is_a_name(dim: str) -> None:
    given = model(x=[dim, dim])
    assert sizes_of(given.graph.inputs) == [dim]
    assert shapes(given, {dim: 3}) == {"x": [3, 3]}


@pytest.mark.parametrize("sizes", [12, 13, 14, 20])
def test_many_places_are_counted(sizes: int) -> None:
    """One more than are listed is listed, too: the words for it are as long."""
    names = [f"n{i}" for i in range(sizes)]
    told = places_of(model(x=[*names]), names)
    listed = 13 if sizes == 13 else 12
    places = ", ".join(f"n{i} = axis {i} of x" for i in range(listed))
    assert told == places + (f" and {sizes - listed} more" if sizes > listed else "")


def test_assumptions_at_fixed_sizes() -> None:
    fixed = FixedSizes({"n": 4}, {})
    said = read_clauses(["0 <= idx < n", "m <= 2*n", "n % 2 == 0", "nn < 3"])
    assert [str(c) for c in at_sizes(said, fixed)] == ["idx >= 0", "idx < 4", "m <= 2*4", "nn < 3"]
    with pytest.raises(ScatterXError, match="n >= 5 is assumed, and 'n' is fixed at 4"):
        at_sizes(read_clauses(["n >= 5"]), fixed)
    longer = ["idx < x.n", "m <= n-1", "idx: unique", "i < a n"]
    fixed = FixedSizes({"n": 4, "unique": 5, "a n": 6}, {})
    assert [str(c) for c in at_sizes(read_clauses(longer), fixed)] == [
        *("idx < x.n", "m <= 4-1", "idx: unique", "i < 6")
    ]
