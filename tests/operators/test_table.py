"""The table of operators: each operator of ONNX has a row, or is named as not described."""

import dataclasses

import onnx.defs
import pytest

from onnx_scatterx.operators.columns import (
    EVERY,
    UNKNOWN,
    Decides,
    Kinds,
    Operator,
    Passing,
    Rounding,
    Rows,
    Trust,
)
from onnx_scatterx.operators.elementwise import ELEMENTWISE
from onnx_scatterx.operators.layers import LAYERS, NOT_DESCRIBED
from onnx_scatterx.operators.movement import MOVEMENT
from onnx_scatterx.operators.table import OPERATORS, those

EVER = {s.name for s in onnx.defs.get_all_schemas_with_history() if s.domain == ""}
NEWEST = {s.name: s for s in onnx.defs.get_all_schemas() if s.domain == ""}


def test_each_operator_has_one_row_or_is_named() -> None:
    """If ONNX has a new operator, describe it, or name it in NOT_DESCRIBED."""
    rows = [*MOVEMENT, *ELEMENTWISE, *LAYERS, *NOT_DESCRIBED]
    assert len(rows) == len(set(rows))
    assert set(rows) <= EVER
    assert set(NEWEST) <= set(rows)


def test_a_row_says_something() -> None:
    assert UNKNOWN not in OPERATORS.values()


def test_what_is_not_described_is_unknown() -> None:
    """The columns that let a reader do more are empty."""
    assert OPERATORS["Loop"] is OPERATORS["NoOperatorOfOnnx"] is UNKNOWN
    assert "NoOperatorOfOnnx" not in OPERATORS
    allowed = {f.name for f in dataclasses.fields(Operator) if getattr(UNKNOWN, f.name)}
    assert allowed == {"rounding", "passes", "indexed_since", "signed_input", "rows"}
    assert UNKNOWN.rows is Rows.UNKNOWN
    assert UNKNOWN.rounding is max(Rounding)
    assert UNKNOWN.passes is Passing.UNKNOWN
    assert (UNKNOWN.trust, UNKNOWN.alike) == (min(Trust), Kinds.NONE)
    assert UNKNOWN.decides is Decides.NOWHERE


PLACES = ("moves", "chooses", "packs", "sizes", "in_integers")


@pytest.mark.parametrize("column", PLACES)
def test_places_are_those_of_inputs(column: str) -> None:
    """So are single places."""
    for name, row in OPERATORS.items():
        places = getattr(row, column)
        schema = NEWEST.get(name) or onnx.defs.get_schema(name, 1)
        if places is EVERY:
            assert schema.inputs[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic
        else:
            assert set(places) <= set(range(len(schema.inputs))), name


def test_a_moved_element_keeps_its_type() -> None:
    for name in those(lambda row: row.moves or row.chooses):
        schema, row = NEWEST[name], OPERATORS[name]
        moved = [schema.inputs[at] for at in range(len(schema.inputs)) if at in row.moves]
        moved += [schema.inputs[at] for at in range(len(schema.inputs)) if at in row.chooses]
        assert {one.type_str for one in moved} == {schema.outputs[0].type_str}, name


def test_sequences_are_those_of_the_schemas() -> None:
    def is_sequence(one: onnx.defs.OpSchema.FormalParameter) -> bool:
        return all(kind.startswith("seq(") for kind in one.types)

    taken = {n for n, s in NEWEST.items() if s.inputs and is_sequence(s.inputs[0])}
    given = {n for n, s in NEWEST.items() if s.outputs and is_sequence(s.outputs[0])}
    assert taken - {"SequenceConstruct"} == those(lambda row: row.takes_sequence)
    assert given == those(lambda row: row.gives_sequence)


def test_columns_agree() -> None:
    for name, row in OPERATORS.items():
        assert not (row.moves and row.chooses), name
        assert not row.keeps_order or row.moves == (0,), name
        assert not (row.writes or row.reads) or row.moves, name
        assert not row.carries_scale or row.moves, name
        assert not row.without_quantizer or row.in_integers, name
        assert row.rounding is not Rounding.COPIED or row.moves or name == "ConstantOfShape"
        assert not row.widens or row.moves or row.chooses or row.alike, name
        assert row.shape_input is None or row.shape_input in row.sizes, name
        assert not row.random or row == Operator(random=True, trust=row.trust), name
