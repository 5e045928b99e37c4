"""The operations of StableHLO that JAX writes for 20 statements, and their verdicts as a table.

``python -m tests.theory.golden.jax_statements`` asks JAX, writes jax_statements.json, and prints
the table of docs/theory/frameworks.md. The table is made from the file alone.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from onnx_scatterx.theory import Reduction, Scattering, moves
from onnx_scatterx.theory.conventions import stablehlo

PATH = Path(__file__).parent / "jax_statements.json"
Record = dict[str, Any]
STATEMENTS = (
    "x.at[2].set(1.0)",
    "x.at[2:4].set(y)",
    "x.at[1::2].set(3.0)",
    "x.at[::-1].set(z)",
    "x.at[:, 1].set(1.0)",
    "x.at[:, 1:3].add(1.0)",
    "x.at[i].set(y)",
    "x.at[i].add(y)",
    "x.at[:, j].set(5.0)",
    "x.at[i, j].set(1.0)",
    "x.at[i[:, None], j].multiply(2.0)",
    "x.at[..., -1].min(0.0)",
    "jax.lax.dynamic_update_slice(x, y, (1, 0))",
    "jax.ops.segment_sum(z, s, 3)",
    "jax.vmap(lambda row, a: row.at[a].set(1.0))(x, k)",
    "x[i]",
    "x[:, j]",
    "x[i, j]",
    "jnp.take_along_axis(x, k, 1)",
    "jax.vmap(lambda row, a: row[a])(x, k)",
)
ARRAYS = {
    "x": np.zeros((6, 4), np.float32),
    "y": np.ones((2, 4), np.float32),
    "z": np.ones((6, 4), np.float32),
    "i": np.array([4, 1], np.int32),
    "j": np.array([0, 3], np.int32),
    "k": np.array([[0, 2], [3, 1], [1, 2], [0, 3], [2, 0], [3, 2]], np.int32),
    "s": np.array([0, 2, 2, 1, 0, 2], np.int32),
}
KINDS = {"scatter": "replace", "scatter-add": "add", "scatter-mul": "multiply"}
KINDS |= {"scatter-min": "minimum", "scatter-max": "maximum"}


def asked() -> list[Record]:
    """Ask JAX for the last scatter or gather of each statement."""
    import jax
    import jax.numpy as jnp

    found = []
    for statement in STATEMENTS:
        arrays = {name: jnp.asarray(value) for name, value in ARRAYS.items()}
        code = compile(statement, "<statement>", "eval")
        scope = {"jax": jax, "jnp": jnp}
        program = jax.make_jaxpr(lambda given, c=code, s=scope: eval(c, s, given))(arrays)
        inputs = [arrays[name] for name in sorted(arrays)]
        *_, last = _operations(program.jaxpr, program.consts, inputs)
        found.append({"statement": statement, **last})
    return found


def _operations(jaxpr: Any, consts: Any, inputs: Any) -> Iterator[Record]:
    """Run a program and yield its scatters and gathers, with the numbers that they read."""
    known = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *inputs), strict=True))
    for eqn in jaxpr.eqns:
        given = [v.val if hasattr(v, "val") else known[v] for v in eqn.invars]
        name = eqn.primitive.name.replace("_m", "-m")
        if name in ("jit", "pjit"):
            inner = eqn.params["jaxpr"]
            yield from _operations(inner.jaxpr, inner.consts, given)
        if name in (*KINDS, "gather", "dynamic_update_slice"):
            yield _record(name, given, eqn.params)
        answers = eqn.primitive.bind(*given, **eqn.primitive.get_bind_params(eqn.params))
        answers = answers if eqn.primitive.multiple_results else [answers]
        known |= dict(zip(eqn.outvars, answers, strict=True))


def _record(name: str, given: Any, params: Any) -> Record:
    shape = list(given[0].shape)
    if name == "dynamic_update_slice":
        starts = [int(n) for n in given[2:]]
        return {"call": name, "shape": shape, "updates": list(given[1].shape), "starts": starts}
    dims, indices = params["dimension_numbers"], np.asarray(given[1])
    numbers: Record = {name: list(map(int, value)) for name, value in dims._asdict().items()}
    if name == "gather":
        numbers["slice_sizes"] = list(map(int, params["slice_sizes"]))
    else:
        numbers["input_batching_dims"] = numbers.pop("operand_batching_dims")
        numbers["update_computation"] = KINDS[name]
    record = {"call": name if name == "gather" else "scatter", "shape": shape, "numbers": numbers}
    record |= {"indices": indices.tolist(), "indices_shape": list(indices.shape)}
    return record if name == "gather" else record | {"updates": list(given[2].shape)}


def convention(record: Record) -> Any:
    """Return the scattering or gathering of a record."""
    data = np.zeros(record["shape"], np.float32)
    if record["call"] == "dynamic_update_slice":
        updates = np.zeros(record["updates"], np.float32)
        return stablehlo.dynamic_update_slice(data, updates, record["starts"])
    indices = np.array(record["indices"], np.int64).reshape(record["indices_shape"])
    numbers = {**record["numbers"], "index_vector_dim": indices.ndim - 1}
    if record["call"] == "gather":
        return stablehlo.gather(data, indices, **numbers)
    updates = np.zeros(record["updates"], np.float32)
    return stablehlo.scatter(data, indices, updates, **numbers)


def table() -> list[str]:
    """Return the table of the page, from the file."""
    rows = ["| statement | operation | verdict | strided copies |", "|---|---|---|---|"]
    for record in json.loads(PATH.read_text(encoding="utf-8")):
        found = convention(record)
        reduces = isinstance(found, Scattering) and found.reduction is not Reduction.NONE
        copies = "none: it reduces" if reduces else str(len(moves(found, last_wins=True)))
        verdict = found.transformer.verdict().sliceability.value
        rows.append(f"| `{record['statement']}` | `{record['call']}` | {verdict} | {copies} |")
    return rows


def main() -> None:
    lines = ",\n".join(json.dumps(record) for record in asked())
    PATH.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print("\n".join(table()))


if __name__ == "__main__":
    main()
