"""A second judge for some of the tests: what `optimize` made is proven, if it can be.

The seed SCATTERX_PROVE_SEED draws which tests have it, the same ones by default. The share of them
is SCATTERX_PROVE_SHARE. A difference that the solver finds, and a run shows, fails the test.
"""

import os
import random

import onnx
import pytest

from onnx_scatterx.targets.catalogue import AnyTarget
from tests.helpers import support
from tests.helpers.equivalence_support import replayed
from tests.helpers.proving import prove

SEED = os.environ.get("SCATTERX_PROVE_SEED", "0")
SHARE = float(os.environ.get("SCATTERX_PROVE_SHARE", "0.03"))


@pytest.fixture(autouse=True)
def second_judge(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `assert_sound` prove what it runs, in a random sample of tests."""
    if random.Random(f"{SEED} {request.node.nodeid}").random() >= SHARE:
        return
    optimize = support.optimize

    def optimized(
        original: onnx.ModelProto, target: AnyTarget = "standard", *, gathers: bool = False
    ) -> onnx.ModelProto:
        made = optimize(original, target, gathers=gathers)
        found = prove(original, made, replay=replayed(original, made), effort=0.5)
        assert found.kind != "refuted", f"{found} (SCATTERX_PROVE_SEED={SEED})"
        return made

    monkeypatch.setattr(support, "optimize", optimized)
