"""Seconds and memory that ``optimize`` takes for models that ask for far more than they look like.

    python benchmarks/hostile.py                       # every model, at its largest
    python benchmarks/hostile.py --only added,squared  # some

Each model runs in a process of its own. The promise is 20 s of CPU and 1 GB for a model of up to
1 MB; the script exits with 1 if one takes more.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

SECONDS = 20.0
BYTES = 1 << 30
_PATIENCE = 300
_ROOT = Path(__file__).parents[1]


def one(name: str, target: str) -> None:
    """Optimize one model, and print its time and memory."""
    sys.path.insert(0, str(_ROOT))
    import onnx_scatterx
    from onnx_scatterx.errors import ScatterXError
    from tests.helpers.hostile import HOSTILE, LARGE, pyramid

    if name.startswith("pyramid"):
        model = pyramid(int(name.removeprefix("pyramid")))
    else:
        model = HOSTILE[name](LARGE[name])
    size = model.ByteSize()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    try:
        report = onnx_scatterx.optimize(model, target=target).report
        left = [s for s in report.scatters if s.refusal is not None]
        why = sorted({s.refusal.reason.name for s in left if s.refusal is not None})
        said = f"{len(report.scatters) - len(left)} gone, {len(left)} left {' '.join(why)}"
    except ScatterXError as error:
        said = f"refused: {str(error)[:60]}"
    seconds = time.process_time() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{name} {size} {seconds:.2f} {most - before} {most} {said}")


def main() -> int:
    """Run every model and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--only", help="names, with commas")
    parser.add_argument("--target", default="standard")
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments.one, arguments.target)
        return 0
    sys.path.insert(0, str(_ROOT))
    from tests.helpers.hostile import HOSTILE

    names = arguments.only.split(",") if arguments.only else [*HOSTILE, "pyramid4", "pyramid8"]
    failed = 0
    print(f"{'model':24}{'KB':>8}{'seconds':>9}{'more MB':>9}{'MB':>7}  what came of it")
    for name in names:
        command = [sys.executable, __file__, "--one", name, "--target", arguments.target]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
            if run.returncode:
                told = run.stderr.strip().splitlines() or [f"exit {run.returncode}"]
                print(f"{name:24} FAILED: {told[-1][:100]}", flush=True)
                failed += 1
                continue
            _, size, seconds, more, most, said = run.stdout.strip().split(" ", 5)
        except subprocess.TimeoutExpired:
            print(f"{name:24} no end within {_PATIENCE} s", flush=True)
            failed += 1
            continue
        over = float(seconds) > SECONDS or int(most) * 1024 > BYTES
        failed += over
        print(
            f"{name:24}{int(size) / 1000:8.1f}{float(seconds):9.2f}{int(more) / 1024:9.0f}"
            f"{int(most) / 1024:7.0f}  {said}{'  TOO MUCH' if over else ''}",
            flush=True,
        )
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
