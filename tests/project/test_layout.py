"""The project as a whole: its folders, its imports, and what its files must not say."""

import ast
import importlib
import importlib.metadata
import importlib.resources
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import onnx_scatterx
from onnx_scatterx.engine import rules
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.rewrites import RULES

ROOT = Path(__file__).parents[2]
TEXT = {".py", ".md", ".toml", ".cpp", ".h", ".hpp", ".cc", ".txt", ".yml", ".yaml", ".svg", ""}
HEAVY = {"torch", "onnx", "onnx_ir", "onnxruntime", "onnxscript", "numpy", "rich", "jinja2", "cupy"}
# Homes, and directories that only some machine has.
PATH = re.compile(r"(?<![\w.])/(?:home|root|Users|work|mnt)/\w")


def texts() -> Iterator[Path]:
    for top in ROOT.iterdir():
        hidden = top.name.startswith(".") and top.name not in (".ci", ".github")
        if hidden or top.name in ("build", "dist"):
            continue
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and path.suffix in TEXT and "__pycache__" not in path.parts:
                yield path


def test_what_lints_and_types_is_pinned() -> None:
    """In one place: the hooks before a commit take the tools of the development environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = [
        need.split("==")[0] for need in project["optional-dependencies"]["dev"] if "==" in need
    ]
    assert {"import-linter", "mypy", "ruff"} <= {*pinned}
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert hooks.count("- id: ") == hooks.count("language: system") > 3
    assert hooks.count("- repo: ") == hooks.count("- repo: local")


def test_models_lie_in_their_folders() -> None:
    """None was left by somebody who tried one."""
    listed = subprocess.run(
        ["git", "ls-files", "*.onnx", "*.npz"], cwd=ROOT, capture_output=True, text=True
    )
    tops = {line.partition("/")[0] for line in listed.stdout.splitlines()}
    assert tops <= {"models", "tests"}


def test_the_rules_are_a_folder_of_the_package() -> None:
    link = ROOT / "onnx_scatterx" / "rewrites"
    assert link.is_dir()
    assert link.samefile(ROOT / "rewrites")


FRESH = """if True:
    import importlib, pkgutil, sys, onnx_scatterx as sx
    print(*{m.split('.')[0] for m in sys.modules})
    import onnx_scatterx.tell.explanation, onnx_scatterx.doors.api
    import onnx_scatterx.compare
    print(*(callable(f) for f in (sx.explain, sx.inspect, sx.optimize, sx.verify)))
    sx.optimize('models/kv_cache_ts.onnx', target='standard')
    report = sx.inspect('models/kv_cache_dynamo.onnx')
    print(len(report.to_json()) > 0, len(str(report)) > 0, 'jinja2' in sys.modules)
    print('onnxruntime' in sys.modules, len(report.to_html()) > 0, 'jinja2' in sys.modules)
    for found in pkgutil.walk_packages(sx.__path__, 'onnx_scatterx.'):
        if not found.name.endswith(('.__main__', '.olive', '.scatterx_ops')):
            importlib.import_module(found.name)
    files = [str(getattr(m, '__file__', '')) for m in sys.modules.values()]
    files = [file for file in files if 'scatterx' in file]
    print(len(files), len(set(files)))"""


def test_the_dependencies_are_what_modules_import() -> None:
    """Beside the packages that these bring, the optional ones, and the compilers of devices."""
    brought, optional = (
        {"google", "markupsafe", "ml_dtypes"},
        {"argcomplete", "olive", "torch", "z3"},
    )
    imported = set()
    for path in (ROOT / "onnx_scatterx").rglob("*.py"):
        if path.parent.name == "consumers":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    others = imported - sys.stdlib_module_names - {"onnx_scatterx"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = {re.split("[>=;]", need)[0].replace("-", "_") for need in project["dependencies"]}
    assert others - brought - optional == needs


@pytest.mark.slow
def test_what_a_fresh_python_imports() -> None:
    """The package alone is light, a page needs templates, and no file is two modules.

    What runs no model does without ONNX Runtime.
    """
    done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == ""
    alone, functions, report, page, files = (line.split() for line in done.stdout.splitlines())
    assert "onnx_scatterx" in alone
    assert not HEAVY & set(alone)
    assert functions == ["True"] * 4, "a function is hidden by the module of its name"
    assert report == ["True", "True", "False"]
    assert page == ["False", "True", "True"]
    all_files, different = map(int, files)
    assert all_files == different > 300


def test_a_rule_is_a_file_with_a_test() -> None:
    files = {path.stem for path in (ROOT / "rewrites").glob("*.py")} - {"__init__"}
    assert files == {rule.name for rule in RULES} | {"overlay", "scatterx"}
    tests = {path.stem for path in (ROOT / "tests" / "engine" / "rewrites").glob("test_*.py")}
    assert tests == {f"test_{rule}" for rule in files}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {c["name"]: c for c in project["tool"]["importlinter"]["contracts"]}
    *layers, _helpers, _rows = contracts["helpers of rules know no rule"]["layers"]
    assert {name for layer in layers for name in re.findall(r"\w+", layer)} == files


def test_what_a_rule_needs_is_one_list_in_sections() -> None:
    names = {name for name in vars(rules) if not name.startswith("_")}
    assert 30 < len(names) <= 45
    used = {word for path in (ROOT / "rewrites").rglob("*.py") for word in _words(path)}
    assert names <= used
    assert names <= {*re.findall(r"``(\w+)``", rules.__doc__ or "")}


def _words(path: Path) -> list[str]:
    return re.findall(r"\w+", path.read_text(encoding="utf-8"))


def imported_by(path: Path) -> Iterator[list[str]]:
    """Yield the parts of each name of the tests that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports from where it stands"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1:] for name in names if name.startswith("tests."))


