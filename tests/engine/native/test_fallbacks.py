"""The functions behind ScatterX nodes: one for each body, in domains that the library knows."""

from pathlib import Path

import numpy as np
import onnx
import onnx.helper
import onnx_ir as ir
import pytest

import onnx_scatterx
from tests.engine.native.row_writes import CACHE, CACHES, FEED, ROWS
from tests.helpers.native_support import check, natives
from tests.helpers.pair import agree, assert_same
from tests.helpers.support import i64, parse, run, sample


def test_equal_bodies_are_one_function() -> None:
    text = """g (float[A, B] x, int64[N, 1] i, float[N, B] y) => (float[A, B] z)
              { a = ScatterND(x, i, y)  b = ScatterND(a, i, y)
                c = ScatterND <reduction = "add"> (b, i, y)
                t = Transpose <perm = [1, 0]> (c)  u = Transpose <perm = [1, 0]> (y)
                j = Transpose <perm = [1, 0]> (t)  z = ScatterND(j, i, y) }"""
    model = check(text, FEED)
    assert [n.domain for n in natives(model)].count("onnx_scatterx") == 3
    assert [(f.domain, f.doc_string) for f in model.functions] == [
        ("onnx_scatterx", "ScatterND"),
        ("onnx_scatterx.2", "ScatterND_add"),
    ]
    assert {n.domain for n in natives(model)} == {f.domain for f in model.functions}


def test_more_bodies_than_the_library_has_domains() -> None:
    """What is in a domain that the library does not know runs by its fallback."""
    steps = "  ".join(
        f'x{n + 1} = ScatterElements <axis = {n % 5}, reduction = "{reduction}"> (x{n}, i, y)'
        for n, reduction in enumerate(r for r in ("none", "add", "max") for _ in range(5))
    )
    text = f"""g (float[3, 3, 3, 3, 3] x0, int64[2, 2, 2, 2, 2] i, float[2, 2, 2, 2, 2] y)
               => (float[3, 3, 3, 3, 3] x15) {{ {steps} }}"""
    i = np.random.default_rng(0).integers(-3, 3, (2,) * 5)
    feed = {"x0": sample("float32", *(3,) * 5), "i": i, "y": sample("float32", *(2,) * 5)}
    model = check(text, feed)
    assert len({n.domain for n in natives(model)}) == len(natives(model)) == 15


def test_functions_that_are_there_keep_their_domains() -> None:
    """A model that has ScatterX nodes already gets new ones beside them."""
    once = onnx_scatterx.optimize(parse(ROWS), target="scatterx").model
    node = onnx.helper.make_node("ScatterElements", ["z", "j", "y"], ["w"], axis=0)
    once.graph.node.append(node)
    once.graph.input.append(onnx.helper.make_tensor_value_info("j", 7, ["N", "B"]))
    once.graph.output[0].name = "w"
    model = check(once, FEED | {"j": i64(np.zeros((3, 4)))})
    assert [n.domain for n in natives(model)] == ["onnx_scatterx", "onnx_scatterx.2"]


TWO_BODIES = """g (float[B, S, D] x, int64[N, 1] i, float[N, S, D] y, int64[N, S, D] j)
    => (float[B, S, D] z) { a = ScatterND(x, i, y)  z = ScatterElements <axis = 2> (a, j, y) }"""


@pytest.mark.parametrize("text", [CACHE, TWO_BODIES])
def test_saved_and_loaded(text: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    result = onnx_scatterx.optimize(parse(text), target="scatterx")
    result.save(path)
    assert len(result.model.functions) == (2 if text is TWO_BODIES else 1)
    feed = {"x": CACHES[0], "i": i64([[1], [0]])}
    if text is TWO_BODIES:
        feed |= {"y": sample("float32", 2, 5, 3), "j": i64(np.ones((2, 5, 3)))}
    else:
        feed["y"] = CACHES[1]
    loaded = onnx.load(path)
    onnx.checker.check_model(loaded, full_check=True)
    for model in (loaded, ir.to_proto(ir.load(path))):
        assert_same(parse(text), model, [feed], library=True)
    assert agree(run(parse(text), feed), list(onnx_scatterx.session(path).run(None, feed)))
