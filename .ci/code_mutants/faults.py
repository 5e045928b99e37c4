"""Faults in a file of Python: where they may be, and how they are put into a running process.

A fault is one of cosmic-ray's mutations: another operator, number or comparison, or a condition
that is negated.
"""

from __future__ import annotations

import difflib
import functools
import gc
import itertools
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).parents[2]
PAIRS = {
    "ReplaceBinaryOperator": ("Add_Sub", "Sub_Add", "Mul_FloorDiv", "FloorDiv_Mul", "Mod_FloorDiv"),
    "ReplaceComparisonOperator": (
        *("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is"),
    ),
}
ALONE = (
    *("NumberReplacer", "AddNot", "ReplaceOrWithAnd", "ReplaceAndWithOr", "ZeroIterationForLoop"),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceContinueWithBreak"),
)
OPERATORS = [f"core/{n}" for n in (*ALONE, *(f"{k}_{p}" for k, ps in PAIRS.items() for p in ps))]


class Fault(NamedTuple):
    """A change of a file of the project."""

    path: str
    operator: str
    occurrence: int
    line: int

    @property
    def file(self) -> Path:
        return (ROOT / self.path).resolve()

    @functools.cache  # noqa: B019 (for as long as the process)
    def changed(self) -> str:
        operator = get_operator(self.operator)()
        return mutate_code(self.file.read_text(), operator, self.occurrence)

    def diff(self) -> str:
        texts = (text.split("\n") for text in (self.file.read_text(), self.changed()))
        return "\n".join(itertools.islice(difflib.unified_diff(*texts, n=0), 3, None))

    def is_python(self) -> bool:
        """Return whether Python can read the changed file: not every ``*`` is a product."""
        try:
            compile(self.changed(), self.path, "exec")
        except SyntaxError:
            return False
        return True


def faults_of(folders: Iterable[str]) -> Iterator[Fault]:
    """Yield the faults of all files of folders, in order."""
    for path in sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        nodes = list(ast_nodes(get_ast_from_path(path)))
        for name in OPERATORS:
            operator = get_operator(name)()
            places = [start for n in nodes for start, _ in operator.mutation_positions(n)]
            for occurrence, (line, _) in enumerate(places):
                yield Fault(str(path.relative_to(ROOT)), name, occurrence, line)


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and those of the functions and classes in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)


def change_functions(fault: Fault) -> None:
    """Put a fault into the functions that exist."""

    def key(code: CodeType) -> tuple[object, ...]:
        constants = (c for c in code.co_consts if not isinstance(c, CodeType))
        return code.co_qualname, code.co_firstlineno, code.co_code, *map(repr, constants)

    (name,) = {m.__file__ for m in list(sys.modules.values()) if _is_of(m, fault.file)}
    old, new = (compile(text, name, "exec") for text in (fault.file.read_text(), fault.changed()))
    pairs = list(zip(codes(old), codes(new), strict=True))
    replaced, differ = {key(a): b for a, b in pairs}, {b for a, b in pairs if a != b}
    gc.unfreeze()  # tests/conftest.py froze it
    functions = [f for f in gc.get_objects() if isinstance(f, FunctionType)]
    for function in functions:
        if function.__code__.co_filename == name:
            function.__code__ = replaced[key(function.__code__)]
    assert any(f.__code__ in differ for f in functions)


def _is_of(module: object, file: Path) -> bool:
    name = getattr(module, "__file__", None)
    return isinstance(name, str) and name.endswith(file.name) and Path(name).resolve() == file


def change_imports(fault: Fault) -> None:
    """Put a fault into the file that is imported later."""
    changed, file, get_code = fault.changed(), fault.file, SourceFileLoader.get_code

    def with_fault(loader: SourceFileLoader, name: str) -> CodeType | None:
        if Path(loader.path).resolve() == file:
            return compile(changed, loader.path, "exec")
        return get_code(loader, name)

    SourceFileLoader.get_code = with_fault
