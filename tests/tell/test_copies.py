"""Strided copies of scatters and gathers of models: at any sizes, they are the scatter."""

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnx_scatterx.engine.budget.spending import own_budget
from onnx_scatterx.engine.lift.in_theory import InTheory
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.engine.terms import Symbol, Term, term
from onnx_scatterx.files.model_source import AnyModel
from onnx_scatterx.tell import copies
from onnx_scatterx.tell.explanation import explain
from onnx_scatterx.tell.inquiry import Inquiry
from onnx_scatterx.tell.shown_boxes import example_numbers, shape_at, value_at
from onnx_scatterx.theory import Move
from tests.helpers.examples import are_all, daily
from tests.helpers.support import parse

MODELS = sorted((Path(__file__).parents[2] / "models").glob("*.onnx"))

EVERY_OTHER = """g (float[N, 8] x, float[M, 8] u) => (float[N, 8] y) {
        rows = Range (0, Squeeze (Shape <start = 0, end = 1> (u)), 1)
        y = ScatterND (x, Unsqueeze (Add (rows, rows), [-1]), u) }"""
KNOWN_ROWS = """g (float[N, 4] x, float[3, 4] u) => (float[N, 4] y)
    { y = ScatterND (x, [[5], [3], [1]], u) }"""
BACKWARDS = """g (float[N, K] x) => (float[3, K] y) { y = Gather (x, [7, 5, 3]) }"""

DIAGONAL = """g (float[N, N] x, float[N] u) => (float[N, N] y) {
        rows = Range (0, Squeeze (Shape <start = 0, end = 1> (u)), 1)
        row = Reshape (rows, [-1, 1])
        y = ScatterND (x, Concat <axis = -1> (row, row), u) }"""


def at(move: Move[Any], numbers: Any) -> Move[int]:
    """A move at some sizes."""

    def number(given: Any) -> Any:
        if isinstance(given, tuple):
            return tuple(map(number, given))
        return value_at(given, numbers) if isinstance(given, Term) else given

    return Move(*(number(getattr(move, name)) for name in Move.__slots__))


def hold(in_theory: InTheory) -> int:
    """Hold the copies against the targets, element by element; return at how many sizes."""
    access = in_theory.access
    seen = 0
    for numbers in itertools.islice(example_numbers(access), 6):
        shape, data_shape = shape_at(access.shape, numbers), shape_at(access.data_shape, numbers)
        if shape is None or data_shape is None or np.prod(shape) + np.prod(data_shape) > 1 << 20:
            continue
        grid = np.indices(shape, np.int64)
        found_at = (value_at(t, numbers, grid.__getitem__) for t in access.index_exprs)
        places = [np.asarray(place) for place in found_at]
        if any(((p < -n) | (p >= n)).any() for p, n in zip(places, data_shape, strict=True)):
            continue  # the original fails
        axes = [np.broadcast_to(p, shape) % n for p, n in zip(places, data_shape, strict=True)]
        flat = np.ravel_multi_index(tuple(axes), data_shape) if axes else np.zeros((), np.int64)
        data, updates = np.arange(np.prod(data_shape)), -1 - np.arange(np.prod(shape))
        wanted, found = data.copy(), data.copy()
        if access.may_repeat:
            wanted, found = data[flat.ravel()], updates.copy()
        else:
            wanted[flat.ravel()] = updates
        written = 0
        for move in copies.copies_of(in_theory):
            move = at(move, numbers)
            move.copy(data if access.may_repeat else updates, found)
            written += int(np.prod(move.extents))
            assert move.bytes == np.prod(move.extents) * access.dtype.bitwidth // 8
        np.testing.assert_array_equal(found, wanted)
        assert written == np.prod(shape)
        seen += 1
    return seen


