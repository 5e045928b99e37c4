"""Updates a KV cache in place: one buffer, bound as the cache's input and as its output.

    python docs/kv_cache.py [--positions 4096] [--heads 8] [--width 64] [--steps 16]

The model is what torch.onnx.export writes for ``cache.index_copy_(2, position, row)``: the cache is
transposed, written to, and transposed back. Optimized, it is one ScatterX on the cache itself,
and a step moves one row.
"""

import argparse
import time

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort

import onnx_scatterx


def decoder(heads: int, positions: int, width: int) -> onnx.ModelProto:
    """Return a model that writes one position of a cache."""
    return onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 18]>
        decode (float[1, {heads}, {positions}, {width}] cache, int64[1] position,
                float[1, {heads}, 1, {width}] row)
            => (float[1, {heads}, {positions}, {width}] updated)
        {{
            by_position = Transpose <perm = [2, 1, 0, 3]> (cache)
            rows = Transpose <perm = [2, 1, 0, 3]> (row)
            axes = Constant <value_ints = [-1]> ()
            indices = Unsqueeze (position, axes)
            written = ScatterND (by_position, indices, rows)
            updated = Transpose <perm = [2, 1, 0, 3]> (written)
        }}""")


def main() -> None:
    """Decode some steps, and check the cache against NumPy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=4096)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--steps", type=int, default=16)
    args = parser.parse_args()

    original = decoder(args.heads, args.positions, args.width)
    model = onnx_scatterx.optimize(original, target="scatterx").model
    assert onnx_scatterx.cache_pairs(model) == {"cache": "updated"}
    for finding in onnx_scatterx.check_bound_cache(model):
        raise SystemExit(str(finding))  # somebody else reads the cache: do not bind it twice

    session = onnx_scatterx.session(model)
    shape = (1, args.heads, args.positions, args.width)
    expected = np.zeros(shape, np.float32)
    cache = ort.OrtValue.ortvalue_from_numpy(expected)
    rng = np.random.default_rng(0)
    seconds = []
    for step in range(args.steps):
        position = step % args.positions
        row = rng.standard_normal((1, args.heads, 1, args.width), np.float32)
        expected[:, :, [position]] = row

        binding = session.io_binding()
        binding.bind_ortvalue_input("cache", cache)
        binding.bind_cpu_input("position", np.array([position]))
        binding.bind_cpu_input("row", row)
        binding.bind_ortvalue_output("updated", cache)
        start = time.perf_counter()
        session.run_with_iobinding(binding)
        seconds.append(time.perf_counter() - start)

    np.testing.assert_array_equal(cache.numpy(), expected)
    bytes_moved = expected.nbytes // args.positions
    print(
        f"{args.steps} steps in a cache of {expected.nbytes / 2**20:.1f} MiB, "
        f"{bytes_moved} bytes each: {1e6 * sorted(seconds)[len(seconds) // 2]:.0f} us a step"
    )


if __name__ == "__main__":
    main()
