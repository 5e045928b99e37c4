"""The library found, sessions opened with it, models run, and caches that may be bound twice."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime as ort
import pytest

import onnx_scatterx
from onnx_scatterx.doors.bound_cache import cache_pairs, check_bound_cache
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.runtime.library import library_path
from onnx_scatterx.runtime.opened import run_model
from onnx_scatterx.runtime.session import session, warn_once
from tests.helpers.pair import agree, rejections
from tests.helpers.support import f32, i64, parse, run, sample

pytestmark = pytest.mark.sampled(2)

ROWS = """g (float[5, 4] x, int64[N, 1] i, float[N, 4] y) => (float[5, 4] z)
          { z = ScatterND(x, i, y) }"""
FEED = {"x": sample("float32", 5, 4), "i": i64([[4], [0]]), "y": sample("float32", 2, 4, seed=1)}
EXPECTED = run(parse(ROWS), FEED)[0]
DOCS = Path(__file__).parents[2] / "docs"


def optimized() -> onnx_scatterx.Result[onnx.ModelProto]:
    return onnx_scatterx.optimize(parse(ROWS), target="scatterx")


def test_library_path() -> None:
    assert library_path().is_file()
    assert library_path().is_absolute()
    assert library_path() == onnx_scatterx.library_path()


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("nm") is None, reason="nm reads the symbols of Linux"
)
def test_the_library_exports_one_function() -> None:
    """Not what was linked into it: operator new and templates of its C++ library are its own."""
    command = ["nm", "--dynamic", "--defined-only", str(library_path())]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["RegisterCustomOps"]


class Installed:
    """A distribution without files."""

    files = None
    version = "0.1.0"


WHY = r"no ScatterX library \(scatterx_ops\.so\), because no C\+\+ compiler was found"


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of a package that was built without the library, and says why."""
    monkeypatch.delenv("ONNX_SCATTERX_LIBRARY", raising=False)
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path)
    monkeypatch.setattr("importlib.metadata.distribution", lambda package: Installed())
    warn_once.cache_clear()
    (tmp_path / "not_built.txt").write_text("no C++ compiler was found\n", encoding="utf-8")
    return tmp_path


