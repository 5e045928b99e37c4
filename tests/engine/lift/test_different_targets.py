"""Whether all updates of a scatter go to different elements is read off the operators before it."""

import pytest

import onnx_scatterx
from tests.helpers.support import parse


@pytest.mark.parametrize(
    ("mask", "positions", "unique"),
    [
        ("bool[N] m", "NonZero (m)", "proven"),
        ("float[N] m", "Add (NonZero (m), [3])", "proven"),
        ("bool[N, M] m", "Slice (NonZero (m), [0], [1])", "unknown"),  # several in a row
    ],
)
def test_positions_of_a_mask(mask: str, positions: str, unique: str) -> None:
    model = parse(f"""g (float[N] x, {mask}, float[K] u) => (float[N] y) {{
        i = Transpose ({positions})  y = ScatterND (x, i, u) }}""")
    (scatter,) = onnx_scatterx.inspect(model).scatters
    assert scatter.unique == unique
