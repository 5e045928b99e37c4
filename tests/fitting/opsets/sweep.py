"""Raises and lowers drawn models, and compares them with the originals in ONNX Runtime.

python -m tests.fitting.opsets.sweep            prints versions, models, runs, and what has no model
python -m tests.fitting.opsets.sweep Resize     the same of some operators
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnx.defs
import onnx_ir as ir

from onnx_scatterx.fitting.opset import write_for_opset
from onnx_scatterx.operators import RANDOM
from tests.fitting.opsets.models import Drawn, Version, drawn, joined, model_of, sets_of, versions
from tests.helpers.pair import SESSIONS, agree
from tests.helpers.support import nodes

_DEFINED = 8  # the most models of a version that are written by their definitions for a set
_STAYING = 3  # of so many models, one is written for a set that has the same version


@dataclass
class Found:
    """What a sweep found; ``faults`` must be empty.

    With ``halves``, each set gets every second one of many models: the others are for the next set.
    """

    halves: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    without: dict[Version, str] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    no_kernel: Counter[str] = field(default_factory=Counter)


@dataclass
class Original:
    """A model of one node, and what it computes without optimizations and by default."""

    node: Drawn
    model: onnx.ModelProto
    feed: dict[str, Any]
    results: list[Any]


def sweep_version(version: Version, found: Found) -> None:
    """Compare all models of a version."""
    found.counts["versions"] += 1
    why = "deprecated" if version.schema.deprecated else "nothing is drawn"
    originals = []
    for number, node in enumerate(drawn(version)):
        try:
            model, feed = model_of(node, f"m{number}/")
            originals.append(Original(node, model, feed, results(model, feed)))
        except Exception as error:  # ONNX Runtime takes no such node
            why = str(error).split("\n")[0][:200]
    found.counts["models"] += len(originals)
    if not originals:
        found.without[version] = why
    for turn, wanted in enumerate(sets_of(version) if originals else ()):
        if onnx.defs.has(version.op, wanted, ""):
            schema = onnx.defs.get_schema(version.op, wanted, "")
            if schema.since_version == version.since:  # only what is around it changes
                _change(originals[::_STAYING], wanted, found)
            elif found.halves and len(originals) > _DEFINED:
                _change(originals[turn % 2 :: 2], wanted, found)
            else:
                _change(originals, wanted, found)
        else:  # each is written by its definition alone
            for original in originals[:: -(-len(originals) // _DEFINED)]:
                _change([original], wanted, found)


def _change(originals: list[Original], wanted: int, found: Found) -> None:
    """Change the models of a version together, without those that are refused, and compare them."""
    while originals:
        whole = ir.from_proto(joined([o.model for o in originals]))
        text = f"{originals[0].node.version} -> {wanted}"
        try:
            changed = write_for_opset(whole, wanted)
        except Exception as error:
            found.faults.append(f"RAISED {text}: {error!r}")
            return
        if not changed.obstacles:
            break
        refused = {f"{o.name.split('/')[0]}/" for o in changed.obstacles}
        op, up = originals[0].node.version.op, wanted > originals[0].node.version.opset
        for obstacle in changed.obstacles:
            found.refused[f"{op} {'up' if up else 'down'}: {obstacle.why}"] += 1
        left = [o for o in originals if _tag(o) not in refused]
        if len(left) == len(originals):
            found.faults.append(f"REFUSED {text}: {changed.obstacles[0]}")
            return
        found.counts["refused"] += len(originals) - len(left)
        originals = left
    if originals:
        names = {*changed.defined, *changed.other_kernels}
        _compare_all(originals, ir.to_proto(whole), names, wanted, found)


def _tag(original: Original) -> str:
    return f"{original.model.graph.output[0].name.split('/')[0]}/"


def _compare_all(
    originals: list[Original], after: onnx.ModelProto, names: set[str], wanted: int, found: Found
) -> None:
    """Compare what a changed model computes with the originals."""
    feed = {name: value for o in originals for name, value in o.feed.items()}
    try:
        now = results(after, feed, twice=False)
    except Exception as error:
        _alone(originals, wanted, error, found)
        return
    if any(node.op_type in RANDOM for node in nodes(after)):
        return  # it runs, and draws other numbers
    for way, values in enumerate(now):
        if values is None:
            _alone(originals, wanted, ValueError("by default"), found)
            return
        rest = list(values)
        for original in originals:
            count = original.node.outputs
            mine, rest = rest[:count], rest[count:]
            before = original.results[way]
            if before is None:
                continue
            found.counts["runs"] += 1
            if not agree(before, mine):
                near = all(close(x, y) for x, y in zip(before, mine, strict=True))
                named = any(name.startswith(_tag(original)) for name in names)
                if near and named:
                    found.counts["named last bits"] += 1
                else:
                    kind = "LAST BITS" if near else "DIFFERENT"
                    found.faults.append(
                        f"{kind} {('off', 'default')[way]} {original.node} -> {wanted}"
                    )


def _alone(originals: list[Original], wanted: int, error: Exception, found: Found) -> None:
    """Compare each model alone, since one of them does not run."""
    if len(originals) > 1:
        half = len(originals) // 2
        _change(originals[:half], wanted, found)
        _change(originals[half:], wanted, found)
    elif "NOT_IMPLEMENTED" in str(error):
        found.counts["no kernel"] += 1
        node = originals[0].node
        found.no_kernel[f"{node.version.op}-{node.version.since} {wanted}: {node.types}"] += 1
    else:
        found.faults.append(f"FAILS {originals[0].node} -> {wanted}: {str(error)[:200]}")


def results(model: onnx.ModelProto, feed: dict[str, Any], *, twice: bool = True) -> list[Any]:
    """Return what a model computes without optimizations and by default: None if it fails there.

    If it runs ``twice``, it must compute the same again.
    """
    found: list[Any] = []
    for way, load in enumerate(SESSIONS):
        try:
            session = load(model)  # type: ignore[operator]
            found.append(session.run(None, feed))
            if twice and not agree(found[-1], session.run(None, feed)):
                raise ValueError("ONNX Runtime computes other numbers each time")
        except Exception:  # ONNX Runtime raises many kinds
            if way == 0:
                raise
            found[way:] = [None]
    return found


def close(a: Any, b: Any) -> bool:
    """Return whether two results differ in last bits alone."""
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape or x.dtype != y.dtype or x.dtype.kind != "f":
        return agree(a, b)
    near = {2: 2e-3, 4: 3e-6, 8: 3e-6}[x.dtype.itemsize]  # a definition may compute in float32
    return bool(np.allclose(x, y, rtol=near, atol=near, equal_nan=True))


def main(ops: list[str]) -> None:
    found = Found()
    for version in versions():
        if not ops or version.op in ops:
            before = len(found.faults)
            sweep_version(version, found)
            for fault in found.faults[before:]:
                print(fault[:330], flush=True)
    print(dict(found.counts))
    for name, table in (
        ("without a model", found.without),
        ("no kernel", found.no_kernel),
        ("refused", found.refused),
    ):
        print(f"{name}: {len(table)}")
        for key, value in table.items():
            print("   ", key, value)
    print(f"faults: {len(found.faults)}")


if __name__ == "__main__":
    main(sys.argv[1:])
