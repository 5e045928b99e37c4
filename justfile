# The daily commands: `just` lists them.
default:
    @just --list

# Install the project for development, with tests and checkers.
install:
    pip install -e ".[dev]"

# Tests and the examples in the docstrings.
test *ARGS:
    pytest {{ARGS}}

# The tests that take no processes of their own: for every change.
quick *ARGS:
    pytest -m "not slow" {{ARGS}}

# How many lines of each file the tests run (pip install coverage).
coverage *ARGS:
    coverage run --source onnx_scatterx,rewrites -m pytest -n 0 {{ARGS}}
    coverage report --sort=cover

# The random tests, with ten times the examples, and others: those of a seed.
explore SEED *ARGS:
    SCATTERX_PROVE_SEED={{SEED}} SCATTERX_PROVE_SHARE=0.2 EXAMPLES=200 \
    pytest --hypothesis-profile=other --hypothesis-seed={{SEED}} {{ARGS}}

# Form, lint and types.
lint:
    ruff format --check .
    ruff check .
    mypy
    .ci/user-types
    lint-imports

# Put the code into its form.
format:
    ruff format .
    ruff check --fix .

# The pages as a site, in build/site; it fails on a link that leads nowhere.
docs:
    python -m venv build/docs
    build/docs/bin/pip install --quiet -r .ci/docs-requirements.txt
    build/docs/bin/mkdocs build --strict --config-file .ci/mkdocs.yml

# Tests and lint.
check: lint test

# The kernel's own tests.
kernel:
    .ci/kernel

# The kernel with sanitizers, and fuzzed.
sanitize SECONDS="10":
    .ci/sanitizers {{SECONDS}}

# Files with mistakes in them, given to every command.
fuzz SECONDS="60" SEED="0":
    python -m tests.files.fuzz_files --seconds {{SECONDS}} --seed {{SEED}}

# Mutants of the real exports, before and after.
mutate SECONDS="60":
    .ci/mutate --seconds {{SECONDS}}

# Proves every model of a directory and of models/, and judges mutants: the figures of docs/measured/proof.md.
prove DIRECTORY *ARGS:
    python benchmarks/prove.py models {{DIRECTORY}} --names {{ARGS}}
    python benchmarks/prove.py models {{DIRECTORY}} --mutants 3000 {{ARGS}}

# The share of faults at an end of a position, size or value that verify finds in results of two folders.
faults DIRECTORY *ARGS:
    python benchmarks/verify_mutants.py models {{DIRECTORY}} --pairs build/faults {{ARGS}}

# The threads of docs/measured/field.md: exports, runs and compares them, and writes the page (pip install torch==2.13.0).
field *ARGS:
    python benchmarks/field.py {{ARGS}}

# PyTorch's programs without scatters: the tests that need PyTorch (pip install torch==2.13.0).
programs *ARGS:
    pytest tests/torch {{ARGS}}

# Twelve modules in toolchains that never see ONNX, before and after (an environment for each, an hour).
toolchains *ARGS:
    python benchmarks/toolchains.py {{ARGS}}

# What the consumers of ONNX that are installed make of the models of a directory, before and after.
devices DIRECTORY *ARGS:
    python -P benchmarks/devices.py {{DIRECTORY}} {{ARGS}}

# What a consumer of ONNX takes, operator by operator: NAME [--python PATH] [--json FILE].
probe *ARGS:
    .ci/probe-device {{ARGS}}

# Profiles of devices against what others measured: WHEEL of winml-cli [NAME...] [--write].
measured *ARGS:
    python -P -c 'import sys; sys.path.append("."); from benchmarks.measured_devices.measured import main; sys.exit(main())' {{ARGS}}

# The part of ONNX Runtime's ABI that the library declares, against the official header.
abi:
    .ci/abi

# The wheel with the oldest ONNX Runtime.
oldest:
    .ci/oldest-runtime

# Wheels of this checkout, COUNT at once; and one of a source that does not compile.
builds COUNT="5":
    .ci/builds {{COUNT}}

# An installation from source without a C++ compiler.
no-compiler:
    .ci/no-compiler

# The wheel without the library, in a Python that lacks what a browser's lacks.
pure-wheel:
    .ci/pure-wheel

# The source distribution and the wheels of all platforms, into dist/; --twice: and again elsewhere.
wheels *ARGS:
    .ci/build-wheels {{ARGS}}

# What is in dist/, tested as far as this machine can: all platforms, or those that are named.
test-wheels *PLATFORMS:
    .ci/test-wheels {{PLATFORMS}}

# Checks a release: the files in dist/, which are built first if dist/ is empty.
release-check *PYTHONS:
    .ci/release-check {{PYTHONS}}

# The two installations of README.md, each in a fresh virtual environment.
readme:
    .ci/readme

# Everything, in a fresh virtual environment, as CI does it.
ci:
    bash .ci/run
