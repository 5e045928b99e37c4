"""The example models: their table is right, and their optimized models are sound."""

import re
from pathlib import Path

import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import SESSIONS, Feed, agree
from tests.helpers.support import assert_sound, sample, scatters

FOLDER = Path(__file__).parents[2] / "models"
PATHS = sorted(FOLDER.glob("*.onnx"))
QUANTIZED = [path for path in PATHS if "_qdq_" in path.name or "_qoperator_" in path.name]
README = (FOLDER / "README.md").read_text(encoding="utf-8")
EXPORTS = ("dynamo", "dynamo_dynamic", "ts", "ts_dynamic")

# Sizes for what is symbolic; the window of the Swin mask divides heights and widths.
BINDINGS = (
    {"batch": 2, "time": 5, "rows": 6, "queries": 5, "anchors": 6, "height": 8, "width": 12},
    {"batch": 1, "time": 1, "rows": 2, "queries": 1, "anchors": 1, "height": 4, "width": 4},
    {"batch": 3, "time": 2, "rows": 1, "queries": 2, "anchors": 2, "height": 4, "width": 8},
)
READS = ("read_", "learnt_positions", "take_along", "gather_rows")
# One node became one Slice.
SLICED = ("take_along_dynamo", "gather_rows_dynamo", "gather_rows_ts")
FROM_DATA = ("mask_fill", "mask_copy", "kv_cache", "one_hot_labels")


def feed(model: onnx.ModelProto, sizes: dict[str, int], seed: int) -> Feed:
    """Draw inputs; integers are labels or positions, below 5."""
    drawn = {}
    for place, value in enumerate(model.graph.input):
        tensor = value.type.tensor_type
        shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        array = sample(dtype.name, *shape, seed=10 * seed + place)
        drawn[value.name] = array % 5 if dtype.kind == "i" else array
    return drawn


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_outputs_stay(path: Path) -> None:
    model = onnx.load(path)
    known = path.stem.endswith(("_dynamo", "_ts")) and not path.stem.startswith(FROM_DATA)
    feeds = [feed(model, sizes, seed) for seed, sizes in enumerate(BINDINGS)]
    assert_sound(model, *feeds, left=0 if known else None)


def told(text: str) -> dict[str, int]:
    """Return the counts that a table tells, by file."""
    rows = re.findall(r"^\| `(\w+)` \|.*\|(.*)\|(.*)\|(.*)\|(.*)\|$", text, re.M)
    return {
        f"{name}_{export}.onnx": int(count)
        for name, *counts in rows
        if name not in EXPORTS
        for export, count in zip(EXPORTS, counts, strict=True)
        if count.strip()
    }


def test_the_tables_are_right() -> None:
    exported, _ = README.split("Some of them quantized")
    written, read = map(told, exported.split("become gathers"))
    models = {path.name: onnx.load(path) for path in PATHS if path not in QUANTIZED}
    assert written.keys() | read.keys() == models.keys()
    assert written == {name: scatters(models[name]) for name in written}
    reports = {name: onnx_scatterx.inspect(models[name], gathers=True) for name in read}
    assert read == {name: len(report.gathers) for name, report in reports.items()}
    assert len(PATHS) > 40


def test_the_table_of_quantized_models_is_right() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| `(\w+)` \|.*\|.*\| (\d+) \| (\d+) \| (\d+) \|$", README, re.M
    )
    assert {FOLDER / f"{name}.onnx" for name, *_ in rows} == set(QUANTIZED)
    for name, source, *told in rows:
        assert (FOLDER / f"{source}.onnx").exists()
        report = onnx_scatterx.inspect(FOLDER / f"{name}.onnx", target="standard")
        counts = [
            sum(ops[op] for op in ("QuantizeLinear", "DequantizeLinear"))
            for ops in (report.ops_before, report.ops_after)
        ]
        assert [len(report.scatters), *counts] == list(map(int, told))
        assert report.removed == len(report.scatters)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", QUANTIZED, ids=lambda path: path.stem)
def test_quantized_models_are_small_and_stay_the_same_bits(path: Path) -> None:
    assert path.stat().st_size < 100_000
    model = onnx.load(path)
    for target in ("standard", "scatterx"):
        made = onnx_scatterx.optimize(model, target=target).model
        for size in BINDINGS:
            drawn = dict(feed(model, size, size["batch"]))
            for load in SESSIONS:
                before, after = (load(m).run(None, drawn) for m in (model, made))
                assert agree(before, after)


READING = [path for path in PATHS if path.stem.startswith(READS)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", READING, ids=lambda path: path.stem)
def test_reads_go(path: Path) -> None:
    model = onnx.load(path)
    feeds = [feed(model, sizes, seed) for seed, sizes in enumerate(BINDINGS)]
    assert_sound(model, *feeds, gathers=True)
    result = onnx_scatterx.optimize(model, gathers=True)
    assert result.report.gathers_removed == len(result.report.gathers) > 0
    assert result.report.nodes_after < result.report.nodes_before or path.stem in SLICED


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_files_are_small_and_tell_nothing_of_a_machine(path: Path) -> None:
    content = path.read_bytes()
    assert len(content) < 150_000
    for word in (b"/home/", b"/work", b"/tmp", b"/root", b'File "/'):
        assert word not in content


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", [p for p in PATHS if "_dynamo" in p.stem], ids=lambda p: p.stem)
def test_the_metadata_of_the_exporter_is_kept(path: Path, tmp_path: Path) -> None:
    model = onnx.load(path)
    assert model.graph.metadata_props
    assert any(b'File "models/sources.py"' in n.SerializeToString() for n in model.graph.node)
    onnx_scatterx.optimize(path, target="standard").save(tmp_path / "out.onnx")
    written = onnx.load(tmp_path / "out.onnx")
    assert list(written.graph.metadata_props) == list(model.graph.metadata_props)
    before = {node.output[0]: node for node in model.graph.node}
    kept = [n for n in written.graph.node if n.name == before.get(n.output[0], n).name]
    assert all(
        set(map(str, before[n.output[0]].metadata_props)) <= set(map(str, n.metadata_props))
        for n in kept
        if n.output[0] in before
    )
