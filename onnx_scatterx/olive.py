"""The optimizer in Olive: a surgeon for the pass `GraphSurgeries`, and a pass. Needs `olive-ai`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx_ir as ir
from olive.model.utils import resolve_onnx_path
from olive.passes import Pass
from olive.passes.onnx.common import get_external_data_config, ir_model_to_olive_model
from olive.passes.onnx.graph_surgeries import Surgeon
from olive.passes.pass_config import PassConfigParam

from onnx_scatterx.doors import optimize

_OPTIONS = {"target": str, "fix": dict, "assume": list, "gathers": bool, "strict": bool | str}


class RemoveScatters(Surgeon):  # type: ignore[misc]
    """`{"surgeon": "RemoveScatters", "target": "qnn"}`; the options are those of ``optimize``."""

    def __init__(self, target="scatterx", fix=None, assume=None, gathers=False, strict=False):  # type: ignore[no-untyped-def] # fmt: skip
        self.options = dict(zip(_OPTIONS, (target, fix, assume, gathers, strict), strict=True))

    def call_ir(self, model: ir.Model) -> ir.Model:
        return optimize(model, **self.options).model


class RemoveScattersPass(Pass):  # type: ignore[misc]
    """The optimizer as a pass, of ``module_path`` ``onnx_scatterx.olive.RemoveScattersPass``."""

    @classmethod
    def _default_config(cls, accelerator_spec: Any) -> dict[str, Any]:
        own = {name: PassConfigParam(type_=kind) for name, kind in _OPTIONS.items()}
        return {**own, **get_external_data_config()}

    def _run_for_config(self, model: Any, config: Any, output_model_path: str) -> Any:
        chosen = {n: value for n in _OPTIONS if (value := getattr(config, n)) is not None}
        path = resolve_onnx_path(output_model_path, Path(model.model_path).name)
        made = optimize(model.load_ir_model(), **chosen).model
        return ir_model_to_olive_model(made, path, config)
