"""Long chains of writes: what others have asked or written does not make a write take longer."""

from typing import Any

import pytest

from onnx_scatterx.engine.plan.planner import Planner
from tests.helpers.support import optimize, parse


def _chain(writes: int) -> str:
    """Each write takes rows of u by nodes of its own, which other writes could use, too."""
    body = ""
    for i in range(writes):
        body += f"""
            r{i} = Range (zero, {"two" if i % 2 else "four"}, one)
            at{i} = Unsqueeze (r{i}, last)
            all{i} = Slice (u, [0], [9223372036854775807], [1])
            some{i} = Slice (all{i}, [{i % 7}], [{i % 7 + (2 if i % 2 else 4)}], [0])
            wide{i} = Unsqueeze (some{i}, [0])
            new{i} = Squeeze (wide{i}, [0])
            x{i + 1} = ScatterND (x{i}, at{i}, new{i})"""
    return f"""g (float[64, N] x0, float[64, N] u) => (float[64, N] x{writes})
        <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64 four = {{4}},
        int64[1] last = {{-1}}> {{ {body} }}"""


def test_views_of_more_nodes_are_not_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    plan = Planner.plan

    def counted(*args: Any, **more: Any) -> Any:
        made.append(0)
        return plan(*args, **more)

    monkeypatch.setattr(Planner, "plan", counted)
    counts = []
    for writes in (8, 32):
        made.clear()
        optimize(parse(_chain(writes)))
        counts.append(len(made))
    assert counts[0] == counts[1]  # the result has as many pieces
