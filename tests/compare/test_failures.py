"""Models that fail, die or cannot be compared, and what verify says of them."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.compare.array_diff import Tolerance
from onnx_scatterx.compare.draws.draw import Draw
from onnx_scatterx.compare.equality import Equality
from onnx_scatterx.compare.result import Verification
from onnx_scatterx.compare.session_pair import SessionPair
from onnx_scatterx.compare.verifying import verify
from onnx_scatterx.errors import ModelError, ScatterXError, VerifyError
from onnx_scatterx.processes.child import NoReply
from onnx_scatterx.runtime.worker_client import ModelFile, Runner
from tests.compare.first_difference import only, parse, unary

pytestmark = [pytest.mark.slow, pytest.mark.sampled(3)]


def test_an_original_that_accepts_nothing_is_inconclusive() -> None:
    model = unary("s = Constant <value_ints = [1000003]> () f = Reshape(x, s) y = Identity(f)")
    verification = verify(model, model, samples=2)
    assert verification.accepted == 0
    assert not verification
    assert not verification.conclusive
    assert str(verification).startswith("not compared: the first model ran on none of ")
    assert "Reshape" in verification.rejections[0]


def test_draws_that_only_the_second_accepts_do_not_count() -> None:
    picky = unary("i = Constant <value_int = 5> () r = Gather <axis = 1> (x, i) y = Identity(x)")
    verification = verify(picky, unary("y = Identity(x)"), samples=10)
    assert verification
    assert min(verification.sizes["T"]) >= 6
    assert verification.draws > verification.accepted


def test_a_second_model_that_fails_is_a_difference() -> None:
    cut = "i = Constant <value_int = 5> () g0 = Gather <axis = 1> (x, i) y = Identity(x)"
    verification = verify(unary("y = Identity(x)"), unary(cut), samples=10)
    difference = only(verification)
    assert difference["kind"] == "failed"
    assert "the second model fails where the first runs" in str(verification)


def test_an_original_that_dies_at_some_sizes() -> None:
    """Einsum divides by the batch size in ONNX Runtime 1.31, and the process gets SIGFPE."""
    model = parse(
        "g (float[B, 2, 4] x) => (float[B, 2, 2] y)"
        '{ y = Einsum <equation = "bij,bkj->bik"> (x, x) }'
    )
    verification = verify(model, model, samples=12)
    assert verification
    assert verification.accepted == 12
    assert verification.crashed or 0 in verification.sizes["B"]


def test_a_worker_that_is_killed_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(unary("y = Neg(x)").SerializeToString())
    feeds = {"x": np.ones((1, 2), np.float32)}
    with Runner(ModelFile(path)) as runner:
        assert runner.load(60) is None
        os.kill(runner._process.id, signal.SIGKILL)
        died = runner.run(feeds, 60)
        assert isinstance(died, NoReply)
        assert (died.kind, "SIGKILL" in died.reason) == ("crash", True)
        outputs = runner.run(feeds, 60)
        assert isinstance(outputs, dict)
        np.testing.assert_array_equal(outputs["y"], -feeds["x"])
        assert runner.run({"x": np.ones(2, np.int64)}, 60) == NoReply(
            "error",
            "[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Unexpected input data type. Actual: "
            "(tensor(int64)) , expected: (tensor(float))",
        )
        os.kill(runner._process.id, signal.SIGSTOP)
        late = runner.run(feeds, 0.2)
        assert isinstance(late, NoReply)
        assert late.kind == "timeout"


def test_models_that_cannot_be_compared() -> None:
    plain = unary("y = Identity(x)")
    cases: Mapping[str, tuple[onnx.ModelProto, onnx.ModelProto]] = {
        "take different inputs": (
            plain,
            parse("g (float[N, T] z) => (float[N, T] y) { y = Neg(z) }"),
        ),
        r"\(RandomNormalLike\) draws random numbers": (plain, unary("y = RandomNormalLike(x)")),
        r"cannot draw input 's': unsupported type": (
            parse("g (seq(float[N]) s) => (float[A, B] y) { y = ConcatFromSequence <axis=0> (s) }"),
        )
        * 2,
    }
    for because, (before, after) in cases.items():
        with pytest.raises(VerifyError, match=because):
            verify(before, after)


def test_operators_that_the_runtime_does_not_know(tmp_path: Path) -> None:
    model = unary("y = local.Foo(x)")
    with pytest.raises(ScatterXError, match="uses the operator local:Foo, which ONNX Runtime does"):
        verify(unary("y = Identity(x)"), model)
    with pytest.raises(VerifyError, match="does not exist"):
        verify(model, model, library=tmp_path / "none.so")


class Answers:
    """Stands for a worker: gives its answers one after the other."""

    missing = ""

    def __init__(self, *answers: float) -> None:
        self.answers = list(answers)

    def run(
        self, feeds: Mapping[str, np.ndarray], timeout: float, *, fused: bool = False
    ) -> dict[str, np.ndarray]:
        return {"y": np.array(self.answers.pop(0))}


def test_an_original_that_differs_from_itself_is_not_compared() -> None:
    draw = Draw(0, {"N": 3}, "plain")
    for answers, accepted, differences in (((1.0, 1.0), 1, 1), ((1.0, 3.0), 0, 0)):
        before, after = cast("list[Runner]", [Answers(*answers), Answers(2.0)])
        comparison = SessionPair(before, after, timeout=1.0)
        assert comparison.one(draw) == (accepted == 1)
        result = comparison.so_far
        assert (result.accepted, len(result.differences)) == (accepted, differences)
    assert "other outputs every time" in str(result)
    assert result.shortfall.startswith(
        "could not compare: the first model rejected every input, or gave other outputs every time"
    )


def test_an_original_that_rounds_otherwise_every_time() -> None:
    """That must not hide a difference beyond the tolerance."""
    for tolerance, differences in ((Tolerance(atol=0.1), 1), (None, 0)):
        before, after = cast("list[Runner]", [Answers(1.0, 1.01), Answers(2.0)])
        comparison = SessionPair(before, after, timeout=1.0, equal=Equality(tolerance=tolerance))
        comparison.one(Draw(-1, {}, "given"))
        assert len(comparison.so_far.differences) == differences


class Greedy:
    """Stands for a worker that has enough memory if the other one ended, or never."""

    def __init__(self, answer: float, enough: bool = True) -> None:
        self.answer, self.enough = answer, enough
        self.other: Greedy | None = None
        self.is_open, self.missing = True, ""

    def close(self) -> None:
        self.is_open = False

    def load(self, timeout: float, *, fused: bool = False) -> NoReply | None:
        self.is_open = True
        if self.other is None or (self.enough and not self.other.is_open):
            return None
        return NoReply("crash", "the process died (killed by SIGKILL)")

    reload = load

    def drop(self, *, fused: bool) -> None:
        """Keep the memory, as the process does."""

    def run(
        self, feeds: object, timeout: float, *, fused: bool = False
    ) -> dict[str, np.ndarray] | NoReply:
        failure = self.load(timeout)
        if failure is not None:
            return NoReply("error", "Failed to allocate memory for requested buffer of size 8")
        return {"y": np.array(self.answer)}


@pytest.mark.parametrize(("answer", "differences"), [(1.0, 0), (2.0, 1)])
@pytest.mark.parametrize("fused", [False, True])
def test_short_memory_is_asked_again_without_the_first(
    answer: float, differences: int, fused: bool
) -> None:
    first, second = Greedy(1.0), Greedy(answer)
    second.other = first
    before, after = cast("list[Runner]", [first, second])
    comparison = SessionPair(before, after, timeout=1.0)
    assert comparison.load() is None
    comparison.only_fused = fused
    assert comparison.one(Draw(0, {}, "plain"))
    assert comparison.finish() is None
    assert len(comparison.so_far.differences) == differences


def test_memory_that_is_short_for_one_model_is_no_difference() -> None:
    first, second = Greedy(1.0), Greedy(1.0, enough=False)
    second.other = first
    before, after = cast("list[Runner]", [first, second])
    comparison = SessionPair(before, after, timeout=1.0)
    with pytest.raises(VerifyError, match="not enough memory to load the second model: "):
        comparison.load()
    with pytest.raises(VerifyError, match="not enough memory for the second model on draw 0"):
        comparison.one(Draw(0, {}, "plain"))
    assert comparison.so_far.differences == ()


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
def test_a_model_that_the_memory_does_not_hold(tmp_path: Path) -> None:
    """Its status is 2: it is not known whether the models agree."""
    body = """n = Constant <value_ints = [%d]> () s = Expand(x, n)
              y = ReduceSum <keepdims = 0> (s)"""
    for name, count in (("small", 8), ("large", 1 << 31)):
        model = parse(f"g (float[1] x) => (float y) {{ {body % count} }}")
        (tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))\n"
        "from onnx_scatterx.doors.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    files = [str(tmp_path / "small.onnx"), str(tmp_path / "large.onnx")]
    for pair in (files, files[::-1]):
        done = subprocess.run(
            [sys.executable, "-c", program, "verify", *pair, "--samples", "1"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done
        assert "llocate memory" in done.stderr
        assert done.stderr.count("\n") == 1


def test_an_interrupt_leaves_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python would wait for it at the end, however soon it comes."""
    start = threading.Timer.start

    def interrupted(timer: threading.Timer) -> None:
        start(timer)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Timer, "start", interrupted)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        verify(unary("y = Neg(x)"), unary("y = Neg(x)"))
    left = [t for t in threading.enumerate() if t not in before and not t.daemon]
    assert left == []


