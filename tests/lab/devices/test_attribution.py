"""The cause of a refusal: by the named node, the smallest part that fails, and the operators."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.lab.devices.causes import Used, arranges, cause_of, used_by
from onnx_scatterx.lab.devices.checking import check
from onnx_scatterx.lab.devices.parts import Parts, smallest
from onnx_scatterx.operators import SCATTERS
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.fake_consumer import fake
from tests.helpers.support import parse, sample

CHAIN = """g (float[4, 6] x, float[4, 6] u) => (float[4, 6] y, int64[2] n) {
    a = Exp (x)  b = Tanh (a)  c = Sigmoid (b)  s = Shape (c)  n = Add (s, s)  d = Sin (c)
    e = Reshape (d, s)  f = Gather (e, [3, 2, 1, 0])  h = Cos (f)  k = Mul (h, u)  y = Abs (k) }"""
REFUSES = """
        import onnx
        kinds = [node.op_type for node in onnx.load(model).graph.node]
        if {refused}:
            raise ValueError("this cannot be compiled")
        return Answer("taken", [feeds["x"]])"""


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    onnx.save(parse(CHAIN), tmp_path / "m.onnx")
    return Parts(tmp_path / "m.onnx", {n: sample("float32", 4, 6) for n in "xu"}, tmp_path)


def operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def test_a_part_runs_on_what_the_whole_model_computes(parts: Parts) -> None:
    part = parts.part(6, 9)
    assert part is not None
    shape = "Shape"  # it is computed in the part, and not an input
    assert operators(part.file) == [shape, "Reshape", "Gather", "Cos"]
    import onnxruntime

    session = onnxruntime.InferenceSession(part.file)
    (found,) = session.run(None, dict(part.feeds))
    assert list(part.truth) == ["h"]
    np.testing.assert_array_equal(found, part.truth["h"])


def test_a_part_with_a_subgraph(tmp_path: Path) -> None:
    model = """g (float[3] x, bool[] c) => (float[3] y) {
        a = Exp (x)  b = Neg (a)
        d = If (c) <then_branch = t () => (float[3] p) { q = Abs (b) p = Neg (q) },
                    else_branch = e () => (float[3] r) { r = Sin (b) }>
        y = Cos (d) }"""
    onnx.save(parse(model), tmp_path / "m.onnx")
    feeds = {"x": sample("float32", 3), "c": np.array(True)}
    part = Parts(tmp_path / "m.onnx", feeds, tmp_path).part(2, 3)
    assert part is not None
    assert (operators(part.file), set(part.feeds), set(part.truth)) == (["If"], {"b", "c"}, {"d"})


@pytest.mark.parametrize(
    ("bad", "most"), [({"Gather"}, 1), ({"Exp"}, 1), ({"Abs"}, 1), ({"Gather", "Cos"}, 5)]
)
def test_the_smallest_part(bad: set[str], most: int, parts: Parts) -> None:
    asked = []

    def fails(part: Any) -> bool:
        asked.append(part)
        return bad <= {node.op_type for node in part.nodes}

    found = smallest(parts, fails)
    assert found is not None
    assert bad <= {node.op_type for node in found.nodes}
    assert len(found.nodes) <= most
    assert len(asked) <= 10


def test_what_fails_everywhere_or_nowhere_is_in_no_part(parts: Parts) -> None:
    assert smallest(parts, lambda _: True) is None
    assert smallest(parts, lambda _: False) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("refused", "cause", "part"),
    [
        ("'Gather' in kinds", "arrangement", ("Gather",)),
        ("'Cos' in kinds", "operator", ("Cos",)),
        ("'Exp' in kinds and 'Tanh' in kinds", "fault", ("Exp", "Tanh")),
        ("True", "not attributed", ()),
    ],
)
def test_the_cause(refused: str, cause: str, part: tuple[str, ...], tmp_path: Path) -> None:
    profile = tmp_path / "own.toml"
    profile.write_text('name = "own"\navoid = ["Cos"]\n')
    members = f"profile = {str(profile)!r}"
    found = check(parse(CHAIN), fake(tmp_path, REFUSES.format(refused=refused), members=members))
    assert (found.verdict, found.nodes, found.cause) == ("refused", (), cause)
    assert set(found.part) >= set(part)
    assert ("(a part of " in str(found)) == bool(part)


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("Unsupport onnx opset 18, need = 17!", "set"),
        ("opset 17 is taken, and another operator set than 18 as well", "set"),
        ("opset 17: internal error", "not attributed"),
        ("unsupported Tanh of opset 18", "fault"),
    ],
)
def test_a_refusal_that_names_the_operator_set(words: str, cause: str, tmp_path: Path) -> None:
    """No part of the model is tried: each has the same set."""
    log = tmp_path / "asked"
    refuses = f"""
        with open({str(log)!r}, "a") as file:
            file.write("asked ")
        raise ValueError({words!r})"""
    found = check(parse(CHAIN), fake(tmp_path, refuses))
    assert (found.verdict, found.cause) == ("refused", cause)
    assert (log.read_text() == "asked ") == (cause != "not attributed")
    assert ("--opset" in str(found)) == (cause == "set")


@pytest.mark.slow
def test_an_input_of_a_type_that_the_compiler_lacks(tmp_path: Path) -> None:
    """It is behind the halving, which names nodes that only arrange the mask."""
    profile = tmp_path / "own.toml"
    profile.write_text('name = "own"\nends = [{types = ["bool"]}]\n')
    model = parse("""g (bool[4] m, float[4, 6] x) => (float[4, 6] y) <int64[1] one = {1}> {
        a = Exp (x)  b = Unsqueeze (m, one)  c = Not (b)  d = Where (c, a, x)  y = Tanh (d) }""")
    refuses = REFUSES.format(refused="any(array.dtype.kind == 'b' for array in feeds.values())")
    members = f"profile = {str(profile)!r}"
    found = check(model, fake(tmp_path, refuses, members=members))
    assert (found.verdict, found.cause) == ("refused", "input")
    assert "export a mask as numbers" in str(found)
    told = onnx_scatterx.inspect(model, target="ncnn").violations
    assert str(told[0]) == "m (input): ncnn takes no input of bool"


def test_the_table_of_operators() -> None:
    words = """Reshape Transpose Slice Concat Split Squeeze Unsqueeze Expand Tile Pad Identity
        Gather GatherND GatherElements Where Equal Less Not And Or Trilu Cast Shape Range NonZero
        ArgMax ConstantOfShape"""
    assert [word for word in words.split() if not arranges(word)] == []
    words = "Add MatMul Conv Softmax Einsum ReduceSum LayerNormalization Erf NoSuchOperator"
    assert [word for word in words.split() if arranges(word)] == []
    assert all(cause_of([Used(name)], target_of("standard")) == "scatter" for name in SCATTERS)


def test_what_decides_between_causes() -> None:
    npu = target_of("standard, operators = ['MatMul']")
    assert cause_of([Used("Add", of_places=True)], npu) == "arrangement"
    assert cause_of([Used("Add")], npu) == "operator"
    assert cause_of([Used("MatMul"), Used("Slice")], npu) == "fault"
    assert cause_of([Used("Slice", written=True)], npu) == "scatter"
    assert cause_of([Used("com.maker.Slice")], npu) == "operator"


@pytest.mark.parametrize(
    ("op", "kind", "cause"),
    [
        ("ArgMax", "float", "operator"),
        ("ArgMin", "float", "operator"),
        ("ArgMax", "int64", "arrangement"),
        ("IsNaN", "float", "arrangement"),  # a mask
    ],
)
def test_places_among_floats(op: str, kind: str, cause: str) -> None:
    """Nobody knows before the run where the largest float is, so no other form says it."""
    result = "bool" if op == "IsNaN" else "int64"
    model = ir.from_proto(parse(f"g ({kind}[3] x) => ({result}[A] y) {{ y = {op} (x) }}"))
    used = used_by(model.graph)
    assert cause_of(used, target_of("standard, operators = ['MatMul']")) == cause
    taken = target_of(f"standard, operators = ['MatMul', '{op}']")
    assert cause_of(used, taken) == ("fault" if cause == "operator" else "arrangement")
    found = [one._replace(written=True) for one in used]
    assert cause_of(found, taken) == "scatter"
