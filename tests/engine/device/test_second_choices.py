"""Uses that a target refuses fact by fact, and uses that it runs slowly."""

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx import ScatterXError, TargetError
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.device.uses import Use
from onnx_scatterx.targets.catalogue import target_of
from onnx_scatterx.targets.refused_use import LETTERS
from tests.helpers.pair import assert_same
from tests.helpers.profiles import HEAD
from tests.helpers.support import nodes, parse, sample

FLOAT, INT64 = ir.DataType.FLOAT, ir.DataType.INT64


def tensor(*dims: int, dtype: ir.DataType = FLOAT) -> TensorValue:
    known = TensorValue.of(np.zeros(dims, np.float32))
    return TensorValue(dtype, known.shape)


def numbers(*values: int) -> TensorValue:
    return TensorValue.of(np.array(values))


CUT = [tensor(4, 4), numbers(0), numbers(2), numbers(1)]
FACTS = [
    ('types = ["int64"]', "Add", [tensor(2, dtype=INT64)], [tensor(2)]),
    ('index_types = ["int64"]', "Gather", [tensor(2), tensor(1, dtype=INT64)], [tensor(2)] * 2),
    ("ranks = [3]", "Abs", [tensor(1, 1, 1)], [tensor(1, 1)]),
    ("scalars = true", "Add", [tensor(), tensor(2)], [numbers(1), tensor(2)]),
    ("axes = 2", "Squeeze", [tensor(1, 1, 4), numbers(0, 1)], [tensor(1, 1, 4), numbers(0)]),
    ("axes = 2", "Squeeze", [tensor(1, 1)], [tensor(1)]),
    ("steps = [-1]", "Slice", [*CUT, numbers(-2)], [*CUT, numbers(2)]),
    ("steps = [1]", "Slice", CUT, [*CUT, numbers(2)]),
    ("last = true", "Slice", [tensor(4, 4), numbers(3), *CUT[2:]], CUT),
    ("last = true", "Slice", [tensor(4, 4), numbers(-1), *CUT[2:]], CUT),
    (
        "last = true",
        "Slice",
        [tensor(4, 2), numbers(0, 1), numbers(4, 2)],
        [tensor(4, 2), numbers(0, 0), numbers(4, 2)],
    ),
    ('whole = ["B"]', "Add", [tensor(1), tensor(2)], [tensor(2), tensor(1)]),
    ('broadcast = ["B"]', "Add", [tensor(1, 2), tensor(2)], [tensor(1, 2), tensor(1)]),
    ("rank_of = {B = [1]}", "Add", [tensor(2, 2), tensor(2)], [tensor(2), tensor(2, 2)]),
    ("rank_of = {reshaped = [1]}", "Reshape", [tensor(1), tensor(1)], [tensor(1, 1), tensor(2)]),
    ("batch = true", "TopK", [tensor(2, 1), numbers(1)], [tensor(1, 2), numbers(1)]),
    ("inputs = [1]", "Einsum", [tensor(2)], [tensor(2)] * 2),
    (
        "by_group = true",
        "GroupNormalization",
        [tensor(1, 4, 2), tensor(2), tensor(2)],
        [tensor(1, 4, 2), tensor(4), tensor(4)],
    ),
    ("zeros = true", "Reshape", [tensor(4, 4), numbers(0, 4)], [tensor(4, 4), numbers(-1)]),
    ("columns = [1]", "GatherND", [tensor(4, 4), tensor(3, 1)], [tensor(4, 4), tensor(3, 2)]),
    ("uneven = true", "Pad", [tensor(4), numbers(1, 0)], [tensor(4), numbers(1, 1)]),
    (
        "first = true",
        "Pad",
        [tensor(2, 2), numbers(0, 0, 1, 0)],
        [tensor(2, 2), numbers(0, 1, 0, 2)],
    ),
    (
        "longer = true",
        "ScatterElements",
        [tensor(2), tensor(3, dtype=INT64), tensor(3)],
        [tensor(3), tensor(2, dtype=INT64), tensor(2)],
    ),
    ("fewer = 4", "Gather", [tensor(3, 9), tensor(1)], [tensor(4, 1), tensor(1)]),
    ('absent = ["B"]', "Conv", [tensor(1)] * 2, [tensor(1)] * 3),
    ('constant = ["B"]', "Add", [tensor(2), numbers(1)], [tensor(2)] * 2),
    ('computed = ["B"]', "Add", [tensor(2)] * 2, [tensor(2), numbers(1)]),
]


