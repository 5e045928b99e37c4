"""Qualcomm's NPU, by ONNX Runtime's plugin of QNN; on x86-64 by the simulator of the HTP.

No node may run on the CPU. If a node would, the answer is a refusal.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer

_OPTIONS = {
    "soc_model": "57",  # a Snapdragon 8 Gen 3, whose HTP computes in float16
    "htp_arch": "75",
    "enable_htp_fp16_precision": "1",
}


class Qnn(Adapter):
    """Asks ONNX Runtime which nodes the NPU takes, and runs the model if it takes all nodes."""

    name = "qnn"
    packages = ("onnxruntime", "onnxruntime-qnn")
    float16 = True

    def version(self) -> str:
        import onnxruntime
        import onnxruntime_qnn as plugin

        name = plugin.get_ep_name()
        if not any(device.ep_name == name for device in onnxruntime.get_ep_devices()):
            onnxruntime.register_execution_provider_library(name, plugin.get_library_path())
        return str(plugin.__version__)

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import onnxruntime

        try:
            session = onnxruntime.InferenceSession(str(model), _settings(strict=True))
        except Exception as error:
            left = _left_to_cpu(model)
            if not left:
                return Answer("refused", message=str(error))
            kinds = tuple(dict.fromkeys(kind for _, kind in left))
            message = f"not on the NPU: {', '.join(f'{name} ({kind})' for name, kind in left)}"
            return Answer("refused", message=message, node=left[0][0], on_host=kinds)
        names = [value.name for value in session.get_outputs()]
        taken = {value.name for value in session.get_inputs()}
        fed = {name: array for name, array in feeds.items() if name in taken}
        return Answer("taken", dict(zip(names, session.run(None, fed), strict=True)))


def _settings(strict: bool) -> object:
    """Return the options of a session that refuses nodes for the CPU, or else records them."""
    import onnxruntime
    import onnxruntime_qnn as plugin

    devices = [d for d in onnxruntime.get_ep_devices() if d.ep_name == plugin.get_ep_name()]
    npu = [d for d in devices if d.device.type == onnxruntime.OrtHardwareDeviceType.NPU]
    options = onnxruntime.SessionOptions()
    key = "session.disable_cpu_ep_fallback" if strict else "session.record_ep_graph_assignment_info"
    options.add_session_config_entry(key, "1")
    backend = {"backend_path": plugin.get_qnn_htp_path()}
    simulated = {} if npu else _OPTIONS
    options.add_provider_for_devices((npu or devices)[:1], backend | simulated)
    return options


def _left_to_cpu(model: Path) -> list[tuple[str, str]]:
    """Return name and operator of the nodes that would run on the CPU, if the model loads."""
    import onnxruntime
    import onnxruntime_qnn as plugin

    try:
        session = onnxruntime.InferenceSession(str(model), _settings(strict=False))
    except Exception:
        return []
    return [
        (node.name, node.op_type)
        for part in session.get_provider_graph_assignment_info()
        if part.ep_name != plugin.get_ep_name()
        for node in part.get_nodes()
    ]


adapter = Qnn()
