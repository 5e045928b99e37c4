"""What a user might write; the types of all that onnx-scatterx gives are known."""

import sys
from pathlib import Path

import onnx
import onnx_ir as ir

import onnx_scatterx
from onnx_scatterx import Action, Report, Result, ScatterXError, Verification


def told(stage: str, done: int, total: int) -> None:
    print(f"{stage} {done}/{total}" if total else stage, file=sys.stderr)


def kept(report: Report) -> list[str]:
    return [s.node for s in report.scatters if s.action is Action.KEPT]


def optimized(path: Path, out: Path) -> onnx.ModelProto:
    result: Result[onnx.ModelProto] = onnx_scatterx.optimize(
        path, target="standard", verify=True, on_progress=told
    )
    result.save(out, external_data=True)
    answer: Verification = onnx_scatterx.verify(path, result, samples=3)
    print(answer.same, answer.accepted, kept(result.report), result.report.summary())
    for scatter in result.report.scatters:
        print(scatter.node, scatter.footprint, scatter.rules, scatter.reason)
    return result.model


def in_a_pipeline(model: ir.Model) -> ir.Model:
    remove = onnx_scatterx.RemoveScatters(target="standard")
    ir.passes.Sequential(remove)(model)
    print(remove.report.removed, onnx_scatterx.explain(model).splitlines()[0])
    return onnx_scatterx.optimize(onnx_scatterx.optimize(model)).model


def main() -> int:
    try:
        model = optimized(Path(sys.argv[1]), Path(sys.argv[2]))
        summary = onnx_scatterx.optimize_many([sys.argv[1]], "many", jobs=1)
        bench = onnx_scatterx.bench({"before": sys.argv[1], "after": model}, rounds=6)
        print(
            len(summary.failed), bench.timings[0].spread.median, in_a_pipeline(ir.from_proto(model))
        )
    except ScatterXError as error:
        print(error, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
