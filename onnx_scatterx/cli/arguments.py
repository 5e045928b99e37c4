"""The arguments that several commands share; a mistake in them is an error of one line."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any, NoReturn

from onnx_scatterx.cli.fix_option import add_fix, fixed_sizes
from onnx_scatterx.cli.output import print_error, show
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.text.nearest import did_you_mean

_SAMPLES = 40
_MOST_THREADS = 1024  # more are a slip, and starting them takes minutes


class Parser(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the error and end with status 2."""
        if message == "the following arguments are required: -o/--output":
            message = "give -o OUT to write the model, or use inspect to look at it"
        raise SystemExit(print_error(f"{message} (see {self.prog} --help)", 2))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Name the nearest choice, where argparse would list them all."""
        if action.choices is not None and value not in action.choices:
            what = "command" if action.metavar == "COMMAND" else "choice"
            known = [str(choice) for choice in action.choices]
            near = did_you_mean(str(value), known) or f"; there is {', '.join(known)}"
            raise argparse.ArgumentError(None, f"no {what} is called {value!r}{near}")

    def refuse_unknown(self, unknown: Sequence[str]) -> NoReturn:
        """Say which arguments are not known, and which option may be meant."""
        first = next((word for word in unknown if word.startswith("-")), unknown[0])
        known = [name for name in self._option_string_actions if name.startswith("--")]
        near = did_you_mean(first.partition("=")[0], known)
        self.error(f"unrecognized arguments: {' '.join(unknown)}{near}")


class Version(argparse.Action):
    """Print the version of the package that is installed, and end."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, nargs=0)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import onnx_scatterx

        show(getattr(onnx_scatterx, "__version__", "not installed: run from its source"))
        raise SystemExit(0)


def add_model(command: argparse.ArgumentParser, text: str = "an ONNX model") -> None:
    """Add IN."""
    command.add_argument("model", metavar="IN", help=text)


def add_target(command: argparse.ArgumentParser) -> None:
    """Add --target, --assume, --distrust-dims and --deterministic."""
    command.add_argument(
        "--target",
        metavar="T",
        default="scatterx",
        help="a name that `onnx-scatterx targets` lists, or a profile.toml (scatterx)",
    )
    add_fix(command)
    add_assume(command)
    add_distrust(command)
    command.add_argument(
        "--deterministic",
        action="store_true",
        help="if updates are known to collide, the last one wins",
    )


def add_many(command: argparse.ArgumentParser) -> None:
    """Add --jobs and --timeout."""
    command.add_argument(
        "--jobs", type=count, metavar="N", help="processes for several models (one per core)"
    )
    command.add_argument(
        "--timeout", type=duration, metavar="SECONDS", help="for each of several models"
    )


def add_json(command: argparse.ArgumentParser) -> None:
    """Add --json."""
    command.add_argument("--json", action="store_true", help="print JSON")


def add_strict(command: argparse.ArgumentParser) -> None:
    """Add --strict."""
    command.add_argument(
        "--strict", action="store_true", help="exit with 1 if the target does not take the result"
    )


def add_assume(command: argparse.ArgumentParser) -> None:
    """Add --assume."""
    command.add_argument(
        "--assume",
        action="append",
        default=[],
        metavar="A",
        help="a promise about the inputs, which are not changed: 'seq <= 512', "
        "'positions: contiguous, nonnegative'",
    )


def add_distrust(command: argparse.ArgumentParser) -> None:
    """Add --distrust-dims."""
    command.add_argument(
        "--distrust-dims",
        action="store_true",
        help="dims of inputs with the same name may have different sizes",
    )


def add_reads(command: argparse.ArgumentParser, text: str) -> None:
    """Add --reads."""
    command.add_argument("--reads", action="store_true", help=text)


def add_draws(command: argparse.ArgumentParser) -> None:
    """Add what decides on which inputs models are compared, and how."""
    command.add_argument(
        "--samples", type=count, metavar="N", help="sets of inputs to compare on (40)"
    )
    command.add_argument(
        "--strict-zeros",
        action="store_true",
        help="count another sign of a zero as a difference",
    )
    add_seed(command)
    command.add_argument(
        "--prove",
        action="store_true",
        help="prove it for every size and every input, by a solver; exit with 1 if not proven",
    )


