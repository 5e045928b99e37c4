"""A changed function is put into this process, or a changed file into what it imports later."""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType

from code_mutants.mutants import Mutant

real_path = cache(os.path.realpath)


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and those of the functions and classes in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)


def owner_of(text: str, mutant: Mutant) -> CodeType:
    """Return the code of the function that a mutant changes, in this text of its file."""
    all_codes = codes(compile(text, mutant.path, "exec"))
    return next(c for c in all_codes if c.co_firstlineno == mutant.owner.start and c.co_flags & 2)


def body_lines(root: Path, mutant: Mutant) -> set[int]:
    """Return the lines that run if the function runs."""
    code = owner_of((root / mutant.path).read_text(encoding="utf-8"), mutant)
    lines = {line for part in codes(code) for *_, line in part.co_lines() if line}
    return lines - {code.co_firstlineno}


def can_replace(root: Path, mutant: Mutant) -> bool:
    """Return whether the changed code can take the place of the code of the function."""
    if not mutant.is_within:
        return False
    old = owner_of((root / mutant.path).read_text(encoding="utf-8"), mutant)
    return old.co_freevars == owner_of(mutant.text, mutant).co_freevars


class Functions:
    """All functions of this process, by the places of their definitions."""

    def __init__(self) -> None:
        self._found = defaultdict[tuple[str, int, str], list[FunctionType]](list)
        gc.unfreeze()  # tests/conftest.py froze them
        for function in [found for found in gc.get_objects() if isinstance(found, FunctionType)]:
            code = function.__code__
            place = real_path(code.co_filename), code.co_firstlineno, code.co_name
            self._found[place].append(function)
        gc.freeze()

    def change(self, root: Path, mutant: Mutant) -> None:
        """Put a mutant into the functions that exist, and into the file if it is imported later."""
        file = real_path(str(root / mutant.path))
        new = owner_of(mutant.text, mutant)
        for function in self._found[file, new.co_firstlineno, new.co_name]:
            function.__code__ = new.replace(co_filename=function.__code__.co_filename)
        change_imports(root, mutant)


def change_imports(root: Path, mutant: Mutant) -> None:
    """Put a mutant into the file that is imported later."""
    file, get_code = real_path(str(root / mutant.path)), SourceFileLoader.get_code

    def changed(loader: SourceFileLoader, name: str) -> CodeType | None:
        if real_path(loader.path) == file:
            return compile(mutant.text, loader.path, "exec")
        return get_code(loader, name)

    SourceFileLoader.get_code = changed  # type: ignore[method-assign,assignment]
