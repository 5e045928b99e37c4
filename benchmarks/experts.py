"""Experts in ONNX Runtime, with their choice of tokens kept and gone: nodes, work and time.

    python benchmarks/experts.py          prints the table of docs/experts.md

A mixture is written as a loop over all experts exports it. Both ways run in turns in one process,
on one thread, so that a ratio compares them on the same machine. The first way is the export, the
second what is written for a target that has no NonZero.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort

import onnx_scatterx

WIDTH, INNER, ROUNDS = 256, 512, 15
CASES = [(8, 2, tokens) for tokens in (8, 32, 128)] + [(64, 6, 32)]
TARGET = 'standard, avoid = ["NonZero", "GatherND"], work_limit = inf'


def main() -> None:
    """Print the table."""
    timed = "ms with the choice | ms without | ratio"
    print(f"| experts, choices | tokens | nodes | multiply-adds | {timed} |")
    print("|---|---|---|---|---|---|---|")
    for experts, choices, tokens in CASES:
        model = mixture(experts, choices, tokens)
        result = onnx_scatterx.optimize(model, target=TARGET, last_bits=True)
        nodes = f"{len(model.graph.node)} → {len(result.model.graph.node)}"
        one = 3 * WIDTH * INNER
        work = f"{choices * tokens * one / 1e6:.0f} M → {experts * tokens * one / 1e6:.0f} M"
        kept, gone = times(model, result.model, tokens)
        row = f"{experts}, {choices} | {tokens} | {nodes} | {work} | {kept:.2f} | {gone:.2f}"
        print(f"| {row} | {gone / kept:.1f} |")


def mixture(experts: int, choices: int, tokens: int) -> onnx.ModelProto:
    """Return a mixture of SwiGLU experts, of which each token is given to some."""
    text = f"""<ir_version: 10, opset_import: ["" : 20]>
    mixture (float[{tokens},{WIDTH}] x) => (float[{tokens},{WIDTH}] y{experts}) {{
        scores = MatMul (x, router)
        share = Softmax <axis = 1> (scores)
        weight, chosen = TopK <axis = 1> (share, {{{choices}}})
        y0 = Mul (x, zero)"""
    text = text.replace(f"{{{choices}}}", "count")
    lines = [
        f"""
        hot{e} = Equal (chosen, e{e})
        n{e} = NonZero (hot{e})
        j{e} = Transpose (n{e})
        t{e} = Slice (j{e}, at0, at1, at1)
        r{e} = GatherND (x, t{e})
        a{e} = MatMul (r{e}, gate{e})
        s{e} = Sigmoid (a{e})
        g{e} = Mul (a{e}, s{e})
        b{e} = MatMul (r{e}, up{e})
        h{e} = Mul (g{e}, b{e})
        o{e} = MatMul (h{e}, down{e})
        w{e} = GatherND (weight, j{e})
        v{e} = Unsqueeze (w{e}, at1)
        u{e} = Mul (o{e}, v{e})
        y{e + 1} = ScatterND <reduction = "add"> (y{e}, t{e}, u{e})"""
        for e in range(experts)
    ]
    model = onnx.parser.parse_model(text + "".join(lines) + "}")
    rng = np.random.default_rng(0)

    def add(name: str, value: np.ndarray) -> None:
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))

    def weights(name: str, *shape: int) -> None:
        add(name, (rng.normal(size=shape) / shape[0] ** 0.5).astype("f4"))

    add("count", np.array([choices]))
    add("zero", np.array(0, "f4"))
    add("at0", np.array([0]))
    add("at1", np.array([1]))
    weights("router", WIDTH, experts)
    for e in range(experts):
        add(f"e{e}", np.array(e))
        weights(f"gate{e}", WIDTH, INNER)
        weights(f"up{e}", WIDTH, INNER)
        weights(f"down{e}", INNER, WIDTH)
    return model


def times(first: onnx.ModelProto, second: onnx.ModelProto, tokens: int) -> tuple[float, float]:
    """Return the milliseconds of a run of two models, run in turns."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    sessions = [
        ort.InferenceSession(m.SerializeToString(), options, providers=["CPUExecutionProvider"])
        for m in (first, second)
    ]
    feed = {"x": np.random.default_rng(1).normal(size=(tokens, WIDTH)).astype("f4")}
    outputs = [session.run(None, feed)[0] for session in sessions]
    np.testing.assert_allclose(*outputs, rtol=1e-4, atol=1e-5)
    spent: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for session, found in zip(sessions, spent, strict=True):
            start = time.perf_counter()
            session.run(None, feed)
            found.append(time.perf_counter() - start)
    kept, gone = (1000 * statistics.median(found) for found in spent)
    return kept, gone


if __name__ == "__main__":
    main()