def test_at_all_sizes_they_are_the_scatter(monkeypatch: pytest.MonkeyPatch) -> None:
    """If few copies are listed one by one, and if they are not."""
    seen = Counter[int]()
    texts = EVERY_OTHER, KNOWN_ROWS, BACKWARDS, DIAGONAL
    chosen = daily((path.stem for path in MODELS), 1 if are_all() else 4, "copies")
    given: list[AnyModel] = [*map(parse, texts), *(m for m in MODELS if m.stem in chosen)]
    for model in given:
        with Inquiry.about(model, Settings.of(gathers=True)) as asked:
            _, records = asked.inspected
        for few in (copies._FEW, -1):
            with own_budget(), monkeypatch.context() as patch:
                patch.setattr(copies, "_FEW", few)
                for in_theory in filter(None, (record.in_theory for record in records)):
                    try:
                        copies.copies_of(in_theory)
                    except ValueError:  # no copy does this write, which is told with a reason
                        continue
                    seen[few] += hold(in_theory)
    assert min(seen[copies._FEW], seen[-1]) > (60 if are_all() else 30)


def test_one_list_for_all_sizes() -> None:
    for text, one in (
        (EVERY_OTHER, "offset 0 to 0, extents (M, 8), strides (8, 1) to (16, 1)"),
        (KNOWN_ROWS, "offset 8 to 4, extents (3, 4), strides (-4, 1) to (8, 1)"),
        (DIAGONAL, "offset 0 to 0, extents (N), strides (1) to (N + 1)"),
        (BACKWARDS, "offset 7*K to 0, extents (3, K), strides (-2*K, 1) to (K, 1)"),
    ):
        assert f"- {one}\n" in explain(parse(text), moves=True, gathers=True)


def test_offsets_may_be_elements_of_a_tensor() -> None:
    """Each sample of a batch begins where the model says: one copy with a stride of both starts."""
    model = parse(
        """g (float[2, 4, S, 8] x, float[2, 4, 3, 8] u, float[2, K] s) => (float[2, 4, S, 8] y) {
            w = ArgMax <axis = 1, keepdims = 0> (s)
            y = TensorScatter <axis = 2> (x, u, w) }""",
        24,
    )
    with Inquiry.about(model, Settings.of()) as asked:
        _, (record,) = asked.inspected
    assert record.in_theory is not None
    with own_budget():
        (move,) = copies.copies_of(record.in_theory, unique=True)
        terms = [t for t in (move.target, *move.target_strides) if isinstance(t, Term)]
        leaves = set[Symbol]().union(*(t.leaves() for t in terms))
        for first, second in ((0, 0), (5, 1), (2, 7)):
            known = {"S": 10, "w[0]": first, "w[1]": second}
            one = at(move, {leaf: known[str(term(leaf))] for leaf in leaves})
            updates, found = 1 + np.arange(2 * 4 * 3 * 8), np.zeros(2 * 4 * 10 * 8, int)
            one.copy(updates, found)
            expected = np.zeros((2, 4, 10, 8), int)
            for sample, start in enumerate((first, second)):
                expected[sample, :, start : start + 3] = updates.reshape(2, 4, 3, 8)[sample]
            np.testing.assert_array_equal(found, expected.ravel())
    assert "1 strided copy from u to x, 768 bytes" in explain(model, moves=True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "g (float[N] x, int64[3, 1] i, float[3] u) => (float[N] y) { y = ScatterND (x, i, u) }",
            "known only when the model runs (axis 0) - dim 0: no component is I_0",
        ),
        (
            """g (float[4] x, float[2] u) => (float[4] y) { y = ScatterND (x, [[1], [1]], u) }""",
            "moves updates (0,) and (1,) go to one element",
        ),
        (
            """g (float[4] x, float[1] u) => (float[4] y)
                { y = ScatterND <reduction = "add"> (x, [[1]], u) }""",
            "moves no copy does the reduction add",
        ),
        (
            """g (string[4] x, string[1] u) => (string[4] y) { y = ScatterND (x, [[1]], u) }""",
            "moves an element of string has no bytes of its own",
        ),
    ],
)
def test_refusals_have_a_reason(text: str, reason: str) -> None:
    assert reason in " ".join(explain(parse(text), moves=True).split())