@pytest.mark.parametrize(("fact", "op", "refused", "taken"), FACTS)
def test_a_fact_of_a_refused_use(
    fact: str, op: str, refused: list[TensorValue], taken: list[TensorValue]
) -> None:
    target = target_of(f"standard, limits.{op}.refused = [{{{fact}}}]")
    told = [
        list(Use(op, given, [tensor(2)] if "whole" in fact else given[:1]).objections(target))
        for given in (refused, taken)
    ]
    assert len(told[0]) == 1, told
    assert told[0][0].startswith(f"{op} ")
    assert told[1] == []


@pytest.mark.parametrize(("axis", "refused"), [(1, True), (-1, True), (0, False), (None, True)])
def test_an_attribute_of_a_refused_use(axis: int | None, refused: bool) -> None:
    """An axis is counted from the start, and one that is not written has its default."""
    target = target_of("standard, limits.LogSoftmax.refused = [{attributes = {axis = [1]}}]")
    given = {} if axis is None else {"axis": axis}
    use = Use("LogSoftmax", [tensor(2, 3)], [tensor(2, 3)], given)
    told = ["LogSoftmax with axis = 1"] if refused else []
    assert list(use.objections(target)) == told


@pytest.mark.parametrize(("axis", "refused"), [(1, False), (-1, True), (0, False), (None, True)])
def test_an_axis_from_the_end(axis: int | None, refused: bool) -> None:
    target = target_of("standard, limits.LogSoftmax.refused = [{from_end = true}]")
    use = Use("LogSoftmax", [tensor(2, 3)], [tensor(2, 3)], {} if axis is None else {"axis": axis})
    told = ["LogSoftmax of an axis counted from the end"] if refused else []
    assert list(use.objections(target)) == told


@pytest.mark.parametrize(
    ("fact", "equation", "refused"),
    [
        ("turned", "bij,bjk->bki", True),
        ("turned", "bij, bjk -> bik", False),
        ("turned", "...nd,...ng->...gd", True),
        ("turned", "ij->ji", False),
        ("turned", "bi,bi->b", False),
        ("turned", "ij,jk", False),
        ("dots", "...d,dk->...k", True),
        ("dots", "bd,dk->bk", False),
        ("uneven_dots", "...d,...k->...dk", False),
        ("uneven_dots", "...d,k...->...dk", True),
        ("uneven_dots", "...d,dk->...k", True),
        ("uneven_dots", "...d,...dkl->...kl", True),
        ("uneven_dots", "...d,...d", True),
        ("uneven_dots", "abd,abd->ab", False),
    ],
)
def test_an_equation_of_a_refused_use(fact: str, equation: str, refused: bool) -> None:
    target = target_of(f"standard, limits.Einsum.refused = [{{{fact} = true}}]")
    use = Use("Einsum", [tensor(2, 3, 4)] * 2, [tensor(2, 3)], {"equation": equation})
    assert len([*use.objections(target)]) == refused


@pytest.mark.parametrize(
    ("equation", "shapes", "kinds"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)], []),
        ("ij,jk", [(2, 3), (3, 4)], ["implied"]),
        ("ij,jk->k", [(2, 3), (3, 4)], ["lone"]),
        ("ij,jk->ik", [(2, 3), (1, 4)], ["lone", "stretched"]),
        ("...ij,...jk->...ik", [(2, 2, 3), (1, 3, 4)], ["stretched"]),
        ("ii->i", [(3, 3)], ["twice"]),
        ("ij->i", [(2, 3)], []),
        ("ij,jk->ik", [None, (3, 4)], ["lone", "stretched", "twice"]),
    ],
)
def test_kinds_of_equations(
    equation: str, shapes: list[tuple[int, ...] | None], kinds: list[str]
) -> None:
    inputs = [TensorValue(ir.DataType.FLOAT, None) if s is None else tensor(*s) for s in shapes]
    use = Use("Einsum", inputs, [tensor(2, 3)], {"equation": equation})
    for kind, words in LETTERS.items():
        target = target_of(f"standard, limits.Einsum.refused = [{{letters = ['{kind}']}}]")
        told = [f"Einsum {words}"] if kind in kinds else []
        assert list(use.objections(target)) == told


