"""A result that is much longer or larger than its model, and the arguments that give less."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Unpack

from onnx_scatterx.doors.advice.change import Change, Command
from onnx_scatterx.doors.advice.sizes import fitting_sizes
from onnx_scatterx.doors.api.inspection import loaded_ir
from onnx_scatterx.doors.api.optimization import optimize
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.ir.io import AnyModel
from onnx_scatterx.optimizer.reports.advice import Advice, Way
from onnx_scatterx.optimizer.reports.report import Report
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.symbolic.budget import LimitError
from onnx_scatterx.optimizer.targets.catalogue import BASES
from onnx_scatterx.options import Options


def smaller(
    model: AnyModel, report: Report, command: Command, **options: Unpack[Options]
) -> tuple[Advice, ...]:
    r"""Return that the result is much larger than its model, with commands that give less of it.

    ``report`` is that of ``optimize`` with the same options; without ``growth`` the answer is
    empty. Fixed sizes and, if the target is no device, the other targets are tried.

    >>> import onnx.parser
    >>> body = "".join(f"y{k+1} = ScatterND (y{k}, i, u)  " for k in range(3))
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[64] y0, int64[4, 1] i, float[4] u) => (float[64] z)
    ...     { %s z = Identity (y3) }''' % body)
    >>> report = optimize(model, target="standard").report
    >>> (advice,) = smaller(model, report, Command(target="standard"), target="standard")
    >>> print(*advice.lines(), sep="\n")
    the result has 16 nodes instead of 4:
      smaller by:
        onnx-scatterx optimize MODEL.onnx -o OUT.onnx
          4 nodes, ONNX Runtime: what does not slice becomes ScatterX, which runs anywhere
    """
    if not report.growth:
        return ()
    settings = Settings.of(**options)
    trials = [(Change(), name) for name in BASES if settings.target in BASES.values()]
    sizes = fitting_sizes(loaded_ir(model), settings)
    if isinstance(sizes, dict) and sizes:
        trials.append((Change(fix=sizes), settings.target.name))
    best = math.inf if report.about and report.about.is_larger else report.nodes_after
    ways: list[Way] = []
    for change, name in trials:
        given = options | {"fix": {**(options.get("fix") or {}), **change.fix}}
        if not change.fix:
            given["target"] = name
        with suppress(ScatterXError, LimitError):
            other = optimize(model, **given).report
            nodes, about = other.nodes_after, other.about
            if nodes < best and not (about and about.is_larger):
                text = change.command(command) if change.fix else command.words(name, [])
                at = f" at these sizes, {change.condition()}"
                what = at if change.fix else f", {BASES[name].description}"
                best, ways = nodes, [Way(text, f"{nodes} nodes{what}")]
    return (Advice((), report.growth, "", tuple(ways), verb="smaller"),)