@pytest.mark.parametrize(
    ("verification", "told"),
    [
        (Verification(3, 3), "the same, bit for bit, on 3 sets of inputs"),
        (
            Verification(9, 1, crashed=2),
            "the same, bit for bit, on 1 set of inputs "
            "(the first model rejected 6 more; the first model's process died on 2)",
        ),
        (Verification(4, 0), "not compared: the first model ran on none of 4 sets of inputs"),
    ],
)
def test_what_was_compared_is_told(verification: Verification, told: str) -> None:
    assert str(verification) == told


def test_a_function_that_is_named_like_an_operator_is_not_inlined() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[N] x, int64[1] i) => (float[1] y) {
            j = Abs (i)
            y = Gather (x, j) }
        <domain: "", opset_import: ["" : 17]> Abs (a) => (b) { b = Neg (a) }"""
    model = onnx.parser.parse_model(text)
    assert verify(model, model, samples=3)


@pytest.mark.parametrize("call", ["y = own.f (x)", "k = own.f (x) y = Neg (k)"])
def test_functions_of_another_operator_set(call: str) -> None:
    """ONNX Runtime runs them; here they only guide the draws."""
    text = """<ir_version: 8, opset_import: ["" : 18, "own" : 1]> g (float[N] x) => (float[N] y) {
            %s }
        <domain: "own", opset_import: ["" : 17]> f (a) => (b) { b = Neg (a) }"""
    model = onnx.parser.parse_model(text % call)
    assert verify(model, model, samples=3)


@pytest.mark.parametrize("domain", ["", "own"])
def test_a_function_that_reads_what_nothing_defines_is_an_error(domain: str) -> None:
    """ONNX Runtime never looks at a function that nothing calls; there is no copy of it."""
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 18, "own" : 1]> g (float[N] x) => (float[N] y) {{
            y = Abs (x) }}
        <domain: "{domain}", opset_import: ["" : 18]> Abs (a) => (b) {{ b = Neg (c) }}"""
    )
    with pytest.raises(ModelError, match="nothing defines the value"):
        verify(model, model, samples=3)
    with pytest.raises(ModelError, match="cannot be copied"):
        onnx_scatterx.optimize(ir.from_proto(model))