@pytest.mark.parametrize(
    ("sizes", "larger", "smaller"),
    [((4, 8), False, False), ((4, 9), True, False), ((3, 8), False, True), ((5, 7), True, True)],
)
def test_a_result_of_other_sizes(sizes: tuple[int, ...], larger: bool, smaller: bool) -> None:
    use = Use("Resize", [tensor(4, 8)], [tensor(*sizes)], {"mode": "cubic", "cubic_coeff_a": -0.5})
    for fact, holds in (("larger", larger), ("smaller", smaller)):
        target = target_of(f"standard, limits.Resize.refused = [{{{fact} = true}}]")
        assert len([*use.objections(target)]) == holds
    fact = "attributes = {cubic_coeff_a = [-0.5]}"
    (told,) = use.objections(target_of(f"standard, limits.Resize.refused = [{{{fact}}}]"))
    assert told == "Resize with cubic_coeff_a = -0.5"


def test_an_attribute_that_is_absent() -> None:
    target = target_of('standard, limits.Transpose.refused = [{absent = ["perm"]}]')
    uses = [Use("Transpose", [tensor(2)], [tensor(2)], given) for given in ({}, {"perm": [0]})]
    assert [len([*use.objections(target)]) for use in uses] == [1, 0]


def test_all_facts_of_a_table_must_hold() -> None:
    target = target_of('standard, limits.Neg.refused = [{types = ["float"], ranks = [2, 3]}]')
    uses = [Use("Neg", [t], [t]) for t in (tensor(2), tensor(2, 2), tensor(2, 2, dtype=INT64))]
    told = [list(use.objections(target)) for use in uses]
    assert told == [[], ["Neg of float, of 2 or 3 dims"], []]


def test_another_type_is_written_if_only_the_type_of_a_use_is_refused() -> None:
    """int32 takes the place of int64, at the ranks at which int64 is refused."""
    proto = parse(f"""{HEAD} g (int64[2, 1] a, int64[1, 3] b, float[1] k) => (bool[2, 3] z) {{
        c = Mod (a, [7])  d = Mod (b, [5])  z = Equal (c, d) }}""")
    refused = '{types = ["int64"], ranks = [2]}'
    target = f"standard, limits.Equal.refused = [{refused}]"
    model = onnx_scatterx.optimize(proto, target=target, passes=["WriteOtherForms"]).model
    assert [n.op_type for n in nodes(model)].count("Cast") == 2
    feed = {"a": np.array([[8], [-1]]), "b": np.array([[0, 4, -9]]), "k": sample("float32", 1)}
    assert_same(proto, model, [feed])


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("{}", "which is not a table of facts"),
        ("{rank = [3]}", "unknown key 'limits.Pad.refused.rank'; did you mean ranks"),
        ('{types = ["int46"]}', "'int46', which is not an element type"),
        ('{ranks = ["3"]}', "limits.Pad.refused.ranks has '3', not a number"),
        ("{axes = 0}", "limits.Pad.refused.axes is at least 1, not 0"),
        ('{absent = ["value"]}', "'value', which is not an input or an attribute of Pad"),
        ('{attributes = {modes = ["wrap"]}}', "'modes', which is not an attribute of Pad"),
        ('{attributes = {mode = "wrap"}}', "mode is a list of numbers or texts, not 'wrap'"),
    ],
)
def test_facts_that_no_profile_has(table: str, why: str) -> None:
    with pytest.raises(ScatterXError, match=why) as raised:
        target_of(f"standard, limits.Pad.refused = [{table}]")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("slow", "why"),
    [
        ("1", "slow is true or false, not 1"),
        ('{type = ["float"]}', "unknown key 'limits.ScatterND.slow.type'; did you mean types"),
        ('{types = ["flaot"]}', "'flaot', which is not an element type; did you mean float"),
        ('{reductions = ["sum"]}', "'sum', which is not a reduction"),
    ],
)
def test_what_cannot_be_slow(slow: str, why: str) -> None:
    with pytest.raises(ScatterXError, match=why):
        target_of(f"standard, limits.ScatterND.slow = {slow}")


