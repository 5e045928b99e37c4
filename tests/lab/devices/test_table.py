"""The table of devices: the right answers before and after, lost models, and stored answers."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.lab.devices.consumer import Consumer
from tests.helpers.fake_consumer import fake
from tests.helpers.scripts import script
from tests.helpers.support import parse

pytestmark = [pytest.mark.slow, pytest.mark.sampled(3)]


devices = script("devices")
DeviceTable, device_table, with_sizes = (
    getattr(script("device_table"), name) for name in ("DeviceTable", "device_table", "with_sizes")
)

BOX = """g (float[{0}, 2] x, float[1, 2] u) => (float[{0}, 2] y) {{
    y = ScatterND (x, [[1]], u) }}"""
PLAIN = "g (float[3] x) => (float[3] y) { y = Neg (x) }"
RUNS = """
        import onnx, onnxruntime
        with open(Path(__file__).with_name("asked"), "a") as file:
            file.write("x")
        ops = [node.op_type for node in onnx.load(model).graph.node]
        if {refused!r} in ops:
            raise ValueError("no " + {refused!r})
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        return Answer("taken", session.run(None, dict(feeds)))"""


@pytest.fixture
def models(tmp_path: Path) -> list[Path]:
    directory = tmp_path / "models"
    directory.mkdir()
    texts = {"box": BOX.format(4), "dynamic": BOX.format("N"), "plain": PLAIN}
    for name, text in texts.items():
        onnx.save(parse(text), directory / f"{name}.onnx")
    return [directory / f"{name}.onnx" for name in texts]


def refusing(directory: Path, op_type: str) -> Consumer:
    return fake(directory, RUNS.format(refused=op_type))


def test_gained_models(tmp_path: Path, models: list[Path]) -> None:
    table = device_table(models, [(refusing(tmp_path, "ScatterND"), None)])
    assert table.right("fake", "original") == {"plain"}
    assert table.right("fake", "standard") == table.right("fake", "own") == set(table.models)
    assert (
        table.to_markdown()
        == """\
| consumer | right of 3 before | after `standard` | after its own profile | silently wrong \
| false alarms | not named |
|---|---|---|---|---|---|---|
| fake 1.2 | 1 | 3 (+2, -0) | 3 (+2, -0) | 0, 0, 0 | 0 | 0 |