def add_seed(command: argparse.ArgumentParser) -> None:
    """Add --seed."""
    command.add_argument("--seed", type=_natural, metavar="S", help="of the inputs (0)")


def add_inputs(command: argparse.ArgumentParser) -> None:
    """Add --input."""
    command.add_argument(
        "--input",
        type=named_file,
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME=FILE",
        help="inputs: a .npy each, or a .npz with all of them; drawn at random by default",
    )


def add_sizes(command: argparse.ArgumentParser) -> None:
    """Add --size and --seed, for inputs that are drawn."""
    command.add_argument(
        "--size",
        type=size,
        action="append",
        default=[],
        metavar="SYMBOL=N",
        help="a named dim of the inputs to draw",
    )
    add_seed(command)


def add_session(command: argparse.ArgumentParser, threads: int) -> None:
    """Add --threads, with this default, and --no-library."""
    told = threads or "all"
    command.add_argument(
        "--threads", type=_threads, default=threads, metavar="N", help=f"for one node ({told})"
    )
    command.add_argument(
        "--no-library", dest="library", action="store_false", help="run ScatterX by its fallbacks"
    )


def settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments that optimize, inspect and explain share."""
    names = ("target", "assume", "distrust_dims", "deterministic", "reads")
    return {**{name: getattr(args, name) for name in names}, "fix": fixed_sizes(args.fix)}


def checks(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of verify, which optimize takes, too."""
    told = {name: getattr(args, name) for name in ("assume", "distrust_dims", "strict_zeros")}
    drawn = {"samples": args.samples or _SAMPLES, "seed": args.seed or 0}
    return {**told, **drawn, "prove": args.prove}


def reject_unused(args: argparse.Namespace, when: str, *options: str) -> None:
    """Raise an error if an option was given that has no effect; ``when`` says in which case."""
    for option in options:
        given = getattr(args, option)
        if given is not None and given is not False and given != []:
            raise ScatterXError(f"--{option.replace('_', '-')} has no effect {when}")


def settle_target(args: argparse.Namespace) -> None:
    """Read the target; raise an error if an option has no effect with it."""
    from onnx_scatterx.targets.catalogue import target_of

    args.target_said = args.target
    args.target = target = target_of(args.target)
    if "strict" in args and not (target.is_limited or target.static_only):
        reject_unused(args, f"for target {target.name}, which takes all operators", "strict")
    if not target.is_timed and "size" in args:
        reject_unused(args, f"for target {target.name}, which does not estimate time", "size")


def count(text: str) -> int:
    """Return a number that starts at 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return number


def duration(text: str) -> float:
    """Return a number of seconds above 0.

    >>> duration("2.5")
    2.5
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def size(text: str) -> tuple[str, int]:
    """Split a size into its name and its value.

    >>> size("batch=8")
    ('batch', 8)
    """
    name, _, number = text.partition("=")
    if not name.strip() or not number.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not like 'batch=8'")
    return name.strip(), int(number)


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 on")
    return int(text)


def _threads(text: str) -> int:
    if _natural(text) > _MOST_THREADS:
        raise argparse.ArgumentTypeError(f"{text} threads are more than {_MOST_THREADS}")
    return int(text)


def rule_names(text: str) -> list[str]:
    """Split the names of rules.

    >>> rule_names("view, concat")
    ['view', 'concat']
    """
    return [name.strip() for name in text.split(",")]


def named_file(text: str) -> tuple[str | None, str]:
    """Split NAME=FILE.npy; a .npz needs no name.

    >>> named_file("x=a/x.npy"), named_file("all.npz")
    (('x', 'a/x.npy'), (None, 'all.npz'))
    """
    name, sign, file = text.partition("=")
    if sign and name and file:
        return name, file
    if sign or not text.endswith(".npz"):
        raise argparse.ArgumentTypeError(f"{text!r} is not like NAME=FILE.npy or FILE.npz")
    return None, text
