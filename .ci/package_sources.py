"""The modules of the package: where each is, its room, what it imports, how large it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "onnx_scatterx"


def modules(root: Path) -> dict[str, Path]:
    """Return the modules of the package, the rules included, and where they are."""
    found = {}
    for top, name in ((root / PACKAGE, PACKAGE), (root / "rewrites", f"{PACKAGE}.rewrites")):
        for path in sorted(top.rglob("*.py")):
            within = path.relative_to(top).with_suffix("").parts
            if name == PACKAGE and within[0] == "rewrites":
                continue  # the link
            found[".".join((name, *within)).removesuffix(".__init__")] = path
    return found


def room_of(module: str) -> str:
    """Return the room of a module; the package itself is the room "".

    >>> room_of("onnx_scatterx.engine.lift.access"), room_of("onnx_scatterx.files.io")
    ('engine.lift', 'files')
    """
    parts = module.split(".")[1:]
    return ".".join(parts[: 2 if parts[:1] == ["engine"] else 1])


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the modules of the package that are imported, each with a name, or with ""."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = (alias.name for alias in node.names)
            yield from ((name, "") for name in names if name.startswith(f"{PACKAGE}."))


def statements(path: Path) -> int:
    """Return how many lines hold code: no docstring, import or comment, and not blank."""
    source = path.read_text(encoding="utf-8")
    left = {n for n, line in enumerate(source.splitlines(), 1) if line.split("#")[0].strip()}
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for n in body if isinstance(body, list) else ():
            is_text = isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)
            if is_text or isinstance(n, ast.Import | ast.ImportFrom):
                left -= {*range(n.lineno, n.end_lineno + 1)}
    return len(left)


def lines(paths: Iterator[Path]) -> int:
    """Return how many lines files have, all together."""
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)
