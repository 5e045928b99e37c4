"""The columns of the table of operators: what the engine may need to know of an operator.

The default of each column is what is safe to assume of an operator that nobody has described. A
row says nothing that depends on the attributes of a node. So a scatter is described as one without
a reduction, and whoever reads its row asks for the reduction, too.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Sequence
from dataclasses import dataclass

Inputs = Sequence[int]
"""The places of some inputs of an operator."""

EVERY = range(sys.maxsize)
"""All inputs, of any number."""


class Rounding(enum.IntEnum):
    """How the elements of the outputs come about: the lower, the more is known of their bits."""

    COPIED = 0
    """They are elements of the inputs, bit for bit. ``ConstantOfShape`` copies an attribute."""
    EXACT = 1
    """They are not rounded, and ONNX and IEEE 754 say every bit, but for the sign of a zero."""
    ONCE = 2
    """They are rounded once at most, as IEEE 754 says, so any library computes these bits."""
    UNKNOWN = 3
    """They are rounded more often, or the bits depend on the kernel: which zero a Max returns."""


class Kinds(enum.Flag):
    """Kinds of element types; float16 is ``FLOAT``, as ONNX Runtime computes it in float32."""

    NONE = 0
    BOOL = enum.auto()
    INTEGER = enum.auto()
    FLOAT = enum.auto()
    DOUBLE = enum.auto()
    ANY = BOOL | INTEGER | FLOAT | DOUBLE


FLOATS = Kinds.FLOAT | Kinds.DOUBLE
NUMBERS = Kinds.INTEGER | FLOATS


class Trust(enum.IntEnum):
    """The trusted part of the output shape that ONNX infers, which may differ in ONNX Runtime."""

    TYPE = 0
    """Nothing, not even its rank: nobody compared it."""
    RANK = 1
    PASSED = 2
    """Dims that are passed on."""
    ALL = 3


class Passing(enum.Enum):
    """What a bound on the elements of an output says of the elements of the inputs."""

    UNKNOWN = enum.auto()
    ALIKE = enum.auto()
    """The same, in the same column: results are inputs, but for a limit or a sign."""
    ELSEWHERE = enum.auto()
    """The same, in any column: results are elements of the first input, at other places."""
    SPLICED = enum.auto()
    """The same, in another column that is known."""
    COMPUTED = enum.auto()
    """Inputs are numbers that are computed with."""


class Decides(enum.Flag):
    """The elements at which the results change abruptly, which are worth a test."""

    NOWHERE = 0
    AT_OPERANDS = enum.auto()
    """Those of the other operand."""
    AT_ZERO = enum.auto()
    AT_RESULTS = enum.auto()
    """Those at which a later node decides: a result is near to its operand."""


class Rows(enum.Enum):
    """How a row that is treated alone runs through an operator, from its inputs to an output."""

    UNKNOWN = enum.auto()
    """Nothing is known: an output may mix rows."""
    BROADCAST = enum.auto()
    """Along any axis: operands are broadcast, and each element depends on those at its place."""
    PRODUCT = enum.auto()
    """Along a batch axis of both operands, or along M."""
    GEMM = enum.auto()
    EINSUM = enum.auto()
    """Along a letter of the output."""
    BATCH = enum.auto()
    """Along axis 0 of the first input; the others are the same for all rows."""
    REGIONS = enum.auto()
    """Along axis 0 of the second and the third input."""
    SAMPLED = enum.auto()
    """Along axis 0 of both inputs."""
    BEFORE = enum.auto()
    """Along the axes of the first input before ``axis``."""
    APART = enum.auto()
    """Along any axis but ``axis``."""
    RUNNING = enum.auto()
    """The same, if the second input is the axis."""
    REDUCED = enum.auto()
    """Along the axes that are not reduced."""
    SORTED = enum.auto()
    """Along any axis but that which is sorted."""
    QUANTIZED = enum.auto()
    """Along any axis along which there is one scale."""
    ONE_HOT = enum.auto()
    IN_ORDER = enum.auto()
    """The elements are in their order; an axis of rows stays one, if it has as many before it."""
    TRANSPOSED = enum.auto()
    EXPANDED = enum.auto()
    FILLED = enum.auto()
    """Each row has the same number."""
    JOINED = enum.auto()
    CUT = enum.auto()
    SPLIT = enum.auto()
    PADDED = enum.auto()
    TAKEN = enum.auto()
    """Along other axes than that which is read, or along those of the indices."""
    TAKEN_ALONG = enum.auto()
    TAKEN_AT = enum.auto()
    """Along the axes of the indices before the last."""
    WRITTEN = enum.auto()
    """Along an axis that is written by a mask: a choice of some of the rows."""


@dataclass(frozen=True, kw_only=True)
class Operator:
    """What is known of an operator of the default domain, in every operator set.

    >>> Operator(moves=EVERY).moved(2), Operator(moves=(1, 2)).moved(2), Operator().moved(2)
    ([0, 1], [1], [])
    """

    moves: Inputs = ()
    """The inputs whose elements are those of the outputs; other inputs only say at which places.

    A Pad adds its number, or zeros.
    """
    chooses: Inputs = ()
    """The same, if the values of the elements decide which of them is where.

    TopK and Unique choose the elements of their first output.
    """
    keeps_all: bool = False
    """Each element of the first input is in the output, unless an axis is broadcast to no size."""
    keeps_order: bool = False
    """The output has all elements of the first input, in row-major order."""
    rounding: Rounding = Rounding.UNKNOWN
    alike: Kinds = Kinds.NONE
    """The types for which an element-wise result is the same bits wherever an element stands."""
    rows: Rows = Rows.UNKNOWN
    rows_alike: Kinds = Kinds.NONE
    """The types for which a row of the output has the same bits alone and among others.

    A constant operand must be packed (``packs``), and rows be ``aligned``. Element-wise operators
    have ``alike``.
    """
    aligned: bool = False
    """Its kernel for floats begins where the memory is aligned, so bits depend on a row's place."""
    near: bool = False
    """For some floating type only the last bits of the results depend on the place."""
    compares: str = ""
    """The output says of elements of two inputs whether they are ==, <, <=, > or >=."""
    tests: bool = False
    """The output says of each element of the first input whether it is of some kind."""
    widens: bool = False
    """The result is the same numbers if inputs and result are cast to a type that has them."""
    neutral: int | None = None
    """The number that, as the other operand, lets ONNX Runtime drop a node."""
    random: bool = False
    folds: bool = False
    """It is computed ahead, as ONNX Runtime does on one thread, if its inputs are known."""
    packs: Inputs = ()
    """The inputs that ONNX Runtime packs if they are constant, on which last bits depend."""

    writes: bool = False
    """It is a scatter: it writes by indices."""
    reads: bool = False
    """It is a gather: it reads by indices."""
    indexed_since: int = 11
    """The first operator set in which a scatter or gather has the form that is lifted."""

    same_shape: bool = False
    """The output has the shape of the first input, and its element type if it tests nothing."""
    reduces: bool = False
    """It removes axes, or leaves 1 of each."""
    trust: Trust = Trust.TYPE
    ranks: tuple[int | None, ...] = ()
    """The ranks of the outputs by ONNX's schema, if inference lacks them; None: of input 0."""
    shape_input: int | None = None
    """The input that is the shape of the output, or is broadcast with it."""
    sizes: Inputs = ()
    """The inputs that a device may want to know when it compiles: shapes, places, counts."""
    of_sizes: bool = False
    """It computes with sizes, or a size may decide what it does."""
    signed_input: int = 1
    """The input that a device may not want negative."""
    takes_sequence: bool = False
    """The first input is always a sequence."""
    gives_sequence: bool = False
    """The output is always a sequence."""

    moved_past: bool = False
    """ONNX Runtime moves quantizers past it. It removes an Identity."""
    carries_scale: bool = False
    """Between quantizers of one scale it may move the integers instead."""
    in_integers: Inputs = ()
    """The inputs which, if all are dequantized, let ONNX Runtime compute in integers."""
    without_quantizer: bool = False
    """It does so even if the result is not quantized."""

    passes: Passing = Passing.UNKNOWN
    decides: Decides = Decides.NOWHERE

    def moved(self, count: int) -> list[int]:
        """Return which of so many inputs it moves the elements of."""
        return [at for at in range(count) if at in self.moves]


UNKNOWN = Operator()
"""What is safe to assume of any operator."""
