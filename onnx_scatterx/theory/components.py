"""The components of a transformer: each coordinate of the target as a function of I.

    T(I) = (t_0(I), t_1(I), ...)      each t_c one of

    Constant(v)                   v
    Affine(a, s, d)               a + s * I_d
    AffineModulo(a, s, d, m)      (a + s * I_d) mod m
    Lookup(dims, values)           values[I_d for d in dims]

The numbers may be Python ints or symbolic terms, because they are only compared by ``==``. Only
``fit_component`` and ``evaluate`` need arrays. A component is canonical if it is the first form
that fits, with 0 <= a < m and 0 < s < m in an ``AffineModulo``. Then ``==`` means "the same
function".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.theory.picks import Pick

N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class Constant(Generic[N]):
    """The same number for every update.

    >>> Constant(3).dims
    ()
    """

    value: N

    @property
    def dims(self) -> tuple[int, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Affine(Generic[N]):
    """Affine in one dim of extent 2 or more: ``start + step * I_dim``.

    >>> Affine(0, 1, 2).dims
    (2,)
    """

    start: N
    step: N
    dim: int

    @property
    def dims(self) -> tuple[int, ...]:
        return (self.dim,)


@dataclass(frozen=True, slots=True)
class AffineModulo(Generic[N]):
    """Affine in one dim, around a ring: ``(start + step * I_dim) mod modulus``."""

    start: N
    step: N
    dim: int
    modulus: N

    @property
    def dims(self) -> tuple[int, ...]:
        return (self.dim,)


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """Any function of ``dims``, which ascend: ``values`` is an array over them, or any object.

    An array is copied unless it is read-only.

    >>> Lookup((0, 2), np.array([[0, 1], [5, 3]])) == Lookup((0, 2), np.array([[0, 1], [5, 3]]))
    True
    """

    dims: tuple[int, ...]
    values: Any

    def __post_init__(self) -> None:
        if any(b <= a for a, b in zip(self.dims, self.dims[1:], strict=False)):
            raise ValueError(f"the dims of a lookup ascend, {self.dims} do not")
        if isinstance(self.values, np.ndarray):
            if self.values.ndim != len(self.dims):
                raise ValueError(f"{len(self.dims)} dims, but a table of shape {self.values.shape}")
            if self.values.flags.writeable:
                own = self.values.copy()
                own.setflags(write=False)
                object.__setattr__(self, "values", own)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Lookup):
            return NotImplemented
        if isinstance(self.values, np.ndarray) and isinstance(other.values, np.ndarray):
            return self.dims == other.dims and np.array_equal(self.values, other.values)
        return self.dims == other.dims and bool(self.values == other.values)

    def __hash__(self) -> int:
        if isinstance(self.values, np.ndarray):
            numbers = self.values.astype(np.int64, copy=False).tobytes()
            return hash((self.dims, self.values.shape, numbers))
        return hash((self.dims, self.values))


Component: TypeAlias = Constant[N] | Affine[N] | AffineModulo[N] | Lookup


def coordinate(component: Component[N]) -> int | None:
    """Return the d for which the component is exactly I_d; None if there is none.

    >>> coordinate(Affine(0, 1, 2)), coordinate(Affine(1, 1, 2)), coordinate(Constant(0))
    (2, None, None)
    """
    match component:
        case Affine(start, step, dim) if bool(start == 0) and bool(step == 1):
            return dim
    return None


def affine_text(start: Any, step: int, dim: int, text: Callable[[Any], str] = str) -> str:
    """Write ``start + step * I_dim`` as a formula; ``text`` writes the start.

    >>> affine_text(3, -1, 0), affine_text(0, 2, 1)
    ('3 - I_0', '2*I_1')
    """
    slope = f"I_{dim}" if abs(step) == 1 else f"{abs(step)}*I_{dim}"
    if start == 0:
        return slope if step > 0 else f"-{slope}"
    return f"{text(start)} {'+' if step > 0 else '-'} {slope}"


def normal_picks(components: Sequence[Component[N]]) -> tuple[Pick, Pick, Pick]:
    """Return the picks p1, p2, p of the normal form.

    p2 takes the dims d for which a component is I_d, in the order of the axes. p1 takes the dims of
    all other components, in ascending order. These other components are the columns of f, in the
    order of the axes. p puts f's columns and p2 into the order of the axes.

    >>> normal_picks([Affine(5, 2, 1), Affine(0, 1, 0), Constant(7)])
    (Pick((1,)), Pick((0,)), Pick((0, 2, 1)))
    """
    return split_picks([coordinate(c) for c in components], components)


def split_picks(
    taken: Sequence[int | None], components: Sequence[Component[N]]
) -> tuple[Pick, Pick, Pick]:
    """Return the picks p1, p2, p: p2 gives each axis that has a ``taken`` dim, f the other axes."""
    by_f = [c for c, d in enumerate(taken) if d is None]
    by_p2 = [c for c, d in enumerate(taken) if d is not None]
    p1 = Pick(sorted({d for c in by_f for d in components[c].dims}))
    p2 = Pick(d for d in taken if d is not None)
    return p1, p2, Pick(by_f + by_p2).inverse()


def without_repeats(array: NDArray[Any]) -> NDArray[Any]:
    """Undo broadcasting: return a view with extent 1 on each axis of stride 0."""
    return array[tuple(slice(None) if stride else slice(1) for stride in array.strides)]


def fit_component(values: NDArray[np.integer[Any]], size: int | None) -> Component[int]:
    """Find the first form that fits: constant, affine, affine modulo the size, lookup.

    ``values`` has the shape of updates, and ``size`` is the size of the data axis. Negative values
    count from the end. Values out of bounds are not changed. If ``size`` is None, no value counts
    from the end, and no component is an ``AffineModulo``. No component depends on a dim of extent
    1. If ``values`` is empty, the component is ``Constant(0)``.

    >>> fit_component(np.array([[3, 3], [1, 1], [-4, -4]]), size=10)
    Lookup(dims=(0,), values=array([3, 1, 6]))
    >>> fit_component(np.array([8, 9, 0, 1]), size=10)
    AffineModulo(start=8, step=1, dim=0, modulus=10)
    """
    if values.size == 0:
        return Constant(0)
    tight = without_repeats(values).astype(np.int64, copy=False)
    if size and tight.min() < 0:
        tight = np.where((tight < 0) & (tight >= -size), tight + size, tight)
    for d in range(tight.ndim):
        if not _changes_along(tight, d):
            tight = tight[(slice(None),) * d + (slice(1),)]
    dims = tuple(d for d, extent in enumerate(tight.shape) if extent > 1)
    tight = tight.squeeze()
    if not dims:
        return Constant(int(tight))
    line = _fit_line(tight, dims[0], size) if len(dims) == 1 else None
    return Lookup(dims, tight) if line is None else line


def _changes_along(values: NDArray[np.int64], d: int) -> bool:
    first, origin = (slice(None),) * d + (slice(1),), (0,) * values.ndim
    far = (*origin[:d], -1, *origin[d + 1 :])
    return bool(values[far] != values[origin]) or bool((values != values[first]).any())


def _fit_line(v: NDArray[np.int64], d: int, size: int | None) -> Component[int] | None:
    start, step = int(v[0]), int(v[1]) - int(v[0])
    line = np.arange(len(v))
    # The last value is checked first: it is cheap, and if it fits into int64, so do the others.
    ends = start + step * (len(v) - 1) == int(v[-1]) and -(2**63) <= step < 2**63
    if ends and np.array_equal(v, start + step * line):
        return Affine(start, step, d)
    if size and np.array_equal(v, (start + step % size * line) % size):
        return AffineModulo(start, step % size, d, size)
    return None


def evaluate(component: Component[int], shape: Sequence[int]) -> NDArray[np.int64]:
    """Compute the values of a component for updates of a shape.

    On dims on which the component does not depend, the extent of the result is 1.
    >>> evaluate(Affine(1, 2, 1), (4, 3))
    array([[1, 3, 5]])
    """
    extents = tuple(n if d in component.dims else 1 for d, n in enumerate(shape))
    match component:
        case Constant(value):
            return np.full(extents, value, np.int64)
        case Affine(start, step, d):
            return (start + step * np.arange(shape[d])).reshape(extents)
        case AffineModulo(start, step, d, modulus):
            return ((start + step * np.arange(shape[d])) % modulus).reshape(extents)
        case Lookup(_, values):
            return np.asarray(values, np.int64).reshape(extents)
