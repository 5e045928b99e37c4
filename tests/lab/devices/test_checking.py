"""`check`: the answer about a consumer that takes a model, is wrong, refuses, crashes or hangs."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest

from onnx_scatterx.errors import MissingConsumerError, ModelError, ScatterXError, VerifyError
from onnx_scatterx.lab.devices.checking import check
from onnx_scatterx.lab.devices.consumer import (
    Consumer,
    ConsumerProcess,
    consumer_names,
    consumer_of,
)
from tests.helpers.fake_consumer import NEGATION, fake
from tests.helpers.late import end_what_is_stuck
from tests.helpers.support import f32, parse

pytestmark = [pytest.mark.slow, pytest.mark.sampled(3)]


def test_taken_and_right(tmp_path: Path) -> None:
    found = check(NEGATION, fake(tmp_path))
    assert found
    assert str(found) == "fake 1.2: taken and right: error 0"


def test_outputs_without_names(tmp_path: Path) -> None:
    assert check(NEGATION, fake(tmp_path, 'return Answer("taken", [-feeds["x"]])'))


@pytest.mark.parametrize("one_file", [True, False])
def test_weights_beside_the_file(one_file: bool, tmp_path: Path) -> None:
    """A consumer that reads none beside the file is given a file with all of them."""
    source = tmp_path / "given" / "m.onnx"
    source.parent.mkdir()
    model = parse("""g (float[N, 4] x) => (float[N, 4] y) <float[4] w = {0, 1, 2, 3}> {
        y = Add (x, w) }""")
    weights = onnx.numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")
    model.graph.initializer[0].CopyFrom(weights)
    onnx.save(model, source, save_as_external_data=True, location="w.bin", size_threshold=0)
    run = 'return Answer("refused" if b"w.bin" in model.read_bytes() else "taken", [feeds["x"] + '
    run += "np.arange(4, dtype=np.float32)])"
    found = check(source, fake(tmp_path, run, members=f"one_file = {one_file}"), sizes={"N": 2})
    assert found.verdict == ("right" if one_file else "refused")
    assert {path.name for path in source.parent.iterdir()} == {"w.bin", "m.onnx"}


def test_wrong_numbers(tmp_path: Path) -> None:
    consumer = fake(
        tmp_path, 'return Answer("taken", {"y": feeds["x"] * [[-1, -1, -1], [-1, -1, -2]]})'
    )
    found = check(NEGATION, consumer, feeds=[{"x": f32([[1, 2, 4], [1, 2, 4]])}])
    assert found.verdict == "wrong"
    assert found.error == 1
    what = "output 'y': 1 of 6 elements: -8.0 for -4.0 at (1, 2)"
    assert str(found) == f"fake 1.2: taken, but wrong: error 1; {what}"


def test_every_draw_counts(tmp_path: Path) -> None:
    consumer = fake(
        tmp_path, 'return Answer("taken", {"y": -feeds["x"] if feeds["x"][0, 0] else feeds["x"]})'
    )
    good, bad = {"x": f32([[1, 2, 3], [4, 5, 6]])}, {"x": f32([[0, 2, 3], [4, 5, 6]])}
    assert check(NEGATION, consumer, feeds=[good])
    assert check(NEGATION, consumer, feeds=[good, bad]).verdict == "wrong"


def test_the_numbers_of_float16_are_close(tmp_path: Path) -> None:
    run = 'return Answer("taken", {"y": (-feeds["x"]).astype("float16")})'
    found = check(NEGATION, fake(tmp_path, run), feeds=[{"x": f32([[1.0005, 0, 0], [0, 0.5, 0]])}])
    assert (found.verdict, bool(found), found.cosine) == ("close", True, None)
    assert str(found).startswith("fake 1.2: taken, and close: error 0.00048; output 'y': 1 of 6")


@pytest.mark.parametrize(
    ("chosen", "verdict", "members"),
    [
        (2, "tied", "float16 = True"),  # 0.9999 in place of 1
        (2, "wrong", ""),
        (0, "wrong", "float16 = True"),
        (7, "wrong", "float16 = True"),
    ],
)
def test_a_choice_between_near_candidates(
    chosen: int, verdict: str, members: str, tmp_path: Path
) -> None:
    model = parse(
        "g (float[4] x) => (int64[] y, float[4] z) { y = ArgMax <keepdims = 0> (x) z = Neg (x) }"
    )
    run = f'return Answer("taken", {{"y": np.array({chosen}), "z": -feeds["x"] * 1.0003}})'
    feeds = [{"x": f32([0, 1, 0.9999, 0.5])}]
    assert check(model, fake(tmp_path, run, members=members), feeds=feeds).verdict == verdict


def test_a_refusal_has_its_message(tmp_path: Path) -> None:
    found = check(NEGATION, fake(tmp_path, 'raise NotImplementedError("no\\n such thing")'))
    assert (found.message, found.nodes) == ("NotImplementedError: no such thing", ())
    fault = "a fault of the compiler"
    assert str(found) == f"fake 1.2: refused: NotImplementedError: no such thing; cause: {fault}"


@pytest.mark.parametrize(
    ("message", "nodes"),
    [
        ("cannot convert minus: no kernel", ("minus",)),
        ("no importer of Neg.", ("Neg",)),
        ("These Op Not Support: ONNX::Neg", ("Neg",)),
        ("Negligible", ()),
        ("it cannot neg", ()),
        ("pnnx does not translate torch.neg", ("Neg",)),
    ],
)
def test_the_node_that_a_message_names(
    tmp_path: Path, message: str, nodes: tuple[str, ...]
) -> None:
    model = parse("""g (float[2, 3] x, bool[2] p) => (float[2, 3] y, bool[2] q) {
        y = Neg(x) q = Not (p) }""")
    model.graph.node[0].name = "minus"
    found = check(model, fake(tmp_path, f'return Answer("refused", message="{message}")'))
    assert found.nodes == nodes


def test_the_node_that_the_adapter_tells(tmp_path: Path) -> None:
    run = 'return Answer("refused", message="layer 3: Neg", node="a.b")'
    said = str(check(NEGATION, fake(tmp_path, run)))
    assert said == "fake 1.2: refused at a.b: layer 3: Neg; cause: a fault of the compiler"


def test_nodes_on_the_host(tmp_path: Path) -> None:
    run = 'return Answer("taken", {"y": -feeds["x"]}, on_host=("Neg",))'
    found = check(NEGATION, fake(tmp_path, run))
    assert found
    assert str(found) == "fake 1.2: taken and right: error 0; on the host: Neg"


def test_a_crash(tmp_path: Path) -> None:
    run = 'os.write(2, b"layer 7 is null"); os.kill(os.getpid(), 11)'
    found = check(NEGATION, fake(tmp_path, run))
    assert found.message == "the process died (killed by SIGSEGV): layer 7 is null"


def test_an_exit(tmp_path: Path) -> None:
    found = check(NEGATION, fake(tmp_path, "os._exit(3)"))
    assert (found.verdict, found.message) == ("refused", "the process died (exit status 3)")


def test_no_answer_in_time(tmp_path: Path) -> None:
    found = check(NEGATION, fake(tmp_path, "time.sleep(1000)"), timeout=0.5)
    said = "fake 1.2: no answer for lack of time: no answer within 0.5 s"
    assert (found.verdict, found.out_of, str(found)) == ("no answer", "time", said)


_ABORTS = """
        with captured() as text:
            os.write(1, b"what():  std::bad_alloc")
            if text().endswith("std::bad_alloc"):
                os.abort()"""  # what it said is lost if it lies in a file of this process


@pytest.mark.parametrize("run", ['raise MemoryError("9 GB")', "os.kill(os.getpid(), 9)", _ABORTS])
def test_no_answer_for_lack_of_memory(tmp_path: Path, run: str) -> None:
    found = check(NEGATION, fake(tmp_path, run))
    assert (found.verdict, found.out_of, bool(found)) == ("no answer", "memory", False)


def begun_by(command: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return a process that a consumer has begun, as this line does, before it ends or is ended."""
    note = tmp_path / "numbers"
    end_what_is_stuck(note, monkeypatch)
    told = f'Path("{note}").write_text(f"{{begun.pid}} {{os.getpid()}}")'
    consumer = fake(
        tmp_path, f"import subprocess; begun = subprocess.Popen({command}); {told}; {end}"
    )
    check(NEGATION, consumer, timeout=3600)
    return int(note.read_text().split()[0])


