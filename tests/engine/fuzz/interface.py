"""Changes of the interface: dims, inputs, outputs, the operator set."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.engine.fuzz.mutant import LARGE, Mutant


def dim(m: Mutant) -> bool:
    """Declare a dim of an input otherwise: by another number, by a name, or not at all."""
    dims = [d for i in m.graph.input for d in i.type.tensor_type.shape.dim]
    if not dims:
        return False
    chosen = m.rng.choice(dims)
    names = [d.dim_param for d in dims if d.dim_param]
    kind = m.rng.random()
    if kind < 0.3:
        chosen.dim_param = m.rng.choice([*names, "N", "M"])
    elif kind < 0.45:
        chosen.Clear()
    elif chosen.HasField("dim_value"):
        old = chosen.dim_value
        chosen.dim_value = m.rng.choice([old + 1, max(old - 1, 0), 0, 1, 2])
    else:
        chosen.dim_value = m.rng.randint(0, 6)
    return True


def output(m: Mutant) -> bool:
    """Show a value from within."""
    shown = {o.name for o in m.graph.output}
    names = [o for n in m.graph.node for o in n.output if o and o not in shown]
    if not names:
        return False
    name = m.rng.choice(names)
    elem, _ = m.types.get(name, (0, None))
    made = onnx.ValueInfoProto(name=name)
    if elem:
        made.type.tensor_type.elem_type = elem
    m.graph.output.append(made)
    return True


def override(m: Mutant) -> bool:
    """Let callers override an initializer."""
    inputs = {i.name for i in m.graph.input}
    found = [t for t in m.graph.initializer if t.name not in inputs]
    if not found or m.model.ir_version < 4:
        return False
    chosen = m.rng.choice(found)
    dims = list(chosen.dims)
    m.graph.input.append(helper.make_tensor_value_info(chosen.name, chosen.data_type, dims))
    return True


def free(m: Mutant) -> bool:
    """Turn a constant into an input."""
    found = [t for t in m.graph.initializer if np.prod(t.dims, dtype=int) <= LARGE]
    if not found:
        return False
    chosen = m.rng.choice(found)
    dims: list[int | str] = [
        m.rng.choice([n, f"{chosen.name}_{d}"]) for d, n in enumerate(chosen.dims)
    ]
    kept = [t for t in m.graph.initializer if t.name != chosen.name]
    if chosen.name not in {i.name for i in m.graph.input}:
        made = helper.make_tensor_value_info(chosen.name, chosen.data_type, dims)
        m.graph.input.append(made)
    del m.graph.initializer[:]
    m.graph.initializer.extend(kept)
    return True


def fix(m: Mutant) -> bool:
    """Make an input of integers a constant."""
    constants = {t.name for t in m.graph.initializer}
    kinds = (onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.BOOL)
    found = [
        i
        for i in m.graph.input
        if i.type.tensor_type.elem_type in kinds and i.name not in constants
    ]
    if not found:
        return False
    chosen = m.rng.choice(found)
    shape = [d.dim_value or m.rng.randint(1, 4) for d in chosen.type.tensor_type.shape.dim]
    if np.prod(shape, dtype=int) > LARGE:
        return False
    rng = np.random.default_rng(m.rng.randrange(2**32))
    dtype = helper.tensor_dtype_to_np_dtype(chosen.type.tensor_type.elem_type)
    array = rng.integers(0, m.rng.choice([2, 4, 8]), shape).astype(dtype)
    m.graph.initializer.append(numpy_helper.from_array(array, chosen.name))
    kept = [i for i in m.graph.input if i.name != chosen.name]
    del m.graph.input[:]
    m.graph.input.extend(kept)
    return True


def opset(m: Mutant) -> bool:
    """Take another operator set."""
    for imported in m.model.opset_import:
        if imported.domain == "":
            imported.version = m.rng.choice([imported.version - 1, imported.version + 1, 18, 21])
    return True
