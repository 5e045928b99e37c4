"""The options of an optimization, in one list for functions, passes and commands.

``Options`` has the types of the options. ``OPTIONS`` has their defaults, and how the command line
reads and writes them. No heavy library is imported, so that the command line starts fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.options.values import (
    Sizes,
    above_zero,
    count,
    fixed_size,
    listed_names,
    named_size,
)

if TYPE_CHECKING:
    from onnx_scatterx.assumptions import Assume, Fix
    from onnx_scatterx.targets import AnyTarget


class NamedRule(Protocol):
    """A rule of ``onnx_scatterx.rewrites``, or of one's own: options know only its name."""

    @property
    def name(self) -> str:
        """The name by which it is chosen, and told of."""


Rules: TypeAlias = Sequence[str | NamedRule]
"""Rules as a user gives them: by name, or as objects."""

Strict: TypeAlias = bool | Literal["native", "taken"]
"""What of a result is an error: nothing if False.

True: what the target refuses, and a scatter that it runs on its host. "native": also any other node
on the host. "taken": only what it refuses.
"""
STRICT: tuple[Strict, ...] = (False, True, "native", "taken")
"""All values of ``Strict``."""


def checked_strict(strict: object) -> None:
    """Raise ScatterXError if this is no value of ``Strict``."""
    if strict not in STRICT:
        raise ScatterXError(f"strict is True, False, 'native' or 'taken', not {strict!r}")


class Options(TypedDict, total=False):
    """The keyword arguments that ``optimize``, ``inspect``, ``explain`` and other functions share.

    Each argument may be left out. The docstring of ``optimize`` describes them.
    """

    target: AnyTarget
    rules: Rules | None
    passes: Sequence[str] | None
    gathers: bool
    fix: Fix
    assume: Assume
    distrust_dims: bool
    deterministic: bool
    last_bits: bool
    size_hint: Mapping[str, int] | None
    effort: float
    opset: int | None


class Option(NamedTuple):
    """An option of the command line.

    ``read`` reads the text after the flag; it is None for a flag without a text. If the option may
    be repeated, ``collect`` makes one value of all values that were read. ``texts`` returns the
    texts from which a value is read.
    """

    name: str
    default: Any
    help: str
    metavar: str = ""
    read: Callable[[str], Any] | None = None
    collect: Callable[[list[Any]], Any] | None = None
    texts: Callable[[Any], Iterable[str]] = lambda value: (str(value),)

    @property
    def flag(self) -> str:
        """The option as it is typed, such as ``--size-hint``."""
        return f"--{self.name.replace('_', '-')}"

    def words(self, value: Any) -> Iterable[tuple[str, ...]]:
        """Return the arguments for a value on the command line: each is a flag, and its text."""
        if self.read is None:
            return [(self.flag,)] if value else []
        return [(self.flag, text) for text in self.texts(value)] if value != self.default else []