def test_processes_of_a_consumer_end_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _ends(begun_by('["sleep", "1000"]', "time.sleep(1000)", tmp_path, monkeypatch))


def _ends(number: int) -> bool:
    for _ in range(200):
        if not _is_running(number):
            return True
        time.sleep(0.05)
    return False


def _is_running(number: int) -> bool:
    state = Path(f"/proc/{number}/stat")
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_all_temporary_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(place)
    run = (
        'import tempfile; open("a", "w").close(); Path(tempfile.mkdtemp(), "b").touch(); '
        'Path(os.environ["XDG_CACHE_HOME"], "c").touch(); assert Path.cwd() == directory; '
        "raise ValueError(len(os.listdir(directory)))"
    )
    assert check(NEGATION, fake(tmp_path, run)).message == "ValueError: 1"
    left = {path.name for path in place.iterdir()}
    assert left - {".ses"} == set(), "but what ONNX Runtime writes"


def test_the_output_of_a_consumer_is_not_an_answer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = 'print("{}", flush=True); os.write(1, b"}"); return Answer("taken", {"y": -feeds["x"]})'
    assert check(NEGATION, fake(tmp_path, run))
    assert capfd.readouterr() == ("", "")


def test_the_output_of_native_code_can_be_read(tmp_path: Path) -> None:
    run = """
        with captured() as text:
            os.write(1, b"Neg on CPU")
            raise ValueError(text())"""
    assert check(NEGATION, fake(tmp_path, run)).message == "ValueError: Neg on CPU"


