"""Lowers twelve modules through toolchains of PyTorch, before and after ``remove_scatters``.

    python benchmarks/toolchains.py [--with TOOL ...] [--only MODULE ...] [--page]

``toolchain_modules.py`` has the modules. Each toolchain gets an environment of its own, in
``build/toolchains``, with the CPU build of PyTorch 2.13.0, and runs there in a process of its own
(``toolchain_runs.py``). If it does not install, or takes more than ``--seconds`` for a module, the
message is kept. The results are kept in ``benchmarks/toolchains.json``: a run replaces what it
measures again. The table is written into ``docs/measured/before_onnx_toolchains.md``; ``--page``
only writes the table, and needs no PyTorch.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import tempfile
import threading
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import toolchain_page

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "toolchains.json"
TORCH = "torch==2.13.0"
ARM = ("executorch==1.5.1", "ethos-u-vela==5.2.0", "tosa-tools==2026.8.0")
FAILED = ("The installation of", "ERROR: Cannot", "ERROR:", "error:")  # the first says most
PACKAGES = {
    "xnnpack": ARM[:1],
    "tosa": ARM,
    "ethos-u55": ARM,
    "litert": ("litert-torch==0.10.0",),
    "coreml": ("coremltools==9.0",),
    "tico": ("tico==0.3.0",),
    "tensorrt": ("torch-tensorrt==2.13.0",),
}


def environment(tool: str, folder: Path) -> tuple[Path, str]:
    """Return the interpreter of a toolchain's environment, and why it does not install, or ""."""
    packages = PACKAGES[tool]
    name = next(name for name, others in PACKAGES.items() if others[0] == packages[0])
    home, limits = folder / name, folder / "constraints.txt"
    python = home / "bin" / "python"
    folder.mkdir(parents=True, exist_ok=True)
    limits.write_text(f"{TORCH}\n", encoding="utf-8")
    if not python.exists():
        venv.create(home, with_pip=True)
    install = [python, "-m", "pip", "install", "--quiet", "--constraint", limits, TORCH, *packages]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    return python, installing(done.stderr) if done.returncode else ""


def installing(told: str) -> str:
    """Return the line of pip's that says why it failed."""
    lines = [line.strip() for line in told.splitlines()]
    says = [line for start in FAILED for line in lines if line.startswith(start)]
    return (says or lines or ["no message"])[0]


def versions(python: Path, tool: str) -> str:
    """Return the packages of a toolchain, with the versions that are installed."""
    names = [package.partition("==")[0] for package in (TORCH, *PACKAGES[tool])]
    code = "import sys; from importlib.metadata import version as v; print(*map(v, sys.argv[1:]))"
    told = subprocess.run([python, "-c", code, *names], capture_output=True, text=True, check=True)
    return ", ".join(f"{n} {v}" for n, v in zip(names, told.stdout.split(), strict=True))


def answers(command: Sequence[str | Path], seconds: float, told: Any) -> Iterator[list[Any]]:
    """Yield the answers of a process, until it ends or takes too long for one.

    What it prints besides goes to the file ``told``.
    """
    surroundings = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=told, text=True, env=surroundings, cwd=HERE
    ) as process:
        assert process.stdout is not None
        while True:
            timer = threading.Timer(seconds, process.kill)
            timer.start()
            line = process.stdout.readline()
            timer.cancel()
            if not line:
                return
            yield json.loads(line)


def lowered(python: Path, tool: str, modules: Sequence[str], seconds: float) -> dict[str, Any]:
    """Return what a toolchain makes of the modules; if its process ends, another goes on."""
    results: dict[str, Any] = {name: {} for name in modules}
    left = [(name, form) for name in modules for form in ("before", "after")]
    while left:
        words = [f"{name}/{form}" for name, form in left]
        command = [python, "-m", "toolchain_runs", tool, *words]
        with tempfile.TemporaryFile("w+", errors="replace") as told:
            for name, form, found in answers(command, seconds, told):
                print(tool, name, form, json.dumps(found), flush=True)
                results[name][form] = found
                left.remove((name, form))
            told.seek(0)
            last = [line.strip() for line in told if line.strip()][-1:]
        if left:
            name, form = left.pop(0)
            why = f"the process ended: {' '.join(last)}"[:300]
            print(tool, name, form, why, flush=True)
            results[name][form] = {"refused": why}
    return results


def main() -> None:
    """Lower the modules, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--with", dest="tools", nargs="+", default=list(PACKAGES), metavar="TOOL")
    parser.add_argument("--only", nargs="+", default=[], metavar="MODULE")
    parser.add_argument("--folder", type=Path, default=HERE.parent / "build" / "toolchains")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--page", action="store_true", help="write the table of what is known")
    args = parser.parse_args()
    for tool in () if args.page else args.tools:
        python, why = environment(tool, args.folder)
        found: dict[str, Any] = {"not_tried": why}
        if not why:
            new = lowered(python, tool, args.only or list(toolchain_page.modules()), args.seconds)
            found = {
                "date": datetime.date.today().isoformat(),
                "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
                "versions": versions(python, tool),
                "modules": known().get(tool, {}).get("modules", {}) | new,
            }
        results = known() | {tool: found}
        results = {name: results[name] for name in PACKAGES if name in results}
        RESULTS.write_text(written(results), encoding="utf-8")
    toolchain_page.write(known())


def known() -> dict[str, Any]:
    """Return the results that are kept."""
    return dict(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else {}


def written(results: dict[str, Any]) -> str:
    """Return the results as JSON, with one line for a module."""
    tools = []
    for tool, found in results.items():
        known = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items() if k != "modules"]
        rows = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.get("modules", {}).items()]
        known += ['"modules": {\n' + ",\n".join(rows) + "\n}"] if rows else []
        tools.append(f"{json.dumps(tool)}: {{" + ",\n".join(known) + "}")
    return "{\n" + ",\n".join(tools) + "\n}\n"


if __name__ == "__main__":
    main()
