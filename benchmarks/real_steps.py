"""The steps of the pages of large models, and the records of what the steps found.

``benchmarks/real_sizes.py`` and ``benchmarks/gallery.py`` do them, each in a process of its own,
which ends at limits of memory and time. A record lies in the cache, in the folder of its row. The
file beside the page has all records.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import resource
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from real_rows import Row

import onnx_scatterx

ROOT = Path(__file__).parents[1]
NO_SIZE = "no symbolic size"
GIB, CPU_SECONDS = 9, 1200  # of a step
LEVELS = {"default": "ORT_ENABLE_ALL", "off": "ORT_DISABLE_ALL"}

Step = Callable[..., dict[str, Any]]


def counted(path: str | Path) -> dict[str, int]:
    """Return how many nodes and scatters the graph of a file has."""
    kinds = [node.op_type for node in onnx.load(path, load_external_data=False).graph.node]
    return {"nodes": len(kinds), "scatters": sum("Scatter" in kind for kind in kinds)}


def export(name: str, row: Row, how: str, folder: str) -> dict[str, Any]:
    """Export a row, and draw the inputs of the comparison."""
    import real_models
    import torch

    torch.set_num_threads(1)
    traced = real_models.example(name, row, 1)
    if how.endswith("dynamic") and not any(traced.sizes.values()):
        return {"failed": NO_SIZE}
    np.savez(Path(folder, "feeds.npz"), **{n: t.numpy() for n, t in traced.inputs.items()})
    path = Path(folder, "model.onnx")
    real_models.export(name, row, how, path)
    return counted(path)


def optimize(source: str, target: str, goal: str = "standard") -> dict[str, Any]:
    """Optimize a file; return CPU seconds, the peak of memory, and what is left."""

    def seconds() -> float:
        used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(u.ru_utime + u.ru_stime for u in used)

    before = seconds()
    result = onnx_scatterx.optimize(source, target=goal)
    spent = seconds() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    result.save(target)
    kept = Counter(s.reason.value for s in result.report.scatters if s.reason is not None)
    limits = sum(n for why, n in kept.items() if "limit of" in why)
    sizes = {"before": counted(source), "after": counted(target), "MB": peak}
    return {**sizes, "limits": limits, "kept": dict(kept), "seconds": round(spent, 2)}


def opened(path: str | Path, level: str) -> Any:
    """Return a session of ONNX Runtime on one thread, under a level of `LEVELS`."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, LEVELS[level])
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def difference(a: Any, b: Any) -> float:
    """Return 0 for equal bits; else the largest difference by the largest number of ``a``."""
    if a.tobytes() == b.tobytes():
        return 0.0 if (a.shape, a.dtype) == (b.shape, b.dtype) else float("inf")
    finite = np.isfinite(a)
    if a.shape != b.shape or not np.array_equal(finite, np.isfinite(b)):
        return float("inf")
    x, y = a[finite].astype(np.float64), b[finite].astype(np.float64)
    return float(np.abs(x - y).max(initial=0) / max(np.abs(x).max(initial=0), 1e-30))


def version() -> str:
    """Return a hash of the package's source."""
    found = hashlib.sha256()
    for path in sorted((*ROOT.glob("onnx_scatterx/**/*.py"), *ROOT.glob("rewrites/**/*.py"))):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def _work(tells: Connection, step: Step, *arguments: Any) -> None:
    for limit, most in ((resource.RLIMIT_DATA, GIB << 30), (resource.RLIMIT_CPU, CPU_SECONDS)):
        resource.setrlimit(limit, (most, most))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    try:
        tells.send(step(*arguments))
    except BaseException as error:
        lines = f"{type(error).__name__}: {error}".splitlines()
        tells.send({"failed": lines[0][:120]})


def apart(step: Step, *arguments: Any) -> dict[str, Any]:
    """Do a step in a process of its own; ``{"failed": why}`` says why it failed.

    The step `export` needs torch, which a server of forks imports once.
    """
    context = multiprocessing.get_context("forkserver" if step is export else "fork")
    if step is export:
        context.set_forkserver_preload(["real_models"])
    told, tells = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(tells, step, *arguments))
    process.start()
    tells.close()
    try:
        found: dict[str, Any] = told.recv()
    except EOFError:
        process.join()
        found = {"failed": f"the process ended with {process.exitcode}"}
    process.kill()
    process.join()
    return found


@dataclass(frozen=True)
class Record:
    """The results of a row, by key: in its folder of the cache, and in the file of all records.

    With ``anew``, what another version of the package found is found again.
    """

    folder: Path
    stored: Path
    code: str = ""
    anew: bool = False

    def known(self) -> dict[str, Any]:
        """Return all results."""
        all_rows = json.loads(self.stored.read_text()) if self.stored.exists() else {}
        path = self.folder / "results.json"
        found = json.loads(path.read_text()) if path.exists() else {}
        return {**all_rows.get(self.folder.name, {}), **found}

    def has(self, key: str) -> bool:
        """Return whether nothing is left to do for a key."""
        found = self.known().get(key, {})
        return bool(found) and (not self.anew or found["version"] in ("", self.code))

    def find(
        self,
        key: str,
        step: Step,
        *arguments: Any,
        versioned: bool = True,
        made: str | None = None,
        again: bool = False,
    ) -> dict[str, Any]:
        """Return what a step found, doing it if it is not known, or if the file ``made`` is lost.

        With ``again``, it is done anyway. The result of a step that is not ``versioned`` is that of
        all versions of the package.
        """
        known = self.known().get(key, {}) if self.has(key) and not again else {}
        lost = made is not None and "failed" not in known and not Path(made).exists()
        if not known or lost:
            found = apart(step, *arguments)
            if known:  # the file is made again, or not; what was measured stays
                if "failed" in found:
                    print(self.folder.name, key, "made again:", found, flush=True)
                return dict(found if "failed" in found else known)
            results = self.known() | {key: found | {"version": self.code if versioned else ""}}
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "results.json").write_text(json.dumps(results, indent=1))
            print(self.folder.name, key, results[key], flush=True)
        return dict(self.known()[key])


def write_page(page: Path, begins: str, text: str) -> None:
    """Replace the part of a page from a mark on."""
    head, _, _ = page.read_text(encoding="utf-8").partition(begins)
    page.write_text(f"{head}{begins}\n{text}", encoding="utf-8")
