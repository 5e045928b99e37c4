"""The table of ``toolchains.py``: twelve modules in PyTorch's toolchains, before and after."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "measured" / "before_onnx_toolchains.md"
SOURCE = ROOT / "benchmarks" / "toolchain_modules.py"
BEGINS = "<!-- the results begin: benchmarks/toolchains.py writes them -->\n"
TOOLS = {
    "xnnpack": "ExecuTorch, XNNPACK",
    "tosa": "ExecuTorch, Arm TOSA",
    "ethos-u55": "ExecuTorch, Ethos-U55",
    "litert": "LiteRT",
    "coreml": "coremltools",
    "tico": "TICO",
    "tensorrt": "torch-TensorRT",
}
GRADES = ("taken only after", "better", "same", "worse", "refused in both", "refused only after")
COMMAND = "python benchmarks/toolchains.py"
CLOSE = {"ethos-u55": 0.1}
"""By how much outputs may differ from eager PyTorch, by the largest number: int8 is coarse."""

Found = Mapping[str, Any]


def modules() -> dict[str, str]:
    """Return what each module writes, and what it is: the docstring of its class."""
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {node.name: (ast.get_docstring(node) or "").rstrip(".") for node in classes}


def size(found: Found) -> tuple[int, ...]:
    """Return what is compared: the nodes that are left, then partitions, then all nodes."""
    left = sum(found.get("left", {}).values())
    return left, found.get("partitions", 0), found.get("nodes", 0)


def grade(before: Found, after: Found) -> str:
    """Return what ``remove_scatters`` does for a module in a toolchain."""
    if "refused" in before:
        return GRADES[4 if "refused" in after else 0]
    if "refused" in after:
        return GRADES[5]
    return GRADES[2 + (size(after) > size(before)) - (size(after) < size(before))]


def cell(found: Found) -> str:
    """Return a result in a few words."""
    if "refused" in found:
        return "refused"
    numbers = [found[key] for key in ("partitions", "taken", "nodes") if key in found]
    numbers += [sum(found["left"].values())] if "left" in found else []
    return " / ".join(map(str, numbers))


def agrees(tool: str, found: Found) -> bool:
    """Return whether the outputs are close to those of eager PyTorch, or are not known."""
    return bool(found.get("apart", 0.0) <= CLOSE.get(tool, 1e-5))


def row(tool: str, result: Mapping[str, Found] | None) -> str:
    """Return the cell of a module and a toolchain."""
    if result is None:
        return "not run"
    before, after = cell(result["before"]), cell(result["after"])
    kind = grade(result["before"], result["after"])
    sign = {"better": "**", "taken only after": "**"}.get(kind, "")
    wrong = {form: "" if agrees(tool, result[form]) else " (wrong)" for form in result}
    return f"{before}{wrong['before']} → {sign}{after}{sign}{wrong['after']}"


def operators(found: Found) -> str:
    """Return which operators are left, or why a program is refused."""
    if "refused" in found:
        return f"refused, `{found['refused']}`"
    counts = found.get("left", found.get("operators", {}))
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "nothing"


def summary(tool: str, found: Found) -> str:
    """Return how many modules of a toolchain are better, and how the outputs compare."""
    results = found["modules"].values()
    grades = [grade(r["before"], r["after"]) for r in results]
    told = [f"{grades.count(kind)} {kind}" for kind in GRADES if kind in grades]
    apart = [r[form]["apart"] for r in results for form in r if "apart" in r[form]]
    runs = f"largest difference of {len(apart)} runs {max(apart):.0e}" if apart else "not run here"
    return f"- {TOOLS[tool]} ({found['versions']}; {found['date']}): {'; '.join(told)}; {runs}"


def origin(tried: Mapping[str, Found]) -> str:
    """Return when, of which versions, by which command and where the results were made."""
    dates = sorted({found["date"] for found in tried.values()})
    machines = dict.fromkeys(found["machine"] for found in tried.values())
    return (
        f"*Date: {', '.join(dates)}. Version: before 0.1.0, of the toolchains as listed. Command: "
        f"`{COMMAND}`. Machine: {'; '.join(machines)}.*"
    )


def page(results: Mapping[str, Found]) -> Iterator[str]:
    """Yield the lines of the tables."""
    tried = {tool: found for tool, found in results.items() if "modules" in found}
    yield from (summary(tool, found) for tool, found in tried.items())
    for tool, found in results.items():
        if tool not in tried:
            yield f"- {TOOLS[tool]}: not tried, since it does not install: `{found['not_tried']}`"
    yield f"\n{origin(tried)}"
    yield "\n| module | " + " | ".join(TOOLS[tool] for tool in tried) + " |"
    yield "|---" * (len(tried) + 1) + "|"
    for name, what in modules().items():
        cells = (row(tool, found["modules"].get(name)) for tool, found in tried.items())
        yield f"| {name}: {what} | " + " | ".join(cells) + " |"
    yield f"\n## What is left, or refused\n\n{origin(tried)}\n"
    for tool, found in tried.items():
        yield f"### {TOOLS[tool]}\n\n| module | before | after |\n|---|---|---|"
        for name in (name for name in modules() if name in found["modules"]):
            texts = (operators(found["modules"][name][form]) for form in ("before", "after"))
            yield f"| {name} | " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"
        yield ""


def write(results: Mapping[str, Found]) -> None:
    """Write the tables into the page."""
    head, _, _ = PAGE.read_text(encoding="utf-8").partition(BEGINS)
    text = "\n".join(page(results)).rstrip()
    PAGE.write_text(f"{head}{BEGINS}\n{text}\n", encoding="utf-8")