def test_a_process_is_started_again_after_a_crash(tmp_path: Path) -> None:
    import onnx

    onnx.save(NEGATION, tmp_path / "model.onnx")
    run = 'return Answer("taken", {"y": -feeds["x"]}) if feeds["x"].any() else os.abort()'
    with ConsumerProcess(fake(tmp_path, run)) as process:
        zeros, ones = np.zeros((2, 3), np.float32), np.ones((2, 3), np.float32)
        assert process.run(tmp_path / "model.onnx", {"x": zeros}).message.startswith(
            "the process died (killed by SIGABRT)"
        )
        assert process.run(tmp_path / "model.onnx", {"x": ones}).kind == "taken"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "outputs",
    [
        '{"z": feeds["x"]}',
        "[]",
        '{"y": feeds["x"].T}',
        '{"y": "text"}',
        '[-feeds["x"], -feeds["x"]]',
    ],
)
def test_outputs_that_do_not_fit(tmp_path: Path, outputs: str) -> None:
    assert check(NEGATION, fake(tmp_path, f'return Answer("taken", {outputs})')).verdict == "wrong"


def test_outputs_that_are_not_arrays(tmp_path: Path) -> None:
    found = check(NEGATION, fake(tmp_path, 'return Answer("taken", {"y": object()})'))
    assert found.message == "TypeError: an output is not an array of numbers"


# ---- what cannot be asked ------------------------------------------------------------------------


def test_a_consumer_that_is_not_installed(tmp_path: Path) -> None:
    with pytest.raises(MissingConsumerError) as caught:
        check(NEGATION, fake(tmp_path, version="import no_such_module"))
    assert str(caught.value) == "fake is not installed: pip install fake-compiler fake-runtime"


def test_a_consumer_that_cannot_be_imported(tmp_path: Path) -> None:
    with pytest.raises(MissingConsumerError) as caught:
        check(NEGATION, fake(tmp_path, version='raise ImportError("libGL.so.1: no such file")'))
    assert str(caught.value) == "fake cannot be imported: ImportError: libGL.so.1: no such file"


def test_a_consumer_that_crashes_when_it_is_imported(tmp_path: Path) -> None:
    with pytest.raises(
        MissingConsumerError,
        match=r"fake cannot be started: the process died \(killed by SIGABRT\)",
    ):
        check(NEGATION, fake(tmp_path, version="os.abort()"))


def test_a_python_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingConsumerError, match="no/python: No such file or directory"):
        check(NEGATION, fake(tmp_path), python="no/python")


def test_a_relative_path_of_a_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert check(NEGATION, fake(tmp_path), python=os.path.relpath(sys.executable))


