"""A small command loads the modules that it uses, and no others."""

import subprocess
import sys

PROGRAM = """
import sys, onnx_scatterx
result = onnx_scatterx.optimize("models/yolox_head_ts.onnx", target="standard")
assert result.report.scatters
print(*sys.modules)
"""
MOST = 305
"""Modules of the package, without the rules. Before more, ask whether each model needs them."""

RULES = "onnx_scatterx.rewrites"  # each model is asked about by all of them

OTHERS = (
    "onnx.reference",  # evaluates the definitions of operators that an older set lacks
    "onnx_ir.passes.common",  # inlines functions
    "onnx_scatterx.compare",
    "onnx_scatterx.files.saving",
    "onnx_scatterx.fitting.constant_finder",
    "onnx_scatterx.fitting.definitions",
    "onnx_scatterx.fitting.inference",
    "onnx_scatterx.lab",
    "onnx_scatterx.proof",
    "onnx_scatterx.runtime",
    "onnxruntime",
    "rich",
)


def test_a_small_model_loads_no_module_that_it_does_not_use() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    loaded = done.stdout.split()
    assert not done.returncode, done.stderr
    assert not [m for m in loaded if any(f"{m}.".startswith(f"{o}.") for o in OTHERS)]
    own = [m for m in loaded if m.startswith("onnx_scatterx") and not m.startswith(RULES)]
    assert 200 < len(own) <= MOST
