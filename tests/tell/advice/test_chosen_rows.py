"""What to do next if a choice of rows is left: each command was tried."""

import shlex

import pytest

from onnx_scatterx import advise
from tests.helpers.support import parse

LACKS = "standard, avoid = ['NonZero']"
ROUTED = """g (float[6,4] x, float[6,{experts}] scores, float[6,4] out) => (float[6,4] y)
    <float[4,4] w = {{1, 2, 0, 1, 0, 1, 1, 0, 2, 0, 1, 1, 1, 1, 0, 2}}> {{
    best, at = TopK <axis = 1> (scores, [1])
    hot = Equal (at, [2])
    n = NonZero (hot)
    i = Slice (n, [0], [1], [0])
    t = Transpose (i)
    r = GatherND (x, t)
    a = MatMul (r, w)
    u = {last} (a)
    y = ScatterND (out, t, u)
    }}"""


@pytest.mark.parametrize(
    ("experts", "last", "added"),
    [
        (8, "Log", " --last-bits"),
        (17, "Relu", ", work_limit = inf"),
        (17, "Log", ", work_limit = inf --last-bits"),
    ],
)
def test_what_removes_a_choice(experts: int, last: str, added: str) -> None:
    model = parse(ROUTED.format(experts=experts, last=last))
    (found,) = [a for a in advise(model, target=LACKS) if a.is_violation]
    (way,) = found.ways
    target = next(word for word in shlex.split(way.command) if word.startswith(LACKS))
    options = way.command.partition(shlex.quote(target))[2]
    assert target.removeprefix(LACKS) + options == added


def test_nothing_is_to_do_if_the_choice_goes() -> None:
    model = parse(ROUTED.format(experts=8, last="Relu"))
    assert not advise(model, target=LACKS)