def test_tests_stand_as_the_rooms_stand() -> None:
    tests, package = ROOT / "tests", ROOT / "onnx_scatterx"
    folders = {path.name for path in tests.iterdir() if path.is_dir()} - {"__pycache__"}
    rooms = {path.name for path in package.iterdir() if path.is_dir()}
    assert folders - {"helpers", "project"} <= rooms
    assert {path.name for path in tests.glob("*.py")} == {"__init__.py", "conftest.py"}


def test_no_test_needs_another_room_or_another_test() -> None:
    """What tests share stands in a module of the room, or of tests/helpers, which is no test."""
    tests, wrong, found = ROOT / "tests", [], 0
    for path in sorted(tests.rglob("*.py")):
        room = path.relative_to(tests).parts[0]
        for parts in imported_by(path):
            found += 1
            is_test = any(part.startswith("test_") for part in parts)
            if parts[0] not in {room, "helpers"} or is_test:
                wrong.append(f"{path.relative_to(ROOT)}: {'.'.join(parts)}")
    assert wrong == []
    assert found > 300


def test_a_clone_without_links_says_what_to_do(tmp_path: Path) -> None:
    """There the link is a text file, as git writes it if the system has no symbolic links."""
    package = tmp_path / "onnx_scatterx"
    package.mkdir()
    shutil.copy(ROOT / "onnx_scatterx" / "__init__.py", package)
    (package / "rewrites").write_text("../rewrites")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import onnx_scatterx"
    command = [sys.executable, "-S", "-c", program]  # without what is installed
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "ImportError: onnx_scatterx/rewrites must be a link" in done.stderr
    assert "git config core.symlinks true" in done.stderr


@pytest.mark.parametrize("name", sorted(set(onnx_scatterx.__all__) - {"__version__"}))
def test_public_names(name: str) -> None:
    found = getattr(onnx_scatterx, name)
    assert found.__doc__
    assert found.__name__ == name


