"""Makes the page for a reviewer: ``python docs/theory/paper.py`` writes docs/theory/paper.md.

The words are here. Numbers, versions and lists are read from the other pages, the tests and the
golden vectors, so the page cannot say anything else than they do.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from onnx_scatterx.files.writing import write_text

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "docs" / "theory"

CLAIMS = (
    ("Definitions 1 to 10", "tests/theory/paper/test_definitions.py", ""),
    ("The examples, with the numbers that are printed", "tests/theory/paper/test_examples.py", ""),
    ("Proposition 1, nondeterminism", "tests/theory/paper/test_propositions.py", "proposition_1"),
    ("Corollary 1, representations", "tests/theory/paper/test_propositions.py", "corollary_1"),
    ("Theorem 1, impossibility of slicing", "tests/theory/paper/test_propositions.py", "theorem_1"),
    ("The verdict against a search of all picks", "tests/theory/paper/test_verdicts.py", ""),
    ("Section 8, the program", "tests/theory/paper/test_propositions.py", "test_8"),
    ("The test cases of the paper's repository", "tests/theory/paper/test_repository.py", ""),
    ("Adjoints, against inner products and autograd", "tests/theory/test_adjoint.py", ""),
    (
        "Strided copies: exact, rarely one too many, never above the kernel's",
        "tests/theory/test_moves.py",
        "",
    ),
    ("StableHLO against XLA", "tests/theory/conventions/test_stablehlo.py", ""),
)

FIGURES = ("../measured/kernel_benchmark.md", "../measured/real_sizes.md", "../measured/field.md")
MEASURED = (
    "../measured/kernel_benchmark.md",
    "../measured/real_sizes.md",
    "../measured/speed.md",
    "../measured/proof.md",
    "../measured/devices.md",
    "moves.md",
)

THREATS = (
    "The architectures have random weights. What is removed does not depend on weights, but "
    "times and the size of last-bit differences may.",
    "Times are from machines with two virtual cores, which others used at some hours. Ratios are "
    "of runs that alternate in one process. No page has a time of a GPU or an NPU.",
    "The verdict is about a transformer, and not about a device: the number of strided copies "
    "predicts time better ([moves](moves.md)).",
    "The list of copies need not be the shortest: of 1 471 random transformers of up to 8 "
    "elements, 11 have a list with one copy fewer ([moves](moves.md)).",
    "Equality with a framework is tested on drawn calls, not proven. The frameworks' own errors "
    "that were found are not drawn; [the page](frameworks.md#how-this-is-checked) names them.",
    "The corrections of the paper are ours. Each has a counterexample that runs, against the "
    "program as it is printed.",
    "Names of devices stand for what their compilers or their lists of operators say "
    "([devices](../devices.md)).",
)

ROWS = [
    tuple(cell.strip() for cell in f"{line} | | ".split("|")[:5])
    for line in (BOOK / "paper_rows.txt").read_text(encoding="utf-8").splitlines()[1:]
]


def page() -> str:
    """Return the page."""
    return "\n".join((*_claims(), *_errata(), *_figures(), *_machines(), *_threats(), *_rows(), ""))


def _claims() -> Iterator[str]:
    yield "# For a reviewer"
    yield ""
    yield "This page is for those who review the theory: what the paper says, what is corrected,"
    yield "what was measured, and a command for each. `python docs/theory/paper.py` writes it from"
    yield "the tests and the other pages, and a test holds it against them."
    yield from ("", "## Claims", "", "| claim | command |", "|---|---|")
    for claim, path, chosen in CLAIMS:
        option = f" -k {chosen}" if chosen else ""
        yield f"| {claim} | `python -m pytest {path}{option}` |"


def _errata() -> Iterator[str]:
    yield from ("", "## Errata", "", "| [erratum](errata.md) | command |", "|---|---|")
    text = (BOOK / "errata.md").read_text(encoding="utf-8")
    for number, title in re.findall(r"^### (\d+)\. (.*)$", text, re.M):
        command = f"python -m pytest tests/theory/paper/test_errata.py -k test_{number}_"
        yield f"| {number}. {title} | `{command}` |"


def _figures() -> Iterator[str]:
    yield from ("", "## Figures of merit", "")
    for name in FIGURES:
        text = (BOOK / name).read_text(encoding="utf-8").split("\n## ")
        kept = [part for part in text if not part.startswith(("Promises", "Below", "Far"))]
        title = text[0].splitlines()[0].removeprefix("# ")
        found = re.findall(r"^- (\d[^\n]*(?:\n  [^\n]+)*)", "\n".join(kept), re.M)
        command = re.search(r"`((?:python benchmarks|just)[^`]*)`", "".join(text))
        by = f", by `{command[1]}`" if command else ""
        yield f"[{title}]({name}){by}:"
        yield ""
        yield from (f"- {' '.join(line.split())}" for line in found)
        yield ""


def _machines() -> Iterator[str]:
    yield from ("## Versions and hardware", "")
    for name in MEASURED:
        text = (BOOK / name).read_text(encoding="utf-8")
        (told, *_) = re.findall(r"^\*(Date: .*?)\*$", text, re.M | re.S)
        yield f"- [{Path(name).stem}]({name}): {' '.join(told.split())}"
    for path in sorted((ROOT / "tests/theory/golden").glob("*.npz")):
        with np.load(path) as file:
            yield f"- golden vectors of {path.stem}: version {file['version']}"


def _threats() -> Iterator[str]:
    yield from ("", "## Threats to validity", "")
    yield from (f"- {threat}" for threat in THREATS)


def _rows() -> Iterator[str]:
    yield from ("", "## The sources, row by row", "")
    done = sum(row[2] == "yes" for row in ROWS)
    yield f"{done} of {len(ROWS)} rows are there. A row begins in the file, and the test holds it."
    yield from ("", "| | source | row | there | file | test |", "|---:|---|---|---|---|---|")
    for number, (source, row, there, path, test) in enumerate(ROWS, 1):
        shown = f"`{path}` | `tests/{test}`" if path else " | "
        yield f"| {number} | {source} | {row} | {there} | {shown} |"


if __name__ == "__main__":
    write_text(BOOK / "paper.md", page())