PUT = f"""{HEAD} g (float[1000] x, int64[300, 1] i, float[300] u) => (float[1000] y)
    {{ y = ScatterND <reduction = "@"> (x, i, u) }}"""


@pytest.mark.parametrize(
    ("reduction", "keys", "removed"),
    [
        ("none", "slow = true", True),  # sorted: this is no dense work
        ("none", 'slow = {types = ["float16"]}', False),
        ("none", 'slow = {types = ["float", "float16"], reductions = ["none"]}', True),
        ("max", "slow = true", False),
        ("max", "slow = true, dense", True),
        ("max", 'slow = {reductions = ["add"]}, dense', True),  # dense forms are wanted anyway
        ("max", "slow = true, dense, 300999", False),
        ("max", "slow = true, dense, 310000", True),
    ],
)
def test_another_form_takes_the_place_of_a_slow_scatter(
    reduction: str, keys: str, removed: bool
) -> None:
    """If it needs no dense work, or no more than the target allows."""
    proto = parse(PUT.replace("@", reduction))
    limit, *dense = keys.split(", dense")
    more = "" if not dense else ", dense = true"
    more += f", dense_limit = {dense[0].strip(', ')}" if dense and dense[0] else ""
    target = f"standard, limits.ScatterND.{limit}{more}"
    result = onnx_scatterx.optimize(proto, target=target)
    assert result.report.removed == removed, result.report
    assert ("ScatterND" in {n.op_type for n in nodes(result.model)}) != removed
    told = [(v.op, v.slow, v.on_host) for v in result.report.violations]
    is_slow = target_of(target).lacks("ScatterND", FLOAT, reduction)
    assert told == ([("ScatterND", True, False)] if is_slow and not removed else [])
    rng = np.random.default_rng(0)
    feeds: list[dict[str, Any]] = [
        {
            "x": sample("float32", 1000),
            "i": rng.integers(-1000, 1000, (300, 1))
            if reduction == "max"
            else rng.permutation(1000)[:300, None],
            "u": sample("float32", 300, seed=seed),
        }
        for seed in (1, 2)
    ]
    assert_same(proto, result.model, feeds)


def test_a_slow_scatter_that_is_kept_is_named() -> None:
    """It is no refusal: strict="taken" does not count it."""
    proto = parse(PUT.replace("@", "max"))
    target = "standard, name = 'npu', limits.ScatterND.slow = true"
    report = onnx_scatterx.inspect(proto, target=target)
    assert report.violation_lines() == [
        "1 scatter that npu runs slowly:",
        "  ScatterND (1): y",
    ]
    assert report.to_dict()["violations"][0]["slow"] is True
    onnx_scatterx.optimize(proto, target=target, strict="taken")
    for strict in (True, "native"):
        with pytest.raises(TargetError):
            onnx_scatterx.optimize(proto, target=target, strict=strict)


def test_a_slow_gather_is_read_otherwise() -> None:
    proto = parse(f"""{HEAD} g (float[4, 2] x) => (float[2, 2] y)
        <int64[2, 1] i = {{2, 3}}> {{ y = GatherND (x, i) }}""")
    model = onnx_scatterx.optimize(proto, target="standard, limits.GatherND.slow = true").model
    assert [n.op_type for n in nodes(model)] == ["Slice"]
    feed: dict[str, Any] = {"x": sample("float32", 4, 2)}
    assert_same(proto, onnx.ModelProto.FromString(model.SerializeToString()), [feed])