def test_completion_offers_what_a_user_needs() -> None:
    """The functions, the types that they take and return, and the packages that lead on."""
    names = set(onnx_scatterx.__all__)
    functions = {name for name in names if name[0].islower()}
    assert 8 <= len(functions) <= 17
    assert all(callable(getattr(onnx_scatterx, name)) for name in functions)
    returned = {"Benchmark", "Report", "Result", "Summary", "Verification"}
    assert returned < names
    packages = {"export", "passes", "rewrites", "theory", "torch"}
    assert set(dir(onnx_scatterx)) == names | packages
    assert all(hasattr(onnx_scatterx, name) for name in dir(onnx_scatterx))
    assert all((ROOT / "onnx_scatterx" / name).exists() for name in packages - {"passes", "torch"})
    assert "XTransformer" in dir(onnx_scatterx.theory)
    assert not hasattr(onnx_scatterx, "XTransformer")


def test_every_error_for_a_user_is_public() -> None:
    """Those that are raised inside alone are not derived from ScatterXError."""
    for module in pkgutil.walk_packages(onnx_scatterx.__path__, "onnx_scatterx."):
        if not module.name.endswith((".__main__", ".olive", ".scatterx_ops")):
            importlib.import_module(module.name)
    found: list[type[ScatterXError]] = [ScatterXError]
    for error in found:
        found += error.__subclasses__()
    assert {error.__name__ for error in found} <= set(onnx_scatterx.__all__)
    assert len(found) >= 3


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert onnx_scatterx.__version__ == project["version"]


def test_anyone_may_use_it() -> None:
    """A license in the words of PEP 639, in the metadata that is installed too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"] == "Apache-2.0"
    assert project["license-files"] == ["LICENSE"]
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert not [c for c in project["classifiers"] if c.startswith("License")]
    assert project["authors"] == [{"name": "onnx-scatterx contributors"}]
    metadata = importlib.metadata.metadata("onnx-scatterx")
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["License-File"] == "LICENSE"


def test_types_are_for_users_too() -> None:
    assert importlib.resources.files("onnx_scatterx").joinpath("py.typed").is_file()


def test_templates_of_the_page_are_a_part_of_the_package() -> None:
    """As a wheel has them: a template is read from the package, not from the clone."""
    page = importlib.resources.files("onnx_scatterx.tell.page")
    folder = ROOT / "onnx_scatterx" / "tell" / "page"
    names = {path.relative_to(folder).as_posix() for path in folder.glob("templates/*")}
    assert len(names) >= 8
    assert all(page.joinpath(name).is_file() for name in (*names, "report.css", "report.js"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    build = project["tool"]["scikit-build"]
    assert build["wheel"]["packages"] == ["onnx_scatterx"]
    assert "exclude" not in build["wheel"]
    assert "sdist" not in build


def test_no_file_names_a_path_of_a_machine() -> None:
    found = list(texts())
    assert ROOT / "README.md" in found
    assert ROOT / "onnx_scatterx" / "pipeline" / "order.py" in found
    assert PATH.search("see " + "/home" + "/somebody/x")
    assert [p for p in found if PATH.search(p.read_text(encoding="utf-8", errors="ignore"))] == []


def test_files_that_are_named_exist() -> None:
    """Tests and scripts that commands and pages name; those of CONTRIBUTING are to be made."""
    tops = r"(?:tests|benchmarks|models|docs|\.ci)"
    named = re.compile(rf"(?<![\w/.])({tops}/[\w./*-]*\w(?:\*?\.\w+)?)")
    missing, found = [], 0
    for top in (".ci", "docs", "custom_ops", "README.md", "justfile", "pyproject.toml"):
        place = ROOT / top
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file() and path.suffix in {".py", ".md", ".toml", ".yml", ""}:
                text = path.read_text(encoding="utf-8", errors="ignore")
                scripts = [n for n in named.findall(text) if n.endswith(".py") or n[0] == "."]
                missing += [f"{path.name}: {n}" for n in scripts if not list(ROOT.glob(n))]
                found += len(scripts)
    assert missing == []
    assert found > 30
