"""Random tests draw the same examples in every run, so a test that fails does so for everybody."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[2]
FILES = sorted(path for path in (ROOT / "tests").rglob("*.py") if path.name != "__main__.py")
WITH_A_SEED = {"Random", "default_rng"}
WITHOUT = re.compile(
    r"random\.[a-z]+|(np|numpy)\.random\.[a-z]+|(random\.)?SystemRandom|secrets\.\w+|uuid\.uuid[14]"
    r"|os\.urandom|date\.today|datetime\.(date\.)?(now|today)"
)
DRAWS = re.compile(r"random|Random|default_rng|secrets|uuid|today|now")  # else it draws nothing
SET_BACK = "masks.py"  # its generator is set back before each test


def not_repeated(source: str) -> Iterator[int]:
    """Yield the lines that draw by no seed, or make a generator on which tests take turns."""
    tree = ast.parse(source)
    modules = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name.split(".")[-1] in WITH_A_SEED:
                if not node.args:
                    yield node.lineno
            elif WITHOUT.fullmatch(name) and (name[:7] != "random." or "random" in modules):
                yield node.lineno
    for line in tree.body:
        value = getattr(line, "value", None)
        if isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] in WITH_A_SEED:
            yield line.lineno


@pytest.mark.parametrize(
    "line",
    [
        "random.random()",
        "np.random.rand(3)",
        "np.random.default_rng()",
        "random.Random()",
        "uuid.uuid4()",
        "datetime.date.today()",
        "RNG = np.random.default_rng(0)",
    ],
)
def test_what_is_looked_for(line: str) -> None:
    imports = "import random\nimport numpy as np\n"
    assert set(not_repeated(imports + line)) == {3}
    assert list(not_repeated(f"{imports}def f(rng):\n    rng.random()\n    random.Random(7)")) == []


def test_every_generator_has_a_seed() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in FILES
        if path.name != SET_BACK
        for text in [path.read_text(encoding="utf-8")]
        if DRAWS.search(text)
        for line in not_repeated(text)
    }
    assert found == set()


@pytest.mark.parametrize("name", ["daily", "full", "deep", "other"])
def test_profiles(name: str) -> None:
    profile = settings.get_profile(name)
    assert profile.database is None
    assert profile.derandomize == (name != "other")


def test_the_profile_of_this_run_holds_in_tests_with_settings_of_their_own() -> None:
    assert settings(max_examples=3).derandomize == settings().derandomize
    assert settings(max_examples=3).database is None
