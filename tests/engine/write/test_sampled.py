"""A Gather at computed positions of what the run computes is a GridSample of the nearest pixel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.targets.limits import OperatorLimits
from onnx_scatterx.targets.target import Target
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

SAMPLER = Target(
    "sampler",
    avoid=frozenset({"GatherElements", "GatherND"}),
    limits={"Gather": OperatorLimits(computed_data=False)},
    static_only=True,
)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45, 3.4e38, 1.5], np.float32)


def operators(
    sizes: list[int], at: list[int], axis: int, promise: str = "i: nonnegative", kind: str = "float"
) -> set[str]:
    """Return the operators of the result for the sampler, which is equal for all positions."""
    out = [*sizes[:axis], *at, *sizes[axis + 1 :]]
    shape, index, read = (f"[{','.join(map(str, n))}]" if n else "" for n in (sizes, at, out))
    model = parse(f"""g ({kind}{shape} x, int64{index} i) => ({kind}{read} y)
        {{ y = Gather <axis = {axis}> (x, i) }}""")
    assume = [promise] if promise else []
    result = onnx_scatterx.optimize(model, target=SAMPLER, assume=assume, rules=[]).model
    rng = np.random.default_rng(0)
    dtype = {"float": np.float32, "int64": np.int64}[kind]
    x = SPECIAL if kind == "float" else np.arange(9)
    assert_same(
        model,
        result,
        [
            {"x": rng.choice(x, sizes).astype(dtype), "i": rng.integers(0, sizes[axis], at)}
            for _ in range(3)
        ],
    )
    return {node.op_type for node in result.graph.node}


@examples(40)
@given(st.data())
def test_any_rows(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    at = data.draw(st.lists(st.integers(1, 4), max_size=2))
    axis = data.draw(st.integers(0, len(sizes) - 1))
    kept = operators(sizes, at, axis, f"0 <= i <= {sizes[axis] - 1}")
    assert "GridSample" in kept or sizes[axis] == 1


@pytest.mark.parametrize("promise", ["", "i: nonnegative", "-1 <= i <= 3"])
def test_rows_that_may_count_from_the_end(promise: str) -> None:
    """The floats of the indices need a range, which begins at 0."""
    assert "GridSample" not in operators([5, 3], [2], 0, promise)


def test_integers() -> None:
    assert "GridSample" not in operators([5, 3], [2], 0, "0 <= i <= 4", "int64")


@pytest.mark.parametrize("size", [1 << 16, (1 << 16) + 1])
def test_rows_of_the_largest_image(size: int) -> None:
    taken = "GridSample" in operators([size, 2], [64], 0, f"0 <= i < {size}")
    assert taken == (size == 1 << 16)
