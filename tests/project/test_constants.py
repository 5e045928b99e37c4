"""One function says which tensor a value is: a second reader of constants would forget defaults."""

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "onnx_scatterx"
READS = re.compile(r"\.const_value\b(?!\s*=[^=])|get_const_tensor")
OTHERS = {
    "tell/extraction/part.py": "takes weights out",
    "tell/extraction/private.py": "says which tensors are weights",
    "engine/passes/known_branches.py": "renames tensors",
    "assumptions/fixed_sizes.py": "compares the shape of a default",
    "compare/interface.py": "reads the defaults of inputs",
    "compare/light_model.py": "keeps the defaults of inputs",
    "engine/plan/commit.py": "asks whether the writer made a constant",
    "engine/write/fragment.py": "compares the constants that are written",
    "engine/write/graph_writer.py": "adds the constants that are written",
    "fitting/known_values.py": "asks whether a function declares a type of a value",
    "fitting/propagation.py": "keeps large tensors away from ONNX",
    "fitting/declared_dims.py": "asks whether a value is a constant at all",
}


def test_constants_are_read_in_one_place() -> None:
    files = [*PACKAGE.rglob("*.py"), *(PACKAGE / "rewrites").rglob("*.py")]
    found = {
        path.relative_to(PACKAGE).as_posix() for path in files if READS.search(path.read_text())
    }
    found = {
        name for name in found if not name.startswith(("files/", "graphs/"))
    }  # these read them
    assert found == set(OTHERS)
