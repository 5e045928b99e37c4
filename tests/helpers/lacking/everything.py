"""Uses all that runs no model, in a Python that lacks something, and prints what the rest says.

    PYTHONPATH=tests/helpers/lacking LACKS="onnxruntime processes" \
        python tests/helpers/lacking/everything.py models [NAME ...]
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import onnx

import onnx_scatterx
from onnx_scatterx.doors.cli import main as command

NAMES = ("yolox_head_ts_dynamic", "kv_cache_dynamo", "letterbox_qdq_uint8")


def main(models: Path, *names: str) -> None:
    """Use everything on some models."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names or NAMES:
            use(models / f"{name}.onnx", Path(folder))
        print(rest(models / f"{NAMES[0]}.onnx"))


def use(path: Path, folder: Path) -> None:
    """Optimize, inspect, explain, advise, and write the model, the page and the JSON."""
    for target in ("scatterx", "qnn"):
        result = onnx_scatterx.optimize(path, target=target)
        result.save(folder / "new.onnx")
        onnx.checker.check_model(onnx.load(folder / "new.onnx"), full_check=True)
        report = onnx_scatterx.inspect(path, target=target)
        assert len(report.scatters) == len(result.report.scatters) > 0
        assert json.loads(result.report.to_json())["schema"] == 1
        assert "<html" in result.report.to_html()
        assert "answer" in str(onnx_scatterx.explain(path, target=target))
        assert isinstance(onnx_scatterx.advise(path, target=target), tuple)
    new, page = str(folder / "new.onnx"), folder / "page.html"
    assert command(["optimize", str(path), "-o", new, "--report", str(page)]) == 0
    assert "<html" in page.read_text(encoding="utf-8")
    assert command(["inspect", str(path), "--json"]) == 0


def rest(path: Path) -> str:
    """Return the headline of `verify`, and the errors of what needs more."""
    result = onnx_scatterx.optimize(path)
    lines = [str(onnx_scatterx.verify(path, result.model, samples=5)).split("\n")[0]]
    asked: list[Callable[[], object]] = [
        lambda: onnx_scatterx.run_model(path, {}),
        lambda: onnx_scatterx.session(path),
        lambda: onnx_scatterx.bench([path, path]),
        lambda: onnx_scatterx.check(path, "opencv"),
    ]
    assert onnx_scatterx.optimize(path, opset=20).model.opset_import[0].version == 20
    if "onnxruntime" not in os.environ["LACKS"].split():
        asked = asked[4:]
    for ask in asked:
        try:
            ask()
        except onnx_scatterx.ScatterXError as error:
            lines.append(str(error))
        else:
            raise AssertionError("it needs what is missing")
    return "\n".join(lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