def test_a_library_that_is_not_there(
    without_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ask in (library_path, lambda: session(optimized().model, library=True)):
        with pytest.raises(ScatterXError, match="no ScatterX library") as error:
            ask()
        told = str(error.value)
        assert "\n" not in told
        assert all(way in told for way in ("a wheel", "a C++ compiler", "--no-library"))
        assert re.search(f"{WHY}: ", told)
    (without_library / "not_built.txt").unlink()
    with pytest.raises(ScatterXError, match=r"no ScatterX library \(scatterx_ops\.so\): "):
        library_path()
    monkeypatch.setenv("ONNX_SCATTERX_LIBRARY", str(without_library / "no.so"))
    for ask in (library_path, lambda: session(parse(ROWS))):
        with pytest.raises(ScatterXError, match=r"no\.so, which is not a file"):
            ask()


@pytest.mark.parametrize(
    ("platform", "ending"), [("linux", ".so"), ("darwin", ".dylib"), ("win32", ".dll")]
)
def test_each_platform_has_a_name_for_it(
    platform: str, ending: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ONNX_SCATTERX_LIBRARY", raising=False)
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path)
    for other in (".so", ".dylib", ".dll"):
        (tmp_path / f"scatterx_ops{other}").write_bytes(b"")
    monkeypatch.setattr(sys, "platform", platform)
    assert library_path() == tmp_path / f"scatterx_ops{ending}"


def test_without_the_library_a_model_runs_that_needs_none(
    without_library: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One without ScatterX silently, one with fallbacks by these, after a warning."""
    plain, rows = parse(ROWS), optimized().model
    assert agree([EXPECTED], session(plain).run(None, FEED))
    assert agree([EXPECTED], list(run_model(plain, FEED).values()))
    onnx_scatterx.bench([plain, plain], sizes={"N": 2}, rounds=6, node_times=False)
    assert caplog.messages == []
    for _ in range(2):
        assert agree([EXPECTED], session(rows).run(None, FEED))
        assert agree([EXPECTED], list(run_model(rows, FEED).values()))
        onnx_scatterx.bench(plain, targets=["scatterx"], inputs=FEED, rounds=6, node_times=False)
    (told,) = caplog.messages
    assert told.endswith("because no C++ compiler was found: ScatterX nodes run by their fallbacks")


def test_without_the_library_a_model_without_fallbacks_does_not_run(without_library: Path) -> None:
    model, body = optimized().model, parse(ROWS)
    del model.functions[:]
    inside = onnx.ModelProto()
    inside.CopyFrom(body)
    del inside.graph.node[:]
    branch = onnx.helper.make_graph(model.graph.node, "branch", [], [model.graph.output[0]])
    branches = {"then_branch": branch, "else_branch": branch}
    inside.graph.node.append(onnx.helper.make_node("If", ["c"], ["z"], **branches))
    inside.graph.input.append(onnx.helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []))
    inside.opset_import.append(onnx.helper.make_opsetid("onnx_scatterx", 1))
    for each, feed in ((model, FEED), (inside, FEED | {"c": np.array(True)})):
        with pytest.raises(ScatterXError, match=f"{WHY}: the model has a ScatterX node without"):
            session(each)
        with pytest.raises(ScatterXError, match=WHY):
            run_model(each, feed)
        with pytest.raises(ScatterXError, match=WHY):
            onnx_scatterx.bench([body, each], inputs=feed)


def test_the_command_line_without_the_library(
    without_library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = str(without_library / "before.onnx"), str(without_library / "after.onnx")
    Path(before).write_bytes(parse(ROWS).SerializeToString())
    assert main(["optimize", before, "-o", after, "--verify", "--quiet"]) == 0
    assert main(["run", before]) == 0
    assert main(["run", after, "--no-library"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["run", after]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "onnx-scatterx: this installation has no ScatterX library (scatterx_ops.so), because no "
        "C++ compiler was found: ScatterX nodes run by their fallbacks"
    )
    assert main(["--version"]) == 0
    version, told = capsys.readouterr().out.splitlines()
    assert version == onnx_scatterx.__version__
    assert told.endswith("(scatterx_ops.so), because no C++ compiler was found")


def test_an_old_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ort, "__version__", "1.17.3")
    with pytest.raises(
        ScatterXError, match=r"needs ONNX Runtime 1\.18 or newer, and this is 1\.17"
    ):
        session(optimized().model)


def test_a_session_of_every_kind_of_model(tmp_path: Path) -> None:
    result = optimized()
    path = tmp_path / "model.onnx"
    result.save(path)
    for model in (path, str(path), result.model, ir.from_proto(result.model)):
        opened = session(model)
        assert agree([EXPECTED], opened.run(None, FEED))
        assert opened.get_providers() == ["CPUExecutionProvider"]


def runs_natively(**options: Any) -> bool:
    """What the fallback refuses and the operator does: float16 is added up."""
    text = ROWS.replace("float", "float16").replace("ND(", 'ND <reduction = "add"> (')
    model = onnx_scatterx.optimize(parse(text), target="scatterx").model
    feed = {k: v.astype(np.float16) if k != "i" else v for k, v in FEED.items()}
    feed["x"], feed["y"] = np.ones_like(feed["x"]), np.ones_like(feed["y"])
    opened = session(model, **options)
    try:
        (actual,) = opened.run(None, feed)
    except rejections():
        return False
    assert actual.tolist() == [[2.0] * 4, [1.0] * 4, [1.0] * 4, [1.0] * 4, [2.0] * 4]
    return True


def test_the_native_operator_runs() -> None:
    assert runs_natively()


CPU = "CPUExecutionProvider"
DEVICE = "AzureExecutionProvider"  # the other one that ONNX Runtime has on every machine


@pytest.mark.skipif(DEVICE not in ort.get_available_providers(), reason="no other provider")
@pytest.mark.parametrize(
    ("options", "native"),
    [
        ({"providers": [CPU]}, True),
        ({"providers": []}, True),
        ({"providers": [(CPU, {}), DEVICE]}, True),
        ({"providers": [DEVICE, CPU]}, False),
        ({"providers": [(DEVICE, {}), CPU]}, False),
        ({"providers": [DEVICE, CPU], "library": True}, True),
        ({"providers": [CPU], "library": False}, False),
        ({"library": False}, False),
    ],
)
def test_the_library_is_for_the_cpu(options: dict[str, Any], native: bool) -> None:
    """Under another provider the fallbacks run, unless the library is asked for."""
    assert runs_natively(**options) == native


@pytest.mark.skipif(
    not hasattr(ort.SessionOptions, "has_providers"), reason="options cannot name providers"
)
def test_providers_of_the_session_options() -> None:
    for library, native in (None, False), (True, True):
        options = ort.SessionOptions()
        options.add_provider(DEVICE, {})
        assert runs_natively(session_options=options, library=library) == native


def test_an_old_runtime_runs_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ort, "__version__", "1.17.3")
    assert agree([EXPECTED], session(optimized().model, library=False).run(None, FEED))


def test_options_of_the_caller() -> None:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    opened = session(optimized().model, session_options=options)
    assert opened.get_session_options().intra_op_num_threads == 1


def test_a_model_with_weights_outside(tmp_path: Path) -> None:
    weights = sample("float32", 2, 300)
    model = _with_weights(weights)
    path = tmp_path / "model.onnx"
    ir.save(model, path, external_data="weights.bin", size_threshold_bytes=16)
    x = f32(np.ones((2, 300)))
    for opened in (session(path), session(ir.load(path))):
        assert agree([x + weights], opened.run(None, {"x": x}))


def _with_weights(weights: np.ndarray) -> ir.Model:
    model = ir.from_proto(parse("g (float[2, 300] x) => (float[2, 300] z) { z = Neg(x) }"))
    (node,) = model.graph
    value = ir.Value(name="w", const_value=ir.tensor(weights, name="w"))
    model.graph.register_initializer(value)
    add = ir.Node("", "Add", [model.graph.inputs[0], value], outputs=[ir.Value(name="z")])
    add.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
    model.graph.outputs[0] = add.outputs[0]
    model.graph.append(add)
    model.graph.remove(node)
    return model


def test_run_model(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    optimized().save(path)
    found = run_model(path, FEED, threads=1)
    assert list(found) == ["z"]
    assert agree(EXPECTED, found["z"])
    assert list(run_model(path, FEED, ["z"])) == ["z"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("feed", "outputs", "message"),
    [
        ({"x": FEED["x"], "i": FEED["i"]}, None, r"needs more inputs: y \(tensor\(float\)"),
        (FEED | {"w": FEED["x"]}, None, "no input 'w'; it has x, i, y"),
        (FEED, ["w"], "no output 'w'; it has z"),
        (FEED | {"x": FEED["i"]}, None, "'x' is int64, and the model takes float;"),
        (FEED | {"x": FEED["y"]}, None, r"'x' has shape \[2, 4\], and .* takes \[5, 4\]"),
        (FEED | {"i": i64([[5], [0]])}, None, "cannot run the model: .*5"),
    ],
)
def test_run_model_says_what_is_wrong(
    feed: dict[str, np.ndarray], outputs: list[str] | None, message: str
) -> None:
    with pytest.raises(ScatterXError, match=message) as error:
        run_model(optimized().model, feed, outputs)
    assert "\n" not in str(error.value)


def test_run_model_of_no_model(tmp_path: Path) -> None:
    with pytest.raises(ScatterXError, match="no such file"):
        run_model(tmp_path / "no.onnx", {})
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    with pytest.raises(ScatterXError, match="cannot load the model"):
        run_model(tmp_path / "bad.onnx", {})


CACHE = """g (float[8, 2] cache, int64[1, 1] i, float[1, 2] y) => (float[8, 2] next, float[8, 2] w)
           { MORE next = ScatterND(cache, i, UPDATES) }"""


@pytest.mark.parametrize(
    ("more", "updates", "readers"),
    [
        ("w = Neg(next)", "y", []),
        ("w = Neg(cache)", "y", ["w"]),
        ("w = Identity(cache)", "y", ["w", "the graph output w"]),
        (
            "s = Constant <value_ints = [2, 8]> ()  v = Reshape(cache, s)  w = Neg(v)",
            "y",
            ["v", "w"],
        ),
        ("w = Neg(cache)  o = ReduceSum(w)  u = Add(y, o)", "u", []),
    ],
)
@pytest.mark.parametrize("native", [False, True])
def test_bound_caches(more: str, updates: str, readers: list[str], native: bool) -> None:
    text = CACHE.replace("UPDATES", updates)
    if "next)" in more:
        text = text.replace("MORE", "").replace(" }", f" {more} }}")
    else:
        text = text.replace("MORE", more)
    model = parse(text)
    if native:
        model = onnx_scatterx.optimize(model, target="scatterx").model
    assert cache_pairs(model) == {"cache": "next"}
    findings = check_bound_cache(model)
    assert [f.reader for f in findings] == readers
    assert all("do not bind cache and next to one buffer" in str(f) for f in findings)


def test_a_hazard_is_one() -> None:
    """The reader that is warned of sees the update, where both are one buffer."""
    text = CACHE.replace("MORE", "").replace("UPDATES", "y").replace(" }", " w = Neg(cache) }")
    model = onnx_scatterx.optimize(parse(text), target="scatterx").model
    assert check_bound_cache(model)
    cache = ort.OrtValue.ortvalue_from_numpy(np.zeros((8, 2), np.float32))
    opened = session(model)
    binding = opened.io_binding()
    binding.bind_ortvalue_input("cache", cache)
    binding.bind_cpu_input("i", i64([[3]]))
    binding.bind_cpu_input("y", f32([[1, 2]]))
    binding.bind_ortvalue_output("next", cache)
    binding.bind_output("w")
    opened.run_with_iobinding(binding)
    assert cache.numpy()[3].tolist() == [1, 2]
    (seen,) = (o.numpy() for o in binding.get_outputs()[1:])
    assert seen[3].tolist() in ([-1, -2], [0, 0])


def test_a_cache_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="no input 'a' or no output 'b'"):
        check_bound_cache(parse(ROWS), {"a": "b"})


def test_two_updates_of_one_cache() -> None:
    text = """g (float[8, 2] cache, int64[1, 1] i, float[1, 2] y) => (float[8, 2] next)
              { a = ScatterND(cache, i, y)  next = ScatterND(a, i, y) }"""
    assert cache_pairs(parse(text)) == {"cache": "next"}
    assert check_bound_cache(parse(text)) == ()


def test_the_example(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--positions", "16", "--heads", "2", "--width", "4", "--steps", "20"]
    monkeypatch.setattr(sys, "argv", ["kv_cache.py", *arguments])
    runpy.run_path(str(DOCS / "kv_cache.py"), run_name="__main__")
    assert re.search(r"20 steps in a cache of .* 32 bytes each", capsys.readouterr().out)


def test_the_example_has_4096_positions() -> None:
    assert '"--positions", type=int, default=4096' in (DOCS / "kv_cache.py").read_text()
