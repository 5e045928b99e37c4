"""What is known of an operator stands in its row: no other module of the package lists operators.

A dict from operators to functions is code, and may stand where the functions do.
"""

import ast
import dataclasses
import importlib
import operator
from collections.abc import Iterator
from pathlib import Path

import onnx.defs
import pytest

ROOT = Path(__file__).parents[2]
MOST = 2
ELSEWHERE = {
    "onnx_scatterx.engine.analysis.operators.contrib": "transfers of com.microsoft, as text",
    "onnx_scatterx.engine.device.costs": "kinds of work",
    "onnx_scatterx.engine.write.forms.numbers": "what arranges floats as it arranges integers",
    "onnx_scatterx.engine.write.forms.several": "which operator of two operands stands for which",
    "onnx_scatterx.engine.write.forms.sums": "what is written by a sum, and how",
    "onnx_scatterx.fitting.silent_draws": "what moves a draw, and passes its zeros on",
    "onnx_scatterx.fitting.faults.chains": "which two operators are merged",
    "onnx_scatterx.fitting.faults.functions": "what is between a Conv and a function",
    "onnx_scatterx.fitting.faults.norms": "the nodes of a norm, upwards",
    "onnx_scatterx.fitting.faults.picked": "what is between a Conv and what picks its channels",
    "onnx_scatterx.fitting.runtime_fusions": "where a pattern of nodes begins",
    "onnx_scatterx.engine.spelling.changes": "what changed between operator sets",
}
ROOMS = {
    "onnx_scatterx.operators": "the table",
    "onnx_scatterx.proof": "the second judge, which shares no code with the optimizer",
}
NAMES = {s.name for s in onnx.defs.get_all_schemas_with_history() if s.domain == ""}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for top in (ROOT / "onnx_scatterx", ROOT / "rewrites"):
        for path in sorted(top.rglob("*.py")):
            within = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(within if top.name == "onnx_scatterx" else ("onnx_scatterx", *within))
            if not name.startswith(tuple(ROOMS)):
                yield name.removesuffix(".__init__"), ast.parse(path.read_text(encoding="utf-8"))


def named(value: ast.expr | None) -> set[str]:
    """Return the operators that an expression lists: of a dict, those among its keys."""
    if isinstance(value, ast.Dict):
        parts = [
            value if key is None else key
            for key, value in zip(value.keys, value.values, strict=True)
        ]
        return {name for part in parts for name in named(part)}
    found = set()
    for part in ast.walk(value) if value is not None else ():
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            words = part.value.split()
            found |= set(words) if NAMES.issuperset(words) else set()
    return found


def constants(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, set[str]]]:
    """Yield the constants of a module and its classes, each with the operators that it lists."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from constants(node.body, f"{within}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield within + ast.unparse(target), named(node.value)


def acts(value: object) -> bool:
    """Return whether something is a function, or has one."""
    if dataclasses.is_dataclass(value):
        return any(map(acts, vars(value).values()))
    return callable(value) or (isinstance(value, tuple) and any(map(acts, value)))


def is_code(module: str, constant: str) -> bool:
    """Return whether a constant is a dict of functions, or of objects most of which have some."""
    found = operator.attrgetter(constant)(importlib.import_module(module))
    values = list(found.values()) if isinstance(found, dict) else []
    kinds = {type(value) for value in values if acts(value)}
    return bool(kinds) and all(acts(value) or type(value) in kinds for value in values)


def listed(name: str, tree: ast.Module) -> list[str]:
    """Return the constants of a module that list operators, and are no code."""
    found = [constant for constant, names in constants(tree.body) if len(names) > MOST]
    return [constant for constant in found if not is_code(name, constant)]


def test_no_other_module_lists_operators() -> None:
    """A property of operators is a column of the table in onnx_scatterx/operators."""
    tables = {name: found for name, tree in modules() if (found := listed(name, tree))}
    assert tables.keys() == ELSEWHERE.keys(), tables


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("A = {'Add', 'Sub', 'Mul'}", True),
        ("A = {'Add', 'Sub'}", False),
        ("A = frozenset('Add Sub Mul'.split())", True),
        ("A = 'Add Sub and Mul are operators'", False),
        ("A: set[str] = {*('Add', 'Sub'), 'Mul'}", True),
        ("A = {'Add': 1, 'Sub': 2, 'Mul': 3}", True),
        ("A = {**dict.fromkeys(('Add', 'Sub', 'Mul'), 1)}", True),
        ("A = {'Add': 'Sub', 'And': 'Mul'}", False),
        ("class A:\n    b = ('Add', 'Sub', 'Mul')", True),
    ],
)
def test_what_counts_as_a_list(text: str, is_found: bool) -> None:
    found = list(constants(ast.parse(text).body))
    assert any(len(names) > MOST for _, names in found) is is_found


def test_functions_by_operator_are_code() -> None:
    assert is_code("onnx_scatterx.engine.analysis.transfers", "TRANSFERS")
    assert is_code("onnx_scatterx.engine.write.forms", "FORMS")
    assert not is_code("onnx_scatterx.engine.analysis.operators.contrib", "ROWS")
