"""RKNN-Toolkit2: the compiler of Rockchip's NPUs, and its simulator of the rk3588.

The compiler prints a table that says whether a layer runs on the NPU, or on the CPU of the chip.
Layers on the CPU are reported as left to the host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer, captured

_ENDS = frozenset({"InputOperator", "OutputOperator"})
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LAYER = re.compile(r"RKNN: \[[^]]*\]\s+\d+\s+(\w+)\s+[\w\\]+\s+(\w+)\s+\S+\s+\S+\s+\d+/\d+/\d+")


class Rknn(Adapter):
    """Compiles the file, and runs the network in the simulator.

    The toolkit pins old packages, but works with a newer PyTorch and NumPy 1.
    """

    name = "rknn"
    packages = ("rknn-toolkit2", "setuptools==80.9.0")  # the last setuptools with pkg_resources
    float16 = True
    platform = "rk3588"

    def version(self) -> str:
        from importlib.metadata import version

        import pkg_resources  # noqa: F401 - the toolkit imports it late
        import rknn.api  # noqa: F401 - is it there?

        return version("rknn-toolkit2")

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        from rknn.api import RKNN

        toolkit = RKNN(verbose=True)
        try:
            raised = ""
            with captured() as printed:
                try:
                    done = _compiled(toolkit, model, self.platform)
                except Exception as error:  # its text is a whole traceback
                    done, raised = False, _last_line(str(error))
                text = _COLOUR.sub("", printed())
            if not done:
                message = "; ".join(filter(None, [raised or _reason(text), _switch(text)]))
                return Answer("refused", message=message, node=_node(text))
            host, layers = _on_cpu(text)
            with captured() as printed:
                read = _read(model)  # the compiler removes the other inputs
                taken = [np.ascontiguousarray(v) for name, v in feeds.items() if name in read]
                outputs = toolkit.inference(inputs=taken, data_format=["nchw"] * len(taken))
                text = _COLOUR.sub("", printed())
            if outputs is None:
                return Answer("refused", message=_reason(text), on_host=host)
            message = f"{len(host)} kinds of layers on the CPU, of {layers} layers" if host else ""
            return Answer("taken", [np.asarray(o) for o in outputs], message, on_host=host)
        finally:
            toolkit.release()


def _compiled(toolkit: Any, model: Path, platform: str) -> bool:
    """Compile a model for the simulator; return whether this succeeded."""
    toolkit.config(target_platform=platform)
    return bool(
        toolkit.load_onnx(model=str(model)) == 0
        and toolkit.build(do_quantization=False) == 0
        and toolkit.init_runtime() == 0
    )


def _read(model: Path) -> set[str]:
    """Return the values that the nodes of a model read, or that it returns."""
    import onnx

    graph = onnx.load(model, load_external_data=False).graph
    bodies = [graph]
    for body in bodies:
        bodies += [a.g for node in body.node for a in node.attribute if a.HasField("g")]
    names = {name for body in bodies for node in body.node for name in node.input}
    return names | {value.name for body in bodies for value in body.output}


def _on_cpu(text: str) -> tuple[tuple[str, ...], int]:
    """Return the kinds of layers that the table puts on the CPU, and how many layers it has."""
    table = text.rpartition("Network Layer Information Table")[2]
    layers = [match.groups() for match in _LAYER.finditer(table)]
    inner = [(kind, unit) for kind, unit in layers if kind not in _ENDS]
    return tuple(dict.fromkeys(kind for kind, unit in inner if unit == "CPU")), len(inner)


def _reason(text: str) -> str:
    """Return the first error in the output of the toolkit."""
    wrong = [line.strip() for line in re.findall(r"^E (.*)$", text, re.MULTILINE)]
    wrong = [re.sub(r"^RKNN: \[[^]]*\]\s*", "", line) for line in wrong]
    telling = [
        line for line in wrong if line and not line.startswith(("=", "-", "Traceback", "File"))
    ]
    raised = [line for line in telling if re.match(r"\w*(Error|Exception)\b", line)]
    return str((raised or telling or ["no reason given"])[0])


def _switch(text: str) -> str:
    """Return the option that the toolkit names against a rule of its own that failed."""
    match = re.search(r"disable_rules\s*=\s*\[[^]]*\]", text)
    return "" if match is None else f"the compiler says: rknn.config({match[0]})"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip(" =-")]
    return lines[-1] if lines else ""


def _node(text: str) -> str:
    match = re.search(r"^E .*?[Nn]ode\s*[:=]?\s*['\"(]([^'\")]+)", text, re.MULTILINE)
    return match[1] if match else ""


adapter = Rknn()
