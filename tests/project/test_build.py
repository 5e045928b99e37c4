"""Each build has a directory of its own; only a missing compiler leaves the library out."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BACKEND = runpy.run_path(str(ROOT / "custom_ops" / "backend.py"))
NOTHING_FOUND = "SOME:STRING=thing\nCMAKE_MAKE_PROGRAM:FILEPATH=/bin/make\n"
Calls = list[dict[str, Any]]


def executable(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.slow
@pytest.mark.skipif(
    not (shutil.which("cmake") and shutil.which("c++")), reason="needs CMake and a C++ compiler"
)
def test_a_compiler_is_missing_or_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CMAKE_CXX_COMPILER_LAUNCHER", raising=False)
    absent = str(tmp_path / "absent")
    placeholder = executable(tmp_path / "placeholder", "echo no developer tools >&2; exit 1")
    mute = executable(tmp_path / "mute", "exit 1")
    cases: tuple[tuple[dict[str, str], int, str | None], ...] = (
        ({"CXX": absent}, 1, f"no C++ compiler was found (CXX is {absent})"),
        (
            {"CXX": placeholder},
            1,
            f"the C++ compiler {placeholder} does not tell its version (no developer tools)",
        ),
        ({"CXX": mute}, 1, f"the C++ compiler {mute} does not tell its version"),
        ({"CXXFLAGS": "--no-such-flag"}, 1, None),
        ({}, 0, None),
    )
    for number, (variables, status, expected) in enumerate(cases):
        with monkeypatch.context() as patched:
            for name, value in variables.items():
                patched.setenv(name, value)
            folder = tmp_path / str(number)
            command = ["cmake", "-S", str(ROOT / "custom_ops"), "-B", str(folder)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == status, done.stderr
            assert BACKEND["missing_compiler"](folder) == expected


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Return the settings that scikit-build-core gets; CMake writes $CACHE, and may fail."""
    found: Calls = []

    def build(wheels: str, settings: dict[str, Any]) -> str:
        found.append(settings)
        folder, reasons = Path(settings["build-dir"]), list(settings)
        folder.mkdir(parents=True, exist_ok=True)
        if settings.get("wheel.cmake") != "false":
            cache = os.environ["CACHE"]
            (folder / "CMakeCache.txt").write_text(cache, encoding="utf-8")
            if "library" not in cache:
                raise SystemExit(1)
        tag = "any" if settings.get("wheel.cmake") == "false" else "linux_x86_64"
        with zipfile.ZipFile(Path(wheels, f"x-none-{tag}.whl"), "w") as wheel:
            wheel.writestr("onnx_scatterx/__init__.py", "")
            for name in reasons:
                if name.startswith("wheel.force-include."):
                    wheel.write(name.removeprefix("wheel.force-include."), settings[name])
            if settings.get("wheel.cmake") != "false":
                wheel.writestr("onnx_scatterx/scatterx_ops.so", "")
        return Path(wheel.filename or "").name

    fake = ModuleType("scikit_build_core")
    fake.build = ModuleType("build")  # type: ignore[attr-defined]  # a fake package
    fake.build.build_wheel = fake.build.build_editable = build
    monkeypatch.setitem(sys.modules, "scikit_build_core", fake)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("SKBUILD_BUILD_DIR", raising=False)
    return found


@pytest.mark.parametrize(
    ("cache", "given", "reason"),
    [
        ("SCATTERX_COMPILER_WORKS:INTERNAL=TRUE # library", {}, None),
        (NOTHING_FOUND, {}, "no C++ compiler was found"),
        ("", {"wheel.cmake": "false"}, "this package was built with wheel.cmake=false"),
    ],
)
@pytest.mark.parametrize("hook", ["build_wheel", "build_editable"])
def test_the_package_says_why_it_has_no_library(
    hook: str,
    cache: str,
    given: dict[str, str],
    reason: str | None,
    calls: Calls,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CACHE", cache)
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o077)
    try:
        name = BACKEND[hook](str(tmp_path), given)
    finally:
        os.umask(before)
    with zipfile.ZipFile(tmp_path / name) as wheel:
        if reason is None:
            assert "onnx_scatterx/not_built.txt" not in wheel.namelist()
            assert "onnx_scatterx/scatterx_ops.so" in wheel.namelist()
        else:
            file = wheel.getinfo("onnx_scatterx/not_built.txt")
            assert wheel.read(file).decode() == f"{reason}\n"
            assert file.external_attr >> 16 & 0o777 == 0o644
            assert "onnx_scatterx/scatterx_ops.so" not in wheel.namelist()
    # Nothing of a wheel stays; an editable installation can be rebuilt.
    kept = ["build", name] if hook == "build_editable" else [name]
    assert sorted(path.name for path in tmp_path.iterdir()) == kept


@pytest.mark.parametrize(
    "cache",
    [
        "SCATTERX_COMPILER_WORKS:INTERNAL=TRUE",  # a source was not compiled
        "CMAKE_MAKE_PROGRAM:FILEPATH=CMAKE_MAKE_PROGRAM-NOTFOUND",
        f"CMAKE_CXX_COMPILER:FILEPATH={sys.executable}",  # runs, so another thing is wrong
    ],
)
def test_any_other_failure_is_an_error(
    cache: str, calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CACHE", cache)
    with pytest.raises(SystemExit):
        BACKEND["build_wheel"](str(tmp_path))
    assert len(calls) == 1
    assert list(tmp_path.iterdir()) == []


def test_each_build_has_a_directory_of_its_own(
    calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the user has chosen one; that of an editable installation is its environment's."""
    monkeypatch.setenv("CACHE", "library")
    monkeypatch.chdir(tmp_path)
    for prefix in ("/one", "/one", "/other"):
        monkeypatch.setattr(sys, "prefix", prefix)
        own = runpy.run_path(BACKEND["__file__"])  # a process each
        own["build_wheel"](str(tmp_path))
        own["build_editable"](str(tmp_path))
    BACKEND["build_wheel"](str(tmp_path), {"build-dir": "mine"})
    *folders, chosen = [call["build-dir"] for call in calls]
    assert len(set(folders[::2])) == 3
    assert folders[1] == folders[3] != folders[5]
    assert chosen == "mine"
    assert not [folder for folder in folders[::2] if Path(folder).exists()]


def test_the_readme_of_an_index_has_no_link_to_a_file() -> None:
    page = runpy.run_path(str(ROOT / "custom_ops" / "index_page.py"))["page"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    beside = re.compile(r"\]\((?!\w+:|#)")
    assert beside.search(readme)
    assert not beside.search(page(readme, {}, "1.0"))
    places = {"files": "https://example.com/v{version}/", "pictures": "https://example.com/"}
    shown = page(readme, places, "1.0")
    assert not beside.search(shown)
    assert shown.count("](https://example.com/") == len(beside.findall(readme))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [what](docs/a.md#b) and ![it](c.svg)", "See what and "),
        ("[![it](c.svg)](docs/a.md)", ""),
        ("[a](#a) [b](https://b.example) ![c](https://c.example)", None),
        ("```\n[a](b)\n```\n[a](b)\n```\n![a](b)\n```", "```\n[a](b)\n```\na\n```\n![a](b)\n```"),
    ],
)
def test_links_of_an_index_page(text: str, shown: str | None) -> None:
    page = runpy.run_path(str(ROOT / "custom_ops" / "index_page.py"))["page"]
    assert page(text, {}, "1.0") == (text if shown is None else shown)