def test_another_python_is_reported(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    with pytest.raises(MissingConsumerError, match=f"not installed for {other}: pip install fake"):
        check(NEGATION, fake(tmp_path, version="import no_such_module"), python=str(other))


def test_a_model_that_onnx_runtime_does_not_take(tmp_path: Path) -> None:
    model = parse("g (float[2] x, float[3] z) => (float[2] y) { y = Add(x, z) }")
    with pytest.raises(ModelError):
        check(model, fake(tmp_path))


def test_inputs_that_onnx_runtime_does_not_take(tmp_path: Path) -> None:
    with pytest.raises(VerifyError, match="ONNX Runtime does not run the model"):
        check(NEGATION, fake(tmp_path), feeds=[{"x": f32([1, 2])}])


def test_inputs_that_files_cannot_hold(tmp_path: Path) -> None:
    model = parse("g (string[2] x) => (string[2] y) { y = Identity(x) }")
    with pytest.raises(VerifyError, match="input 'x' of type object cannot be given to others"):
        check(model, fake(tmp_path))


def test_names() -> None:
    assert [consumer_of(name).name for name in consumer_names()] == consumer_names()
    with pytest.raises(
        ScatterXError, match=r"no compiler is called 'opencvv'; did you mean opencv"
    ):
        consumer_of("opencvv")
    with pytest.raises(ScatterXError, match=r"no compiler is called 'zzz'; there are "):
        consumer_of("zzz")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file"),
        ("x = 1", "no adapter"),
        ("import no_such_module", "no adapter: No module named 'no_such_module'"),
        ("adapter = 3", "the adapter has no name"),
    ],
)
def test_a_file_that_is_not_an_adapter(tmp_path: Path, text: str | None, message: str) -> None:
    place = tmp_path / "own.py"
    if text is not None:
        place.write_text(text)
    with pytest.raises(ScatterXError, match=message):
        consumer_of(str(place))


# ---- adapters run where the package is not installed ---------------------------------------------


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", consumer_names())
def test_an_adapter_is_self_contained(name: str) -> None:
    """It is imported by a Python without onnx_scatterx and its dependencies."""
    import subprocess

    from onnx_scatterx.lab.devices import child

    program = f"""if True:
        import sys, runpy
        sys.path.insert(0, {str(Path(np.__file__).parents[1])!r})
        wanted = ("onnx", "onnx_ir", "onnxruntime", "rich")
        class Absent:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in wanted:
                    raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, Absent())
        module = runpy.run_path({child.__file__!r})
        module["bare_package"]()
        adapter = module["load"]({str(consumer_of(name).path)!r})
        print(adapter.name, sorted(m for m in sys.modules if m.startswith("onnx_scatterx")))
    """
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    devices = "onnx_scatterx.lab.devices"
    folders = ["onnx_scatterx", "onnx_scatterx.faces", "onnx_scatterx.lab", devices]
    adapters = [f"{devices}.{suffix}" for suffix in ("adapter", "consumers", f"consumers.{name}")]
    loaded = [*folders, *adapters]
    said, _, modules = done.stdout.partition(" ")
    assert said == name
    assert set(eval(modules)) == set(loaded)


# ---- the real ones, where they are ---------------------------------------------------------------

WRITES = """g (float[4, 6] x, float[2, 6] u) => (float[4, 6] y) {
        y = Concat <axis = 0> (Slice (x, [0], [1], [0]), u, Slice (x, [3], [9], [0])) }"""


def _installed(name: str) -> tuple[Consumer, str | None]:
    """Return a consumer and its Python: this one, or `$CONSUMER_PYTHON` with its name for {}."""
    consumer = consumer_of(name)
    pattern = os.environ.get("CONSUMER_PYTHON")
    python = pattern.format(name) if pattern else None
    try:
        ConsumerProcess(consumer, python).close()
    except MissingConsumerError as error:
        pytest.skip(str(error))
    return consumer, python


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", consumer_names())
def test_a_real_consumer_takes_slices(name: str) -> None:
    consumer, python = _installed(name)
    found = check(parse(WRITES, opset=17), consumer, python=python)
    assert found, str(found)


@pytest.mark.sampled(3)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="Linux shows the environment of a process")
@pytest.mark.parametrize("end", ["time.sleep(1000)", "os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_processes_in_other_sessions_end_too(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = '["sleep", "1000"], start_new_session=True'
    assert _ends(begun_by(command, end, tmp_path, monkeypatch))
