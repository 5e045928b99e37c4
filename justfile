# The daily commands: `just` lists them.
default:
    @just --list

# Install the project for development, with tests and checkers.
install:
    pip install -e ".[dev]"

# Tests and the examples in the docstrings.
test *ARGS:
    pytest {{ARGS}}

# Form, lint and types.
lint:
    ruff format --check .
    ruff check .
    mypy

# Put the code into its form.
format:
    ruff format .
    ruff check --fix .

# Tests and lint.
check: lint test

# The kernel's own tests.
kernel:
    .ci/kernel

# The kernel with sanitizers, and fuzzed.
sanitize SECONDS="15":
    .ci/sanitizers {{SECONDS}}

# Mutants of the real exports, before and after.
mutate SECONDS="60":
    .ci/mutate --seconds {{SECONDS}}

# The part of ONNX Runtime's ABI that the library declares, against the official header.
abi:
    .ci/abi

# The wheel with the oldest ONNX Runtime.
oldest:
    .ci/oldest-runtime

# Everything, in a fresh virtual environment, as CI does it.
ci:
    bash .ci/run
