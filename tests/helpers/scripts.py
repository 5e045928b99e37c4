"""The scripts of ``benchmarks``, as modules."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

_FOLDER = Path(__file__).parents[2] / "benchmarks"


def script(name: str) -> ModuleType:
    """Return the module of a script.

    >>> script("mutants").__name__
    'mutants'
    """
    spec = importlib.util.spec_from_file_location(name, _FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where a dataclass looks for its types
    spec.loader.exec_module(module)
    return module
