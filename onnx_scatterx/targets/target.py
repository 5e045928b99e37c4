"""A target: the operators that may be written for it, and its limits."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import onnx.defs
import onnx_ir as ir

from onnx_scatterx.targets.faults import Fault
from onnx_scatterx.targets.limits import NO_LIMITS, OperatorLimits
from onnx_scatterx.targets.refused_use import RefusedUse

SCATTERX = "ScatterX"
NEW = frozenset({SCATTERX, "TensorScatter"})
"""Operators that a target has only if its profile says so: few have them."""


WORK_LIMIT = 16
"""How many times a function of chosen rows may be done, if a target says nothing about it."""


@dataclass(frozen=True)
class Target:
    """A target by its name: which operators may be written for it, and its limits.

    >>> target = Target("npu", avoid=frozenset({"NonZero"}))
    >>> target.has("NonZero"), target.has("Where"), target.has("TensorScatter")
    (False, True, False)
    """

    name: str
    description: str = ""
    source: str = ""  # where all this is written
    version: str = ""  # of the compiler or runtime that is described
    date: datetime.date | None = None  # when the source was read, or the compiler run
    checked: str = ""  # how this was compared with the compiler itself
    operators: frozenset[str] | None = None  # all standard operators that it has; None: every one
    avoid: frozenset[str] = frozenset()  # operators that it lacks
    misread: frozenset[str] = frozenset()
    """Operators that it does not refuse if it lacks them, or beyond their limits, but misreads."""
    extra: frozenset[str] = frozenset()  # those of ``NEW`` that it has
    limits: Mapping[str, OperatorLimits] = field(default_factory=dict, hash=False)
    """The uses that it does not take of an operator that it has, by the operator's name."""
    types: frozenset[str] | None = None  # the only element types, in lower case; None: every one
    no_types: frozenset[str] = frozenset()  # element types that it lacks
    max_rank: int | None = None  # the most dims of a tensor
    max_opset: int | None = None  # the newest operator set that it reads
    static_only: bool = False  # all sizes must be numbers
    ends: tuple[RefusedUse, ...] = ()
    """Inputs and outputs of a model that it does not take: their element types and ranks."""
    faults: tuple[Fault, ...] = ()
    """Faults of its compiler that another form avoids."""
    dense_limit: float | None = None
    """How many elements the largest tensor of a dense form may have (data times indices).

    None allows no dense form. A symbolic size counts as the largest that it can be, so only inf
    allows one without a bound.
    """
    work_limit: float | None = None
    """How many times the multiply-adds of a function of chosen rows may be done, for all rows.

    None: as many times as ``WORK_LIMIT`` if the target cannot choose rows, and else none more.
    """
    onnxruntime: bool = True
    """Whether ONNX Runtime runs the model, itself or by an execution provider."""
    one_file: bool = False
    """Whether its compiler reads no weights beside the file, so that they are written into it."""
    prefers_scatter: bool = False  # rules that read all of the data apply only if named
    is_timed: bool = False  # plans are compared by their run time
    given_as: str = field(default="", compare=False, repr=False)
    """The text from which it was read: a name, perhaps with keys, or the path of a profile."""

    keys: str = field(default="", compare=False, repr=False)
    """The keys of a profile that followed its name, or its path, in this text."""

    @property
    def text(self) -> str:
        """What names the target on the command line."""
        return self.given_as or self.name

    def has(self, op_type: str, *, of_constant: bool = False) -> bool:
        """Return whether an operator may be written for the target: ``of_constant`` data, or any.

        ``ScatterX`` is named without its domain, as the operators of the default domain are.
        """
        limits = self.limits.get(op_type, NO_LIMITS)
        if op_type in self.avoid or not limits.native or limits.slow is True:
            return False
        if not limits.computed_data and not of_constant:
            return False
        if op_type in NEW:
            return op_type in self.extra or op_type in (self.operators or ())
        return self.operators is None or op_type in self.operators

    def lacks(self, op_type: str, dtype: ir.DataType | None, reduction: str = "none") -> bool:
        """Return whether it has no operator for an element type, or one that is slow.

        >>> from onnx_scatterx.targets.limits import SlowUse
        >>> slow = SlowUse(reductions=frozenset({"add"}))
        >>> npu = Target("npu", limits={"ScatterND": OperatorLimits(slow=slow)})
        >>> npu.lacks("ScatterND", ir.DataType.FLOAT, "add"), npu.lacks("ScatterND", None)
        (True, False)
        """
        return not self.has(op_type) or self.limits_of(op_type).is_slow(dtype, reduction)

    def limits_of(self, op_type: str) -> OperatorLimits:
        """Return the limits of an operator: it takes the types that both lists allow.

        Constant computes nothing, and its number may be a size or an index.

        >>> npu = Target("npu", no_types=frozenset({"int64"}))
        >>> npu.limits_of("Add").no_types, npu.limits_of("Constant").no_types
        (frozenset({'int64'}), frozenset())
        """
        limits = self.limits.get(op_type, NO_LIMITS)
        if op_type == "Constant" or (self.types is None and not self.no_types):
            return limits
        if op_type not in self._narrowed:
            self._narrowed[op_type] = limits.narrowed(self.types, self.no_types)
        return self._narrowed[op_type]

    @cached_property
    def _narrowed(self) -> dict[str, OperatorLimits]:
        """What ``limits_of`` has found."""
        return {}

    def has_type(self, dtype: ir.DataType) -> bool:
        """Return whether any operator may have an element type."""
        name = dtype.name.lower()
        return name not in self.no_types and (self.types is None or name in self.types)

    def opsets(self) -> Iterator[int]:
        """Yield the operator sets to which a model may be lowered, the best first.

        >>> limits = {"ReduceMax": OperatorLimits(axes_input=False)}
        >>> list(Target("npu", max_opset=19, limits=limits).opsets())
        [17, 19]
        """
        newest = onnx.defs.onnx_opset_version() if self.max_opset is None else self.max_opset
        named = {
            op_type
            for op_type, limits in self.limits.items()
            if limits.axes_input not in (True, "several")
        }
        spelled = {_last_with_axes(op_type, newest) for op_type in named}
        yield from sorted({*spelled, *(() if self.max_opset is None else (newest,))})

    def inside(self) -> Target:
        """Return the target as it is for the graphs of bodies and functions.

        >>> writes = {"TensorScatter": OperatorLimits(inner=False)}
        >>> npu = Target("npu", extra=frozenset({"TensorScatter"}), limits=writes)
        >>> npu.has("TensorScatter"), npu.inside().has("TensorScatter")
        (True, False)
        """
        if self.limits_of("TensorScatter").inner:
            return self
        return replace(self, extra=self.extra - {"TensorScatter"})

    def with_host(self) -> Target:
        """Return the target with its host, which runs what the device itself does not, or slowly.

        >>> npu = Target("npu", limits={"Where": OperatorLimits(native=False)})
        >>> npu.has("Where"), npu.with_host().has("Where")
        (False, True)
        """
        return self._with_host

    @cached_property
    def _with_host(self) -> Target:
        less = {
            op_type: replace(limit, native=True, slow=False)
            for op_type, limit in self.limits.items()
            if limit.native is not True or limit.slow is not False
        }
        return replace(self, limits={**self.limits, **less}) if less else self

    def with_all_operators(self) -> Target:
        """Return the target as if it had all operators without limits, but for those it misreads.

        The limits of ScatterX and TensorScatter stay, as other forms take their place.
        A model with any other of them is refused, and none is computed wrongly. Ranks count unless
        ONNX Runtime runs the model: it runs itself what an execution provider refuses.

        >>> npu = Target("npu", avoid=frozenset({"Where", "Mod"}), misread=frozenset({"Mod"}))
        >>> npu.with_all_operators().has("Where"), npu.with_all_operators().has("Mod")
        (True, False)
        """
        host = self.with_host()
        return replace(
            host,
            operators=None,
            avoid=frozenset(op for op in self.misread if not host.has(op)),
            limits={op: host.limits_of(op) for op in host.limits if op in self.misread | NEW},
            types=None,
            no_types=frozenset(),
            max_rank=None if self.onnxruntime else self.max_rank,
            static_only=False,
        )

    def chooses_rows(self, dtype: ir.DataType = ir.DataType.BOOL) -> bool:
        """Return whether a model may choose rows by a mask of a type.

        The target has NonZero of this type, and takes sizes that only the run knows.

        >>> limits = {"NonZero": OperatorLimits(types=frozenset({"bool"}))}
        >>> npu = Target("npu", limits=limits)
        >>> npu.chooses_rows(), npu.chooses_rows(ir.DataType.INT64)
        (True, False)
        """
        takes = self.has("NonZero") and self.limits_of("NonZero").takes_type(dtype)
        return takes and not self.static_only

    def allows_work(self, times: float, dtype: ir.DataType = ir.DataType.BOOL) -> bool:
        """Return whether a function of rows that a mask of this type chooses may run on all rows.

        ``times`` is how many times as many rows there are.
        """
        if self.work_limit is None:
            return not self.chooses_rows(dtype) and times <= WORK_LIMIT
        return times <= self.work_limit

    @property
    def has_scatterx(self) -> bool:
        """Whether ScatterX may be written."""
        return self.has(SCATTERX)

    @property
    def is_limited(self) -> bool:
        """Whether there are nodes or operator sets that it does not take."""
        bounds = self.operators, self.types, self.max_rank, self.max_opset
        less = self.avoid or self.limits or self.no_types
        return bool(less) or any(x is not None for x in bounds)

    @property
    def has_profile(self) -> bool:
        """Whether it says what it takes: it refuses nodes, operator sets, sizes, inputs or outputs.

        >>> Target("npu", max_rank=4).has_profile, STANDARD.has_profile
        (True, False)
        """
        return self.is_limited or self.static_only or bool(self.ends)

    @property
    def is_device(self) -> bool:
        """Whether it is a compiler that needs as much as possible of a model to be constant."""
        return self.static_only or self.operators is not None


def _last_with_axes(op_type: str, newest: int) -> int:
    """Return the last operator set in which the axes of an operator are an attribute."""
    versions = range(newest, 0, -1)
    schemas = ((v, onnx.defs.get_schema(op_type, v, "")) for v in versions)
    return next((v for v, schema in schemas if "axes" in schema.attributes), newest)


STANDARD = Target("standard", "any ONNX runtime: standard operators only")