def command_words(options: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the arguments for options on the command line: each is a flag, and perhaps a text.

    >>> fix = {"batch": 4, "x": (1, 3)}
    >>> command_words({"assume": ["n <= 8", "m <= 4"], "gathers": True, "fix": fix})
    [('--gathers',), ('--fix', 'batch=4'), ('--fix', 'x:1,3'), ('--assume', 'n <= 8'), \
('--assume', 'm <= 4')]
    """
    return [said for o in OPTIONS if o.name in options for said in o.words(options[o.name])]


def check_words(
    *,
    strict: Strict = False,
    verify: bool = False,
    prove: bool = False,
    strict_zeros: bool = False,
    samples: int | None = None,
    seed: int | None = None,
) -> tuple[str, ...]:
    """Return the options of a command that decide whether a result is good enough.

    >>> check_words(strict="taken", verify=True, samples=5), check_words(verify=True, prove=True)
    (('--strict=taken', '--verify', '--samples=5'), ('--prove',))
    """
    said = ["--strict" if strict is True else f"--strict={strict}"] if strict else []
    said += ["--prove"] if prove else ["--verify"] if verify else []
    said += ["--strict-zeros"] if strict_zeros else []
    said += [f"--samples={samples}"] if samples else []
    return (*said, *([f"--seed={seed}"] if seed else []))


def comparison(verify: bool | Mapping[str, Any], options: Options) -> dict[str, Any] | None:
    """Return the arguments of ``verify`` for a model and its result; None if it is not asked for.

    What was promised for the result is promised for the comparison, too: a proof needs it.

    >>> comparison(True, {"assume": ["n <= 8"]}), comparison({"samples": 5}, {"gathers": True})
    ({'assume': ['n <= 8'], 'distrust_dims': False}, \
{'assume': None, 'distrust_dims': False, 'samples': 5})
    """
    if verify is False:
        return None
    promised = {name: options.get(name, DEFAULTS[name]) for name in ("assume", "distrust_dims")}
    return promised | ({} if verify is True else dict(verify))


def fixed_sizes(pairs: Sequence[tuple[str, Sizes]]) -> dict[str, Sizes]:
    """Return the fixed sizes by name; ScatterXError if a name has two different sizes."""
    sizes: dict[str, Sizes] = {}
    for name, numbers in pairs:
        if sizes.setdefault(name, numbers) != numbers:
            raise ScatterXError(f"--fix gives {name!r} two sizes: {sizes[name]} and {numbers}")
    return sizes


def _fix_texts(fix: Fix) -> Iterable[str]:
    for name, sizes in (fix or {}).items():
        yield f"{name}={sizes}" if isinstance(sizes, int) else f"{name}:{','.join(map(str, sizes))}"


OPTIONS = (
    Option(
        "target",
        "scatterx",
        "a name that `onnx-scatterx targets` lists, or a profile.toml (default: scatterx)",
        "T",
        str,
    ),
    Option(
        "rules",
        None,
        "use these rules only",
        "A,B",
        listed_names,
        texts=lambda rules: (",".join(getattr(rule, "name", rule) for rule in rules),),
    ),
    Option(
        "passes",
        None,
        "run these passes only, and those that keep the result right",
        "A,B",
        listed_names,
        texts=lambda passes: (",".join(passes),),
    ),
    Option(
        "gathers", False, "rewrite gathers, too: they become slices if these take no more nodes"
    ),
    Option(
        "fix",
        None,
        "write numbers into the model's inputs: 'batch=4' a dim by its name, "
        "'x:1,3,224,224' the shape of an input",
        "F",
        fixed_size,
        fixed_sizes,
        _fix_texts,
    ),
    Option(
        "assume",
        None,
        "a promise about the inputs, which are not changed: 'seq <= 512', "
        "'positions: contiguous, nonnegative'; and about how many elements of a value are chosen: "
        "'mask: exactly 576', 'ids == 7: one run of 64'",
        "A",
        str,
        list,
        texts=lambda clauses: map(str, clauses),
    ),
    Option("distrust_dims", False, "dims of inputs with the same name may have different sizes"),
    Option("deterministic", False, "if updates are known to collide, the last one wins"),
    Option(
        "last_bits",
        False,
        "compute a function of masked elements for all elements, and write a Gemm or an Einsum by "
        "MatMul, even if the last bits then differ",
    ),
    Option(
        "size_hint",
        None,
        "the usual value of a symbolic size, for the target ort-cpu, which estimates time",
        "S=N",
        named_size,
        dict,
        texts=lambda sizes: (f"{name}={number}" for name, number in sizes.items()),
    ),
    Option(
        "effort",
        1.0,
        "take up to N times as many steps (default: 1)",
        "N",
        above_zero,
        texts=lambda effort: (f"{effort:g}",),
    ),
    Option("opset", None, "raise or lower the model to this operator set first", "N", count),
)
"""In the order in which ``--help`` lists them."""

OF_READING = ("target", "assume", "distrust_dims", "effort")
"""The options that say how a model is read, and not how it is written."""

DEFAULTS: Options = {option.name: option.default for option in OPTIONS}  # type: ignore[assignment]
