"""Scatters that Hypothesis draws, with feeds; half of the sizes are symbols."""

import numpy as np
from hypothesis import strategies as st

from tests.helpers.pair import Feed
from tests.helpers.support import sample

Drawn = tuple[str, list[Feed]]
NUMPY = {"float": "float32", "double": "float64"}
REDUCTIONS = ("none", "add", "max", "min")


@st.composite
def scatter_nd(draw: st.DrawFn, *, listed: bool = False) -> Drawn:
    """Draw a ScatterND with any indices: inputs, or constants if they are ``listed``."""
    rank = draw(st.integers(1, 3))
    depth = draw(st.integers(1, rank))
    sizes = [draw(st.integers(1, 4)) for _ in range(rank)]
    some: tuple[str, ...] = REDUCTIONS
    if listed:
        counts = [draw(st.integers(1, 6))]
        kind = draw(st.sampled_from(["float", "int64", "bool", "float16"]))
        some = (*REDUCTIONS, "mul") if kind in ("float", "int64") else ("none",)
    else:
        counts = [draw(st.integers(0, 4)) for _ in range(draw(st.integers(0, 2)))]
        kind = draw(st.sampled_from(["float", "double", "int32", "int64"]))
    reduction = draw(st.sampled_from(some))
    known = depth if listed else 0  # axes of constant size
    names = [str(n) if d < known or draw(st.booleans()) else f"D{d}" for d, n in enumerate(sizes)]
    rows = [str(n) if listed or draw(st.booleans()) else f"N{d}" for d, n in enumerate(counts)]
    at = f"int64[{','.join([*rows, str(depth)])}] i"
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    indices = [
        np.stack([rng.integers(-n, n, counts) for n in sizes[:depth]], -1)
        for _ in range(1 if listed else 2)
    ]
    values = ", ".join(map(str, indices[0].ravel()))
    shape, given = ",".join(names), ",".join([*rows, *names[depth:]])
    model = f"""g ({kind}[{shape}] x, {"" if listed else f"{at},"} {kind}[{given}] u)
        => ({kind}[{shape}] y) {f"<{at} = {{{values}}}>" if listed else ""} {{
        y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""
    dtype, behind = NUMPY.get(kind, kind), sizes[depth:]
    feeds: list[Feed] = []
    for seed in range(2):
        if listed and seed:
            symbols = [name.startswith("D") for name in names[depth:]]
            behind = [0 if symbol else n for symbol, n in zip(symbols, behind, strict=True)]
        x = sample(dtype, *sizes[:depth], *behind, seed=seed)
        feed = {"x": x, "u": sample(dtype, *counts, *behind, seed=seed + 2)}
        feeds.append(feed if listed else feed | {"i": indices[seed]})
    return model, feeds


@st.composite
def scatter_elements(draw: st.DrawFn) -> Drawn:
    """Draw a ScatterElements whose indices are fed and may cover a part of the other axes."""
    rank = draw(st.integers(1, 3))
    axis = draw(st.integers(0, rank - 1))
    sizes = [draw(st.integers(1, 4)) for _ in range(rank)]
    parts = [draw(st.integers(0, 3)) if d == axis else n for d, n in enumerate(sizes)]
    if draw(st.booleans()):
        parts = [min(n, draw(st.integers(0, 4))) for n in parts]
    kind = draw(st.sampled_from(["float", "double", "int32", "int64", "bool"]))
    reduction = "none" if kind == "bool" else draw(st.sampled_from(REDUCTIONS))
    index = draw(st.sampled_from(["int32", "int64"]))
    names = [f"D{d}" if draw(st.booleans()) else str(n) for d, n in enumerate(sizes)]
    own = [a if n == m else str(m) for a, n, m in zip(names, sizes, parts, strict=True)]
    model = f"""g ({kind}[{",".join(names)}] x, {index}[{",".join(own)}] i,
        {kind}[{",".join(own)}] u) => ({kind}[{",".join(names)}] y) {{
        y = ScatterElements <axis = {axis}, reduction = "{reduction}"> (x, i, u) }}"""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    dtype = NUMPY.get(kind, kind)
    feeds: list[Feed] = [
        {
            "x": sample(dtype, *sizes, seed=seed),
            "i": rng.integers(-sizes[axis], sizes[axis], parts).astype(index),
            "u": sample(dtype, *parts, seed=seed + 2),
        }
        for seed in range(2)
    ]
    return model, feeds