def test_a_first_model_that_runs_on_no_input_is_not_compared() -> None:
    """Even if the second model does not load: it may be as wrong as the first one."""
    head = '<ir_version: 8, opset_import: ["" : 18]> g (float[3] x) => (float[] y)'
    wrong = (
        head + "<float[4] c = {1, 2, 3, 4}> { s = Add (x, c)  y = ReduceSum <keepdims = 0> (s) }"
    )
    for index, told in ((9, "could not compare: the first model rejected every input"), (2, "")):
        first = f"{head} <int64 i = {{{index}}}> {{ y = Gather (x, i) }}"
        found = verify(onnx.parser.parse_model(first), onnx.parser.parse_model(wrong))
        assert found.answer == ("not compared" if told else "different")
        assert found.shortfall.startswith(told or "the models differ")
        assert any("does not load" in why for why in found.interface) != bool(told)


def test_a_cast_to_no_type_is_no_fault_of_ours() -> None:
    """ONNX's checks let it pass, and ONNX Runtime does not load it."""
    model = parse("""g (bool[3] m, float[3] x) => (float[3] y) {
        a = Cast <to = 99> (m)  b = NonZero (a)  i = Transpose (b)
        r = GatherND (x, i)  y = ScatterND (x, i, r) }""")
    assert onnx_scatterx.optimize(model, assume=["a: exactly 2"]).report.scatters
    with pytest.raises(VerifyError, match="the first model cannot be loaded by ONNX Runtime"):
        onnx_scatterx.verify(model, model)
