"""Tests of one rule: the new model, as a golden text, and the scatters that it refuses.

What the rule makes is run in ONNX Runtime beside the original, on every feed.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import onnx
import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.rewrites import RULES
from onnx_scatterx.targets.catalogue import AnyTarget
from tests.helpers import pair
from tests.helpers.golden import GoldenFile
from tests.helpers.onnx_syntax import parser_text
from tests.helpers.onnx_text import text_of, value_names
from tests.helpers.support import assert_sound, feed_of, parse

_NAMES = {rule.name for rule in RULES}
_OLDER = (13, 17)  # operator sets in which operators have other inputs
_DIFFER = "{}\n\nis not the golden text of {}; `pytest --update-golden` writes it, if it is right"


def sizes(**dims: Sequence[int]) -> list[dict[str, int]]:
    """Return every choice of symbolic sizes, each as a feed.

    >>> sizes(N=(0, 1), T=(3,))
    [{'N': 0, 'T': 3}, {'N': 1, 'T': 3}]
    """
    return [dict(zip(dims, chosen, strict=True)) for chosen in product(*dims.values())]


def rows(name: str, of: str, axis: int = 0, start: str = "") -> str:
    """Return the lines that make a column of all positions of an axis, as indices of a ScatterND.

    Args:
        name: what the indices are called.
        of: the tensor whose axis it is.
        axis: the axis.
        start: a scalar that is added to the positions.
    """
    moved = f"{name}_m = Add ({name}_r, {start})" if start else ""
    return f"""{name}_s = Shape <start = {axis}, end = {axis + 1}> ({of})
            {name}_n = Squeeze ({name}_s)
            {name}_0 = Constant <value = int64 {{0}}> ()
            {name}_1 = Constant <value = int64 {{1}}> ()
            {name}_r = Range ({name}_0, {name}_n, {name}_1)
            {moved}
            {name}_a = Constant <value = int64[1] {{-1}}> ()
            {name} = Unsqueeze ({name}_{"m" if start else "r"}, {name}_a)"""


class Golden:
    """Optimizes a model with all rules and holds the result against the golden text of a test.

    The report must name the rule of the test file, and no others than it and those in `by`.
    """

    def __init__(self, rule: str, file: GoldenFile, test: str, *, update: bool) -> None:
        self.rule = rule
        self._file = file
        self._test = test
        self._update = update

    def __call__(
        self,
        model: str | onnx.ModelProto | None,
        *feeds: Mapping[str, Any],
        by: Sequence[str] = (),
        target: AnyTarget = "standard",
        opset: int = 18,
        **options: Any,
    ) -> None:
        """Check what becomes of a model.

        Args:
            model: ONNX text of a graph, or a model; None if it is the one in the golden text.
            feeds: for each run, symbolic sizes and inputs by name; other inputs are drawn.
            by: the other rules that take part.
            target: for whom to optimize.
            opset: the operator set of the text.
            options: what else `optimize` takes.
        """
        written = model
        if model is None:
            printed = self._file.sections()[self._test].split(" becomes")[0]
            model, written = parser_text(printed), parser_text(printed, as_nodes=True)
        original = parse_text(model, opset)
        result = onnx_scatterx.optimize(original, target=target, **options)
        entries = result.report.entries
        used, expected = {rule for e in entries for rule in e.rules}, {self.rule, *by}
        assert used == expected, f"written by {used}, expected {expected}\n{result.report}"
        assert "kept" not in {e.to_dict()["action"] for e in entries}, str(result.report)
        onnx.checker.check_model(result.model, full_check=True)
        assert_same(original, result.model, feeds or ({},))
        before, after = text_of(original), text_of(result.model, value_names(original))
        _, _, body = after.partition(" {\n")
        self._compare(f"{before} becomes {{\n{body}")
        for older in (version for version in _OLDER if version < opset):
            _is_right_before(written, older, feeds or ({},), target=target, **options)

    def _compare(self, text: str) -> None:
        if self._update:
            self._file.update(self._test, text)
        elif self._file.sections().get(self._test) != text:
            pytest.fail(_DIFFER.format(text, self._test), pytrace=False)


def _is_right_before(
    text: str | onnx.ModelProto | None,
    opset: int,
    feeds: Sequence[Mapping[str, Any]],
    **options: Any,
) -> None:
    """Check what becomes of a model in an older operator set, if it is valid there."""
    if not isinstance(text, str):
        return
    original = parse_text(text, opset)
    try:
        onnx.checker.check_model(original, full_check=True)
    except onnx.checker.ValidationError:
        return
    result = onnx_scatterx.optimize(original, **options)
    onnx.checker.check_model(result.model, full_check=True)
    assert_same(original, result.model, feeds)


class Refuses:
    """Asserts that a rule, alone with those `beside` it, leaves the last scatter, and why.

    On feeds, if there are some, what all rules together make of the model is compared with it.
    """

    def __init__(self, rule: str) -> None:
        self.rule = rule

    def __call__(
        self,
        model: str | onnx.ModelProto,
        reason: Reason,
        *feeds: Mapping[str, Any],
        left: int | None = None,
        rejected: int = 0,
        beside: Sequence[str] = (),
        target: AnyTarget = "standard",
        opset: int = 18,
        **options: Any,
    ) -> None:
        """Check what becomes of the last scatter, or gather, of a model.

        All rules leave ``left`` scatters, if that is given. The model may reject some feeds.
        """
        original = parse_text(model, opset)
        # The rules `overlay` and `scatterx` come with the target.
        rules = [name for name in (self.rule, *beside) if name in _NAMES]
        report = onnx_scatterx.optimize(original, target=target, rules=rules, **options).report
        last = report.entries[-1]
        assert self.rule not in last.rules, str(report)
        assert last.reason is reason, str(report)
        if feeds:
            assert_sound_at(model, *feeds, left=left, rejected=rejected, target=target, opset=opset)


class Case:
    """A row of a table: what `golden` or `refuses` is called with."""

    def __init__(self, model: str | onnx.ModelProto | None, *given: Any, **options: Any) -> None:
        self._given = (model, *given)
        self._options = options

    def check(self, judge: Callable[..., None]) -> None:
        """Call `golden` or `refuses`."""
        judge(*self._given, **self._options)


def row(*feeds: Mapping[str, Any], **options: Any) -> Case:
    """Return a row of `GOLDEN` whose model is the one that its golden text begins with."""
    return Case(None, *feeds, **options)


def each(table: Mapping[str, Case], fixture: str) -> Callable[..., None]:
    """Return a test of every row of a table, which ``golden`` or ``refuses`` checks."""

    @pytest.mark.parametrize("name", table)
    def test(name: str, request: pytest.FixtureRequest) -> None:
        table[name].check(request.getfixturevalue(fixture))

    return test


def parse_text(model: str | onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return a model by its text; the IR version is one that allows the operator set."""
    return parse(model, opset, 11 if opset > 22 else 8) if isinstance(model, str) else model


def assert_same(
    original: onnx.ModelProto, optimized: onnx.ModelProto, given: Sequence[Mapping[str, Any]]
) -> None:
    """Run two models on the same feeds, and compare them."""
    feeds = [feed_of(original, some, seed) for seed, some in enumerate(given)]
    native = any(node.domain for node in optimized.graph.node)
    pair.assert_same(original, optimized, feeds, library=native)


def assert_sound_at(
    model: str | onnx.ModelProto,
    *given: Mapping[str, Any],
    left: int | None = 0,
    rejected: int = 0,
    target: AnyTarget = "standard",
    opset: int = 18,
) -> None:
    """Optimize a model with all rules and compare it; of each feed, sizes and inputs are given."""
    original = parse_text(model, opset)
    assert_sound(original, *given, left=left, rejected=rejected, target=target)
