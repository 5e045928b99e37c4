"""Times ScatterX on one thread and on two, on the same data in turns: two are never to be slower.

    python benchmarks/kernel_threads.py [--rounds 15] [--only WORD] [--library FILE.so]

Wall time, the least of the rounds; before each run its own threads are woken (kernel.seconds_of).
Nothing else may run meanwhile: with fewer than two free cores the second thread waits for one.
"""

from __future__ import annotations

import argparse
import importlib.resources
import os
import time
from collections.abc import Callable

from kernel import bound, copies_of
from kernel_cases import CASES


def wall(run: Callable[[], None]) -> float:
    """Time one run after another one of the same session, whose threads are awake by then."""
    awake = time.perf_counter() + 0.0005
    run()
    while time.perf_counter() < awake:
        run()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--library", default=os.environ.get("ONNX_SCATTERX_LIBRARY"))
    args = parser.parse_args()
    library = args.library or str(importlib.resources.files("onnx_scatterx") / "scatterx_ops.so")
    slower = []
    for name, make in CASES.items():
        if args.only not in name:
            continue
        case = make()
        runs = {n: bound(case.scatterx, case, n, library) for n in (1, 2)}
        least = {n: min(wall(run) for _ in range(2)) for n, run in runs.items()}
        for _ in range(args.rounds):
            for n, run in runs.items():
                time.sleep(0.002)
                least[n] = min(least[n], wall(run))
        one, two = (least[n] * 1e3 / copies_of(case) for n in (1, 2))
        print(f"{name:52} {one:9.4f} {two:9.4f} {one / two:6.2f}", flush=True)
        if one / two < 0.95:
            slower.append(name)
    print(f"slower on two: {', '.join(slower) or 'none'}")


if __name__ == "__main__":
    main()
