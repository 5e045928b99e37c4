"""Limits of terms and steps, and what each kind of work costs, in steps.

A limit never makes an optimized model compute other values. Beyond a limit less is known, so a
scatter may be kept that could be removed, and the report names the budget if one was spent.

A step is 5 microseconds of the machine on which ``python benchmarks/prices.py`` measured them. The
script measures them again. Prices are part of the result, since they decide when a limit is
reached: they are numbers here, and never measured while a model is optimized.
"""

from __future__ import annotations

from dataclasses import dataclass

NARROW = 1 << 62
"""Below this, results fit into 64 bits."""
AXIS_LIMIT = (1 << 31) - 1
"""No axis has more elements."""


@dataclass(frozen=True)
class Limits:
    """All limits."""

    # Budgets.
    model_steps: int = 3_000_000
    """Steps that a command may take for a model: 15 seconds."""
    node_steps: int = 150
    """Steps that a command may take for each node, if these are more: 0.75 ms."""
    scatter_steps: int = 400_000
    """Steps that each analysis of one scatter may take, and that of any other node."""
    question_steps: int = 80_000
    """Steps that one question to the prover may take."""

    remembered: int = 1 << 16
    """Results of one kind that are remembered; then all are forgotten."""

    # The prover.
    proof_depth: int = 5
    """Successive arguments in a proof."""
    first_cases: int = 3
    """Atoms with cases, each of which is tried as the first."""
    easy_steps: int = 200
    """Steps of a question before counterexamples are tried, unless its term has cases."""
    points: int = 192
    """Points that are tried as counterexamples."""
    first_numbers: int = 32
    """Values of one size that are tried first: many terms are negative at a small one."""
    listed_numbers: int = 4096
    """Values of one size that are all tried, and residue classes that are distinguished."""
    least_numbers: int = 32
    """Values that are tried for the least one that a fact allows."""

    # Terms.
    degree: int = 64
    """Factors of a monomial."""
    product_monomials: int = 1 << 14
    """Monomials of a product before equal ones are added up."""
    size_monomials: int = 48
    """Monomials of a size: one that is longer gets a name of its own."""
    choice_monomials: int = 12
    """The same for a size with choices: its nodes cost more than to read it from a shape."""
    content_monomials: int = 64
    """Monomials of an element: one that is longer gets a name of its own."""
    weight: int = 4096
    """Monomials and atoms of a term at every depth, counted with repetitions."""
    nesting: int = 48
    """Nested divisions and cases of a term."""
    sums: int = 8
    """Sums in one index that might wrap and are written out."""

    # What the interpreter computes.
    elements: int = 1 << 20
    """Elements of a tensor that is computed."""
    folded: int = 1 << 16
    """Elements of the result of arithmetic, and of a Concat, that is computed."""
    exact_values: int = 1 << 12
    """Elements of a tensor that is computed with Python's numbers, because 64 bits may wrap."""
    floats: int = 1024
    """Elements of a floating-point constant that is read."""
    inferred_elements: int = 64
    """Elements of a constant that ONNX's shape inference may see."""
    listed_terms: int = 64
    """Terms that are the elements of one tensor."""
    spelt_out: int = 16
    """Terms that one term with a case for each can hold."""
    pieces: int = 64
    """Inputs of a Concat that is followed as one term."""
    visits: int = 2000
    """Calls of functions that are analysed: nested calls multiply."""
    depth: int = 24
    """Nested bodies and functions."""
    rounds: int = 4
    """Attempts to find what holds in every iteration of a loop."""

    kept_bytes: int = 1 << 29
    """Bytes of all integer arrays that are computed for one model, and kept."""
    folded_bytes: int = 1 << 26
    """Bytes of all constants that are computed from sizes."""
    computed_bytes: int = 1 << 26
    """Bytes by which a model may grow if chains of its constants are computed."""
    folding_runs: int = 1000
    """Nodes that ONNX Runtime computes for such constants."""
    folding_rounds: int = 6
    """Passes over a model, each of which may find constants that depend on earlier ones."""

    # What is planned.
    cells: int = 400
    """Regions that one tensor is assembled from."""
    boxes: int = 64
    """Boxes that one scatter is cut into."""
    cuts: int = 8
    """Nested cuts."""
    blocks: int = 4
    """Equal blocks of unknown length that a dim is cut into."""
    chain: int = 16
    """Nodes that are counted for the cost of a value."""
    table_positions: int = 1 << 16
    """Positions of a table of indices that are read."""
    rows: int = 1 << 16
    """Rows of indices that are compared to find updates that are overwritten."""
    targets: int = 1 << 16
    """Coordinates of targets that are computed one by one for a report."""
    unique_targets: int = 1 << 18
    """Targets that are computed one by one to test that no two are equal."""
    fill_bytes: int = 1 << 22
    """Bytes of a constant that is tested for being one number."""

    def steps_of(self, nodes: int) -> int:
        """Return the steps that a command may take for a model with this many nodes."""
        return max(self.model_steps, self.node_steps * nodes)


LIMITS = Limits()
"""The present limits."""


@dataclass(frozen=True)
class Prices:
    """All prices: steps for one unit of work, or units of work for one step."""

    # Steps for one of these.
    monomial: int = 2
    """A monomial of a term that the prover looks at."""
    one_size: int = 2
    """A monomial or atom of a term of one size that is decided completely."""
    sampled: int = 3
    """A monomial that is evaluated at the points of the sample."""
    visit: int = 2
    """A node that the interpreter visits; it costs another step for each two inputs or outputs."""
    move: int = 16
    """A node whose mosaic is composed, and each of its inputs costs one more."""
    cell: int = 6
    """A cell of a mosaic: mosaics are kept, so this bounds their memory."""
    rule: int = 16
    """A rule that is asked about a scatter."""
    region_rule: int = 4
    """A rule that is asked about a region."""
    trial: int = 2
    """A node that is written on trial."""
    array: int = 3
    """A NumPy operation on an array without elements."""
    table: int = 16
    """The same for a term that is tabulated."""

    # So many of these for one step.
    products: int = 3
    """Products of two monomials."""
    elements: int = 512
    """Elements of an array that is read, joined or compared."""
    tabulated: int = 8192
    """Elements of a table, times the monomials and atoms of its term."""
    numbers: int = 2048
    """Numbers at which a term of one size is evaluated, times its monomials and atoms."""

    def of_array(self, size: int) -> int:
        """Return the price of one NumPy operation on this many elements.

        >>> PRICES.of_array(512)
        4
        """
        return self.array + size // self.elements


PRICES = Prices()
"""The present prices."""