| model | fake |
|---|---|
| box | - yes yes |
| dynamic | - yes yes |
| plain | yes yes yes |
"""
    )
    cell = table.cells["box", "fake", "original"]
    assert (cell.scatters, cell.check.nodes) == (1, ("ScatterND",))
    assert table.cells["box", "fake", "own"].scatters == 0
    answers = json.loads(table.to_json())["answers"]
    assert [a["check"]["verdict"] for a in answers[:3]] == ["refused", "right", "right"]


def test_lost_models(tmp_path: Path, models: list[Path]) -> None:
    table = device_table(models[:1], [(refusing(tmp_path, "Concat"), None)])
    cause = "cause: movement, masks, index arithmetic or reading"
    why = f"fake 1.2: refused at Concat: ValueError: no Concat; {cause}"
    assert table.to_markdown().splitlines()[-3:] == [
        f"- lost: box, standard: {why}",
        f"- lost: box, own: {why}",
        f"- not named: box: {why}",
    ]


def test_wrong_models(tmp_path: Path, models: list[Path]) -> None:
    consumer = fake(tmp_path, 'return Answer("taken", [feeds["x"]])')
    said = device_table(models[2:], [(consumer, None)]).to_markdown()
    assert "| fake 1.2 | 0 | 0 (+0, -0) | 0 (+0, -0) | 1, 1, 1 | 0 | 1 |" in said


def test_false_alarms(tmp_path: Path, models: list[Path]) -> None:
    """A profile without Neg is not true of a consumer that takes it; host nodes are no alarm."""
    profile = tmp_path / "own.toml"
    run = RUNS.format(refused="ScatterND")
    consumer = fake(tmp_path, run, members=f"profile = {str(profile)!r}")
    for text, alarms in (('avoid = ["Neg"]', ["plain"]), ("[limits.Neg]\nnative = false", [])):
        profile.write_text(f'name = "own"\n{text}\n')
        table = device_table(models[2:], [(consumer, None)])
        assert table.unlike_strict("fake", right=True) == alarms
        assert table.unlike_strict("fake", right=False) == []
        assert ("- false alarm: plain: fake: " in table.to_markdown()) == bool(alarms)


def test_stored_answers_are_reused(tmp_path: Path, models: list[Path]) -> None:
    consumer, record = refusing(tmp_path, "ScatterND"), tmp_path / "record.json"
    first = device_table(models, [(consumer, None)], record=record)
    asked = (tmp_path / "asked").read_text()
    assert len(asked) == 5, "what was not changed is asked once"
    again = device_table(models, [(consumer, None)], record=record)
    assert (tmp_path / "asked").read_text() == asked
    assert again == first


def test_the_inputs_beside_a_model(tmp_path: Path, models: list[Path]) -> None:
    given = {"x": np.ones((7, 2), np.float32), "u": np.zeros((1, 2), np.float32)}
    np.savez(models[1].with_suffix(".in.npz"), **given)  # type: ignore[arg-type]  # allow_pickle is no array
    consumer = fake(tmp_path, 'return Answer("taken", [feeds["x"][:6]])')
    cell = device_table(models[1:2], [(consumer, None)]).cells["dynamic", "fake", "own"]
    assert cell.check.message == "output 'y': shape [6, 2] for [7, 2]"


def test_sizes_become_numbers() -> None:
    model = ir.from_proto(parse(BOX.format("N")))
    graph = with_sizes(model, {"x": np.ones((5, 2), np.float32)}).graph
    for value in (graph.input[0], graph.output[0]):
        assert value.type.tensor_type.shape.dim[0].dim_value == 5


def test_the_program(
    tmp_path: Path, models: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(refusing(tmp_path, "ScatterND").path)
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{devices.BEGIN}\nold\n{devices.END}\n\nafter\n")
    arguments = [str(models[0].parent), "--only", place, "--page", str(page)]
    assert devices.main([*arguments, "--json", str(tmp_path / "all.json")]) == 0
    printed = capsys.readouterr().out
    assert "right of 2 before" in printed, "the dynamic one is left out"
    kept = f"{devices.BEGIN}\n\n{printed[:-1]}\n{devices.END}"
    assert page.read_text() == f"before\n\n{kept}\n\nafter\n"
    assert "dynamic" not in (tmp_path / "all.json").read_text()
    listed = tmp_path / "list"
    listed.write_text("dynamic\n")
    assert devices.main([*arguments[:3], "--list", str(listed)]) == 0
    assert "right of 1 before" in capsys.readouterr().out


def test_the_program_without_consumers(
    tmp_path: Path, models: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(fake(tmp_path, version="import no_such_module").path)
    assert devices.main([str(models[0].parent), "--only", place]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "fake is not installed: pip install fake-compiler fake-runtime",
        "no consumer is installed",
    ]


def test_a_model_that_does_not_run(tmp_path: Path, models: list[Path]) -> None:
    broken = models[0].with_name("broken.onnx")
    onnx.save(parse("g (float[2] x, float[3] z) => (float[2] y) { y = Add(x, z) }"), broken)
    table = device_table([broken, models[2]], [(refusing(tmp_path, "Mul"), None)])
    assert table.models == ["plain"]
    assert "- left out: broken: ONNX Runtime cannot load the model" in table.to_markdown()


def test_a_target_that_cannot_be_had_is_a_refusal(tmp_path: Path, models: list[Path]) -> None:
    consumer = fake(tmp_path, members='profile = "no_such.toml"')
    cell = device_table(models[2:], [(consumer, None)]).cells["plain", "fake", "own"]
    assert (cell.check.verdict, "no_such.toml" in cell.check.message) == ("refused", True)
    assert cell.violations == (cell.check.message,), "optimize says so"


def test_a_table_without_models() -> None:
    assert DeviceTable().to_markdown().startswith("| consumer | right of 0 before |")
